/** Tests the results of each task, and where it runs. */
import { expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import { loadScenario } from '../../load.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { narrowed } from '../exhaust/narrowed.ts';
import { type PoolTask, performHere, performTask, type TaskEnd } from './tasks.ts';

const text = `name: small
systems: { one: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } } }
clients: { names: [alice, bob], ttl: 10ms, sections: 1, think: 0ms..5ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
faults: [pause: { process: clients, before: write, for: 14ms }]
`;

function scenarioOf(): Scenario {
  const read = loadScenario(text, 'small.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

const scenario = scenarioOf();
const bounds = { faults: 1, ties: 0, clients: 2, sections: 1 };
const system = 'one';
const never = (): boolean => false;
const count: PoolTask = { kind: 'count', scenario: narrowed(scenario, bounds), system };
const edges: PoolTask = { ...count, kind: 'edges', claims: ['grant-order'], mostRuns: 999 };
const plan = expand(scenario, system, 1);
const shrink: PoolTask = {
  kind: 'shrink',
  plan,
  claim: 'grant-order',
  title: 'shrinking',
  seed: 0,
};

test.each<[PoolTask, object]>([
  [
    { kind: 'repeat', scenario, system, seed: 3 },
    { kind: 'repeated', difference: null },
  ],
  [count, { kind: 'counted', count: { plans: expect.any(Number) } }],
  [edges, { kind: 'edges', edges: { givenUp: [] } }],
  [shrink, { kind: 'shrunk', result: { runs: expect.any(Number) } }],
  [
    { ...count, system: 'two' },
    { kind: 'threw', error: expect.stringContaining('two') },
  ],
])('a task returns its result, or why it failed: %#', async (task, found) => {
  expect(await performHere(task, builtIn, never)).toMatchObject(found);
});

test('a stopped shrink ends with its result so far', async () => {
  const shrunk = await performHere(shrink, builtIn, () => true);
  expect(shrunk).toMatchObject({ kind: 'shrunk', result: { reproduced: null, runs: 0 } });
});

test('a task runs in the pool if that has a worker and can load its definitions', async () => {
  const task: PoolTask = { kind: 'repeat', scenario, system, seed: 3 };
  const done: TaskEnd = { kind: 'given up' };
  const kinds: string[] = [];
  for (const [workers, isLoadable] of [
    [1, true],
    [0, true],
    [1, false],
  ] as const) {
    const pool = { workers, perform: (): Promise<TaskEnd> => Promise.resolve(done) };
    const catalogue = { ...builtIn, isLoadable };
    kinds.push((await performTask(task, { pool, catalogue, isGivenUp: never })).kind);
  }
  const alone = await performTask(task, { pool: null, catalogue: builtIn, isGivenUp: never });
  expect([...kinds, alone.kind]).toEqual(['given up', 'repeated', 'repeated', 'repeated']);
});
