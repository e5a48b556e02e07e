/** What is asked for before a SQL engine is there. */
import { expect, test } from 'vitest';
import { runnablePlans, samplePlans } from '../../../properties/plans.ts';
import { run, whyRefused } from '../../run.ts';
import { UnpreparedSystem } from '../assemble.ts';
import { prepare } from './store-kinds.ts';

// Needs modules of its own: once prepared by another file, a store stays so.
test('a plan before a SQL store is refused until that is prepared', async () => {
  const [plan] = samplePlans(runnablePlans({ stores: ['versioned-sql'] }), 1, 1);
  if (plan === undefined) throw new Error('there is no plan');
  expect(() => run(plan)).toThrow(UnpreparedSystem);
  expect(whyRefused(plan)).toBe(null);
  await prepare([plan.system]);
  expect(run(plan).ending.kind).toBe('complete');
});
