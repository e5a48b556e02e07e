/** Tests the message on missing shards. */
import { expect, test } from 'vitest';
import { missingText } from './shards.ts';

test.each([
  [{ first: [2], count: 1, of: 2 }, 'shard 2 of 2 missing'],
  [{ first: [2, 4], count: 2, of: 4 }, 'shards 2, 4 of 4 missing'],
  [{ first: [2, 3], count: 99, of: 100 }, 'shards 2, 3 and 97 more (99 of 100) missing'],
])('missing shards are named or counted: %j', (missing, text) => {
  expect(missingText(missing)).toBe(text);
});
