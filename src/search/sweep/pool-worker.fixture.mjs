// A worker of the pool that answers what the scenario's name asks for, and examines nothing.
import { parentPort, threadId, workerData } from 'node:worker_threads';

const { seedCell, examinerUrl } = workerData;
if (examinerUrl === 'dies') throw new Error('no examiner');

parentPort.on('message', async ({ scenario, chunk }) => {
  let seeds = 0;
  for (let seed = chunk.from; seed <= chunk.to; seed += 1) {
    if (chunk.skip.includes(seed)) continue;
    seedCell[0] = seed;
    if (scenario.name === 'hangs' && seed % 10 === 3) for (;;);
    if (scenario.name === 'dies' && seed % 10 === 4) throw new Error(`dies of ${seed}`);
    if (scenario.name === 'keeps' && chunk.isReusing && seed === 15) throw new Error('kept');
    seeds += 1;
  }
  const claims = {};
  const sections = {
    ...{ began: 0, entered: 0, gaveUp: 0, refused: 0, crashed: 0, unguarded: 0 },
    ...{ failed: [], otherFailed: 0 },
  };
  const stakes = { contested: 0, shared: 0, toWrite: 0, written: 0, readAfter: 0, readBack: 0 };
  const tally = {
    ...{ seeds, events: threadId, broken: 0, unknown: 0, claims, faults: {}, failures: [] },
    ...{ overlap: { seeds: 0, longestUs: 0 }, losses: { seeds: 0, longestUs: 0 } },
    ...{ stampede: { seeds: 0, computations: 0, most: 0 } },
    ...{ sections, stakes, failed: 0, killed: 0 },
  };
  parentPort.postMessage({
    ...{ tally, difference: null, milliseconds: scenario.name === 'slow' ? 1000 : 0.5 },
  });
});
