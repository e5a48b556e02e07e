import { expect, test, vi } from 'vitest';
import { pause, planWith } from './sample-plan.fixture.ts';
import { shrinkWith } from './shrink-with.fixture.ts';

// An order in which each plan is simpler than any other, and than itself.
vi.mock('./simpler.ts', async (original) => ({
  ...(await original<typeof import('./simpler.ts')>()),
  isSimpler: (): boolean => true,
}));

test('a shrink ends even if the order of plans is inconsistent', () => {
  const start = planWith([pause('alice', 12_000), pause('bob', 5_000)]);
  const result = shrinkWith(start, () => true, { maxRuns: 20 });
  expect(result.runs).toBeLessThanOrEqual(20);
  expect(result.isMinimal).toBe(false);
});
