/** Tests the counts of where faults meet the clients of a run, and the hints if no claim broke. */
import { describe, expect, test } from 'vitest';
import {
  accepted,
  enter,
  fault,
  invoke,
  leave,
  traceOf,
} from '../../check/trace-builder.fixture.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault, FaultKind, When } from '../../core/plan/fault.ts';
import type { Work } from '../../core/plan/plan.ts';
import { loadScenario } from '../../load.ts';
import { run } from '../../run.ts';
import { clientOf, MS, planOf } from '../../systems/plan.fixture.ts';
import { examineChunk } from './chunk.ts';
import { examinerOf } from './examiner.ts';
import { judgeSystem } from './expectation.ts';
import {
  addFaultStages,
  type FaultStages,
  faultStagesOf,
  mergeFaultStages,
} from './fault-positions.ts';

const pause = (when: When, process = 'alice'): Fault => {
  return { kind: 'pause', process, when, forUs: MS, clocks: 'run' };
};
const increment: Work = {
  kind: 'increment',
  id: 1,
  store: 'store',
  key: 'x',
};
/** Counts the faults that fired in a run, by kind and stage. */
const faultStagesIn = (trace: Trace): readonly [FaultKind, FaultStages][] => {
  const counts = new Map<FaultKind, number[]>();
  addFaultStages(counts, trace);
  return [...counts].map(([kind, stages]) => [kind, faultStagesOf(stages)]);
};
const before = (point: string): When => ({ kind: 'before', point: `alice/1/${point}` });
const after = (point: string): When => ({ kind: 'after', point: `alice/1/${point}` });
const delay = (message: string): Fault => {
  return { kind: 'delay', which: { kind: 'message', message: `alice/1/${message}` }, byUs: MS };
};

describe('a fault affects a client', () => {
  test.each<[string, Fault, string]>([
    ['before it has its lock', pause(before('acquire')), 'not-holding'],
    ['with its lock', pause(before('read')), 'before-access'],
    ['whose read is under way', delay('read/1/reply'), 'reading'],
    ['that has read and will write', pause(before('write')), 'read-to-write'],
    ['that has read and checked its lease', pause(after('checked')), 'read-to-write'],
    ['whose write is under way', delay('write/1/request'), 'writing'],
    ['that has written', pause(after('write')), 'after-write'],
    ['that has released it', pause(after('release')), 'not-holding'],
    ['or a server', pause(before('write'), 'lock'), 'server'],
  ])('%s', (_, fault, position) => {
    const plan = planOf({ clients: [clientOf('alice', [increment])], faults: [fault] });
    expect(faultStagesIn(run(plan))).toEqual([[fault.kind, { [position]: 1 }]]);
  });

  test('that is nearest to a stale write, if it affects several clients at once', () => {
    const partition: Fault = {
      kind: 'partition',
      from: ['alice', 'bob'],
      to: ['store'],
      direction: 'both',
      when: before('write'),
      forUs: MS,
    };
    const clients = [clientOf('alice', [increment]), clientOf('bob', [increment])];
    const found = faultStagesIn(run(planOf({ clients, faults: [partition] })));
    expect(found).toEqual([['partition', { 'read-to-write': 1 }]]);
  });
});

test('a run without faults adds no stages, and a probe is not counted as a client', () => {
  const probe = [enter(0, 'probe', 1, 9), invoke(1, 'probe/1/write')];
  const done = [...probe, accepted(2, 'probe/1/write'), leave(3, 'probe', 1)];
  const counts = new Map<FaultKind, number[]>();
  expect(addFaultStages(counts, traceOf(done))).toBe(false);
  expect(counts).toEqual(new Map());
  const hit = traceOf([...done, fault(4, 'pause', 'alice'), fault(5, 'pause', 'probe')]);
  expect(addFaultStages(counts, hit)).toBe(true);
  expect(faultStagesIn(hit)).toEqual([['pause', { server: 1, 'not-holding': 1 }]]);
});

test.each(['read', 'write'] as const)('a %s under an earlier grant no longer counts', (verb) => {
  const operation = `alice/1/${verb}`;
  const before = [enter(0, 'alice', 1, 9), invoke(1, operation), accepted(2, operation)];
  const again = [leave(3, 'alice', 1), enter(4, 'alice', 2, 19), fault(5, 'pause', 'alice')];
  expect(faultStagesIn(traceOf([...before, ...again]))).toEqual([
    ['pause', { 'before-access': 1 }],
  ]);
});

test('merged stages do not depend on the order of the parts, and are sorted', () => {
  const [a, b] = [
    { writing: 2, server: 1 },
    { reading: 3, writing: 1 },
  ];
  const sum = { server: 1, reading: 3, writing: 3 };
  expect(JSON.stringify(mergeFaultStages(a, b))).toBe(JSON.stringify(sum));
  expect(JSON.stringify(mergeFaultStages(b, a))).toBe(JSON.stringify(sum));
});

async function hints(fault: string, workload = 'read-modify-write'): Promise<readonly string[]> {
  const text = `name: hinted
systems:
  one: { lock: lock-service, store: unfenced, expect: { breaks: [tokens-unique] } }
clients: { count: 2, ttl: 20ms, sections: 2, think: 0ms..5ms }
workload: { kind: ${workload} }
swarm: false
faults: [{ ${fault} }]
`;
  const read = loadScenario(text, 'hinted.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario } = read;
  const [system] = scenario.systems;
  if (system === undefined) throw new Error('there is a system');
  const chunk = { system: 'one', from: 0, to: 9, skip: [] };
  const counts = await examineChunk(chunk, system.expect, examinerOf(scenario), () => {});
  return judgeSystem(scenario, system, counts, { isComplete: true, isSingle: false }).hints;
}

describe('if a claim that should break held, a hint reports', () => {
  test.each([
    [
      'that no pause came between a read and its write',
      'pause: { after: write, for: 1ms..40ms }',
      /^pause fired during \d+ grants?: \d+ after the write; to pause between a read and its write, try `before: write`$/,
    ],
    [
      'that none affected a holder',
      'pause: { before: acquire, for: 1ms..40ms }',
      /^pause never affected a lock holder \(fired \d+ times; a lock was held then on \d+ seeds\); to pause between .*, try `before: write`$/,
    ],
    [
      'that it is too short in the right place',
      'pause: { before: write, for: 1ms..8ms }',
      /^pause fired during \d+ grants: \d+ between a read and its write; it lasts at most 8 ms, but a lease lasts 20 ms$/,
    ],
    [
      'that no write was late',
      'delay: { message: acquire, by: 1ms..40ms }',
      /^delay never affected a lock holder \(fired \d+ times; a lock was held then on \d+ seeds\); to delay a write, try `message: write`$/,
    ],
    ['that it never fired', 'drop: { chance: 1/100000 }', /^drop never fired$/],
    [
      'the other positions, without advice',
      'crash: { process: clients, after: read, chance: 1/2 }',
      /^crash fired during \d+ grants: \d+ between a read and its write$/,
    ],
  ])('%s', async (_, fault, text) => {
    expect(await hints(fault)).toEqual([expect.stringMatching(text)]);
  });

  test('for blind writes, that no pause came before the access', async () => {
    const [hint] = await hints('pause: { after: write, for: 1ms..40ms }', 'blind-writes');
    expect(hint).toMatch(/; to pause before the first access, try `before: write`$/);
  });
});
