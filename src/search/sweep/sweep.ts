/**
 * Examines a range of seeds of every system of a scenario, on worker threads or on this thread,
 * until the range is done or the caller stops the sweep.
 *
 * Read on in this order: `examiner.ts` (one seed), `chunk.ts` (consecutive seeds), `counts.ts`
 * (their counts, with `sections.ts`, `coverage.ts`, `fault-positions.ts` and `causes.ts`),
 * `expectation.ts` (judges the counts), `counterfactual.ts` (what a system avoided). Then read
 * `pool.ts` and `worker.ts` (threads), `shards.ts` (several machines), `journal.ts` (resuming after
 * a kill) and `checksummed.ts`. Related: `exhaust/exhaust.ts` (all plans of a scope instead of
 * seeds; `exhaust/edge.ts` finds the shortest fault that breaks a claim) and `corpus/entry.ts`
 * (kept plans).
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { sharedState } from '../../host/async/global-objects.ts';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { STALL_MS } from '../../host/async/thread-watch.ts';
import { BLOCK_SEEDS } from '../../host/realm/realm-blocks.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { isAsync } from '../../systems/assemble.ts';
import { blocksIn } from '../exhaust/exhaust.ts';
import type { PlanBlock } from '../exhaust/placements.ts';
import { type Chunk, examineChunk, type FinishedRange, type ReuseDifference } from './chunk.ts';
import { mergeCounts, NO_COUNTS, type SweepCounts } from './counts.ts';
import { examinerOf, prepareScenario } from './examiner.ts';
import { expectedOf } from './expected.ts';
import type { FinishedChunk } from './journal.ts';
import { Pool, type PoolJob, type PoolOptions } from './pool.ts';
import type { SeedRange } from './shards.ts';
import type { Named } from './tasks.ts';

export interface SweepOptions extends SeedRange {
  /** Opened and closed by the caller. Null means this thread, which a hanging seed would block. */
  readonly pool: Pool | null;
  /** Ranges per system, which replace `from` and `to`. */
  readonly ranges?: ReadonlyMap<string, NumberRange>;
  /**
   * Resolves the names in the scenario. Default: the built-in catalogue. With a pool, all other
   * definitions must come from modules, as `loadScenarioFile` loads them.
   */
  readonly catalogue?: Catalogue;
  /** Seeds per chunk on this thread if there is no pool. Default: 64. */
  readonly chunkSeeds?: number;
  /** Labels each chunk on this thread. By default, chunks have no label. */
  readonly named?: Named;
  /** The systems that reuse realms within blocks of seeds. Default: none. */
  readonly reusing?: readonly string[];
  /** Called before each chunk. If it returns true, the sweep ends with the results so far. */
  readonly shouldStop?: () => boolean;
  /** If it returns true, the sweep also abandons running chunks, after one second. */
  readonly isGivenUp?: () => boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** Chunks of this range from an earlier attempt. They are counted, but not examined again. */
  readonly finished?: readonly FinishedChunk[];
  /** Called if reused realms change a system's result. The system restarts without reuse. */
  readonly onDifference?: (system: string, difference: ReuseDifference) => void;
  /** Called with each chunk that this attempt examined. */
  readonly onFinished?: (chunk: Chunk, counts: SweepCounts) => void;
}

/** Seeds or plan numbers, both ends inclusive. */
export interface NumberRange extends SeedRange {
  /** The blocks of plans in an exhaustive search. Absent for seeds. */
  readonly blocks?: readonly PlanBlock[] | undefined;
}

export interface Progress {
  /** Examined seeds, counted per system. */
  readonly done: number;
  readonly total: number;
  readonly broken: number;
}

export interface SweepResult {
  /** By system, in the order of the scenario. */
  readonly countsBySystem: ReadonlyMap<string, SweepCounts>;
  /** True if every seed of the range was examined. */
  readonly isComplete: boolean;
  /** The duration of this attempt. */
  readonly milliseconds: number;
}

/** Opens a pool. Defaults: 5 s of CPU time without an event, and 512 MB per worker. */
export function openPool(options: Partial<PoolOptions> & Pick<PoolOptions, 'workers'>): Pool {
  const workerUrl = new URL('./worker.js', import.meta.url);
  const examiner = new URL('./examiner.js', import.meta.url);
  const limits = { stallMs: STALL_MS, memoryMb: 512 };
  return new Pool({ workerUrl, examinerUrl: examiner.href, ...limits, ...options });
}

/** Sweeps the range. Rejects if worker threads cannot load the scenario or do not start. */
export async function sweep(scenario: Scenario, options: SweepOptions): Promise<SweepResult> {
  const { catalogue = builtIn } = options;
  const { modules } = catalogue;
  if (options.pool !== null && !catalogue.isLoadable) {
    throw new Error('worker threads can load only definitions from modules; use pool: null');
  }
  const startedMs = performance.now();
  const countsBySystem = new Map(scenario.systems.map(({ name }) => [name, NO_COUNTS]));
  const { ranges: bySystem } = options;
  const ranges = new Map(
    scenario.systems.map(({ name }): [string, SeedRange] => [name, bySystem?.get(name) ?? options]),
  );
  const total = [...ranges.values()].reduce((sum, { from, to }) => sum + to - from + 1, 0);
  let done = 0;
  let broken = 0;
  const count = (counts: SweepCounts, system: string): void => {
    countsBySystem.set(system, mergeCounts(countsBySystem.get(system) ?? NO_COUNTS, counts));
    done += counts.seeds;
    broken += counts.broken;
    options.onProgress?.({ done, total, broken });
  };
  const { finished = [] } = options;
  for (const { counts, system } of finished) count(counts, system);
  const chunks = new ChunkSource(ranges, finished);
  const reusing = new Set(options.reusing);
  const ofUsers = scenario.systems.filter((system) => isAsync({ system }, catalogue));
  const userSystems = new Set(ofUsers.map(({ name }) => name));
  const restart = (system: string, difference: ReuseDifference): void => {
    reusing.delete(system);
    const { seeds, broken: brokenSeeds } = countsBySystem.get(system) ?? NO_COUNTS;
    countsBySystem.set(system, NO_COUNTS);
    done -= seeds;
    broken -= brokenSeeds;
    chunks.restart(system, ranges.get(system) ?? options);
    options.onDifference?.(system, difference);
  };
  const onCounts: PoolJob['onCounts'] = (counts, chunk, difference) => {
    // Discard chunks that were running when their system was restarted.
    if (chunk.isReusing === true && !reusing.has(chunk.system)) return;
    if (difference !== null) {
      restart(chunk.system, difference);
      return;
    }
    options.onFinished?.(chunk, counts);
    count(counts, chunk.system);
  };
  const next = (seeds: number): Chunk | null => {
    if (options.shouldStop?.() === true) return null;
    const chunk = chunks.next(seeds, reusing.size === 0 ? 1 : BLOCK_SEEDS);
    if (chunk === null) return null;
    const blocks = bySystem?.get(chunk.system)?.blocks;
    const made = blocks === undefined ? {} : { planBlocks: blocksIn(blocks, chunk) };
    const { system } = chunk;
    return { ...chunk, ...made, isReusing: reusing.has(system), isWalked: userSystems.has(system) };
  };
  if (options.pool === null) {
    // While globals stay replaced, shared state needs to be saved only once.
    const restore = userSystems.size > 0 ? virtualizeGlobals() : (): void => {};
    try {
      await sweepHere(scenario, catalogue, { next, onCounts }, options);
    } finally {
      restore();
    }
  } else {
    const { isGivenUp = (): boolean => false } = options;
    await options.pool.run({ scenario, modules, next, onCounts, isGivenUp });
  }
  const milliseconds = performance.now() - startedMs;
  return { countsBySystem, isComplete: done === total, milliseconds };
}

const SEEDS_AT_ONCE = 64;

async function sweepHere(
  scenario: Scenario,
  catalogue: Catalogue,
  { next, onCounts }: Pick<PoolJob, 'next' | 'onCounts'>,
  {
    chunkSeeds = SEEDS_AT_ONCE,
    named = (_, work) => work(),
  }: Pick<SweepOptions, 'chunkSeeds' | 'named'>,
): Promise<void> {
  await prepareScenario(scenario, catalogue);
  const single = new SingleSeeds(onCounts);
  for (let chunk = next(chunkSeeds); chunk !== null; chunk = next(chunkSeeds)) {
    await yieldToEventLoop(); // so that Ctrl-C is handled
    const { system, from } = chunk;
    const expect = expectedOf(scenario.systems.find(({ name }) => name === system));
    const reusing = chunk.isReusing === true ? [system] : [];
    const examiner = examinerOf(scenario, catalogue, reusing, chunk.planBlocks);
    let difference: ReuseDifference | null = null;
    const onDifference = (found: ReuseDifference): void => {
      difference ??= found;
    };
    const piece = { what: `seed ${from} of ${system}`, seed: from };
    const examine = (part: Chunk): Promise<SweepCounts> =>
      named(piece, () => examineChunk(part, expect, examiner, () => {}, onDifference));
    if (chunk.isWalked === true && chunkSeeds === 1) await single.examine(chunk, examine);
    else onCounts(await examine(chunk), chunk, difference);
  }
  await single.settle();
}

type Examine = (chunk: Chunk) => Promise<SweepCounts>;

/**
 * Examines seeds of user code one at a time, for tests that end with the first failure. Shared
 * state is compared after each block of seeds, and before a failure or breach is counted. If the
 * state was changed, the seeds are examined again individually.
 */
class SingleSeeds {
  private readonly onCounts: PoolJob['onCounts'];
  private since: { readonly chunk: Chunk; readonly examine: Examine }[] = [];

  constructor(onCounts: PoolJob['onCounts']) {
    this.onCounts = onCounts;
  }

  async examine(chunk: Chunk, examine: Examine): Promise<void> {
    if (this.since.length === 0) sharedState.renewAll();
    const counts = await examine({ ...chunk, isWalked: false });
    this.since.push({ chunk, examine });
    const isTroubled = counts.failed > 0 || counts.broken > 0;
    const isDue = isTroubled || this.since.length === BLOCK_SEEDS;
    if (isDue && isTroubled && (await this.settle(chunk))) return;
    this.onCounts(counts, chunk, null);
    if (isDue) await this.settle();
  }

  /**
   * Checks the shared state. If it was changed, examines the seeds since the last check again and
   * returns true. Stops at the first seed that fails, or at `last`, and counts only this seed.
   */
  async settle(last: Chunk | null = null): Promise<boolean> {
    const { since } = this;
    this.since = [];
    if (since.length === 0 || sharedState.takeBackAll() === null) return false;
    for (const { chunk, examine } of since) {
      const counts = await examine(chunk);
      if (counts.failed === 0 && chunk !== last) continue;
      this.onCounts(counts, chunk, null);
      break;
    }
    return true;
  }
}

export class ChunkSource {
  /** The remaining ranges of each system, in ascending order. */
  private readonly left: Map<string, SeedRange[]>;

  constructor(ranges: ReadonlyMap<string, SeedRange>, finished: readonly FinishedRange[] = []) {
    const doneOf = (name: string): readonly SeedRange[] =>
      finished.filter(({ system }) => system === name);
    this.left = new Map([...ranges].map(([name, range]) => [name, without(range, doneOf(name))]));
  }

  /** Hands out all seeds of a system again. */
  restart(system: string, { from, to }: SeedRange): void {
    this.left.set(system, without({ from, to }, []));
  }

  /**
   * Returns about `seeds` seeds of the system that is furthest behind, up to the end of a block.
   * Returns null if all seeds have been handed out.
   */
  next(seeds: number, block = 1): Chunk | null {
    let behind: { readonly system: string; readonly ranges: SeedRange[]; from: number } | null =
      null;
    for (const [system, ranges] of this.left) {
      const from = ranges[0]?.from ?? Infinity;
      if (from < (behind?.from ?? Infinity)) behind = { system, ranges, from };
    }
    const [first] = behind?.ranges ?? [];
    if (behind === null || first === undefined) return null;
    const end = Math.ceil((first.from + seeds) / block) * block;
    const to = Math.min(end - 1, first.to);
    if (to === first.to) behind.ranges.shift();
    else behind.ranges[0] = { from: to + 1, to: first.to };
    return { system: behind.system, from: first.from, to, skip: [] };
  }
}

function without(range: SeedRange, taken: readonly SeedRange[]): SeedRange[] {
  const pieces = (ranges: readonly SeedRange[], { from, to }: SeedRange): SeedRange[] =>
    ranges.flatMap((piece) => [
      { from: piece.from, to: Math.min(piece.to, from - 1) },
      { from: Math.max(piece.from, to + 1), to: piece.to },
    ]);
  return taken.reduce(pieces, [range]).filter((piece) => piece.from <= piece.to);
}
