/** Tests plans that need a SQL engine before it is loaded. */
import { expect, test } from 'vitest';
import { runnablePlans, samplePlans } from '../../../properties/plans.ts';
import { run, whyRefused } from '../../run.ts';
import { UnpreparedSystem } from '../assemble.ts';
import { prepare } from './store-kinds.ts';

// Needs modules of its own: a store that another file prepared stays prepared.
test('a plan with a SQL store is refused until the store is prepared', async () => {
  const [plan] = samplePlans(runnablePlans({ stores: ['versioned-sql'] }), 1, 1);
  if (plan === undefined) throw new Error('there is no plan');
  expect(() => run(plan)).toThrow(UnpreparedSystem);
  expect(whyRefused(plan)).toBe(null);
  await prepare([plan.system]);
  expect(run(plan).ending.kind).toBe('complete');
});
