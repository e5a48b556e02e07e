/**
 * Law of fencing: under any faults, a store never returns to an earlier grant. Excluded are cases
 * without that guarantee: after a failover of the lock service, or a crash of one with a volatile
 * counter, tokens are reused; after a failover of a store, its fence is an old one; and a store
 * whose fence is volatile, or kept per key, guarantees less by design.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from '../src/core/plan/plan.ts';
import { breaks } from '../src/harness.ts';
import { ALL_KINDS } from './plan-faults.ts';
import { runnablePlans, samplePlans } from './plans.ts';
import { runs } from './runs.ts';

const KINDS = ALL_KINDS.filter((kind) => kind !== 'failover');
const FENCED = ['fenced', 'fenced-strict', 'fenced-reads', 'fenced-open', 'fenced-sequenced'];

function before(plan: Plan, store: string): Plan {
  return { ...plan, system: { ...plan.system, store } };
}

test('a fenced store keeps `fence-monotone` under any plan', () => {
  fc.assert(
    fc.property(runnablePlans({ kinds: KINDS, stores: FENCED }), (plan) => {
      expect(breaks(plan, 'fence-monotone')).toBe(false);
    }),
    { seed: 1, numRuns: runs(1_500) },
  );
});

test('an unfenced store breaks it under some plans under which a fenced store keeps it', () => {
  const plans = samplePlans(runnablePlans({ kinds: KINDS }), 600, 2);
  const broken = (store: string): number =>
    plans.filter((plan) => breaks(before(plan, store), 'fence-monotone')).length;
  expect(broken('fenced')).toBe(0);
  expect(broken('unfenced')).toBeGreaterThan(0);
});

test('tokens increase in the order of the grants under any plan', () => {
  fc.assert(
    fc.property(runnablePlans({ kinds: KINDS }), (plan) => {
      expect(breaks(plan, 'tokens-increase')).toBe(false);
      expect(breaks(plan, 'tokens-unique')).toBe(false);
    }),
    { seed: 3, numRuns: runs(500) },
  );
});

test('a failover reuses tokens and lowers the fence in some plans', () => {
  const plans = samplePlans(runnablePlans({ kinds: ['failover', 'pause'] }), 600, 4);
  expect(plans.filter((plan) => breaks(plan, 'tokens-increase')).length).toBeGreaterThan(0);
  expect(plans.filter((plan) => breaks(plan, 'fence-monotone')).length).toBeGreaterThan(0);
});
