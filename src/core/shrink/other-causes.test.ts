/** A plan that breaks the claim by another cause is not the result, but it is kept. */
import { describe, expect, test } from 'vitest';
import type { Plan } from '../plan/plan.ts';
import { pause, planWith } from './sample-plan.fixture.ts';
import type { Tried } from './search.ts';
import { shrinkWith } from './shrink-with.fixture.ts';

function pausedUs(plan: Plan, name: string): number {
  return plan.faults.reduce(
    (total, one) => total + (one.kind === 'pause' && one.process === name ? one.forUs : 0),
    0,
  );
}

/** A pause of alice breaks the claim; so does one of bob alone, by another cause. */
function judge(plan: Plan): Tried {
  if (pausedUs(plan, 'alice') >= 20_000) return true;
  return pausedUs(plan, 'bob') >= 10_000 && { otherCause: 'pause of bob' };
}

const start = planWith([pause('alice', 30_000), pause('bob', 31_234), pause('bob', 500)]);

describe('a plan with several causes', () => {
  const { plan, others, boundary } = shrinkWith(start, judge);

  test('is shrunk for its original cause', () => {
    expect(plan.faults).toEqual([expect.objectContaining({ process: 'alice', forUs: 20_000 })]);
  });

  test('yields the simplest plan that was found for each other cause', () => {
    expect(others.map(({ cause }) => cause)).toEqual(['pause of bob']);
    for (const other of others) {
      expect(judge(other.plan)).toEqual({ otherCause: other.cause });
      expect(other.plan.faults.length).toBeLessThan(start.faults.length);
    }
  });

  test('has a boundary beyond which no cause breaks the claim', () => {
    expect(boundary).toMatchObject({ breaksAtUs: 20_000, holdsAtUs: 19_999 });
  });
});

test('a plan that breaks by another cause does not count as holding at the boundary', () => {
  const { boundary } = shrinkWith(planWith([pause('alice', 30_000)]), (plan): Tried => {
    const us = pausedUs(plan, 'alice');
    return us >= 20_000 ? true : us >= 15_000 ? { otherCause: 'less' } : false;
  });
  expect(boundary).toMatchObject({ breaksAtUs: 15_000, holdsAtUs: 14_999 });
});

test('a plan that breaks out of place is discarded, and does not count as holding', () => {
  const shrunk = shrinkWith(planWith([pause('alice', 30_000)]), (plan): Tried => {
    const us = pausedUs(plan, 'alice');
    return us >= 20_000 ? true : us >= 15_000 ? 'out of place' : false;
  });
  expect(pausedUs(shrunk.plan, 'alice')).toBe(20_000);
  expect(shrunk.others).toEqual([]);
  expect(shrunk.boundary).toMatchObject({ breaksAtUs: 15_000, holdsAtUs: 14_999 });
});

test('only the plans of the first eight other causes are kept', () => {
  let met = 0;
  const { others } = shrinkWith(start, (plan): Tried => {
    if (plan === start) return true;
    met += 1;
    return { otherCause: `${met}` };
  });
  expect(others.map(({ cause }) => cause)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
});
