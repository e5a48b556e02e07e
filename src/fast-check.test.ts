import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from './core/plan/plan.ts';
import { planArbitrary } from './fast-check.ts';
import { breaks } from './harness.ts';
import { loadScenario } from './load.ts';
import type { Scenario } from './scenario/scenario.ts';

const file = fileURLToPath(new URL('../fixtures/zombie-writer.yaml', import.meta.url));

function zombie(): Scenario {
  const read = loadScenario(readFileSync(file, 'utf8'), file);
  if (read.kind === 'problems') throw new Error('the fixture does not load');
  return read.scenario;
}

test('plans of a scenario stay inside its bounds, and the same seed gives the same plans', () => {
  const plans = (): readonly Plan[] => fc.sample(planArbitrary(zombie(), 'fenced'), { seed: 1 });
  expect(plans()).toEqual(plans());
  for (const { system, bounds, clients } of plans()) {
    expect(system.name).toBe('fenced');
    expect(bounds.latency).toEqual({ minUs: 1_000, maxUs: 2_000 });
    expect(clients.length).toBe(3);
  }
});

test('a property that fails is shown the smallest plan on which it does', () => {
  const holds = fc.property(planArbitrary(zombie(), 'unfenced'), (plan) => {
    expect(breaks(plan, 'grant-order')).toBe(false);
  });
  const { failed, counterexample } = fc.check(holds, { seed: 1, numRuns: 200 });
  const [plan] = counterexample ?? [];
  expect(failed).toBe(true);
  expect(plan?.chance).toBeNull();
  expect(plan?.clients.length).toBe(2);
  expect(plan?.faults.map(({ kind }) => kind)).toEqual(['pause']);
});

test('a property that holds for a fenced store passes', () => {
  const holds = fc.property(planArbitrary(zombie(), 'fenced'), (plan) => {
    expect(breaks(plan, 'grant-order')).toBe(false);
  });
  expect(fc.check(holds, { seed: 1, numRuns: 200 }).failed).toBe(false);
});

test('a system that the scenario does not have is refused', () => {
  expect(() => planArbitrary(zombie(), 'fence')).toThrow('zombie-writer has no system fence');
});
