/**
 * Runs chunks and tasks on worker threads, which stay warm from one scenario to the next. A worker
 * that never gets on, or dies of a seed, is replaced: the seed becomes a finding, and the rest of
 * its chunk is examined again without it, until too much CPU time is lost to such seeds. A seed
 * that a repeated run did not survive is not run again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { LoadedModule } from '../../catalogue.ts';
import { assert } from '../../core/kernel/assert.ts';
import { HEAP_FULL, ThreadWatch } from '../../host/async/thread-watch.ts';
import { Whereabouts } from '../../host/async/whereabouts.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Chunk, killedTally, type ReuseDifference } from './chunk.ts';
import { mergeTallies, type SeedFailure, type Tally } from './tally.ts';
import type { TaskDone, TaskEnd, TaskOrder } from './tasks.ts';

export interface PoolOptions {
  readonly workers: number;
  /** What a worker thread runs, which is `worker.ts`, built: its URL. */
  readonly workerUrl: { readonly href: string };
  /** A module that exports `examinerOf`, as a URL. */
  readonly examinerUrl: string;
  /** The CPU time that a worker may use without a simulated event. */
  readonly stallMs: number;
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
    const { patience } = this;
    if (patience.isSpent) return { kind: 'lost', where: 'other runs', why: 'they did not finish' };
    this.begin();
    const { lostMs, isWary } = patience;
    try {
      const end = await lane.perform(order, isGivenUp);
      // A seed that is lost to a comparison may get on with realms of its own.
      if (order.task.kind === 'compare') patience.lostMs = lostMs;
      if (order.task.kind === 'repeat' && end.kind === 'lost' && patience.isWary === isWary) {
        const { system, seed } = order.task;
        patience.known.push({ system, seed, error: end.why });
      }
      return end;
    } finally {
      this.isBusy = false;
    }
  }

  private begin(): void {
    assert(!this.isBusy, 'a pool has two jobs at once');
    this.isBusy = true;
  }

  /** Forgets what was lost to seeds that did not finish: other seeds follow. @internal */
  restorePatience(): void {
    this.patience.lostMs = 0;
    this.patience.known = [];
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
/** How much more CPU time a worker may use without progress between two runs than in one. */
const BETWEEN = 4;
/** How long a chunk that is given up may still take. */
const GRACE_MS = 800;
const LOOK_EVERY_MS = 200;

/** What became of an order. */
type Sent<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The worker is gone; `why` is a clause. */
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'given up' }
  /** It has to be sent again, once no other lane is at a seed that may never end. */
  | { readonly kind: 'put off' };

interface SendOptions {
  readonly isGivenUp?: (() => boolean) | undefined;
  /** Asked where the worker may be at a seed that never ends; true puts the order off. */
  readonly isPutOff?: () => boolean;
}

/** One worker's place in the pool; the worker in it may be replaced. */
class Lane {
  private readonly options: PoolOptions;
  private readonly patience: Patience;
  /** The seed at hand, written by the worker; NaN before the first of a chunk. */
  private readonly seedCell = new Float64Array(new SharedArrayBuffer(8));
  /** Not 0 once a task is to come to its end. */
  private readonly stopCell = new Int32Array(new SharedArrayBuffer(4));
  /** Where the worker is. */
  private whereabouts = new Whereabouts();
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
    // What an earlier task said, perhaps its last words, says nothing of this one.
    this.whereabouts.write('nothing', '');
    const sent = await this.send<TaskDone>(order, { isGivenUp });
    assert(sent.kind !== 'put off', 'a task is never put off');
    if (sent.kind === 'answer') return sent.answer;
    return sent.kind === 'lost' ? { ...sent, where: this.whereabouts.what } : sent;
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
    this.worker = null;
  }

  /**
   * Examines a chunk, again and again without the seeds that a worker does not survive. Where too
   * many do not finish, only those are reported. Realms that are used again are let go of first:
   * only a seed that a worker does not survive without them is a finding.
   */
  private async examine(whole: Chunk, job: PoolJob): Promise<void> {
    const { scenario, modules, isGivenUp } = job;
    const { patience } = this;
    const seeds: SeedFailure[] = patience.knownIn(whole);
    let unended: ReuseDifference | null = null;
    let { isReusing = false } = whole;
    const isPutOff = (): boolean => isReusing || !patience.suspect(this);
    do {
      this.seedCell[0] = Number.NaN;
      const skip = [...whole.skip, ...seeds.map(({ seed }) => seed)];
      const chunk: Chunk = { ...whole, skip, isReusing };
      const order: ChunkOrder = { scenario, modules, chunk };
      const sent = await this.send<ChunkDone>(order, { isGivenUp, isPutOff });
      patience.acquit(this);
      if (sent.kind === 'given up') return;
      if (sent.kind === 'put off') {
        if (!isReusing) await patience.whenFree();
        isReusing = false;
      } else if (sent.kind === 'answer') {
        this.resize(sent.answer.milliseconds, chunk);
        const { tally, difference } = sent.answer;
        const found = seeds.length === 0 ? unended : null;
        job.onTally(
          [tally, ...seeds.map(killedTally)].reduce(mergeTallies),
          whole,
          difference ?? found,
        );
        return;
      } else {
        const seed = Math.ceil(this.seedCell[0]);
        if (Number.isNaN(seed)) throw new Error(`a worker did not start: ${sent.why}`);
        if (isReusing) unended = { seed, what: sent.why };
        else seeds.push({ seed, error: sent.why });
        isReusing = false;
      }
    } while (!patience.isSpent);
    for (const one of seeds) {
      job.onTally(killedTally(one), { ...whole, from: one.seed, to: one.seed, skip: [] }, null);
    }
  }

  /** What the worker answers, if it does. */
  private send<Answer extends object>(order: object, options: SendOptions): Promise<Sent<Answer>> {
    this.worker ??= this.start();
    const { worker, stopCell, patience } = this;
    Atomics.store(stopCell, 0, 0);
    return new Promise((resolve) => {
      const end = (sent: Sent<Answer>): void => {
        clearInterval(looking);
        watch.end();
        worker.off('message', onMessage);
        worker.off('error', onError);
        worker.off('exit', onExit);
        if (sent.kind === 'answer') resolve(sent);
        else void this.drop(worker).then(() => resolve(sent));
      };
      const lose = (why: string, lostMs: number): void => {
        patience.lostMs += lostMs;
        end({ kind: 'lost', why });
      };
      const watch = this.watch((why, limitMs) => lose(`it did not finish: ${why}`, limitMs));
      const looking = this.look(watch, options, end);
      const died = (why: string): void => lose(why, watch.stallMs + START_COST_MS);
      const onMessage = (said: Answer | LastWords): void => {
        if ('lastWords' in said) died(said.lastWords);
        else end({ kind: 'answer', answer: said });
      };
      const onError = (error: Error): void => {
        if (!('code' in error) || error.code !== 'ERR_WORKER_OUT_OF_MEMORY') died(error.message);
        else if (!patience.isWary) {
          patience.isWary = true; // and the place is found where the order is sent again
          if (options.isPutOff === undefined) lose(`it did not finish: ${HEAP_FULL}`, 0);
          else end({ kind: 'put off' });
        } else lose(`it did not finish: ${HEAP_FULL}`, this.options.stallMs);
      };
      const onExit = (): void => died('it ended its process');
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

  /** Watches the worker; `onLost` gets why it has to be ended, and the CPU time that it had. */
  private watch(onLost: (why: string, limitMs: number) => void): ThreadWatch {
    const { stallMs, memoryMb, workers } = this.options;
    return new ThreadWatch(this.whereabouts, {
      stallMs,
      betweenMs: BETWEEN * stallMs,
      mostMb: (workers + 1) * memoryMb,
      isWary: this.patience.isWary,
      onLost: (why) => onLost(why, stallMs),
    });
  }

  /** Ends an order that is not wanted any more, or that has to be put off. */
  private look(
    watch: ThreadWatch,
    { isGivenUp, isPutOff }: SendOptions,
    end: (sent: { kind: 'given up' } | { kind: 'put off' }) => void,
  ): NodeJS.Timeout {
    let givenUpMs = Number.POSITIVE_INFINITY;
    return setInterval(() => {
      const nowMs = performance.now();
      if (isGivenUp?.() === true) {
        givenUpMs = Math.min(givenUpMs, nowMs);
        Atomics.store(this.stopCell, 0, 1);
      }
      const isSuspect = watch.stallMs > this.options.stallMs / 10;
      if (!isSuspect) this.patience.acquit(this);
      if (nowMs - givenUpMs > GRACE_MS) end({ kind: 'given up' });
      else if (isSuspect && isPutOff?.() === true) end({ kind: 'put off' });
    }, LOOK_EVERY_MS);
  }

  private start(): Worker {
    const { workerUrl, examinerUrl, memoryMb } = this.options;
    this.whereabouts = new Whereabouts();
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

/** CPU time that may be lost in all to seeds that do not finish. */
const PATIENCE_MS = 10_000;
/** CPU time that another worker takes to start. */
const START_COST_MS = 500;

/** The patience of a pool with seeds that do not finish. */
class Patience {
  lostMs = 0;
  /** Whether workers are inspected from the start: one filled its heap at an unknown place. */
  isWary = false;
  /** Seeds that did not finish before the sweep. */
  known: (SeedFailure & { readonly system: string })[] = [];
  /** The lane that is at a seed that may never end; no other is meanwhile. */
  private suspected: Lane | null = null;

  get isSpent(): boolean {
    return this.lostMs >= PATIENCE_MS;
  }

  knownIn({ system, from, to }: Chunk): SeedFailure[] {
    return this.known
      .filter((one) => one.system === system && from <= one.seed && one.seed <= to)
      .map(({ seed, error }) => ({ seed, error }));
  }

  /** Returns whether the lane may stay where it is. */
  suspect(lane: Lane): boolean {
    this.suspected ??= lane;
    return this.suspected === lane;
  }

  acquit(lane: Lane): void {
    if (this.suspected === lane) this.suspected = null;
  }

  async whenFree(): Promise<void> {
    while (this.suspected !== null) await wait(LOOK_EVERY_MS);
  }
}
