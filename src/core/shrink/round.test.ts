import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digitsOf, rounderThan, roundestBetween, roundFrom, roundTo } from './round.ts';

test('digits are counted as written in milliseconds, and a round number has one', () => {
  const digits = [0, 10_000, 500, 12_500, 1_200, 9_999, 7, 100, 502_000].map(digitsOf);
  expect(digits).toEqual([0, 1, 1, 3, 2, 4, 3, 1, 3]);
  const round = [9_000, 11_000, 12_000, 99_000, 510_000, 1_100_000, 3_600_000_000];
  expect(round.map(digitsOf)).toEqual(round.map(() => 1));
});

test('rounding up returns the first round number', () => {
  const found = [0, 1, 500, 501, 901, 1_001, 9_001, 10_001, 18_001, 99_001, 502_001].map(roundFrom);
  expect(found).toEqual([0, 100, 500, 600, 1_000, 2_000, 10_000, 11_000, 19_000, 100_000, 510_000]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300_000 }), (us) => {
      let first = us;
      while (digitsOf(first) > 1) first += 1;
      expect(roundFrom(us)).toBe(first);
    }),
  );
});

test('the roundest number between two lies strictly between them', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), fc.nat(10_000_000), (one, other) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const between = roundestBetween(low, high);
      if (high - low < 2) expect(between).toBeNull();
      else expect(between !== null && between > low && between < high).toBe(true);
    }),
  );
  expect(roundestBetween(10_000, 90_000)).toBe(50_000);
  expect(roundestBetween(10_000, 20_000)).toBe(15_000);
});

test('rounder numbers have fewer digits and lie in the range, the roundest first', () => {
  expect(rounderThan(12_345, { minUs: 0, maxUs: 100_000 })).toEqual([
    0, 12_000, 13_000, 10_000, 20_000, 12_300, 12_400, 12_340, 12_350,
  ]);
  expect(rounderThan(12_345, { minUs: 12_100, maxUs: 12_999 })[0]).toBe(12_300);
  expect(rounderThan(12_345, { minUs: 12_000, maxUs: 13_000 }).slice(0, 2)).toEqual([
    12_000, 13_000,
  ]);
  expect(rounderThan(0, { minUs: 0, maxUs: 9 })).toEqual([]);
});

test('rounding to a grid stays in the range', () => {
  expect(roundTo(12_345, 5_000, { minUs: 0, maxUs: 20_000 })).toBe(10_000);
  expect(roundTo(12_345, 5_000, { minUs: 11_000, maxUs: 20_000 })).toBe(15_000);
  expect(roundTo(12_345, 5_000, { minUs: 12_000, maxUs: 13_000 })).toBe(12_345);
});
