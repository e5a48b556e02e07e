import { expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import { loadScenario } from '../../load.ts';
import { expand } from '../../scenario/expand.ts';
import { eventsOf } from '../../systems/plan.fixture.ts';
import { lockPlan, withLock } from './lock-user.fixture.ts';
import { runAsync } from './run-async.ts';

const scenarioWith = (point: string): ReturnType<typeof loadScenario> =>
  loadScenario(
    [
      'name: placed',
      'systems:',
      '  own: { lock: own, store: unfenced }',
      '  built-in: { lock: none, store: unfenced }',
      'clients: { count: 2, ttl: 20ms, sections: 2 }',
      'workload: { kind: read-modify-write }',
      `faults: [{ pause: { process: clients, before: ${point}, for: 1ms..5ms } }]`,
    ].join('\n'),
    'placed.yaml',
    withLock,
  );

test('a fault can be placed at an operation that asynchronous code names', async () => {
  const read = scenarioWith('release');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  for (let seed = 0; seed < 10; seed += 1) {
    const plan = expand(read.scenario, 'own', seed);
    expect(plan.faults.length).toBe(2);
    const trace = await runAsync(plan, withLock);
    expect(trace.unmatched).toEqual([]);
    expect(eventsOf(trace, 'fault').length).toBe(2);
  }
});

test('an unknown operation is refused, with the closest name', () => {
  const read = scenarioWith('relaese');
  expect(read.kind === 'problems' ? read.problems.map(({ what }) => what) : []).toEqual([
    expect.stringContaining('unknown point "relaese"; did you mean "release"?'),
  ]);
});

test('code without that operation gets no fault there', () => {
  const read = scenarioWith('acquire');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario } = read;
  const [first, ...others] = scenario.systems;
  if (first === undefined) throw new Error('there is no system');
  const named = { ...scenario, systems: [{ ...first, operations: ['release'] }, ...others] };
  expect(expand(named, 'own', 1).faults).toEqual([]);
  expect(expand(scenario, 'own', 1).faults.length).toBe(2);
});

test('a fault after a call of one client can end a call of another', async () => {
  const reset: Fault = {
    kind: 'reset',
    from: 'alice',
    to: 'lock',
    when: { kind: 'after', point: 'bob/1/acquire' },
  };
  let lost = 0;
  for (let seed = 0; seed < 20; seed += 1) {
    const trace = await runAsync(lockPlan(seed, { faults: [reset] }), withLock);
    expect(trace.ending.kind).toBe('complete');
    lost += eventsOf(trace, 'lose').length;
  }
  expect(lost).toBeGreaterThan(0);
});
