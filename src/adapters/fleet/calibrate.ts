/** How many seeds make a chunk of a few seconds: a short sweep on this machine tells. */
import type { Catalogue } from '../../catalogue.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Pool } from '../../search/sweep/pool.ts';
import type { SeedRange } from '../../search/sweep/shard.ts';
import { sweep } from '../../search/sweep/sweep.ts';
import { seedsPerChunk } from './chunk-map.ts';

/**
 * Threads start and code gets warm first; what is done meanwhile does not count. A calibration
 * takes no longer than a chunk does.
 */
const MOST_WARM_MS = 1_000;
const MOST_MEASURED_MS = 2_000;

export interface CalibrateOptions {
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
