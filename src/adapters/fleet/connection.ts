/**
 * How BullMQ's queues and workers on Redis are opened. They share one connection, which connects
 * again by itself; each worker has one more, by which it is counted.
 */
import { type Job, Queue, Worker, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import type { QueueAddress } from './queue-url.ts';

export type AnyJob = Job<unknown, unknown, string>;
export type OpenedQueue = Queue<unknown, unknown, string>;
export type OpenedWorker = Worker<unknown, unknown, string>;

export type WorkerSettings = Pick<
  WorkerOptions,
  'lockDuration' | 'maxStalledCount' | 'stalledInterval'
>;

/** A connection to where the queues are, which all of them share. */
export interface QueueConnection {
  queue(name: string): OpenedQueue;
  /** One that is counted as a worker of the queue, and whose jobs are taken by hand. */
  worker(name: string, settings: WorkerSettings): OpenedWorker;
  /** After the queues and the workers. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Whether commands wait for a Redis that is away, however long; else they are rejected. */
  readonly isPatient: boolean;
  /** Told what goes wrong meanwhile. */
  readonly onError: (error: Error) => void;
}

/** The prefix of every key. */
const PREFIX = 'fencepost';
/** How long to try for a first connection. */
const FIRST_CONNECTION_MS = 5_000;

/** Connects; rejects where nothing answers, or what answers lets us not in. */
export async function openConnection(
  address: QueueAddress,
  { isPatient, onError }: ConnectionOptions,
): Promise<QueueConnection> {
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

async function requireRedis(address: QueueAddress): Promise<void> {
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
