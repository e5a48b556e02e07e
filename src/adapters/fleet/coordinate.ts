/**
 * Sees a sweep on a queue through, in rounds: a coordinator takes the sweep over from one that is
 * gone, and in each round looks who owns it now, counts what ended, adds what is next, and saves
 * and tells when it is time. It waits for a queue that is away; whatever else is wrong ends it at
 * once.
 *
 * Which of several coordinators a sweep belongs to: nothing that BullMQ offers here would write a
 * record only if it is still as it was read, so a coordinator that was paused may write what it
 * decided long ago. Instead what it tells carries an epoch: who takes a sweep over tells the one
 * that is there plus one. Whoever reads a record of somebody ahead is replaced, and whoever reads
 * one of somebody behind tells its own again; so only the one that is ahead of all stays.
 *
 * Until the others have noticed they do no harm, whatever they still write. Results are keyed by
 * chunk, and each coordinator counts a chunk once. A checkpoint only says what is counted in it; if
 * an older one replaces a newer one, or a result is taken off that another had not counted yet,
 * these chunks are missing from both the queue and the checkpoint, and are added again. So work may
 * be repeated, but nothing is miscounted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tally } from '../../search/sweep/tally.ts';
import { countOf } from '../../text/prose.ts';
import { Coordinator, type CoordinatorOptions, Unsaved } from './coordinator.ts';
import { OnceNoter, QueueAway, QueueReach, tellingAway } from './progress.ts';
import type { QueueCounts, SweepProgress } from './sweep-queue.ts';

export interface FleetResult extends Readonly<Pick<Coordinator, 'lost' | 'alarm' | 'shrunk'>> {
  readonly end: FleetEnd;
  /** By system, in the scenario's order. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** All attempts together. */
  readonly milliseconds: number;
}

/**
 * Coordinates; rejects with what is wrong in fencepost, in keeping a checkpoint, or in what is
 * called here. What was counted by then is saved, if that can be.
 */
export async function coordinate(options: CoordinateOptions): Promise<FleetResult> {
  const rounds = new Rounds({ ...options, queue: tellingAway(options.queue) });
  const end = await endOf(rounds, options);
  const { coordinator, milliseconds } = rounds;
  const { lost, alarm, shrunk, counts } = coordinator;
  return { end, tallies: counts.tallies, lost, alarm, shrunk, milliseconds };
}

async function endOf(rounds: Rounds, options: CoordinateOptions): Promise<FleetEnd> {
  const reach = new QueueReach(options.note);
  try {
    for (;;) {
      const end = await nextOrAway(rounds, reach);
      if (end !== 'away' && end !== null) return end;
      if (end === null || !options.shouldStop()) continue;
      rounds.keep();
      return 'left';
    }
  } catch (error) {
    if (error instanceof Unsaved) throw error.cause;
    keepIfPossible(rounds);
    throw error;
  }
}

/** A round; `away` where the queue did not answer, after which it was waited. */
async function nextOrAway(rounds: Rounds, reach: QueueReach): Promise<FleetEnd | 'away' | null> {
  try {
    const end = await rounds.next();
    reach.answers();
    return end;
  } catch (error) {
    if (!(error instanceof QueueAway)) throw error;
    reach.away(error);
    await rounds.pause();
    return 'away';
  }
}

/** What is wrong already matters more than a checkpoint that cannot be kept either. */
function keepIfPossible(rounds: Rounds): void {
  try {
    rounds.keep();
  } catch (error) {
    if (!(error instanceof Unsaved)) throw error;
  }
}

/** How long things take; people change none of it. */
const COORDINATOR_TIMING = {
  /** Between two rounds. */
  pollMs: 200,
  /** Between two beats, by which others see that this coordinator is alive. */
  beatMs: 1_000,
  /** A checkpoint is written that often while there is something new. */
  saveMs: 3_000,
  /** All that is under way is added again that often, lest the queue lost a part of it. */
  addAgainMs: 60_000,
  /** Without a result for so long, and with no chunk at work, no worker of ours is there. */
  quietMs: 60_000,
};

export type CoordinatorTiming = Readonly<typeof COORDINATOR_TIMING>;

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
type FleetEnd = 'whole' | 'lost' | 'stopped' | 'left' | 'replaced' | 'busy' | 'recut';

/** More results than these are saved at once. */
const MOST_UNSAVED = 5_000;
/** Another coordinator that does not beat for so long is gone. */
const BEATS_MISSED = 3;

class Rounds {
  readonly coordinator: Coordinator;
  private readonly options: CoordinateOptions;
  private readonly timing: CoordinatorTiming;
  private readonly noter: OnceNoter;
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
    this.noter = new OnceNoter(options.note);
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
    this.noter.tell(`no checkpoint here: ${what} ${verb} examined again`);
  }

  private get owner(): Owner {
    return { coordinator: this.options.coordinator, epoch: this.epoch };
  }

  /** Looks at the record: who owns the sweep, what others want of it, whether the queue lost it. */
  private async look(): Promise<FleetEnd | null> {
    const { queue, sweep } = this.options;
    const { id, counts } = this.coordinator;
    const listed = await queue.sweep(id);
    if (listed === null) {
      return await this.restore('the queue has lost this sweep: what is missing is added again');
    }
    const { progress, entry } = listed;
    if (progress !== null && isAhead(progress, this.owner)) return 'replaced';
    if (entry.sweep.chunkSeeds !== sweep.chunkSeeds) {
      if (counts.done === 0) return 'recut';
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
    for (const line of await queue.refusals(coordinator.id)) this.noter.tell(line);
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
      ...{ done: coordinator.counts.done, chunks: coordinator.counts.chunks },
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

type Owner = Pick<SweepProgress, 'coordinator' | 'epoch'>;

/** Whether `one` has taken the sweep over from `other`; of two of one epoch the ids decide. */
export function isAhead(one: Owner, other: Owner): boolean {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch;
  return one.coordinator > other.coordinator;
}

/** What happened longer ago does not count, unless nothing else is known. */
const RECENT_MS = 60_000;

interface Moment {
  readonly atMs: number;
  readonly runs: number;
}

/** How fast a sweep is of late: chunks end seldom, so a minute, or the last two that ended. */
export class Pace {
  /** When runs were added, oldest first; before the first nothing is known. */
  private readonly moments: [Moment, ...Moment[]];

  /** Begins with the runs that were done before. */
  constructor(runs: number, atMs: number) {
    this.moments = [{ atMs, runs }];
  }

  /** Runs a second, of about the last minute; 0 before the first result. */
  at(nowMs: number, runs: number): number {
    const { moments } = this;
    if (runs !== this.last.runs) moments.push({ atMs: nowMs, runs });
    for (let second = moments[1]; second !== undefined; second = moments[1]) {
      if (moments.length < 3 || nowMs - second.atMs < RECENT_MS) break;
      moments.splice(0, 1);
    }
    const [first] = moments;
    return (runs - first.runs) / Math.max((nowMs - first.atMs) / 1000, 0.001);
  }

  /** How long ago the last result came, or all began. */
  quietMs(nowMs: number): number {
    return nowMs - this.last.atMs;
  }

  private get last(): Moment {
    return this.moments.at(-1) ?? this.moments[0];
  }
}
