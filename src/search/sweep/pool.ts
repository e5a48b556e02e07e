/**
 * Runs chunks on worker threads, which stay warm from one scenario to the next. A worker that stays
 * at one seed for too long, or dies of one, is replaced: the seed becomes a finding, and the rest
 * of its chunk is examined again without it.
 */
import { Worker } from 'node:worker_threads';
import type { LoadedModule } from '../../catalogue.ts';
import { assert } from '../../core/kernel/assert.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Chunk, killedTally } from './chunk.ts';
import { mergeTallies, type SeedFailure, type Tally } from './tally.ts';

export interface PoolOptions {
  readonly workers: number;
  /** What a worker thread runs, which is `worker.ts`, built. */
  readonly workerUrl: URL;
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
  readonly onTally: (tally: Tally, chunk: Chunk) => void;
  /** Whether chunks that are under way are given up, if they take a second more; absent: never. */
  readonly isGivenUp?: () => boolean;
}

export class Pool {
  private readonly lanes: readonly Lane[];
  private isBusy = false;

  constructor(options: PoolOptions) {
    this.lanes = Array.from({ length: options.workers }, () => new Lane(options));
  }

  /**
   * Does a job, one at a time; rejects when a worker cannot be started. Either way no worker is at
   * the job any more when it returns: an answer that came later would be taken for the next job's.
   */
  async run(job: PoolJob): Promise<void> {
    assert(!this.isBusy, 'a pool has two jobs at once');
    this.isBusy = true;
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
}

/** What it is sent. */
export interface ChunkOrder {
  readonly scenario: Scenario;
  /** Where the scenario's own words come from. */
  readonly modules: readonly LoadedModule[];
  readonly chunk: Chunk;
}

/** What it answers. */
export interface ChunkDone {
  readonly tally: Tally;
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

/** One worker's place in the pool; the worker in it may be replaced. */
class Lane {
  private readonly options: PoolOptions;
  /** The seed at hand, written by the worker; NaN before the first of a chunk. */
  private readonly seedCell = new Float64Array(new SharedArrayBuffer(8));
  private seedsPerChunk = FIRST_CHUNK;
  private worker: Worker | null = null;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  async run(job: PoolJob): Promise<void> {
    for (;;) {
      const chunk = job.next(this.seedsPerChunk);
      if (chunk === null) return;
      const { scenario, modules } = job;
      const tally = await this.examine({ scenario, modules, chunk }, job);
      if (tally !== null) job.onTally(tally, chunk);
    }
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
    this.worker = null;
  }

  /**
   * Examines a chunk, again and again without the seeds that a worker does not survive; null where
   * it was given up.
   */
  private async examine(order: ChunkOrder, job: PoolJob): Promise<Tally | null> {
    const { chunk } = order;
    const attempt = await this.attempt(order, job);
    if (attempt === null) return null;
    if ('tally' in attempt) {
      this.resize(attempt.milliseconds, chunk);
      return attempt.tally;
    }
    const skip = [...chunk.skip, attempt.seed];
    const rest = await this.examine({ ...order, chunk: { ...chunk, skip } }, job);
    return rest === null ? null : mergeTallies(killedTally(attempt), rest);
  }

  /** What the worker answers, or the seed that it was lost at; null where the chunk is given up. */
  private attempt(order: ChunkOrder, job: PoolJob): Promise<ChunkDone | SeedFailure | null> {
    this.worker ??= this.start();
    const { worker } = this;
    this.seedCell[0] = Number.NaN;
    return new Promise((resolve, reject) => {
      const watch = this.watch(job, (error) => lose(error));
      const lose = (error: string | null): void => {
        stop();
        this.worker = null;
        const seed = this.seedCell[0] ?? Number.NaN;
        void worker.terminate().then(() => {
          if (error === null) resolve(null);
          else if (Number.isNaN(seed)) reject(new Error(`a worker did not start: ${error}`));
          else resolve({ seed, error });
        });
      };
      const onDone = (done: ChunkDone): void => {
        stop();
        resolve(done);
      };
      const onError = (error: Error): void => lose(error.message);
      const onExit = (): void => lose('it ended its process');
      const stop = (): void => {
        clearInterval(watch);
        worker.off('message', onDone);
        worker.off('error', onError);
        worker.off('exit', onExit);
      };
      worker.on('message', onDone);
      worker.on('error', onError);
      worker.on('exit', onExit);
      worker.postMessage(order);
    });
  }

  /** Calls `onHung` once the worker has stayed at a seed for too long, or is not wanted any more. */
  private watch({ isGivenUp }: PoolJob, onHung: (error: string | null) => void): NodeJS.Timeout {
    let lastSeed = Number.NaN;
    let sinceMs = performance.now();
    let givenUpMs = Number.POSITIVE_INFINITY;
    return setInterval(() => {
      if (isGivenUp?.() === true) givenUpMs = Math.min(givenUpMs, performance.now());
      if (performance.now() - givenUpMs > GRACE_MS) {
        onHung(null);
        return;
      }
      const seed = this.seedCell[0] ?? Number.NaN;
      const limitMs = Number.isNaN(seed) ? START_TIMEOUT_MS : this.options.seedTimeoutMs;
      if (!Object.is(seed, lastSeed)) {
        lastSeed = seed;
        sinceMs = performance.now();
      } else if (performance.now() - sinceMs > limitMs) {
        onHung(`it did not end within ${limitMs / 1000} s`);
      }
    }, LOOK_EVERY_MS);
  }

  private start(): Worker {
    const { workerUrl, examinerUrl, memoryMb } = this.options;
    const setting: WorkerSetting = { examinerUrl, seedCell: this.seedCell };
    return new Worker(workerUrl, {
      workerData: setting,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
  }

  private resize(milliseconds: number, chunk: Chunk): void {
    const seeds = chunk.to - chunk.from + 1;
    const ideal = Math.round((seeds * CHUNK_MS) / Math.max(milliseconds, 1));
    this.seedsPerChunk = Math.max(1, Math.min(ideal, seeds * 4, LARGEST_CHUNK));
  }
}
