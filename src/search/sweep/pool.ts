/**
 * Runs chunks and tasks on worker threads, which stay warm from one scenario to the next. A worker
 * that stays at one seed for too long, or dies of one, is replaced: the seed becomes a finding, and
 * the rest of its chunk is examined again without it, until too much time is lost to such seeds.
 */
import { Worker } from 'node:worker_threads';
import type { LoadedModule } from '../../catalogue.ts';
import { assert } from '../../core/kernel/assert.ts';
import { WatchedTime, Whereabouts } from '../../host/async/whereabouts.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Chunk, killedTally, type ReuseDifference } from './chunk.ts';
import { EMPTY_TALLY, mergeTallies, type SeedFailure, type Tally } from './tally.ts';
import type { TaskDone, TaskEnd, TaskOrder } from './tasks.ts';

export interface PoolOptions {
  readonly workers: number;
  /** What a worker thread runs, which is `worker.ts`, built: its URL. */
  readonly workerUrl: { readonly href: string };
  /** A module that exports `examinerOf`, as a URL. */
  readonly examinerUrl: string;
  /** How long one seed may take before it counts as hung. */
  readonly seedTimeoutMs: number;
  /** How much a worker may keep; a seed that needs more is a finding. */
  readonly memoryMb: number;
}

/** What a pool is to do: `next` gives chunks until it gives null, `onTally` takes each result. */
export interface PoolJob {
  readonly scenario: Scenario;
  /** Where the scenario's own words come from. */
  readonly modules: readonly LoadedModule[];
  readonly next: (seedsPerChunk: number) => Chunk | null;
  /** With the first seed that came out otherwise with realms that were used again. */
  readonly onTally: (tally: Tally, chunk: Chunk, difference: ReuseDifference | null) => void;
  /** Whether chunks that are under way are given up, if they take a second more; absent: never. */
  readonly isGivenUp?: () => boolean;
}

export class Pool {
  readonly workers: number;
  private readonly lanes: readonly Lane[];
  private readonly patience = new Patience();
  private isBusy = false;

  /** @internal */
  constructor(options: PoolOptions) {
    this.workers = options.workers;
    this.lanes = Array.from({ length: options.workers }, () => new Lane(options, this.patience));
  }

  /**
   * Does a job, one at a time; rejects when a worker cannot be started. Either way no worker is at
   * the job any more when it returns: an answer that came later would be taken for the next job's.
   * @internal
   */
  async run(job: PoolJob): Promise<void> {
    this.begin();
    let isFailed = false;
    const next: PoolJob['next'] = (seeds) => (isFailed ? null : job.next(seeds));
    const ends = this.lanes.map(async (lane) => {
      try {
        await lane.run({ ...job, next });
      } catch (error) {
        isFailed = true;
        throw error;
      }
    });
    const settled = await Promise.allSettled(ends);
    this.isBusy = false;
    for (const end of settled) if (end.status === 'rejected') throw end.reason;
  }

  /** Does one task, when there is no job; `isGivenUp` is as that of a job. @internal */
  async perform(order: TaskOrder, isGivenUp?: () => boolean): Promise<TaskEnd> {
    const [lane] = this.lanes;
    assert(lane !== undefined, 'a pool has no worker');
    if (this.patience.isSpent) return { kind: 'lost', where: 'other runs', why: 'did not end' };
    this.begin();
    try {
      return await lane.perform(order, isGivenUp);
    } finally {
      this.isBusy = false;
    }
  }

  private begin(): void {
    assert(!this.isBusy, 'a pool has two jobs at once');
    this.isBusy = true;
  }

  /** What was lost to seeds that did not end is forgotten: other seeds follow. @internal */
  restorePatience(): void {
    this.patience.lostMs = 0;
  }

  /** Ends the workers; without it they would keep the process alive. */
  async close(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.close()));
  }
}

/** What a worker is started with. */
export interface WorkerSetting {
  /** A module that exports `examinerOf(scenario)`, as a URL. */
  readonly examinerUrl: string;
  /** One number in shared memory: the seed at hand. */
  readonly seedCell: Float64Array;
  /** Another: not 0 once a task is to come to its end with what it has. */
  readonly stopCell: Int32Array;
  /** Where it says where it is in a task. */
  readonly whereabouts: SharedArrayBuffer;
}

/** What it is sent. */
export interface ChunkOrder {
  readonly scenario: Scenario;
  /** Where the scenario's own words come from. */
  readonly modules: readonly LoadedModule[];
  readonly chunk: Chunk;
}

/** What it says before it ends itself, since it is at a seed that never does. */
export interface LastWords {
  readonly lastWords: string;
}

/** What it answers. */
export interface ChunkDone {
  readonly tally: Tally;
  readonly difference: ReuseDifference | null;
  readonly milliseconds: number;
}

/** Chunks are sized to take about this long. */
const CHUNK_MS = 100;
const FIRST_CHUNK = 8;
const LARGEST_CHUNK = 8192;
/** A worker that has not begun its first seed by then never will. */
const START_TIMEOUT_MS = 60_000;
/** How long a chunk that is given up may still take. */
const GRACE_MS = 800;
const LOOK_EVERY_MS = 200;
/** Longer than a busy machine keeps this thread waiting. */
const SLEEP_MS = 3_000;

/** What became of an order. */
type Sent<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The worker is gone; `why` is a clause. */
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'given up' };

/** How one sees that a worker goes on with an order, and how long it may stay where it is. */
interface Progress {
  readonly at: () => number;
  readonly limitMs: (at: number) => number;
  readonly isGivenUp?: (() => boolean) | undefined;
}

/** One worker's place in the pool; the worker in it may be replaced. */
class Lane {
  private readonly options: PoolOptions;
  private readonly patience: Patience;
  /** The seed at hand, written by the worker; NaN before the first of a chunk. */
  private readonly seedCell = new Float64Array(new SharedArrayBuffer(8));
  /** Not 0 once a task is to come to its end. */
  private readonly stopCell = new Int32Array(new SharedArrayBuffer(4));
  /** Where it is in a task. */
  private readonly whereabouts = new Whereabouts();
  private seedsPerChunk = FIRST_CHUNK;
  private worker: Worker | null = null;

  constructor(options: PoolOptions, patience: Patience) {
    this.options = options;
    this.patience = patience;
  }

  async run(job: PoolJob): Promise<void> {
    for (;;) {
      const chunk = this.patience.isSpent ? null : job.next(this.seedsPerChunk);
      if (chunk === null) return;
      await this.examine(chunk, job);
    }
  }

  async perform(order: TaskOrder, isGivenUp?: () => boolean): Promise<TaskEnd> {
    const { whereabouts, options } = this;
    // What an earlier task said, perhaps its last words, says nothing of this one.
    whereabouts.write('nothing', '');
    const at = (): number => whereabouts.changes;
    const limitMs = (): number => {
      const { activity } = whereabouts;
      if (activity === 'own code') return Number.POSITIVE_INFINITY;
      return activity === 'nothing' ? START_TIMEOUT_MS : options.seedTimeoutMs;
    };
    const sent = await this.send<TaskDone>(order, { at, limitMs, isGivenUp });
    if (sent.kind === 'answer') return sent.answer;
    return sent.kind === 'lost' ? { ...sent, where: whereabouts.what } : sent;
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
    this.worker = null;
  }

  /**
   * Examines a chunk, again and again without the seeds that a worker does not survive. Where too
   * many do not end, only what is known of those is told. Realms that are used again are let go of
   * first: only what a worker does not survive without them is held against a seed.
   */
  private async examine(whole: Chunk, job: PoolJob): Promise<void> {
    const { scenario, modules, isGivenUp } = job;
    const cell = (): number => this.seedCell[0] ?? Number.NaN;
    const at = (): number => Math.ceil(cell());
    const { seedTimeoutMs } = this.options;
    const limitMs = (seed: number): number =>
      Number.isNaN(seed) ? START_TIMEOUT_MS : this.patience.limitMs(seedTimeoutMs);
    let lost = EMPTY_TALLY;
    const seeds: SeedFailure[] = [];
    let unended: ReuseDifference | null = null;
    for (let chunk = whole; ; ) {
      this.seedCell[0] = Number.NaN;
      const { lostMs } = this.patience;
      const order: ChunkOrder = { scenario, modules, chunk };
      const sent = await this.send<ChunkDone>(order, { at: cell, limitMs, isGivenUp });
      if (sent.kind === 'given up') return;
      if (sent.kind === 'answer') {
        this.resize(sent.answer.milliseconds, chunk);
        const { tally, difference } = sent.answer;
        const found = seeds.length === 0 ? unended : null;
        job.onTally(mergeTallies(lost, tally), whole, difference ?? found);
        return;
      }
      if (Number.isNaN(at())) throw new Error(`a worker did not start: ${sent.why}`);
      const failure = { seed: at(), error: sent.why };
      if (chunk.isReusing === true) {
        this.patience.lostMs = lostMs;
        unended = { seed: at(), what: sent.why };
        chunk = { ...whole, isReusing: false };
        continue;
      }
      seeds.push(failure);
      lost = mergeTallies(lost, killedTally(failure));
      if (this.patience.isSpent) break;
      chunk = { ...chunk, skip: [...chunk.skip, at()] };
    }
    for (const one of seeds) {
      job.onTally(killedTally(one), { ...whole, from: one.seed, to: one.seed, skip: [] }, null);
    }
  }

  /** What the worker answers, if it does. */
  private send<Answer extends object>(order: object, progress: Progress): Promise<Sent<Answer>> {
    this.worker ??= this.start();
    const { worker, stopCell } = this;
    Atomics.store(stopCell, 0, 0);
    return new Promise((resolve) => {
      const end = (sent: Sent<Answer>): void => {
        clearInterval(watch);
        worker.off('message', onMessage);
        worker.off('error', onError);
        worker.off('exit', onExit);
        if (sent.kind === 'answer') resolve(sent);
        else void this.drop(worker).then(() => resolve(sent));
      };
      const watch = this.watch(progress, end);
      const onMessage = (said: Answer | LastWords): void => {
        if ('lastWords' in said) end({ kind: 'lost', why: said.lastWords });
        else end({ kind: 'answer', answer: said });
      };
      const onError = (error: Error): void => end({ kind: 'lost', why: error.message });
      const onExit = (): void => end({ kind: 'lost', why: 'it ended its process' });
      worker.on('message', onMessage);
      worker.on('error', onError);
      worker.on('exit', onExit);
      worker.postMessage(order);
    });
  }

  private async drop(worker: Worker): Promise<void> {
    this.worker = null;
    await worker.terminate();
  }

  /** Ends an order of which the worker does not get on, or which nobody wants any more. */
  private watch(
    { at, limitMs, isGivenUp }: Progress,
    end: (sent: { kind: 'lost'; why: string } | { kind: 'given up' }) => void,
  ): NodeJS.Timeout {
    const time = new WatchedTime(SLEEP_MS);
    let last = Number.NaN;
    let sinceMs = time.now();
    let givenUpMs = Number.POSITIVE_INFINITY;
    return setInterval(() => {
      const nowMs = time.now();
      if (isGivenUp?.() === true) {
        givenUpMs = Math.min(givenUpMs, nowMs);
        Atomics.store(this.stopCell, 0, 1);
      }
      const now = at();
      const limit = limitMs(now);
      if (nowMs - givenUpMs > GRACE_MS) end({ kind: 'given up' });
      else if (!Object.is(now, last)) {
        last = now;
        sinceMs = nowMs;
      } else if (nowMs - sinceMs > limit) {
        this.patience.lostMs += limit;
        end({ kind: 'lost', why: `it did not end within ${limit / 1000} s` });
      }
    }, LOOK_EVERY_MS);
  }

  private start(): Worker {
    const { workerUrl, examinerUrl, memoryMb } = this.options;
    const { seedCell, stopCell, whereabouts } = this;
    const setting: WorkerSetting = {
      examinerUrl,
      seedCell,
      stopCell,
      whereabouts: whereabouts.memory,
    };
    const worker = new Worker(new URL(workerUrl.href), {
      workerData: setting,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      stdout: true,
      stderr: true,
    });
    // Nothing prints there but code under test, in a way that was not captured.
    worker.stdout.resume();
    worker.stderr.resume();
    return worker;
  }

  private resize(milliseconds: number, chunk: Chunk): void {
    const seeds = chunk.to - chunk.from + 1;
    const ideal = Math.round((seeds * CHUNK_MS) / Math.max(milliseconds, 1));
    this.seedsPerChunk = Math.max(1, Math.min(ideal, seeds * 4, LARGEST_CHUNK));
  }
}

/** How long is waited in all for seeds that do not end, before there are enough of them. */
const PATIENCE_MS = 15_000;

/** What a pool has lost to seeds that did not end. */
class Patience {
  lostMs = 0;

  get isSpent(): boolean {
    return this.lostMs >= PATIENCE_MS;
  }

  /** How long the next seed may take: after one that did not end, no longer than is left. */
  limitMs(seedTimeoutMs: number): number {
    if (this.lostMs === 0) return seedTimeoutMs;
    return Math.min(seedTimeoutMs, Math.max(PATIENCE_MS - this.lostMs, seedTimeoutMs / 2));
  }
}
