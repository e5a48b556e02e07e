/** Tests Redlock's arithmetic: overlapping majorities, and the remaining validity of a lock. */
import { describe, expect, test } from 'vitest';
import { majorityOf, marginUs, validityUs } from './protocol.ts';

const SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('a majority', () => {
  test('is one of one, two of two or three, three of four or five', () => {
    expect([1, 2, 3, 4, 5].map(majorityOf)).toEqual([1, 2, 2, 3, 3]);
  });

  test.each(SIZES)(
    'of %i nodes shares a node with any other, and is the smallest that does',
    (n) => {
      expect(2 * majorityOf(n)).toBeGreaterThan(n);
      expect(2 * (majorityOf(n) - 1)).toBeLessThanOrEqual(n);
    },
  );

  test.each(SIZES)('of %i nodes exists twice once one (odd) or two (even) lose the key', (n) => {
    // A second client gets the nodes that the first one lacks, and those that lost the key.
    const mustForget = majorityOf(n) - (n - majorityOf(n));
    expect(mustForget).toBe(n % 2 === 1 ? 1 : 2);
  });

  test('that is only half of four nodes leaves another half', () => {
    expect(4 - Math.floor(4 / 2)).toBe(Math.floor(4 / 2));
  });
});

/** The margin of redlock-rb: a hundredth of the ttl, and 2 ms. */
const MARGIN = { factorPpm: 10_000, constantUs: 2_000 };

describe('the validity', () => {
  test('of a ttl of 10 s that took 50 ms to acquire is 9.848 s', () => {
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

  test('has a margin that is rounded up', () => {
    expect(marginUs(150, { factorPpm: 10_000, constantUs: 0 })).toBe(2);
  });
});
