/** What coordinators and workers share of BullMQ: the queue, its Redis and a worker's progress. */
import { Redis } from 'ioredis';
import type { QueueAddress } from './queue-url.ts';

/** One queue holds the shards of all sweeps. */
export const SHARD_QUEUE = 'shards';
/** Of every key. */
export const PREFIX = 'fencepost';

/** How far a shard is, as its worker reports it with the job. */
export interface ShardProgress {
  /** Runs, a seed of one system each. */
  readonly done: number;
  readonly broken: number;
}

const ANSWER_MS = 5_000;

/** Opens what connects again whenever Redis is away; rejects where nothing answers at first. */
export async function connect(
  address: QueueAddress,
  { isPatient }: { readonly isPatient: boolean },
): Promise<Redis> {
  await requireRedis(address);
  // A worker waits for its next job without a limit; a coordinator asks again each second.
  const limits = isPatient
    ? { maxRetriesPerRequest: null }
    : { maxRetriesPerRequest: 3, commandTimeout: ANSWER_MS };
  const retryStrategy = (times: number): number => Math.min(100 * times, 2_000);
  const redis = new Redis({ ...address, ...limits, retryStrategy });
  redis.on('error', () => {}); // the command that fails by it says so
  return redis;
}

async function requireRedis(address: QueueAddress): Promise<void> {
  const limits = { connectTimeout: ANSWER_MS, commandTimeout: ANSWER_MS, maxRetriesPerRequest: 0 };
  const redis = new Redis({ ...address, ...limits, lazyConnect: true, retryStrategy: () => null });
  let why: Error | null = null;
  redis.on('error', (error: Error) => {
    why ??= error;
  });
  try {
    await redis.connect();
    await redis.ping();
    // Where there is no such database, ioredis goes on in the first one.
    if (address.db !== undefined) await redis.select(address.db);
  } catch (error) {
    throw why ?? error;
  } finally {
    redis.disconnect();
  }
}
