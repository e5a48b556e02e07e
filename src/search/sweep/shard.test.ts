import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { rangeOfShard, type SeedRange } from './shard.ts';

function shardsOf(range: SeedRange, of: number): readonly SeedRange[] {
  return Array.from({ length: of }, (_, at) => rangeOfShard(range, { index: at + 1, of }));
}

test('the shards of a range follow one another, leave nothing out, and are of one size', () => {
  const seeds = fc.record({ from: fc.nat(1_000_000), count: fc.nat(500), of: fc.nat(99) });
  fc.assert(
    fc.property(seeds, ({ from, count, of }) => {
      const shards = shardsOf({ from, to: from + count }, of + 1);
      let next = from;
      for (const shard of shards) {
        expect(shard.from).toBe(next);
        next = shard.to + 1;
      }
      expect(next).toBe(from + count + 1);
      const sizes = shards.map((shard) => shard.to - shard.from + 1);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('the arithmetic is exact up to the largest seed', () => {
  const to = Number.MAX_SAFE_INTEGER;
  expect(rangeOfShard({ from: 0, to: to - 1 }, { index: 3, of: 3 }).to).toBe(to - 1);
  expect(rangeOfShard({ from: to - 3, to }, { index: 2, of: 3 })).toEqual({
    from: to - 1,
    to: to - 1,
  });
});

test('of more shards than seeds the last are empty', () => {
  expect(shardsOf({ from: 5, to: 6 }, 3)).toEqual([
    { from: 5, to: 5 },
    { from: 6, to: 6 },
    { from: 7, to: 6 },
  ]);
});
