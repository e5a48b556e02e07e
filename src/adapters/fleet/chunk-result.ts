/** What a chunk came to, as it travels back, and what makes two results of one chunk differ. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { SeedRange } from '../../search/sweep/shard.ts';
import type { Tally } from '../../search/sweep/tally.ts';
import { count, tallySchema } from '../../search/sweep/tally-schema.ts';

export interface ChunkResult extends SeedRange {
  readonly chunk: number;
  /** By the name of the system. */
  readonly tallies: Readonly<Record<string, Tally>>;
  /** How long the worker took; no part of what it came to. */
  readonly milliseconds: number;
}

export const chunkResultSchema: z.ZodType<ChunkResult> = z.strictObject({
  chunk: count,
  from: count,
  to: count,
  tallies: z.record(z.string(), tallySchema),
  milliseconds: count,
});

/** In place of a digest: a seed was killed, so that the tally says something of its machine too. */
export const INCOMPARABLE = 1;

/**
 * 16 bits of a tally's digest, never 0, or `INCOMPARABLE`. One of 65,534 pairs that differ has one
 * digest: machines that differ do so on more than one chunk. Threads finish in any order, so the
 * order of names does not count.
 */
export function digestOfTally(tally: Tally): number {
  if (tally.killed > 0) return INCOMPARABLE;
  const text = JSON.stringify(inOrder(tally));
  const word = createHash('sha256').update(text).digest().readUInt16BE(0);
  return word > INCOMPARABLE ? word : word + 2;
}

/** Whether two digests are of two results, each of which could only have been the same. */
export function areDifferent(one: number, other: number): boolean {
  return one !== other && one !== INCOMPARABLE && other !== INCOMPARABLE;
}

/** The same value with the names of every object sorted. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries: readonly [string, unknown][] = Object.entries(value);
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, inOrder(inner)]));
}
