/**
 * A worker of the fleet: takes jobs of the sweeps on the queue in turn, and does them on threads of
 * its own, so that its main thread can renew the lock of the job.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Defect } from '../../core/kernel/assert.ts';
import type { Pool } from '../../search/sweep/pool.ts';
import { openPool } from '../../search/sweep/sweep.ts';
import type { ChunkResult } from './chunk-result.ts';
import {
  type OpenedQueue,
  type OpenedWorker,
  openConnection,
  type QueueConnection,
} from './connection.ts';
import { type ChunkPlace, JobDoer } from './do-job.ts';
import type { ChunkJob } from './jobs.ts';
import { LateResults } from './late-results.ts';
import { RECORDS } from './queue-names.ts';
import { type QueueAddress, withoutSecrets } from './queue-url.ts';
import { Reach, Teller } from './reach.ts';
import { JobTaker } from './take-jobs.ts';
import { WORKER_TIMING, type WorkerTiming } from './worker-timing.ts';

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
export async function startWorker(
  options: WorkerOptions,
  timing: WorkerTiming = WORKER_TIMING,
): Promise<FleetWorker> {
  const { address } = options;
  const note = (line: string): void => options.note(withoutSecrets(line, address));
  const reach = new Reach(note);
  const onError = (error: Error): void => reach.away(error);
  const connection = await openConnection(address, { isPatient: true, onError });
  return new FleetWorker({ options: { ...options, note }, timing, connection, reach });
}

interface FleetWorkerParts {
  readonly options: WorkerOptions;
  readonly timing: WorkerTiming;
  readonly connection: QueueConnection;
  readonly reach: Reach;
}

export class FleetWorker {
  private readonly timing: WorkerTiming;
  private readonly reach: Reach;
  private readonly connection: QueueConnection;
  private readonly pool: Pool;
  private readonly records: OpenedQueue;
  /** Takes nothing: by it a worker is counted, whatever sweeps it can do. */
  private readonly counted: OpenedWorker;
  private readonly taker: JobTaker;
  private readonly doer: JobDoer;
  private readonly closing: AbortController = new AbortController();
  private readonly running: Promise<void>;

  constructor({ options, timing, connection, reach }: FleetWorkerParts) {
    const { onBegun = () => {}, onChunk = () => {} } = options;
    const teller = new Teller(options.note);
    this.timing = timing;
    this.reach = reach;
    this.connection = connection;
    this.pool = openPool({ workers: options.threads });
    this.records = connection.queue(RECORDS);
    this.counted = connection.worker(RECORDS, {});
    const { records, pool } = this;
    const taker = new JobTaker({ connection, records, options, timing, teller });
    this.taker = taker;
    this.doer = new JobDoer({
      ...{ pool, teller, onBegun, onChunk },
      late: new LateResults(connection, records),
      readAgain: (sweepId) => taker.sweeps.read(sweepId),
    });
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
    await this.connection.close();
  }

  private async run(): Promise<void> {
    while (!this.closing.signal.aborted) {
      try {
        if (!(await this.turn())) await this.pause(this.timing.idleMs);
      } catch (error) {
        if (error instanceof Defect || !(error instanceof Error)) throw error;
        this.reach.away(error);
        await this.pause(this.timing.retryMs);
      }
    }
  }

  /** Takes a job and does it; whether there was one. */
  private async turn(): Promise<boolean> {
    if (await this.taker.look()) this.reach.answers();
    const taken = await this.taker.next();
    if (taken !== null) await this.doer.do(taken);
    return taken !== null;
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.closing.signal }).catch(() => {});
  }
}
