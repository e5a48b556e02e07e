import { expect, test } from 'vitest';
import { mergeUnsimulated, unsimulatedText } from './unsimulated.ts';

const xadd = { kind: 'command', what: 'XADD', place: 'queue.mjs:9:3', package: 'bullmq' } as const;
const fetched = { kind: 'builtin', what: 'fetch', place: null, package: null } as const;

test('counts add up, and the place is that of the lowest seed, in any order of merging', () => {
  const low = { found: [{ ...xadd, count: 1, firstSeed: 2 }], others: 1 };
  const high = { found: [{ ...xadd, place: 'a.mjs:1:1', count: 2, firstSeed: 7 }], others: 2 };
  const both = { found: [{ ...xadd, count: 3, firstSeed: 2 }], others: 3 };
  expect(mergeUnsimulated(low, high)).toEqual(both);
  expect(mergeUnsimulated(high, low)).toEqual(both);
});

test('a line has the names, counts and first place, and the packages that cannot be tested', () => {
  const found = [
    { ...fetched, count: 1 },
    { ...xadd, count: 1234 },
  ];
  expect(unsimulatedText({ found, others: 2 })).toBe(
    'not simulated: XADD (1,234×, first from queue.mjs:9:3), fetch (1×), others (2×); this package cannot be tested: bullmq',
  );
  expect(unsimulatedText({ found: [{ ...fetched, count: 1 }] })).toBe('not simulated: fetch (1×)');
  const driver = { place: 'ioredis/a.js:1:2', package: 'ioredis', count: 1 };
  const missing = { kind: 'protocol', what: 'Redis at redis-1:6379', ...driver } as const;
  expect(unsimulatedText({ found: [missing] })).not.toContain('cannot be tested');
});
