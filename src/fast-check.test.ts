import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planArbitrary } from './fast-check.ts';
import { judge, loadScenario, type Plan, run } from './library.ts';

const zombie = await loadScenario(
  fileURLToPath(new URL('../fixtures/zombie-writer.yaml', import.meta.url)),
);

async function breaks(plan: Plan): Promise<boolean> {
  const [verdict] = await judge(plan, await run(plan), ['grant-order']);
  return verdict?.kind === 'invalid';
}

test('plans of a scenario stay within its bounds, and one seed gives the same plans', () => {
  const plans = (): readonly Plan[] => fc.sample(planArbitrary(zombie, 'fenced'), { seed: 1 });
  expect(plans().map(String)).toEqual(plans().map(String));
  for (const { system, data } of plans()) {
    expect(system).toBe('fenced');
    expect(data.bounds.latency).toEqual({ minUs: 1_000, maxUs: 2_000 });
    expect(data.clients.length).toBe(3);
  }
});

test('a failing property is reported with the smallest plan on which it fails', async () => {
  const holds = fc.asyncProperty(planArbitrary(zombie, 'unfenced'), async (plan) => {
    expect(await breaks(plan)).toBe(false);
  });
  const { failed, counterexample } = await fc.check(holds, { seed: 1, numRuns: 200 });
  const [plan] = counterexample ?? [];
  expect(failed).toBe(true);
  expect(plan?.data.chance).toBeNull();
  expect(plan?.data.clients.length).toBe(2);
  expect(plan?.faults.map((fault) => Object.keys(fault))).toEqual([['pause']]);
});

test('a property that holds for a fenced store passes', async () => {
  const holds = fc.asyncProperty(planArbitrary(zombie, 'fenced'), async (plan) => {
    expect(await breaks(plan)).toBe(false);
  });
  expect((await fc.check(holds, { seed: 1, numRuns: 200 })).failed).toBe(false);
});

test('a system that the scenario does not have is refused', () => {
  expect(() => planArbitrary(zombie, 'fence')).toThrow('zombie-writer has no system fence');
});
