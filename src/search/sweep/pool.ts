/**
 * Runs chunks and tasks on worker threads, which the next scenario reuses. A worker is replaced if
 * it makes no progress or if a seed kills it. The seed becomes a finding, and its chunk is examined
 * again without it, unless such seeds have cost too much CPU time. A seed that was lost in the
 * check for determinism is not run again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { LoadedModule } from '../../catalogue.ts';
import { assert } from '../../core/kernel/assert.ts';
import { ProgressBeacon } from '../../host/async/progress-beacon.ts';
import { HEAP_FULL, ThreadWatch } from '../../host/async/thread-watch.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Chunk, countsOfKilled, type ReuseDifference } from './chunk.ts';
import { mergeCounts, type SeedFailure, type SweepCounts } from './counts.ts';
import type { TaskDone, TaskEnd, TaskOrder } from './tasks.ts';

export interface PoolOptions {
  readonly workers: number;
  /** The URL of the script of a worker thread: `worker.ts`, built. */
  readonly workerUrl: { readonly href: string };
  /** The URL of a module that exports `examinerOf`. */
  readonly examinerUrl: string;
  /** CPU time that a worker may use without a simulated event. */
  readonly stallMs: number;
  /** Memory limit of a worker. A seed that exceeds it is a finding. */
  readonly memoryMb: number;
}

/**
 * A job. `next` returns the next chunk, or null after the last. `onCounts` receives the results.
 */
export interface PoolJob {
  readonly scenario: Scenario;
  /** The modules that define the names in the scenario. */
  readonly modules: readonly LoadedModule[];
  readonly next: (seedsPerChunk: number) => Chunk | null;
  /** Also receives the first seed whose result with reused realms differs. */
  readonly onCounts: (
    counts: SweepCounts,
    chunk: Chunk,
    difference: ReuseDifference | null,
  ) => void;
  /** If it returns true, running chunks are abandoned after about a second. Default: never. */
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
   * Runs a job. Only one may run at a time. Rejects if a worker cannot be started. When the promise
   * settles, no worker is still busy with the job; otherwise a late answer would be mistaken for an
   * answer to the next job.
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

  /** Performs one task while no job runs. `isGivenUp` works as for a job. @internal */
  async perform(order: TaskOrder, isGivenUp?: () => boolean): Promise<TaskEnd> {
    const [lane] = this.lanes;
    assert(lane !== undefined, 'a pool has no worker');
    const { patience } = this;
    if (patience.isSpent) return { kind: 'lost', where: 'other runs', why: 'they did not finish' };
    this.begin();
    const { lostMs, isWary } = patience;
    try {
      const end = await lane.perform(order, isGivenUp);
      // A seed that is lost during a comparison may succeed with new realms.
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

  /** Resets the time lost to seeds that did not finish, because other seeds follow. @internal */
  restorePatience(): void {
    this.patience.lostMs = 0;
    this.patience.known = [];
  }

  /** Ends the workers. Without this call, they keep the process alive. */
  async close(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.close()));
  }
}

/** The start parameters of a worker. */
export interface WorkerSetting {
  /** The URL of a module that exports `examinerOf(scenario)`. */
  readonly examinerUrl: string;
  /** A number in shared memory: the current seed. */
  readonly seedCell: Float64Array;
  /** A number in shared memory. Nonzero: end the current task with the results so far. */
  readonly stopCell: Int32Array;
  /** Shared memory in which the worker publishes its current activity. */
  readonly beacon: SharedArrayBuffer;
}

/** A message to a worker. */
export interface ChunkOrder {
  readonly scenario: Scenario;
  /** The modules that define the names in the scenario. */
  readonly modules: readonly LoadedModule[];
  readonly chunk: Chunk;
}

/** Sent by a worker before it ends itself because a seed never finishes. */
export interface LastWords {
  readonly lastWords: string;
}

/** The answer of a worker. */
export interface ChunkDone {
  readonly counts: SweepCounts;
  readonly difference: ReuseDifference | null;
  readonly milliseconds: number;
}

/** Target duration of a chunk. */
const CHUNK_MS = 100;
const FIRST_CHUNK = 8;
const LARGEST_CHUNK = 8192;
/** The CPU limit without progress is this many times larger between runs than within a run. */
const BETWEEN = 4;
/** Time that an abandoned chunk may still run. */
const GRACE_MS = 800;
const LOOK_EVERY_MS = 200;

type Sent<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The worker is gone. `why` is a clause. */
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'given up' }
  /** The order must be sent again when no other lane runs a seed that may never finish. */
  | { readonly kind: 'put off' };

interface SendOptions {
  readonly isGivenUp?: (() => boolean) | undefined;
  /** Called if a seed may never finish. If it returns true, the order is put off. */
  readonly isPutOff?: () => boolean;
}

/** A slot for one worker, which may be replaced. */
class Lane {
  private readonly options: PoolOptions;
  private readonly patience: Patience;
  /** The current seed, written by the worker. NaN before the first seed of a chunk. */
  private readonly seedCell = new Float64Array(new SharedArrayBuffer(8));
  private readonly stopCell = new Int32Array(new SharedArrayBuffer(4));
  private beacon = new ProgressBeacon();
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
    // Clear the activity of an earlier task. Otherwise, it would be reported if this task is lost.
    this.beacon.write('nothing', '');
    const sent = await this.send<TaskDone>(order, { isGivenUp });
    assert(sent.kind !== 'put off', 'a task is never put off');
    if (sent.kind === 'answer') return sent.answer;
    return sent.kind === 'lost' ? { ...sent, where: this.beacon.what } : sent;
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
    this.worker = null;
  }

  /**
   * Examines a chunk, repeatedly if necessary, each time without the seeds that killed the worker.
   * If these seeds cost too much time, only they are reported. If a seed kills a worker with reused
   * realms, the chunk is repeated with new realms. Only a seed that also kills the second worker is
   * a finding.
   */
  private async examine(fullChunk: Chunk, job: PoolJob): Promise<void> {
    const { scenario, modules, isGivenUp } = job;
    const { patience } = this;
    const seeds: SeedFailure[] = patience.knownIn(fullChunk);
    let unended: ReuseDifference | null = null;
    let { isReusing = false } = fullChunk;
    const isPutOff = (): boolean => isReusing || !patience.suspect(this);
    do {
      this.seedCell[0] = Number.NaN;
      const skip = [...fullChunk.skip, ...seeds.map(({ seed }) => seed)];
      const chunk: Chunk = { ...fullChunk, skip, isReusing };
      const order: ChunkOrder = { scenario, modules, chunk };
      const sent = await this.send<ChunkDone>(order, { isGivenUp, isPutOff });
      patience.acquit(this);
      if (sent.kind === 'given up') return;
      if (sent.kind === 'put off') {
        if (!isReusing) await patience.whenFree();
        isReusing = false;
      } else if (sent.kind === 'answer') {
        this.resize(sent.answer.milliseconds, chunk);
        const { counts, difference } = sent.answer;
        const found = seeds.length === 0 ? unended : null;
        job.onCounts(
          [counts, ...seeds.map(countsOfKilled)].reduce(mergeCounts),
          fullChunk,
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
    for (const failure of seeds) {
      job.onCounts(
        countsOfKilled(failure),
        { ...fullChunk, from: failure.seed, to: failure.seed, skip: [] },
        null,
      );
    }
  }

  /** Sends an order to the worker. Resolves to the answer, or to the reason why there is none. */
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
      const onMessage = (message: Answer | LastWords): void => {
        if ('lastWords' in message) died(message.lastWords);
        else end({ kind: 'answer', answer: message });
      };
      const onError = (error: Error): void => {
        if (!('code' in error) || error.code !== 'ERR_WORKER_OUT_OF_MEMORY') died(error.message);
        else if (!patience.isWary) {
          patience.isWary = true; // sending the order again finds the place
          if (options.isPutOff === undefined) lose(`it did not finish: ${HEAP_FULL}`, 0);
          else end({ kind: 'put off' });
        } else lose(`it did not finish: ${HEAP_FULL}`, this.options.stallMs);
      };
      const onExit = (): void => died('it ended the process');
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

  /** Watches the worker. `onLost` receives the reason for ending the worker, and its CPU limit. */
  private watch(onLost: (why: string, limitMs: number) => void): ThreadWatch {
    const { stallMs, memoryMb, workers } = this.options;
    return new ThreadWatch(this.beacon, {
      stallMs,
      betweenMs: BETWEEN * stallMs,
      mostMb: (workers + 1) * memoryMb,
      isWary: this.patience.isWary,
      onLost: (why) => onLost(why, stallMs),
    });
  }

  /** Checks regularly whether the order was given up or has to be put off, and if so, ends it. */
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
    this.beacon = new ProgressBeacon();
    const { seedCell, stopCell, beacon } = this;
    const setting: WorkerSetting = {
      examinerUrl,
      seedCell,
      stopCell,
      beacon: beacon.memory,
    };
    const worker = new Worker(new URL(workerUrl.href), {
      workerData: setting,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      stdout: true,
      stderr: true,
    });
    // Only code under test writes uncaptured output to a worker's stdout; discard it.
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

/** Total CPU time that may be lost to seeds that do not finish. */
const PATIENCE_MS = 10_000;
/** CPU time to start another worker. */
const START_COST_MS = 500;

/** The pool's budget for seeds that do not finish. */
class Patience {
  lostMs = 0;
  /** True after a worker filled its heap at an unknown place: inspect workers from the start. */
  isWary = false;
  /** Seeds that did not finish before the sweep. */
  known: (SeedFailure & { readonly system: string })[] = [];
  /** The lane whose seed may never finish. Only one lane may run such a seed at a time. */
  private suspected: Lane | null = null;

  get isSpent(): boolean {
    return this.lostMs >= PATIENCE_MS;
  }

  knownIn({ system, from, to }: Chunk): SeedFailure[] {
    return this.known
      .filter((failure) => failure.system === system && from <= failure.seed && failure.seed <= to)
      .map(({ seed, error }) => ({ seed, error }));
  }

  /** Returns true if the lane may continue with its seed. */
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
