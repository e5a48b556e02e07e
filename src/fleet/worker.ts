/**
 * A worker of the fleet: takes chunks and shrinking jobs off the queue, whichever sweep they are
 * of, and does them on threads of its own, so that its main thread can renew the lock of the job.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import type { Pool } from '../sweep/pool.ts';
import { openPool, sweep } from '../sweep/sweep.ts';
import { LATE, RECORDS, WORK } from './bull-queue.ts';
import type { ChunkResult } from './chunk-result.ts';
import {
  type Connection,
  type OpenedQueue,
  type OpenedWorker,
  openConnection,
} from './connection.ts';
import { type ChunkJob, fleetJobSchema, sweepEntrySchema } from './jobs.ts';
import { type LoadedSweep, loadSweep } from './loaded-sweeps.ts';
import { type Packed, pack } from './packed.ts';
import { type QueueAddress, warningOf, withoutSecrets } from './queue-url.ts';
import { shrinkApart } from './shrink-apart.ts';

/** How long things take; people change none of it. */
export interface WorkerTiming {
  /** A worker that does not renew within this time has lost its job to another. */
  readonly lockMs: number;
  /** How often is looked for jobs whose worker is gone. */
  readonly stalledMs: number;
  /** So many times a job may lose its worker. */
  readonly mostStalls: number;
  /** How long a refused job is put off, and for how long then this worker takes nothing. */
  readonly refusedMs: number;
  readonly restMs: number;
  /** Until the next try after the connection broke. */
  readonly retryMs: number;
}

export const WORKER_TIMING: WorkerTiming = {
  lockMs: 60_000,
  stalledMs: 30_000,
  mostStalls: 10,
  refusedMs: 1_000,
  restMs: 5_000,
  retryMs: 5_000,
};

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
  readonly onBegun?: (chunk: number) => void;
  /** Told of each chunk that is done and was still ours. */
  readonly onChunk?: (result: ChunkResult) => void;
}

/** Connects, and works until it is closed; rejects where the queue cannot be reached. */
export async function startWorker(
  options: WorkerOptions,
  timing: WorkerTiming = WORKER_TIMING,
): Promise<FleetWorker> {
  const { address, note } = options;
  const teller = new Teller((line) => note(withoutSecrets(line, address)));
  const warning = warningOf(address);
  if (warning !== null) teller.tell(warning);
  const onError = (error: Error): void => teller.tell(error.message);
  const connection = await openConnection(address, { isPatient: true, onError });
  return new FleetWorker({ options, timing, connection, teller });
}

/** Says each line once. */
class Teller {
  private readonly note: (line: string) => void;
  private readonly told: Set<string> = new Set();

  constructor(note: (line: string) => void) {
    this.note = note;
  }

  tell(line: string): void {
    if (this.told.has(line)) return;
    this.told.add(line);
    this.note(line);
  }
}

interface FleetWorkerParts {
  readonly options: WorkerOptions;
  readonly timing: WorkerTiming;
  readonly connection: Connection;
  readonly teller: Teller;
}

type AnyJob = Job<unknown, unknown, string>;

/** A job whose sweep nobody knows is put back so often, and then given up. */
const MOST_UNKNOWN = 20;
const MOST_LOADED = 20;

export class FleetWorker {
  private readonly options: WorkerOptions;
  private readonly timing: WorkerTiming;
  private readonly pool: Pool;
  private readonly connection: Connection;
  private readonly worker: OpenedWorker;
  private readonly records: OpenedQueue;
  private readonly late: OpenedQueue;
  private readonly loaded: Map<string, LoadedSweep> = new Map();
  private readonly teller: Teller;
  private readonly closing: AbortController = new AbortController();

  constructor({ options, timing, connection, teller }: FleetWorkerParts) {
    this.options = options;
    this.timing = timing;
    this.connection = connection;
    this.teller = teller;
    this.pool = openPool({ workers: options.threads });
    this.records = connection.queue(RECORDS);
    this.late = connection.queue(LATE);
    this.worker = connection.worker(WORK, (job, token) => this.process(job, token ?? ''), {
      concurrency: 1,
      lockDuration: this.timing.lockMs,
      stalledInterval: this.timing.stalledMs,
      maxStalledCount: this.timing.mostStalls,
      runRetryDelay: this.timing.retryMs,
    });
  }

  /** Takes no new job, finishes the one at hand, and disconnects. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.worker.close();
    await this.pool.close();
    await Promise.all([this.records.close(), this.late.close()]);
    await this.connection.close();
  }

  private async process(job: AnyJob, token: string): Promise<Packed> {
    const read = fleetJobSchema.safeParse(job.data);
    if (!read.success) throw new UnrecoverableError('this is no job that fencepost wrote');
    const { data } = read;
    const loaded = await this.load(data);
    if (loaded.kind === 'refused') return await this.refuse(job, token, loaded.why);
    const { scenario, catalogue, sweep: record } = loaded;
    if (data.kind === 'chunk') {
      this.options.onBegun?.(data.chunk);
      const result = await this.examine(data, loaded);
      await this.requireLock(job, token, result);
      this.options.onChunk?.(result);
      return pack(result);
    }
    const { modules } = catalogue;
    return pack(await shrinkApart({ job: data, scenario, file: record.file, modules }));
  }

  private async load(job: { sweep: string; fencepost: string }): Promise<LoadedSweep> {
    const { version } = this.options;
    if (job.fencepost !== version) {
      return { kind: 'refused', why: `is of fencepost ${job.fencepost}, not ${version}` };
    }
    const known = this.loaded.get(job.sweep);
    if (known !== undefined) return known;
    const entry = sweepEntrySchema.safeParse((await this.records.getJob(job.sweep))?.data);
    if (!entry.success) return { kind: 'refused', why: UNKNOWN };
    const loaded = await loadSweep(job.sweep, entry.data.sweep, this.options);
    if (this.loaded.size >= MOST_LOADED) this.loaded.clear();
    if (loaded.kind === 'loaded') this.loaded.set(job.sweep, loaded);
    return loaded;
  }

  private async examine(
    { chunk, from, to }: ChunkJob,
    { scenario, catalogue }: Extract<LoadedSweep, { kind: 'loaded' }>,
  ): Promise<ChunkResult> {
    const { tallies, milliseconds } = await sweep(scenario, {
      ...{ from, to, catalogue },
      pool: this.pool,
    });
    return {
      ...{ chunk, from, to },
      tallies: Object.fromEntries(tallies),
      milliseconds: Math.round(milliseconds),
    };
  }

  /**
   * Throws where the job was given to another worker meanwhile. The result is then no answer to the
   * job any more, but still one to the chunk: it is kept apart, to be compared.
   */
  private async requireLock(job: AnyJob, token: string, result: ChunkResult): Promise<void> {
    const isHeld = (await job.extendLock(token, this.timing.lockMs)) === 1;
    if (isHeld) return;
    const jobId = `${job.id ?? ''}-${this.worker.id}-${token.split(':').at(-1) ?? ''}`;
    await this.late.add('late', pack(result), { jobId });
    const { from, to } = result;
    this.teller.tell(`seeds ${from}..${to} were given to another worker: ours are only compared`);
    throw new Error('its worker was away too long, and it was given to another');
  }

  /** Leaves a job to others for a while, and says why once. */
  private async refuse(job: AnyJob, token: string, why: string): Promise<never> {
    if (why === UNKNOWN && job.attemptsStarted > MOST_UNKNOWN) throw new UnrecoverableError(why);
    const sweepId = fleetJobSchema.parse(job.data).sweep;
    if (why !== UNKNOWN) this.teller.tell(`sweep ${sweepId} ${why}: left for other workers`);
    const { refusedMs, restMs } = this.timing;
    await job.moveToDelayed(Date.now() + refusedMs, token);
    // So that another worker is there first when the job is due.
    await sleep(restMs, undefined, { signal: this.closing.signal }).catch(() => {});
    throw new DelayedError();
  }
}

const UNKNOWN = 'has no record on the queue';
