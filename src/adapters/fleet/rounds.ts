/**
 * The rounds of a coordinator: it takes the sweep over from one that is gone, and in each round
 * looks who owns it now, counts what ended, adds what is next, and saves and tells when it is time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { countOf } from '../../text/prose.ts';
import { Coordinator, type CoordinatorOptions } from './coordinator.ts';
import type { SweepProgress } from './jobs.ts';
import { isAhead, type Owner } from './owner.ts';
import { Pace } from './pace.ts';
import { Teller } from './reach.ts';
import type { QueueCounts } from './sweep-queue.ts';

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
  /** Without a result for so long, and with no chunk at work, no worker of ours is there. */
  readonly quietMs: number;
}

const COORDINATOR_TIMING: CoordinatorTiming = {
  pollMs: 200,
  beatMs: 1_000,
  saveMs: 3_000,
  addAgainMs: 60_000,
  quietMs: 60_000,
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
  /** Whether nobody seems to be at work on it. */
  readonly isWaiting: boolean;
}

/**
 * How a coordinator ended: `replaced` by another one; `stopped` by `sweep stop`; `left` because it
 * was asked to; `busy` because another one is at work; `recut` because the sweep was announced with
 * other chunks first, with which it is to be begun again.
 */
export type FleetEnd = 'whole' | 'lost' | 'stopped' | 'left' | 'replaced' | 'busy' | 'recut';

/** More results than these are saved at once. */
const MOST_UNSAVED = 5_000;
/** Another coordinator that does not beat for so long is gone. */
const BEATS_MISSED = 3;

export class Rounds {
  readonly coordinator: Coordinator;
  private readonly options: CoordinateOptions;
  private readonly timing: CoordinatorTiming;
  private readonly teller: Teller;
  private readonly pace: Pace;
  private readonly startedMs = performance.now();
  private readonly msBefore: number;
  private epoch = 0;
  private beat = 0;
  private beatAtMs = -Infinity;
  private savedAtMs = performance.now();
  private addedAgainAtMs = performance.now();
  private hasResumed = false;
  private hasTaken = false;

  constructor(options: CoordinateOptions) {
    this.options = options;
    this.timing = { ...COORDINATOR_TIMING, ...options.timing };
    this.teller = new Teller(options.note);
    this.coordinator = new Coordinator(options);
    this.pace = new Pace(this.coordinator.sums().runs, this.startedMs);
    this.msBefore = options.checkpoint?.milliseconds ?? 0;
  }

  get milliseconds(): number {
    return Math.round(this.msBefore + performance.now() - this.startedMs);
  }

  async pause(): Promise<void> {
    await sleep(this.timing.pollMs);
  }

  /** Saves what is counted and not saved yet; the queue may be away. */
  keep(): void {
    if (this.coordinator.unsaved > 0) this.coordinator.keep(this.milliseconds);
  }

  /** One round; how it ended, or null to go on. */
  async next(): Promise<FleetEnd | null> {
    const { coordinator, options } = this;
    if (!this.hasTaken) {
      const refused = await this.takeOver();
      if (refused !== null || !this.hasTaken) return refused;
    }
    const before = await this.look();
    if (before !== null) return before;
    const hasMore = await coordinator.collect();
    await coordinator.add();
    if (coordinator.isDone) return await this.finish();
    if (options.shouldStop()) return await this.leave();
    const end = (await this.saveIfDue()) ?? (await this.tellIfDue());
    if (end === null && !hasMore) await this.pause();
    return end;
  }

  /** Takes the sweep from one that is gone, or gives why not; it may have to be tried again. */
  private async takeOver(): Promise<FleetEnd | null> {
    const { queue, sweep } = this.options;
    const { id } = this.coordinator;
    const { entry, progress } = await queue.announce(id, sweep);
    if (entry.sweep.chunkSeeds !== sweep.chunkSeeds) return 'recut';
    // Before the wait, so that whoever stops the sweep meanwhile is heard.
    if (entry.state === 'stopped' && !this.hasResumed) await queue.setState(id, 'running');
    this.hasResumed = true;
    if (progress !== null) {
      await sleep(BEATS_MISSED * this.timing.beatMs);
      const later = await queue.sweep(id);
      if (later === null) return null;
      const { beat = null, coordinator = null } = later.progress ?? {};
      if (beat !== progress.beat || coordinator !== progress.coordinator) return 'busy';
    }
    this.epoch = (progress?.epoch ?? 0) + 1;
    await this.tell(await queue.counts(id));
    this.hasTaken = true;
    this.noteExaminedAgain(progress?.done ?? 0);
    return null;
  }

  private noteExaminedAgain(chunks: number): void {
    if (this.options.checkpoint !== null || chunks === 0) return;
    const what = `${countOf(chunks, 'chunk')} that another coordinator counted`;
    const verb = chunks === 1 ? 'is' : 'are';
    this.teller.tell(`no checkpoint here: ${what} ${verb} examined again`);
  }

  private get owner(): Owner {
    return { coordinator: this.options.coordinator, epoch: this.epoch };
  }

  /** Looks at the record: who owns the sweep, what others want of it, whether the queue lost it. */
  private async look(): Promise<FleetEnd | null> {
    const { queue, sweep } = this.options;
    const { id, ledger } = this.coordinator;
    const listed = await queue.sweep(id);
    if (listed === null) {
      return await this.restore('the queue has lost this sweep: what is missing is added again');
    }
    const { progress, entry } = listed;
    if (progress !== null && isAhead(progress, this.owner)) return 'replaced';
    if (entry.sweep.chunkSeeds !== sweep.chunkSeeds) {
      if (ledger.done === 0) return 'recut';
      await queue.end(id);
      return await this.restore('the sweep was announced with other chunks: ours are added again');
    }
    // Somebody who was replaced wrote once more.
    if (progress?.coordinator !== this.options.coordinator) this.beatAtMs = -Infinity;
    if (entry.state === 'running') return null;
    await this.coordinator.save(this.milliseconds);
    await this.tellLast();
    await queue.clear(id);
    return 'stopped';
  }

  private async restore(why: string): Promise<null> {
    const { queue, sweep, note } = this.options;
    const { id } = this.coordinator;
    note(why);
    await queue.announce(id, sweep);
    await this.addAgain();
    await this.tell(await queue.counts(id));
    return null;
  }

  private async saveIfDue(): Promise<FleetEnd | null> {
    const { coordinator, timing } = this;
    const isDue = performance.now() - this.savedAtMs > timing.saveMs;
    if (coordinator.unsaved === 0 || !(isDue || coordinator.unsaved > MOST_UNSAVED)) return null;
    return await this.save();
  }

  /** Saves, unless the sweep has come to an end here meanwhile. */
  private async save(): Promise<FleetEnd | null> {
    const end = await this.look();
    if (end !== null) return end;
    await this.coordinator.save(this.milliseconds);
    this.savedAtMs = performance.now();
    return null;
  }

  private async tellIfDue(): Promise<FleetEnd | null> {
    const { timing, coordinator } = this;
    const { queue } = this.options;
    if (performance.now() - this.beatAtMs < timing.beatMs) return null;
    const counts = await queue.counts(coordinator.id);
    const end = await this.look();
    if (end !== null) return end;
    await this.tell(counts);
    for (const line of await queue.refusals(coordinator.id)) this.teller.tell(line);
    const { waiting, active, delayed, ended } = counts;
    const isShort = coordinator.misses({ jobs: waiting + active + delayed + ended });
    const isLong = performance.now() - this.addedAgainAtMs > timing.addAgainMs;
    if (isShort || isLong) await this.addAgain();
    return null;
  }

  private async addAgain(): Promise<void> {
    await this.coordinator.addAgain();
    this.addedAgainAtMs = performance.now();
  }

  private async leave(): Promise<FleetEnd> {
    const end = await this.save();
    if (end !== null) return end;
    await this.tellLast();
    return 'left';
  }

  /** What is counted stays in the record for `status`; nobody coordinates from now on. */
  private async tellLast(): Promise<void> {
    const { options, coordinator } = this;
    await options.queue.tell(coordinator.id, { ...this.progress(), runsPerSecond: 0 });
  }

  private async tell({ workers, active }: QueueCounts): Promise<void> {
    const { coordinator, options, pace } = this;
    const nowMs = performance.now();
    const progress = this.progress();
    const runsPerSecond = pace.at(nowMs, progress.runs);
    await options.queue.tell(coordinator.id, { ...progress, runsPerSecond });
    this.beatAtMs = nowMs;
    const isQuiet = active === 0 && pace.quietMs(nowMs) > this.timing.quietMs;
    const isWaiting = workers === 0 || isQuiet;
    options.onProgress?.({ ...progress, runsPerSecond, workers, isWaiting });
  }

  private progress(): Omit<SweepProgress, 'runsPerSecond'> {
    const { coordinator, options } = this;
    const { runs, broken, kinds } = coordinator.sums();
    const { from, to } = options.sweep.range;
    this.beat += 1;
    return {
      ...{ ...this.owner, beat: this.beat },
      ...{ done: coordinator.ledger.done, chunks: coordinator.ledger.chunks },
      ...{ runs, total: (to - from + 1) * options.scenario.systems.length, broken, kinds },
    };
  }

  /** Nothing is left to wait for: what is on the queue of this sweep goes. */
  private async finish(): Promise<FleetEnd> {
    const { coordinator, options } = this;
    const end = await this.save();
    if (end !== null) return end;
    await options.queue.end(coordinator.id);
    return coordinator.lost.size > 0 ? 'lost' : 'whole';
  }
}
