// For `doomed`, one of two workers dies before its first seed, and the other is slow.
import { threadId } from 'node:worker_threads';
import { examinerOf as usual } from '../../../tools/built/modules/search/sweep/examiner.js';

export async function prepareScenario({ name }) {
  if (name === 'doomed' && threadId % 2 === 0) throw new Error('this worker dies');
}

export function examinerOf(scenario) {
  const examine = usual(scenario);
  if (scenario.name !== 'doomed') return examine;
  return (system, seed) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    return examine(system, seed);
  };
}
