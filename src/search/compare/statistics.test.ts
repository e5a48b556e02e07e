import { describe, expect, test } from 'vitest';
import {
  drawResamples,
  estimate,
  meanOf,
  quantileOf,
  RESAMPLES,
  ratioOf,
  wilson,
} from './statistics.ts';

describe('resamples', () => {
  test('draw as many runs as there are, the same every time', () => {
    const resamples = drawResamples(7);
    expect(resamples).toHaveLength(RESAMPLES);
    for (const weights of resamples) expect(weights.reduce((sum, one) => sum + one)).toBe(7);
    expect(drawResamples(7)).toEqual(resamples);
  });
});

describe('an estimate', () => {
  test('of a mean has an interval about as wide as the normal one', () => {
    const numbers = Array.from({ length: 100 }, (_, at) => at);
    const { value, lower, upper } = estimate(meanOf(numbers), drawResamples(100));
    expect(value).toBe(49.5);
    // The standard error is 28.9 / 10.
    expect(lower).toBeGreaterThan(49.5 - 1.96 * 2.89 - 1);
    expect(lower).toBeLessThan(49.5 - 1.96 * 2.89 + 1);
    expect(upper).toBeGreaterThan(49.5 + 1.96 * 2.89 - 1);
    expect(upper).toBeLessThan(49.5 + 1.96 * 2.89 + 1);
  });

  test('has a wider interval the surer it is', () => {
    const statistic = meanOf(Array.from({ length: 100 }, (_, at) => at));
    const [usual, surer] = [0.95, 0.975].map((level) => {
      const { lower, upper } = estimate(statistic, drawResamples(100), level);
      return (upper ?? 0) - (lower ?? 0);
    });
    expect(estimate(statistic, drawResamples(100))).toEqual(
      estimate(statistic, drawResamples(100), 0.95),
    );
    // 2.24 standard errors each way instead of 1.96.
    expect((surer ?? 0) / (usual ?? 1)).toBeCloseTo(2.24 / 1.96, 1);
  });

  test('of what is always the same has an interval of no width', () => {
    expect(estimate(meanOf([3, 3, 3]), drawResamples(3))).toEqual({
      ...{ value: 3, lower: 3, upper: 3 },
    });
  });

  test('of one run has no interval, and of nothing no value', () => {
    expect(estimate(meanOf([3]), drawResamples(1))).toEqual({ value: 3, lower: null, upper: null });
    expect(estimate(quantileOf([[], []], 0.5), drawResamples(2)).value).toBeNull();
    expect(estimate(ratioOf([0, 0], [0, 0]), drawResamples(2)).value).toBeNull();
  });

  test('of a quantile is the least value that so many are not above', () => {
    const all = (share: number): number | null =>
      quantileOf([[5, 1], [3], [4, 2]], share)([1, 1, 1]);
    expect([0.2, 0.5, 0.6, 0.99].map(all)).toEqual([1, 3, 3, 5]);
  });

  test('counts a run as often as it was drawn', () => {
    expect(meanOf([1, 10])([2, 0])).toBe(1);
    expect(ratioOf([1, 10], [2, 20])([1, 3])).toBe(31 / 62);
    expect(quantileOf([[1], [10]], 0.5)([0, 2])).toBe(10);
  });
});

test('Wilson’s interval is the textbook one, and says something at 0 of n', () => {
  const { lower, upper } = wilson(2, 10);
  expect([lower.toFixed(4), upper.toFixed(4)]).toEqual(['0.0567', '0.5098']);
  expect(wilson(0, 10)).toMatchObject({ lower: 0 });
  expect(wilson(0, 10).upper).toBeCloseTo(0.2775, 3);
  expect(wilson(10, 10)).toMatchObject({ upper: 1 });
});
