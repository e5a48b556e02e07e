/**
 * Examines a range of seeds of every system of a scenario, on worker threads or (`workers: 0`) in this
 * thread, until the range is done or something asks it to stop.
 */
import type { Scenario } from '../scenario/scenario.ts';
import { type Chunk, examineChunk } from './chunk.ts';
import { examinerOf } from './examiner.ts';
import { runPool } from './pool.ts';
import { EMPTY_TALLY, mergeTallies, type Tally } from './tally.ts';

export interface SweepOptions {
  /** Seeds, both included. */
  readonly from: number;
  readonly to: number;
  /** 0 examines in the calling thread, which cannot survive a seed that hangs. */
  readonly workers: number;
  /** Asked before each chunk; true ends the sweep with what is known so far. */
  readonly shouldStop?: () => boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** Another module that exports `examinerOf`, as a URL; for systems that are not built in. */
  readonly examinerUrl?: string;
  /** How long one seed may take before it counts as hung; 10 s if absent. */
  readonly seedTimeoutMs?: number;
  /** How much memory a worker may keep; 512 if absent. */
  readonly memoryMb?: number;
}

export interface Progress {
  /** Examinations: a seed of one system each. */
  readonly done: number;
  readonly total: number;
  readonly broken: number;
}

export interface SweepResult {
  /** By system, in the scenario's order. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Whether every seed of the range was examined. */
  readonly isWhole: boolean;
  readonly milliseconds: number;
}

const SEED_TIMEOUT_MS = 10_000;
const MEMORY_MB = 512;

export async function sweep(scenario: Scenario, options: SweepOptions): Promise<SweepResult> {
  const startedMs = performance.now();
  const tallies = new Map(scenario.systems.map(({ name }) => [name, EMPTY_TALLY]));
  const total = (options.to - options.from + 1) * scenario.systems.length;
  let done = 0;
  let broken = 0;
  const chunks = new ChunkSource(scenario, options);
  const onTally = (tally: Tally, chunk: Chunk): void => {
    tallies.set(chunk.system, mergeTallies(tallies.get(chunk.system) ?? EMPTY_TALLY, tally));
    done += tally.seeds;
    broken += tally.broken;
    options.onProgress?.({ done, total, broken });
  };
  if (options.workers === 0) sweepHere(scenario, chunks, onTally);
  else {
    const examinerUrl = options.examinerUrl ?? new URL('./examiner.js', import.meta.url).href;
    const seedTimeoutMs = options.seedTimeoutMs ?? SEED_TIMEOUT_MS;
    const memoryMb = options.memoryMb ?? MEMORY_MB;
    const pool = { workers: options.workers, examinerUrl, seedTimeoutMs, memoryMb };
    await runPool(scenario, pool, (seeds) => chunks.next(seeds), onTally);
  }
  return { tallies, isWhole: done === total, milliseconds: performance.now() - startedMs };
}

const SEEDS_AT_ONCE = 64;

function sweepHere(
  scenario: Scenario,
  chunks: ChunkSource,
  onTally: (tally: Tally, chunk: Chunk) => void,
): void {
  const examiner = examinerOf(scenario);
  for (let chunk = chunks.next(SEEDS_AT_ONCE); chunk !== null; chunk = chunks.next(SEEDS_AT_ONCE)) {
    const { system } = chunk;
    const expect = scenario.systems.find(({ name }) => name === system)?.expect;
    onTally(
      examineChunk(chunk, expect ?? { holds: [], breaks: [] }, examiner, () => {}),
      chunk,
    );
  }
}

/** Hands out the range piece by piece, the systems in turn so that all of them get on equally. */
class ChunkSource {
  private readonly upcoming: Map<string, number>;
  private readonly options: SweepOptions;

  constructor(scenario: Scenario, options: SweepOptions) {
    this.options = options;
    this.upcoming = new Map(scenario.systems.map(({ name }) => [name, options.from]));
  }

  next(seeds: number): Chunk | null {
    if (this.options.shouldStop?.() === true) return null;
    let system: string | null = null;
    let from = this.options.to + 1;
    for (const [name, seed] of this.upcoming) {
      if (seed < from) {
        system = name;
        from = seed;
      }
    }
    if (system === null) return null;
    const to = Math.min(from + seeds - 1, this.options.to);
    this.upcoming.set(system, to + 1);
    return { system, from, to, skip: [] };
  }
}
