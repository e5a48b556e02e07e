/**
 * A worker of a fleet: a BullMQ worker whose jobs are shards. BullMQ holds the lock of a job,
 * passes the job to another worker if this one dies, and retries it if it fails. Seeds run on
 * separate threads, so that the event loop stays free to renew the lock.
 */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { Pool } from '../../search/sweep/pool.ts';
import { rangeOfShard, type SeedRange, type Shard } from '../../search/sweep/shards.ts';
import { openPool } from '../../search/sweep/sweep.ts';
import { connect, PREFIX, SHARD_QUEUE, type ShardProgress } from './connection.ts';
import { type QueueAddress, withoutSecrets } from './queue-url.ts';
import {
  type LoadedOrder,
  loadOrdered,
  REFUSED,
  readOrder,
  shardName,
  type WorkerCode,
} from './shard-order.ts';

/** Runs a shard. Resolves to the text of its file. */
type RunShard = (
  scenarios: readonly LoadedOrder[],
  run: {
    readonly range: SeedRange;
    readonly shard: Shard;
    readonly version: string;
    readonly pool: Pool;
    readonly onProgress: (progress: ShardProgress) => void;
  },
) => Promise<string>;

export interface WorkerOptions extends WorkerCode {
  readonly address: QueueAddress;
  /** The number of worker threads, at least one. */
  readonly threads: number;
  readonly runShard: RunShard;
  /** Called with one line for each refusal or failure. */
  readonly onNote: (line: string) => void;
  readonly onShard: (line: string) => void;
}

/** A worker that takes shards of sweeps from a queue. */
export interface FleetWorker {
  /** Takes no new shard, finishes the current one, and disconnects. */
  close(): Promise<void>;
}

/** The defaults of BullMQ, except that a shard can be recovered from a lost machine three times. */
const TIMING = { lockDuration: 30_000, stalledInterval: 30_000, maxStalledCount: 3 };
const PROGRESS_EVERY_MS = 2_000;
const REFUSE_MS = 2_000;

type ShardJob = Job<unknown, string, string>;

/** Connects, and runs shards until the worker is closed. Rejects if the queue cannot be reached. */
export async function startFleetWorker(
  options: WorkerOptions,
  timing: Partial<typeof TIMING> = {},
): Promise<FleetWorker> {
  const connection = await connect(options.address, { isPatient: true });
  const pool = openPool({ workers: options.threads });
  const perform = async (job: ShardJob): Promise<string> => await performShard(job, pool, options);
  const settings = { ...TIMING, ...timing, connection, prefix: PREFIX };
  const worker = new Worker<unknown, string, string>(SHARD_QUEUE, perform, settings);
  let noted = '';
  const note = (line: string): void => {
    // While Redis is unreachable, the same error repeats every second.
    if (line !== noted) options.onNote(withoutSecrets(line, options.address));
    noted = line;
  };
  worker.on('error', ({ message }) => note(`the queue: ${message}`));
  worker.on('failed', (job, { message }) => note(`job ${job?.id ?? ''} failed: ${message}`));
  return {
    async close() {
      await worker.close();
      await pool.close();
      connection.disconnect();
    },
  };
}

/** Delays the failure, so that this worker does not fail every job before a coordinator polls. */
async function refuse(why: string): Promise<never> {
  await sleep(REFUSE_MS);
  throw new UnrecoverableError(why);
}

async function performShard(job: ShardJob, pool: Pool, options: WorkerOptions): Promise<string> {
  const startedMs = performance.now();
  const order = readOrder(job.id, job.data);
  if (typeof order === 'string') return await refuse(order);
  const { range, shard } = order;
  const scenarios: LoadedOrder[] = [];
  for (const ordered of order.scenarios) {
    const loaded = await loadOrdered(ordered, options);
    if (typeof loaded === 'string') {
      return await refuse(`${REFUSED} ${hostname()}, process ${process.pid}: ${loaded}`);
    }
    scenarios.push(loaded);
  }
  let reportedMs = 0;
  const onProgress = (progress: ShardProgress): void => {
    if (performance.now() - reportedMs < PROGRESS_EVERY_MS) return;
    reportedMs = performance.now();
    // If Redis is unreachable or the job is gone, storing the result fails, too.
    job.updateProgress({ ...progress }).catch(() => {});
  };
  const { version } = options;
  const text = await options.runShard(scenarios, { range, shard, version, pool, onProgress });
  const names = scenarios.map(({ scenario }) => scenario.name).join(', ');
  const { from, to } = rangeOfShard(range, shard);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  options.onShard(`${names}: ${shardName(shard)}: seeds ${from}..${to} in ${seconds} s`);
  return text;
}
