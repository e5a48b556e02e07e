import { expect, test } from 'vitest';
import { judge } from '../../check/claims.ts';
import { termsOf } from '../../check/terms.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { answerAllAsync, shrink } from '../../core/shrink/shrink.ts';
import { digestOf } from '../../run.ts';
import { MS } from '../../systems/plan.fixture.ts';
import { lockPlan, withLock } from './lock-user.fixture.ts';
import { pinAsync, runAsync } from './run-async.ts';

async function breaks(plan: Plan): Promise<boolean> {
  const trace = await runAsync(plan, withLock);
  const terms = termsOf(plan, { model: null, isFenced: false }, 1000);
  return judge(trace, terms, ['grant-order'])[0]?.kind === 'invalid';
}

const pause = (process: string, point: string, ms: number): Fault => ({
  kind: 'pause',
  process,
  when: { kind: 'before', point },
  forUs: ms * MS,
  clocks: 'run',
});

test('a paused holder of a lock without tokens corrupts data, and others do not', async () => {
  const faults = [pause('alice', 'alice/1/write', 60)];
  let broken = 0;
  for (let seed = 0; seed < 20; seed += 1) {
    expect(await breaks(lockPlan(seed)), `seed ${seed}`).toBe(false);
    if (await breaks(lockPlan(seed, { faults }))) broken += 1;
  }
  expect(broken).toBeGreaterThan(10); // in the others, bob had finished before
});

test('the failure is shrunk to one pause, with its boundary', async () => {
  const faults = [
    pause('bob', 'bob/2/acquire', 7),
    pause('alice', 'alice/1/write', 57),
    pause('alice', 'alice/2/release', 3),
  ];
  const plan = lockPlan(3, { faults });
  const pinned = await pinAsync(plan, withLock);
  const { plan: small, isMinimal, boundary } = await answerAllAsync(shrink(pinned), breaks);
  expect(isMinimal).toBe(true);
  expect(small.clients.map(({ sections }) => sections.length)).toEqual([1, 1]);
  expect(small.decisions).toEqual({});
  expect(small.faults).toEqual([expect.objectContaining({ kind: 'pause', process: 'alice' })]);
  expect(boundary).not.toBeNull();
  const [one, other] = [await runAsync(small, withLock), await runAsync(small, withLock)];
  expect(digestOf(one)).toBe(digestOf(other));
});
