/**
 * How BullMQ's queues and workers are opened, on whichever database a URL names. Whoever uses them
 * need not know which it is: what differs is made even by the two ways to connect.
 */
import type { Job, Queue, Worker, WorkerOptions } from 'bullmq';
import type { QueueAddress } from './queue-url.ts';

export type AnyJob = Job<unknown, unknown, string>;

/** What fencepost uses of a queue. */
export type OpenedQueue = Pick<
  Queue<unknown, unknown, string>,
  | 'add'
  | 'addBulk'
  | 'addJobLog'
  | 'clean'
  | 'close'
  | 'drain'
  | 'getJob'
  | 'getJobCounts'
  | 'getJobLogs'
  | 'getRanges'
  | 'getWorkersCount'
  | 'isPaused'
  | 'obliterate'
  | 'remove'
  | 'resume'
  | 'updateJobProgress'
>;

/** What fencepost, and its tests, use of a worker. */
export type OpenedWorker = Pick<
  Worker<unknown, unknown, string>,
  'close' | 'getNextJob' | 'id' | 'startStalledCheckTimer'
>;

export type WorkerSettings = Pick<
  WorkerOptions,
  'lockDuration' | 'maxStalledCount' | 'stalledInterval'
>;

/** A connection to where the queues are, which all of them share. */
export interface Connection {
  queue(name: string): OpenedQueue;
  /** One that is counted as a worker of the queue, and whose jobs are taken by hand. */
  worker(name: string, settings: WorkerSettings): OpenedWorker;
  /** After the queues and the workers. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Whether commands wait for a database that is away, however long; else they are rejected. */
  readonly isPatient: boolean;
  /** Told what goes wrong meanwhile. */
  readonly onError: (error: Error) => void;
}

/**
 * Connects; rejects where nothing answers, what answers lets us not in, or a package is missing.
 * Only what the database needs is loaded: `ioredis` or `pg`.
 */
export async function openConnection(
  address: QueueAddress,
  options: ConnectionOptions,
): Promise<Connection> {
  if (address.kind === 'postgres') {
    const { openPostgres } = await import('./postgres-connection.ts');
    return await openPostgres(address, options);
  }
  const { openRedis } = await import('./redis-connection.ts');
  return await openRedis(address, options);
}

/** How long to try for a first connection. */
export const FIRST_CONNECTION_MS = 5_000;
