/**
 * Law: a lease alone protects nothing. Of the plans under which a fenced store keeps the order of
 * the grants, some let a late writer into an unfenced one, and every such breach needs a fault.
 */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FaultKind } from '../src/core/plan/fault.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { breaks } from '../src/harness.ts';
import { loadScenario } from '../src/load.ts';
import { expand } from '../src/scenario/expand.ts';
import { runnablePlans, samplePlans } from './plans.ts';
import { runs } from './runs.ts';

const LATE: readonly FaultKind[] = ['pause', 'delay', 'clock'];
const plans = runnablePlans({ kinds: LATE });

function before(plan: Plan, store: string): Plan {
  return { ...plan, system: { ...plan.system, store } };
}

test('a pause, a delay or a skewed clock lets a late writer into an unfenced store', () => {
  const corrupted = samplePlans(plans, 300, 1).filter((plan) =>
    breaks(before(plan, 'unfenced'), 'fence-monotone'),
  );
  expect(corrupted.length).toBeGreaterThan(5);
});

test('under the same plans a fenced store accepts no late write', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      expect(breaks(before(plan, 'fenced'), 'fence-monotone')).toBe(false);
    }),
    { seed: 1, numRuns: runs(300) },
  );
});

test('a leader that is paused at any time corrupts an unfenced store within 20 seeds', () => {
  const file = new URL('../fixtures/leader.yaml', import.meta.url);
  const read = loadScenario(readFileSync(file, 'utf8'), 'leader.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  const corrupts = (store: string): boolean =>
    seeds.some((seed) => breaks(expand(read.scenario, store, seed), 'fence-monotone'));
  expect([corrupts('unfenced'), corrupts('fenced')]).toEqual([true, false]);
});
