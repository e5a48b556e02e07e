/**
 * How the seeds of a sweep are cut into chunks, and what the job of each is called. All of it
 * follows from the sweep alone, so that adding a chunk twice adds it once; only how many seeds make
 * a chunk is measured, once, by a short sweep on the machine that begins.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Pool } from '../../search/sweep/pool.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import { sweep } from '../../search/sweep/sweep.ts';

/** A range of seeds that is cut into chunks of so many. */
interface Cut {
  readonly range: SeedRange;
  readonly chunkSeeds: number;
}

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

/**
 * Threads start and code gets warm first; what is done meanwhile does not count. A calibration
 * takes no longer than a chunk does.
 */
const MOST_WARM_MS = 1_000;
const MOST_MEASURED_MS = 2_000;

interface CalibrateOptions {
  readonly pool: Pool;
  readonly catalogue: Catalogue;
  readonly range: SeedRange;
  /** How long a chunk should take a worker like this machine. */
  readonly chunkMs: number;
  readonly shouldStop: () => boolean;
}

/** Examines seeds for up to three seconds; of what they came to only the pace is used. */
export async function calibrate(
  scenario: Scenario,
  { pool, catalogue, range, chunkMs, shouldStop }: CalibrateOptions,
): Promise<number> {
  const startedMs = performance.now();
  const warmMs = Math.min(MOST_WARM_MS, chunkMs / 3);
  const measuredMs = Math.min(MOST_MEASURED_MS, chunkMs / 2);
  let warm = { runs: 0, atMs: startedMs };
  let last = warm;
  const elapsedMs = (): number => performance.now() - startedMs;
  await sweep(scenario, {
    ...{ ...range, pool, catalogue },
    shouldStop: () => shouldStop() || elapsedMs() > warmMs + measuredMs,
    onProgress: ({ done }) => {
      last = { runs: done, atMs: performance.now() };
      if (elapsedMs() < warmMs) warm = last;
    },
  });
  const isLong = last.atMs - warm.atMs > measuredMs / 2;
  const from = isLong ? warm : { runs: 0, atMs: startedMs };
  const runsPerMs = (last.runs - from.runs) / Math.max(last.atMs - from.atMs, 1);
  const seedsPerMs = runsPerMs / scenario.systems.length;
  return seedsPerChunk(range, { seedsPerMs, chunkMs });
}
