/**
 * A worker of the fleet as a process of its own, with times that only tests can set; what it did it
 * says in JSON lines.
 */
import { readQueueUrl } from '../../../../tools/built/modules/adapters/fleet/queue-url.js';
import { startFleetWorker } from '../../../../tools/built/modules/adapters/fleet/worker.js';

const { url, version, timing, modules = null } = JSON.parse(process.argv[2] ?? '{}');
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const options = {
  address: readQueueUrl(url).address,
  ...{ threads: 1, modules, version },
  note: (note) => say({ note }),
  onBegun: ({ chunk, sweep }) => say({ begun: chunk, sweep }),
  onChunk: ({ chunk }, { sweep }) => say({ chunk, sweep }),
};
const worker = await startFleetWorker(options, timing);
say({ note: 'ready' });
process.on('SIGTERM', async () => {
  await worker.close();
  process.exit(0);
});
