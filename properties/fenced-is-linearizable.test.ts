/**
 * Law: a fenced store that compares tokens per register is linearizable under any faults of
 * processes, messages and clocks. Excluded are losses of state: after a failover or crash of the
 * lock service tokens are reused, and a store that fails over forgets accepted writes. Excluded are
 * duplicates, too: a copy of a holder's first write may arrive after its second one, with the same
 * token.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FaultKind } from '../src/core/plan/fault.ts';
import { examine } from '../src/harness.ts';
import { ALL_KINDS } from './plan-faults.ts';
import { runnablePlans, samplePlans } from './plans.ts';
import { runs } from './runs.ts';

const LEFT_OUT: readonly FaultKind[] = ['failover', 'crash', 'evict', 'duplicate'];
const KINDS = ALL_KINDS.filter((kind) => !LEFT_OUT.includes(kind));
const STORES = ['fenced-reads', 'fenced'];

test('a fenced store is linearizable under any plan', () => {
  fc.assert(
    fc.property(runnablePlans({ kinds: KINDS, stores: STORES }), (plan) => {
      const [verdict] = examine(plan, ['linearizable']).verdicts;
      expect(verdict?.kind).not.toBe('invalid');
    }),
    { seed: 1, numRuns: runs(150) },
  );
});

test('many of these plans give the search a history to decide', () => {
  const plans = samplePlans(runnablePlans({ kinds: KINDS, stores: STORES }), 100, 2);
  const decided = plans.filter((plan) => {
    const [verdict] = examine(plan, ['linearizable']).verdicts;
    return verdict?.kind === 'valid' && verdict.exercised > 0;
  });
  expect(decided.length).toBeGreaterThan(plans.length / 10);
});
