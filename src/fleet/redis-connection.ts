/** Queues on Redis: each has connections of its own, which connect again by themselves. */
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

/** Connects once, to see that it can be done; each queue connects when it is opened. */
export async function openRedis(
  address: RedisAddress,
  { isPatient, onError }: ConnectionOptions,
): Promise<Connection> {
  await requireRedis(address);
  const maxRetriesPerRequest = isPatient ? null : 3;
  const connection = { ...address, retryStrategy: retryAfterMs, maxRetriesPerRequest };
  return {
    queue(name): OpenedQueue {
      const queue = new Queue<unknown, unknown, string>(name, { connection, prefix: PREFIX });
      queue.on('error', onError);
      return queue;
    },
    worker(name, process, settings): OpenedWorker {
      const options = { ...settings, connection, prefix: PREFIX };
      const worker = new Worker<unknown, unknown, string>(name, process, options);
      worker.on('error', onError);
      return worker;
    },
    close: async () => {},
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
  } catch (error) {
    throw why ?? error;
  } finally {
    redis.disconnect();
  }
}
