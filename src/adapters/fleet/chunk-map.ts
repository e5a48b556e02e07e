/**
 * Which seeds are in which chunk of a sweep, and what its job is called. Both follow from the
 * sweep alone, so that adding a chunk twice adds it once.
 */
import type { SeedRange } from '../../search/sweep/shard.ts';
import type { SweepRecord } from './sweep-record.ts';

type Cut = Pick<SweepRecord, 'range' | 'chunkSeeds'>;

/** A sweep is cut into so many chunks at most. */
export const MOST_CHUNKS = 1_000_000;

/** How many chunks there are; they are numbered from 0. */
export function chunksIn({ range, chunkSeeds }: Cut): number {
  return Math.ceil((range.to - range.from + 1) / chunkSeeds);
}

/** The seeds of a chunk. */
export function rangeOfChunk({ range, chunkSeeds }: Cut, chunk: number): SeedRange {
  const from = range.from + chunk * chunkSeeds;
  return { from, to: Math.min(from + chunkSeeds - 1, range.to) };
}

/** Seeds of a chunk that takes about `chunkMs` where `seedsPerMs` are examined. */
export function seedsPerChunk(
  { from, to }: SeedRange,
  { seedsPerMs, chunkMs }: { readonly seedsPerMs: number; readonly chunkMs: number },
): number {
  const seeds = to - from + 1;
  const least = Math.ceil(seeds / MOST_CHUNKS);
  return Math.max(1, least, Math.min(seeds, Math.round(seedsPerMs * chunkMs)));
}

/** The id of a chunk's job. */
export function jobIdOf(sweep: string, chunk: number): string {
  return `${sweep}-${chunk}`;
}

/** The chunk whose job has this id; null where the sweep, of so many chunks, has no such chunk. */
export function chunkOfJobId(
  { sweep, chunks }: { readonly sweep: string; readonly chunks: number },
  jobId: string,
): number | null {
  const digits = /^\d+$/.exec(jobId.slice(sweep.length + 1));
  const chunk = Number(digits ?? NaN);
  return chunk < chunks && jobIdOf(sweep, chunk) === jobId ? chunk : null;
}
