/**
 * Sees a sweep on a queue through: takes it over from a coordinator that is gone, goes round until
 * every chunk is counted, and waits for a queue that is away.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Defect } from '../kernel/assert.ts';
import type { Tally } from '../sweep/tally.ts';
import { Coordinator, type CoordinatorOptions, Unsaved } from './coordinator.ts';
import type { ShrunkKind, SweepProgress } from './jobs.ts';
import type { QueueCounts } from './sweep-queue.ts';
import type { TwoResults } from './two-results.ts';

/** How long things take; people change none of it. */
export interface CoordinatorTiming {
  /** Between two rounds. */
  readonly pollMs: number;
  /** Between two beats, by which others see that this coordinator is alive. */
  readonly beatMs: number;
  /** A checkpoint is written that often while there is something new. */
  readonly saveMs: number;
  /** All that is under way is added again that often, lest the queue lost a part of it. */
  readonly addAgainMs: number;
}

export const COORDINATOR_TIMING: CoordinatorTiming = {
  pollMs: 200,
  beatMs: 1_000,
  saveMs: 3_000,
  addAgainMs: 60_000,
};

export interface CoordinateOptions extends CoordinatorOptions {
  /** Another one each time. */
  readonly coordinator: string;
  /** Asked in each round; true leaves the sweep on the queue, to go on later. */
  readonly shouldStop: () => boolean;
  readonly onProgress?: (progress: FleetProgress) => void;
  readonly timing?: Partial<CoordinatorTiming>;
}

export interface FleetProgress extends SweepProgress {
  readonly workers: number;
}

/**
 * How a coordinator ended: `replaced` by another one; `stopped` by `sweep stop`; `left` because it
 * was asked to; `busy` because another one is at work.
 */
export type FleetEnd = 'whole' | 'lost' | 'stopped' | 'left' | 'replaced' | 'busy';

export interface FleetResult {
  readonly end: FleetEnd;
  /** By system, in the scenario's order. */
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly lost: ReadonlyMap<number, string>;
  /** The first chunk that came to two results; null for none. */
  readonly alarm: TwoResults | null;
  /** What workers have shrunk, one a kind of failure; of some there is no plan. */
  readonly shrunk: readonly ShrunkKind[];
  /** All attempts together. */
  readonly milliseconds: number;
}

/** Coordinates; rejects with nothing but what is wrong in fencepost or in keeping a checkpoint. */
export async function coordinate(options: CoordinateOptions): Promise<FleetResult> {
  const rounds = new Rounds(options);
  let end: FleetEnd | null = null;
  let isAway = false;
  while (end === null) {
    try {
      end = await rounds.next();
      if (isAway) options.note('the queue answers again');
      isAway = false;
    } catch (error) {
      if (error instanceof Unsaved) throw error.cause;
      if (error instanceof Defect || !(error instanceof Error)) throw error;
      if (!isAway) options.note(`the queue does not answer: ${error.message}; waiting for it`);
      isAway = true;
      await rounds.pause();
      if (options.shouldStop()) end = 'left';
    }
  }
  const { coordinator } = rounds;
  const { lost, alarm, shrunk } = coordinator;
  const tallies = coordinator.ledger.tallies;
  return { end, tallies, lost, alarm, shrunk, milliseconds: rounds.milliseconds };
}

class Rounds {
  readonly coordinator: Coordinator;
  private readonly options: CoordinateOptions;
  private readonly timing: CoordinatorTiming;
  private readonly startedMs = performance.now();
  private readonly runsBefore: number;
  private readonly msBefore: number;
  private beat = 0;
  private beatAtMs = -Infinity;
  private savedAtMs = performance.now();
  private addedAgainAtMs = performance.now();
  private hasTaken = false;
  private counts: QueueCounts = { waiting: 0, active: 0, delayed: 0, ended: 0, workers: 0 };

  constructor(options: CoordinateOptions) {
    this.options = options;
    this.timing = { ...COORDINATOR_TIMING, ...options.timing };
    this.coordinator = new Coordinator(options);
    this.runsBefore = this.coordinator.sums().runs;
    this.msBefore = options.checkpoint?.milliseconds ?? 0;
  }

  /** Every seed, of every system. */
  private get total(): number {
    const { sweep, scenario } = this.options;
    return (sweep.range.to - sweep.range.from + 1) * scenario.systems.length;
  }

  get milliseconds(): number {
    return Math.round(this.msBefore + performance.now() - this.startedMs);
  }

  async pause(): Promise<void> {
    await sleep(this.timing.pollMs);
  }

  /** One round; how it ended, or null to go on. */
  async next(): Promise<FleetEnd | null> {
    const { coordinator, options } = this;
    if (!this.hasTaken && !(await this.takeOver())) return 'busy';
    const before = await this.look();
    if (before !== null) return before;
    const hasMore = await coordinator.collect();
    await coordinator.add();
    await this.saveIfDue();
    await this.tellIfDue();
    if (coordinator.isDone) return await this.finish();
    if (options.shouldStop()) {
      await coordinator.save(this.milliseconds);
      return 'left';
    }
    if (!hasMore) await this.pause();
    return null;
  }

  /** Whether no other coordinator is at work; one that is shows by its beat. */
  private async takeOver(): Promise<boolean> {
    const { queue, sweep } = this.options;
    const { id } = this.coordinator;
    const { progress } = await queue.announce(id, sweep);
    if (progress !== null) {
      await sleep(3 * this.timing.beatMs);
      const later = (await queue.sweep(id))?.progress ?? progress;
      if (later.beat !== progress.beat || later.coordinator !== progress.coordinator) return false;
    }
    await queue.setState(id, 'running');
    await this.tell();
    this.hasTaken = true;
    return true;
  }

  /** Looks at the record: what others want of this sweep, and whether the queue lost it. */
  private async look(): Promise<FleetEnd | null> {
    const { queue, sweep, note } = this.options;
    const { id } = this.coordinator;
    const listed = await queue.sweep(id);
    if (listed === null) {
      note('the queue has lost this sweep: what is missing is added again');
      await queue.announce(id, sweep);
      await this.addAgain();
      await this.tell();
      return null;
    }
    const { progress, entry } = listed;
    if (progress !== null && progress.coordinator !== this.options.coordinator) return 'replaced';
    if (entry.state === 'running') return null;
    await this.coordinator.save(this.milliseconds);
    await queue.clear(id);
    return 'stopped';
  }

  private async saveIfDue(): Promise<void> {
    const { coordinator, timing } = this;
    const isDue = performance.now() - this.savedAtMs > timing.saveMs;
    if (coordinator.unsaved === 0 || !(isDue || coordinator.unsaved > MOST_UNSAVED)) return;
    await coordinator.save(this.milliseconds);
    this.savedAtMs = performance.now();
  }

  private async tellIfDue(): Promise<void> {
    const { timing, coordinator } = this;
    if (performance.now() - this.beatAtMs < timing.beatMs) return;
    this.counts = await this.options.queue.counts();
    await this.tell();
    const { waiting, active, delayed, ended } = this.counts;
    const isShort = coordinator.misses({ jobs: waiting + active + delayed + ended });
    const isLong = performance.now() - this.addedAgainAtMs > timing.addAgainMs;
    if (isShort || isLong) await this.addAgain();
  }

  private async addAgain(): Promise<void> {
    await this.coordinator.addAgain();
    this.addedAgainAtMs = performance.now();
  }

  private async tell(): Promise<void> {
    const { coordinator, options } = this;
    const { runs, broken, kinds } = coordinator.sums();
    const seconds = (performance.now() - this.startedMs) / 1000;
    this.beat += 1;
    const progress: SweepProgress = {
      ...{ coordinator: options.coordinator, beat: this.beat },
      ...{ done: coordinator.ledger.done, chunks: coordinator.ledger.chunks },
      ...{ runs, total: this.total, broken, kinds },
      runsPerSecond: (runs - this.runsBefore) / Math.max(seconds, 0.001),
    };
    await options.queue.tell(coordinator.id, progress);
    this.beatAtMs = performance.now();
    options.onProgress?.({ ...progress, workers: this.counts.workers });
  }

  /** Nothing is left to wait for: what is on the queue of this sweep goes. */
  private async finish(): Promise<FleetEnd> {
    const { coordinator, options } = this;
    await coordinator.save(this.milliseconds);
    await options.queue.clear(coordinator.id);
    await options.queue.forget(coordinator.id);
    return coordinator.lost.size > 0 ? 'lost' : 'whole';
  }
}

/** More results than these are saved at once. */
const MOST_UNSAVED = 5_000;
