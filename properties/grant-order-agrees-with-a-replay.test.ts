/** Tests `grant-order` against a replay by hand, on plans of all kinds. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { examine } from '../src/harness.ts';
import { runnablePlans } from './plans.ts';
import { runs } from './runs.ts';
import { isBrokenByHand } from './second-opinions/replay-by-hand.ts';

test('`grant-order` agrees with a replay by hand', () => {
  let broken = 0;
  const stores = ['unfenced', 'fenced', 'fenced-reads', 'fenced-volatile', 'fenced-per-key'];
  fc.assert(
    fc.property(runnablePlans({ stores }), (plan) => {
      const { trace, verdicts } = examine(plan, ['grant-order']);
      expect(verdicts[0]?.kind === 'invalid').toBe(isBrokenByHand(trace));
      if (isBrokenByHand(trace)) broken += 1;
    }),
    { seed: 1, numRuns: runs(1_500) },
  );
  expect(broken).toBeGreaterThanOrEqual(runs(40));
});
