/**
 * What coordinators and workers share of BullMQ: how queues and workers on Redis are opened, what
 * the queues are called, and what workers leave on them beside the results of their jobs: why they
 * leave a sweep to others, and results that came after their job was given to another.
 *
 * Queues share one connection, which connects again by itself; each worker has one more, by which
 * it is counted.
 */
import { randomUUID } from 'node:crypto';
import { type Job, Queue, Worker, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { jobIdOf } from './chunks.ts';
import type { QueueAddress } from './queue-url.ts';
import type { ChunkResult } from './sweep-queue.ts';

export type AnyJob = Job<unknown, unknown, string>;
export type OpenedQueue = Queue<unknown, unknown, string>;
export type OpenedWorker = Worker<unknown, unknown, string>;

type WorkerSettings = Pick<WorkerOptions, 'lockDuration' | 'maxStalledCount' | 'stalledInterval'>;

/** A connection to where the queues are, which all of them share. */
export interface QueueConnection {
  queue(name: string): OpenedQueue;
  /** One that is counted as a worker of the queue, and whose jobs are taken by hand. */
  worker(name: string, settings: WorkerSettings): OpenedWorker;
  /** After the queues and the workers. */
  close(): Promise<void>;
}

interface ConnectionOptions {
  /** Whether commands wait for a Redis that is away, however long; else they are rejected. */
  readonly isPatient: boolean;
  /** Told what goes wrong meanwhile. */
  readonly onError: (error: Error) => void;
}

/** Of every key. */
const PREFIX = 'fencepost';
const FIRST_CONNECTION_MS = 5_000;

/** Connects; rejects where nothing answers, or what answers lets us not in. */
export async function openConnection(
  address: QueueAddress,
  { isPatient, onError }: ConnectionOptions,
): Promise<QueueConnection> {
  await requireRedis(address);
  const maxRetriesPerRequest = isPatient ? null : 3;
  const retryStrategy = (times: number): number => Math.min(100 * times, 2_000);
  const connection = new Redis({ ...address, retryStrategy, maxRetriesPerRequest });
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

/** The records, which are looked at and never taken. */
export const RECORDS = 'sweeps';

/** The chunks of a sweep and what is to be shrunk of it. */
export function workQueueOf(sweep: string): string {
  return `work-${sweep}`;
}

/** Results of a sweep that workers had after their job was given to another. */
export function lateQueueOf(sweep: string): string {
  return `late-${sweep}`;
}

/** A job; undefined where it is gone. Any other error is of the queue or its connection. */
export async function readJob(
  queue: OpenedQueue,
  id: string,
): Promise<AnyJob | 'unreadable' | undefined> {
  try {
    return await queue.getJob(id);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return 'unreadable';
    if (error instanceof Error && error.message.includes('WRONGTYPE')) return 'unreadable';
    throw error;
  }
}

/** So many lines are kept; the same one may come from several workers. */
const KEPT = 20;
const MOST_TOLD = 5;
const MOST_LETTERS = 300;

/** What a worker says; `why` is a clause about the sweep. */
export function refusalText(sweep: string, why: string): string {
  return harmless(`sweep ${sweep} ${why}: left for other workers`);
}

/** Leaves a line with the record; where that is gone nobody needs it. */
export async function leaveRefusal(records: OpenedQueue, id: string, line: string): Promise<void> {
  await records.addJobLog(id, line, KEPT).catch(() => {});
}

/** The last lines, each once. */
export async function readRefusals(records: OpenedQueue, id: string): Promise<readonly string[]> {
  const { logs } = await records.getJobLogs(id, 0, KEPT - 1);
  return [...new Set(logs.map(harmless))].slice(-MOST_TOLD);
}

function harmless(line: string): string {
  return line.replace(/\p{Cc}+/gu, ' ').slice(0, MOST_LETTERS);
}

/** False where the sweep is not on the queue any more, and nothing of it may stay there. */
export async function leaveLate(
  { connection, records }: { readonly connection: QueueConnection; readonly records: OpenedQueue },
  sweepId: string,
  result: ChunkResult,
): Promise<boolean> {
  const isThere = async (): Promise<boolean> => (await records.getJob(sweepId)) !== undefined;
  if (!(await isThere())) return false;
  const queue = connection.queue(lateQueueOf(sweepId));
  try {
    await queue.add('late', result, { jobId: `${jobIdOf(sweepId, result.chunk)}-${randomUUID()}` });
    if (await isThere()) return true;
    // Whoever ended the sweep looked for late results before this one was there.
    await queue.obliterate({ force: true });
    return false;
  } finally {
    await queue.close();
  }
}
