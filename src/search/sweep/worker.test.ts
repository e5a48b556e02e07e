/** Tests a worker in this thread; its port leads to a listener here. */
import { EventEmitter, once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { loadScenario } from '../../load.ts';
import type { ChunkDone, ChunkOrder } from './pool.ts';

const thread = vi.hoisted(() => ({
  parentPort: {},
  workerData: {},
  threadId: 1,
}));
vi.mock('node:worker_threads', () => thread);

const systems = 'one: { lock: lock-service, store: fenced, expect: { holds: [progress] } }';
const other = 'two: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } }';
const read = loadScenario(`name: calm\nsystems:\n  ${other}\n  ${systems}\n`, 'calm.yaml');
if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
const { scenario } = read;

/** Breaks `progress` on every seed; if WAITS is true, only after it was prepared. */
const EXAMINER = `
  let isReady = !WAITS;
  export const prepareScenario = WAITS ? async () => { isReady = true; } : undefined;
  export const examinerOf = ({ name }, { locks }) => (system, seed) => {
    if (!isReady || !locks.has('lock-service')) throw new Error('not ready');
    if (seed === 5) throw new Error(name + ' ' + system + ' 5');
    const verdicts = [{ kind: 'invalid', claim: 'progress', exercised: 1, rule: '', evidence: [] }];
    const trace = { events: [], processes: [], unmatched: [], ending: { kind: 'complete' } };
    const causes = new Map();
    const NONE = { times: 0, longestUs: 0 };
    const none = { causes, overlap: NONE, losses: NONE, stampede: { computations: 0, most: 0 } };
    return { plan: { clients: [] }, trace, verdicts, ...none };
  };
`;

/**
 * Returns the worker’s answers to consecutive orders, each with the last seed that it published.
 */
async function answersTo(waits: boolean, systemsAsked: readonly string[]): Promise<unknown> {
  const pool = new EventEmitter();
  const postMessage = (done: ChunkDone): boolean => pool.emit('done', done);
  const port = Object.assign(new EventEmitter(), { postMessage });
  const source = EXAMINER.replaceAll('WAITS', String(waits));
  const examinerUrl = `data:text/javascript,${encodeURIComponent(source)}`;
  const seedCell = new Float64Array(1);
  Object.assign(thread, { parentPort: port, workerData: { examinerUrl, seedCell } });
  await import(new URL(`./worker.ts?${waits}`, import.meta.url).href);
  const answers: unknown[] = [];
  for (const system of systemsAsked) {
    const chunk = { system, from: 3, to: 6, skip: [4] };
    const order: ChunkOrder = { scenario, modules: [], chunk };
    const answer = once(pool, 'done');
    port.emit('message', order);
    const [{ counts, milliseconds }] = await answer;
    expect(milliseconds).toBeGreaterThanOrEqual(0);
    expect(milliseconds).toBeLessThan(10_000);
    const { seeds, broken, failures } = counts;
    answers.push([seeds, broken, failures, seedCell[0]]);
  }
  return answers;
}

test.each([true, false])(
  'a worker counts by the expectations of its system, prepared or not: %s',
  async (waits) => {
    const failures = (system: string): unknown => [{ seed: 5, error: `calm ${system} 5` }];
    expect(await answersTo(waits, ['one', 'two', 'none'])).toEqual([
      [3, 2, failures('one'), 6],
      [3, 0, failures('two'), 6],
      [3, 0, failures('none'), 6],
    ]);
  },
);
