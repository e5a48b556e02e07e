/** Queues on Redis: they share one connection, which connects again by itself. */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import {
  type Connection,
  type ConnectionOptions,
  FIRST_CONNECTION_MS,
  type OpenedQueue,
  type OpenedWorker,
} from './connection.ts';
import type { RedisAddress } from './queue-url.ts';

/** The prefix of every key. */
const PREFIX = 'fencepost';

/** Connects; queues share the connection, and each worker has one more by which it is counted. */
export async function openRedis(
  address: RedisAddress,
  { isPatient, onError }: ConnectionOptions,
): Promise<Connection> {
  await requireRedis(address);
  const maxRetriesPerRequest = isPatient ? null : 3;
  const connection = new Redis({ ...address, retryStrategy: retryAfterMs, maxRetriesPerRequest });
  connection.on('error', onError);
  // It is the same server for all of them, whose version and settings are looked at once.
  let skipVersionCheck = false;
  return {
    queue(name): OpenedQueue {
      const options = { connection, prefix: PREFIX, skipVersionCheck, skipMetasUpdate: true };
      skipVersionCheck = true;
      const queue = new Queue<unknown, unknown, string>(name, options);
      queue.on('error', onError);
      return queue;
    },
    worker(name, settings): OpenedWorker {
      const options = { ...settings, connection, prefix: PREFIX, skipVersionCheck: true };
      const worker = new Worker<unknown, unknown, string>(name, null, options);
      worker.on('error', onError);
      return worker;
    },
    close: async () => connection.disconnect(),
  };
}

/** How long to wait before the next try to connect again. */
function retryAfterMs(times: number): number {
  return Math.min(100 * times, 2_000);
}

async function requireRedis(address: RedisAddress): Promise<void> {
  const redis = new Redis({
    ...address,
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: FIRST_CONNECTION_MS,
    maxRetriesPerRequest: 0,
  });
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
