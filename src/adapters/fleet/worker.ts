/**
 * A worker of the fleet: takes jobs of the sweeps on the queue in turn, checks that each is one of
 * its sweep, and does it on threads of its own, so that its main thread can renew the lock of the
 * job. A chunk is examined by the sweep's pool; a seed is shrunk in a thread apart, where a plan
 * that hangs or uses up the memory ends the thread and not the worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { UnrecoverableError } from 'bullmq';
import { Defect } from '../../core/kernel/assert.ts';
import type { Pool } from '../../search/sweep/pool.ts';
import { openPool, sweep } from '../../search/sweep/sweep.ts';
import { chunksIn, jobIdOf, rangeOfChunk } from './chunks.ts';
import {
  leaveLate,
  type OpenedQueue,
  type OpenedWorker,
  openConnection,
  type QueueConnection,
  RECORDS,
} from './connection.ts';
import { OnceNoter, QueueReach } from './progress.ts';
import { type QueueAddress, withoutSecrets } from './queue-url.ts';
import { noneShrunk, type ShrinkSetting } from './shrink-kind.ts';
import {
  type ChunkJob,
  type ChunkResult,
  type FleetJob,
  fleetJobSchema,
  type ShrinkJob,
  type ShrunkKind,
  shrunkKindSchema,
} from './sweep-queue.ts';
import {
  JobTaker,
  type Loaded,
  type TakenJob,
  WORKER_TIMING,
  type WorkerTiming,
} from './take-jobs.ts';

export interface WorkerOptions {
  readonly address: QueueAddress;
  /** Worker threads, at least one. */
  readonly threads: number;
  /** The folder below which the scenarios' modules lie here; null takes none that uses any. */
  readonly modules: string | null;
  /** Of fencepost. */
  readonly version: string;
  readonly note: (line: string) => void;
  /** Told of each chunk before it is begun. */
  readonly onBegun?: (job: ChunkJob, place: ChunkPlace) => void;
  /** Told of each chunk that is done and was still ours. */
  readonly onChunk?: (result: ChunkResult, place: ChunkPlace) => void;
}

/** Connects, and works until it is closed; rejects where the queue cannot be reached. */
export async function startFleetWorker(
  options: WorkerOptions,
  timing: WorkerTiming = WORKER_TIMING,
): Promise<FleetWorker> {
  const { address } = options;
  const note = (line: string): void => options.note(withoutSecrets(line, address));
  const reach = new QueueReach(note);
  const onError = (error: Error): void => reach.away(error);
  const connection = await openConnection(address, { isPatient: true, onError });
  return new FleetWorker({ options: { ...options, note }, timing, connection, reach });
}

interface FleetWorkerParts {
  readonly options: WorkerOptions;
  readonly timing: WorkerTiming;
  readonly connection: QueueConnection;
  readonly reach: QueueReach;
}

export class FleetWorker {
  private readonly parts: FleetWorkerParts;
  private readonly noter: OnceNoter;
  private readonly pool: Pool;
  private readonly records: OpenedQueue;
  /** Takes nothing: by it a worker is counted, whatever sweeps it can do. */
  private readonly counted: OpenedWorker;
  private readonly taker: JobTaker;
  private readonly closing: AbortController = new AbortController();
  private readonly running: Promise<void>;

  /** @internal */
  constructor(parts: FleetWorkerParts) {
    const { options, timing, connection } = parts;
    this.parts = parts;
    this.noter = new OnceNoter(options.note);
    this.pool = openPool({ workers: options.threads });
    this.records = connection.queue(RECORDS);
    this.counted = connection.worker(RECORDS, {});
    const { records, noter } = this;
    this.taker = new JobTaker({ connection, records, options, timing, noter });
    this.running = this.run();
  }

  /** Takes no new job, finishes the one at hand, and disconnects. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
    await this.pool.close();
    this.taker.close();
    await this.counted.close(true);
    await this.records.close();
    await this.parts.connection.close();
  }

  private async run(): Promise<void> {
    const { timing, reach } = this.parts;
    while (!this.closing.signal.aborted) {
      try {
        if (!(await this.turn())) await this.pause(timing.idleMs);
      } catch (error) {
        if (error instanceof Defect || !(error instanceof Error)) throw error;
        reach.away(error);
        await this.pause(timing.retryMs);
      }
    }
  }

  /** Takes a job and does it; whether there was one. */
  private async turn(): Promise<boolean> {
    if (await this.taker.look()) this.parts.reach.answers();
    const taken = await this.taker.next();
    if (taken !== null) await this.do(taken);
    return taken !== null;
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.closing.signal }).catch(() => {});
  }

  /** Does a job to its end, good or bad; rejects where the queue takes neither. */
  private async do(taken: TakenJob): Promise<void> {
    const { held } = taken;
    try {
      if (held.whyGivenUp !== null) throw new UnrecoverableError(held.whyGivenUp);
      const job = await this.checked(taken);
      if (job.kind === 'chunk') await this.examine(job, taken);
      else await this.shrink(job, taken);
    } catch (error) {
      if (error instanceof Defect || !(error instanceof Error)) throw error;
      await held.fail(error);
    } finally {
      held.release();
    }
  }

  private async examine(job: ChunkJob, { sweepId, loaded, held }: TakenJob): Promise<void> {
    const { pool } = this;
    const { options } = this.parts;
    const { scenario, catalogue } = loaded;
    const { chunk, from, to } = job;
    const chunks = chunksIn(loaded.sweep);
    const place = { sweep: sweepId, scenario: scenario.name, number: chunk + 1, chunks };
    options.onBegun?.(job, place);
    const { tallies, milliseconds } = await sweep(scenario, { from, to, catalogue, pool });
    const result: ChunkResult = {
      ...{ chunk, from, to },
      tallies: Object.fromEntries(tallies),
      milliseconds: Math.round(milliseconds),
    };
    if (await held.complete(result)) options.onChunk?.(result, place);
    else await this.keepApart(sweepId, result);
  }

  private async shrink(job: ShrinkJob, { loaded, held }: TakenJob): Promise<void> {
    const { scenario, catalogue, sweep: record } = loaded;
    const { modules } = catalogue;
    await held.complete(await shrinkApart({ job, scenario, file: record.file, modules }));
  }

  /** A result whose job was given to another is still one of its chunk, to be compared. */
  private async keepApart(sweepId: string, result: ChunkResult): Promise<void> {
    const { connection } = this.parts;
    if (!(await leaveLate({ connection, records: this.records }, sweepId, result))) return;
    const { from, to } = result;
    const whose = 'were given to another worker: ours are only compared';
    this.noter.tell(`seeds ${from}..${to} ${whose}`);
  }

  /** What the job asks for; throws where it is none of its sweep. */
  private async checked({ sweepId, loaded, held }: TakenJob): Promise<FleetJob> {
    const read = fleetJobSchema.safeParse(held.data);
    if (!read.success) throw new UnrecoverableError('this is no job that fencepost wrote');
    const job = read.data;
    if (job.sweep !== sweepId) throw new UnrecoverableError('it is a job of another sweep');
    if (job.fencepost !== loaded.sweep.origin.fencepost) {
      throw new UnrecoverableError('it is a job of another version of fencepost');
    }
    if (isOf(loaded, job, held.id)) return job;
    // The sweep may have been begun anew meanwhile, with other chunks.
    const now = await this.taker.read(sweepId);
    if (now === null || !isOf(now, job, held.id)) {
      throw new UnrecoverableError('it is for other seeds than its sweep has');
    }
    return job;
  }
}

/** A chunk, and which sweep it is of. */
export interface ChunkPlace {
  readonly sweep: string;
  readonly scenario: string;
  /** From 1 to `chunks`. */
  readonly number: number;
  readonly chunks: number;
}

/** Whether a job asks for nothing but what its sweep has. */
function isOf({ sweep: record, scenario }: Loaded, job: FleetJob, jobId: string): boolean {
  if (job.kind === 'shrink') {
    const { from, to } = record.range;
    const isThere = scenario.systems.some(({ name }) => name === job.system);
    return isThere && job.seed >= from && job.seed <= to;
  }
  const { from, to } = rangeOfChunk(record, job.chunk);
  const isIn = job.chunk < chunksIn(record) && jobId === jobIdOf(job.sweep, job.chunk);
  return isIn && job.from === from && job.to === to;
}

interface ApartOptions {
  /** The module that the thread runs. */
  readonly thread: URL;
  readonly limitMs: number;
  readonly memoryMb: number;
}

const APART: ApartOptions = {
  thread: new URL('./shrink-thread.js', import.meta.url),
  limitMs: 2 * 60_000,
  memoryMb: 512,
};

/**
 * There is no plan where the thread dies or takes more than two minutes. That is an answer and no
 * failure: trying again would keep a worker, perhaps the only one, from the seeds.
 */
export function shrinkApart(
  setting: ShrinkSetting,
  { thread: module, limitMs, memoryMb }: ApartOptions = APART,
): Promise<ShrunkKind> {
  return new Promise((resolve) => {
    const thread = new Worker(module, {
      workerData: setting,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const giveUp = (why: string): void => resolve(noneShrunk(setting.job, why));
    const limit = setTimeout(() => {
      giveUp(`shrinking did not end within ${limitMs / 1000} s`);
      void thread.terminate();
    }, limitMs);
    thread.on('message', (answer: unknown) => {
      const read = shrunkKindSchema.safeParse(answer);
      if (read.success) resolve(read.data);
      else giveUp('what it was shrunk to is too large to be told');
    });
    thread.on('error', (error: Error) => giveUp(`shrinking failed: ${error.message}`));
    thread.on('exit', () => {
      clearTimeout(limit);
      giveUp('shrinking ended without an answer');
    });
  });
}
