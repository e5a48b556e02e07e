import { expect, test } from 'vitest';
import { meanOf, shareOf } from './statistics.ts';

test('the interval of a mean is the normal one', () => {
  const { value, lower, upper } = meanOf(Array.from({ length: 100 }, (_, at) => at));
  // The standard error is 29.0 / 10.
  expect([value, lower.toFixed(2), upper.toFixed(2)]).toEqual([49.5, '43.81', '55.19']);
  expect(meanOf([3])).toEqual({ value: 3, lower: 3, upper: 3 });
});

test('Wilson’s interval is the textbook one, and is not empty at 0 of n', () => {
  const { lower, upper } = shareOf(2, 10);
  expect([lower.toFixed(4), upper.toFixed(4)]).toEqual(['0.0567', '0.5098']);
  expect(shareOf(0, 10)).toMatchObject({ lower: 0 });
  expect(shareOf(0, 10).upper).toBeCloseTo(0.2775, 3);
  expect(shareOf(10, 10)).toMatchObject({ upper: 1 });
});
