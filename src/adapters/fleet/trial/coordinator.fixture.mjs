/**
 * A coordinator as a process of its own, with times that only tests can set; how it ended, and what
 * the seeds came to, is its last line.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { openBullQueue } from '../../../../tools/built/modules/adapters/fleet/bull-queue.js';
import { readCheckpoint } from '../../../../tools/built/modules/adapters/fleet/checkpoint.js';
import { coordinate } from '../../../../tools/built/modules/adapters/fleet/coordinate.js';
import { readQueueUrl } from '../../../../tools/built/modules/adapters/fleet/queue-url.js';
import { sweepIdOf } from '../../../../tools/built/modules/adapters/fleet/sweep-record.js';
import { readScenarioSource } from '../../../../tools/built/modules/host/modules/load-files.js';
import { originOf } from '../../../../tools/built/modules/search/sweep/sealed.js';

const order = JSON.parse(process.argv[2] ?? '{}');
const { url, version, file, range, chunkSeeds, checkpointFile, window = 10_000 } = order;
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const text = readFileSync(file, 'utf8');
const { scenario } = await readScenarioSource({ file, text }, { kind: 'refused', why: 'none' });
const sweep = { origin: originOf(scenario, version), file, text, range, chunkSeeds };
const read = existsSync(checkpointFile)
  ? readCheckpoint(readFileSync(checkpointFile, 'utf8'), sweepIdOf(sweep))
  : null;
if (read?.kind === 'problem') throw new Error(read.what);
const queue = await openBullQueue(readQueueUrl(url).address, () => {});
const lates = new Set();
const late = queue.late.bind(queue);
queue.late = async (id, wanted) => {
  const jobs = await late(id, wanted);
  for (const job of jobs) lates.add(job.id);
  return jobs;
};
const result = await coordinate({
  ...{ sweep, scenario, queue, window },
  checkpoint: read?.checkpoint ?? null,
  save: (whole) => {
    writeFileSync(`${checkpointFile}.new`, whole);
    renameSync(`${checkpointFile}.new`, checkpointFile);
  },
  planFileOf: (system, claim) => `reports/${system}-${claim}.yaml`,
  onShrunk: ({ system, claim, seed }) => say({ shrunk: `${system} ${claim} ${seed}` }),
  note: (note) => say({ note }),
  onProgress: ({ done, chunks }) => say({ done, chunks }),
  coordinator: randomUUID(),
  shouldStop: () => false,
  timing: { pollMs: 50, beatMs: 200, saveMs: 200, addAgainMs: 60_000 },
});
await queue.close();
const { end, alarm, tallies, lost } = result;
say({
  ...{ end, alarm, late: lates.size },
  lost: [...lost.keys()],
  tallies: Object.fromEntries(tallies),
});
