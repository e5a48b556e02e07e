/** Redlock's arithmetic: majorities that meet, and the time that is left of a lock. */
import { describe, expect, test } from 'vitest';
import { majorityOf, marginUs, validityUs } from './protocol.ts';

const SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('a majority', () => {
  test('is one of one, two of two or three, three of four or five', () => {
    expect([1, 2, 3, 4, 5].map(majorityOf)).toEqual([1, 2, 2, 3, 3]);
  });

  test.each(SIZES)('of %i nodes shares a node with any other, and is the fewest that does', (n) => {
    expect(2 * majorityOf(n)).toBeGreaterThan(n);
    expect(2 * (majorityOf(n) - 1)).toBeLessThanOrEqual(n);
  });

  test.each(SIZES)('of %i nodes is found twice once one (odd) or two (even) forget', (n) => {
    // A second client finds the nodes that the first one has not, and those that forgot it.
    const mustForget = majorityOf(n) - (n - majorityOf(n));
    expect(mustForget).toBe(n % 2 === 1 ? 1 : 2);
  });

  test('that is only half of four nodes leaves another half', () => {
    expect(4 - Math.floor(4 / 2)).toBe(Math.floor(4 / 2));
  });
});

/** As redlock-rb counts it: a hundredth of the ttl, and 2 ms. */
const MARGIN = { factorPpm: 10_000, constantUs: 2_000 };

describe('the time of validity', () => {
  test('of a ttl of 10 s that took 50 ms to ask for is 9.848 s', () => {
    const margin = marginUs(10_000_000, MARGIN);
    expect(margin).toBe(102_000);
    const lease = { ttlUs: 10_000_000, elapsedUs: 50_000, marginUs: margin };
    expect(validityUs(lease)).toBe(9_848_000);
  });

  test('of a ttl of 10 ms is 7.9 ms at first and nothing after 7.9 ms', () => {
    const margin = marginUs(10_000, MARGIN);
    expect(margin).toBe(2_100);
    const after = (elapsedUs: number): number =>
      validityUs({ ttlUs: 10_000, elapsedUs, marginUs: margin });
    expect([0, 7_899, 7_900, 12_000].map(after)).toEqual([7_900, 1, 0, -4_100]);
  });

  test('is rounded to the safe side', () => {
    expect(marginUs(150, { factorPpm: 10_000, constantUs: 0 })).toBe(2);
  });
});
