// Runs each system with user code in fixtures, and each of `contexts.yaml`, as the first run of a
// fresh thread that has loaded only fencepost, as the command line does, and once more: both must
// succeed with the same digest. Prints a line for each failure, and a summary. Run `node
// tools/first-runs/plain-threads.mjs` after a build.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { expand, loadScenario, replay } from 'fencepost';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FILES = [
  'tools/first-runs/contexts.yaml',
  'fixtures/guide/my-lock.yaml',
  'fixtures/driver/lock.yaml',
  'fixtures/modules/npm-redlock.yaml',
  'fixtures/modules/same-process.yaml',
];

if (isMainThread) {
  let threads = 0;
  let failed = 0;
  for (const file of FILES) {
    const { systems } = await loadScenario(`${root}/${file}`);
    for (const name of systems) {
      const worker = new Worker(new URL(import.meta.url), { workerData: { file, name } });
      const [problem] = await once(worker, 'message');
      await worker.terminate();
      threads += 1;
      if (problem === null) continue;
      failed += 1;
      process.stdout.write(`✗ ${file} ${name}: ${problem}\n`);
    }
  }
  process.stdout.write(`${threads} systems, each the first of a thread: ${failed} failed\n`);
  process.exitCode = failed > 0 || threads === 0 ? 1 : 0;
} else {
  const { file, name } = workerData;
  const plan = await expand(await loadScenario(`${root}/${file}`), name, 3);
  const [first, second] = [await replay(plan), await replay(plan)];
  const { ending } = first.trace;
  if (ending.kind === 'failed') parentPort.postMessage(`its first run failed: ${ending.error}`);
  else if (first.digest === second.digest) parentPort.postMessage(null);
  else parentPort.postMessage('its first run differs from its second');
}
