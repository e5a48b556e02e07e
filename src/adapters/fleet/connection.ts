/**
 * The parts of a fleet that coordinators and workers share: the queue, its Redis connection, and
 * the progress of a shard.
 */
import { Redis } from 'ioredis';
import type { QueueAddress } from './queue-url.ts';

/** The queue that holds the shards of all sweeps. */
export const SHARD_QUEUE = 'shards';
/** The prefix of every key. */
export const PREFIX = 'fencepost';

/** The progress of a shard, which its worker stores with the job. */
export interface ShardProgress {
  /** Finished runs: each seed counts once per system. */
  readonly done: number;
  readonly broken: number;
}

const ANSWER_MS = 5_000;

/** Opens a connection that reconnects after an outage. Rejects if the first attempt fails. */
export async function connect(
  address: QueueAddress,
  { isPatient }: { readonly isPatient: boolean },
): Promise<Redis> {
  await requireRedis(address);
  // A worker waits for its next job without limit; a coordinator polls every second.
  const limits = isPatient
    ? { maxRetriesPerRequest: null }
    : { maxRetriesPerRequest: 3, commandTimeout: ANSWER_MS };
  const retryStrategy = (times: number): number => Math.min(100 * times, 2_000);
  const redis = new Redis({ ...address, ...limits, retryStrategy });
  redis.on('error', () => {}); // reported by the command that fails
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
    // If the database does not exist, ioredis silently keeps using database 0.
    if (address.db !== undefined) await redis.select(address.db);
  } catch (error) {
    throw why ?? error;
  } finally {
    redis.disconnect();
  }
}
