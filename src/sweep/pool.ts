/**
 * Runs chunks on worker threads. A worker that stays at one seed for too long, or dies of one, is
 * replaced: the seed becomes a finding, and the rest of its chunk is examined again without it.
 */
import { Worker } from 'node:worker_threads';
import type { Scenario } from '../scenario/scenario.ts';
import { type Chunk, failureTally } from './chunk.ts';
import { mergeTallies, type Tally } from './tally.ts';
import type { ChunkDone, WorkerSetting } from './worker.ts';

export interface PoolOptions {
  readonly workers: number;
  readonly examinerUrl: string;
  /** How long one seed may take before it counts as hung. */
  readonly seedTimeoutMs: number;
  /** How much a worker may keep; a seed that needs more is a finding. */
  readonly memoryMb: number;
}

/** Gives the next chunk of about `milliseconds` of work; null when there is none left. */
export type NextChunk = (seedsPerChunk: number) => Chunk | null;

/** Chunks are sized to take about this long. */
const CHUNK_MS = 100;
const FIRST_CHUNK = 8;
const LARGEST_CHUNK = 8192;

/** Runs until `next` gives no more; `onTally` is told of each chunk's result as it comes in. */
export async function runPool(
  scenario: Scenario,
  options: PoolOptions,
  next: NextChunk,
  onTally: (tally: Tally, chunk: Chunk) => void,
): Promise<void> {
  const lanes = Array.from({ length: options.workers }, () =>
    new Lane(scenario, options, next, onTally).run(),
  );
  await Promise.all(lanes);
}

/** One worker's place in the pool; the worker in it may be replaced. */
class Lane {
  private readonly scenario: Scenario;
  private readonly options: PoolOptions;
  private readonly next: NextChunk;
  private readonly onTally: (tally: Tally, chunk: Chunk) => void;
  private readonly cell = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  private seedsPerChunk = FIRST_CHUNK;
  private worker: Worker | null = null;

  constructor(
    scenario: Scenario,
    options: PoolOptions,
    next: NextChunk,
    onTally: (tally: Tally, chunk: Chunk) => void,
  ) {
    this.scenario = scenario;
    this.options = options;
    this.next = next;
    this.onTally = onTally;
  }

  async run(): Promise<void> {
    try {
      for (;;) {
        const chunk = this.next(this.seedsPerChunk);
        if (chunk === null) return;
        this.onTally(await this.examine(chunk), chunk);
      }
    } finally {
      await this.worker?.terminate();
    }
  }

  /** Examines a chunk, again and again without the seeds that a worker does not survive. */
  private async examine(chunk: Chunk): Promise<Tally> {
    const result = await this.attempt(chunk);
    if (result.kind === 'done') {
      this.resize(result.done.milliseconds, chunk);
      return result.done.tally;
    }
    const rest = await this.examine({ ...chunk, skip: [...chunk.skip, result.seed] });
    return mergeTallies(failureTally({ seed: result.seed, error: result.error }), rest);
  }

  private attempt(
    chunk: Chunk,
  ): Promise<{ kind: 'done'; done: ChunkDone } | { kind: 'lost'; seed: number; error: string }> {
    this.worker ??= this.start();
    const { worker, options } = this;
    const cell = new Float64Array(this.cell);
    cell[0] = Number.NaN;
    return new Promise((resolve, reject) => {
      let lastSeed = Number.NaN;
      let sinceMs = performance.now();
      const watch = setInterval(() => {
        const seed = cell[0] ?? Number.NaN;
        if (!Object.is(seed, lastSeed)) {
          lastSeed = seed;
          sinceMs = performance.now();
        } else if (performance.now() - sinceMs > options.seedTimeoutMs) {
          finish(`it did not end within ${options.seedTimeoutMs / 1000} s`);
        }
      }, 200);
      const finish = (error: string): void => {
        stop();
        this.worker = null;
        const seed = cell[0] ?? Number.NaN;
        void worker.terminate().then(() => {
          if (Number.isNaN(seed)) reject(new Error(`a worker did not start: ${error}`));
          else resolve({ kind: 'lost', seed, error });
        });
      };
      const onDone = (done: ChunkDone): void => {
        stop();
        resolve({ kind: 'done', done });
      };
      const onError = (error: Error): void => finish(error.message);
      const stop = (): void => {
        clearInterval(watch);
        worker.off('message', onDone);
        worker.off('error', onError);
      };
      worker.on('message', onDone);
      worker.on('error', onError);
      worker.postMessage(chunk);
    });
  }

  private start(): Worker {
    const setting: WorkerSetting = {
      scenario: this.scenario,
      examinerUrl: this.options.examinerUrl,
      seedCell: this.cell,
    };
    return new Worker(new URL('./worker.js', import.meta.url), {
      workerData: setting,
      resourceLimits: { maxOldGenerationSizeMb: this.options.memoryMb },
    });
  }

  private resize(milliseconds: number, chunk: Chunk): void {
    const seeds = chunk.to - chunk.from + 1;
    const ideal = Math.round((seeds * CHUNK_MS) / Math.max(milliseconds, 1));
    const bounded = Math.min(Math.max(ideal, 1), seeds * 4, LARGEST_CHUNK);
    this.seedsPerChunk = Math.max(bounded, 1);
  }
}
