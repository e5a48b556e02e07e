/**
 * What a sweep on a queue is, as data that any worker can check: the scenario's text, where its
 * results come from, its seeds and how they are cut. Code never travels, only its digests.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Origin, originSchema } from '../../search/sweep/origin.ts';
import type { SeedRange } from '../../search/sweep/shard.ts';
import { count } from '../../search/sweep/tally-schema.ts';
import { chunksIn, MOST_CHUNKS } from './chunk-map.ts';

export interface SweepRecord {
  readonly origin: Origin;
  /** The scenario's file, as it was typed where the sweep was begun, and its text. */
  readonly file: string;
  readonly text: string;
  readonly range: SeedRange;
  /** Seeds of a chunk, each of all systems; the last chunk may have fewer. */
  readonly chunkSeeds: number;
}

export const sweepRecordSchema: z.ZodType<SweepRecord> = z
  .strictObject({
    origin: originSchema,
    file: z.string(),
    text: z.string(),
    range: z.strictObject({ from: count, to: count }),
    chunkSeeds: z.int().min(1),
  })
  .refine(({ range }) => range.from <= range.to, { error: 'the range ends before it begins' })
  .refine((sweep) => chunksIn(sweep) <= MOST_CHUNKS, { error: 'there are too many chunks' });

/** All that makes two sweeps the same one; how the seeds are cut is not part of it. */
export type SweepIdentity = Pick<SweepRecord, 'origin' | 'text' | 'range'>;

const ID_DIGITS = 15;

/** `s` and 15 hexadecimal digits: the same command gives the same sweep, on any machine. */
export function sweepIdOf({ origin, text, range }: SweepIdentity): string {
  const modules = Object.entries(origin.modules).sort(([a], [b]) => (a < b ? -1 : 1));
  const identity = [text, origin.digest, modules, origin.fencepost, range.from, range.to];
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  return `s${digest.slice(0, ID_DIGITS)}`;
}
