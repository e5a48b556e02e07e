/**
 * Splits a range of seeds among machines by arithmetic alone, so that they need not talk to each
 * other. A shard is a run of consecutive seeds: seeds cost the same wherever they lie, and what a
 * shard did can be repeated anywhere with `--seeds A..B`.
 */

/** Seeds, both included; `to` is `from - 1` where there are none. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

/** Shard `index` of `of`; the first is 1. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** Far more than anybody has machines; what is missing of them can still be counted. */
export const MOST_SHARDS = 100_000;

/**
 * The seeds of one shard. All shards together are the range, none overlap, and no two differ by
 * more than one seed; the first ones have it. With more shards than seeds, the last are empty.
 */
export function rangeOfShard({ from, to }: SeedRange, { index, of }: Shard): SeedRange {
  const seeds = to - from + 1;
  const least = Math.floor(seeds / of);
  const longer = seeds % of;
  const first = from + (index - 1) * least + Math.min(index - 1, longer);
  return { from: first, to: first + least + (index <= longer ? 1 : 0) - 1 };
}
