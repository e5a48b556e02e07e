/** What a chunk came to, as it travels back, and what makes two results of one chunk equal. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { SeedRange } from '../sweep/shard.ts';
import type { Tally } from '../sweep/tally.ts';
import { count, tallySchema } from '../sweep/tally-schema.ts';

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

/**
 * 32 bits of the tallies' digest, never 0. Threads finish in any order, so the order of names does
 * not count.
 */
export function digestOfResult({ tallies }: Pick<ChunkResult, 'tallies'>): number {
  const text = JSON.stringify(inOrder(tallies));
  return createHash('sha256').update(text).digest().readUInt32BE(0) || 1;
}

/** The same value with the names of every object sorted. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries: readonly [string, unknown][] = Object.entries(value);
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, inOrder(inner)]));
}
