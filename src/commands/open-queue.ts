/** Opens the queue that people name, with errors that say what to do and no secret. */
import { readQueueUrl, withoutSecrets } from '../fleet/queue-url.ts';
import type { SweepQueue } from '../fleet/sweep-queue.ts';
import type { FleetWorker, WorkerOptions } from '../fleet/worker.ts';
import { UserError } from './exit.ts';

/** Where people may name the queue instead, so that no password stands in a list of processes. */
export const QUEUE_VARIABLE = 'FENCEPOST_QUEUE';

export interface OpenQueue {
  readonly queue: SweepQueue;
  /** The URL without credentials. */
  readonly shown: string;
  /** A text without the URL's password. */
  readonly safe: (text: string) => string;
}

/** Connects to the queue at `url`. */
export async function openQueue(url: string): Promise<OpenQueue> {
  const { address, shown } = addressOf(url);
  const { openBullQueue } = await withPackages(() => import('../fleet/bull-queue.ts'));
  const safe = (text: string): string => withoutSecrets(text, address);
  const queue = await reached(shown, safe, () => openBullQueue(address, () => {}));
  return { queue, shown, safe };
}

/** Starts a worker on the queue at `url`. */
export async function openWorker(
  url: string,
  options: Omit<WorkerOptions, 'address'>,
): Promise<{ readonly worker: FleetWorker; readonly shown: string }> {
  const { address, shown } = addressOf(url);
  const { startWorker } = await withPackages(() => import('../fleet/worker.ts'));
  const safe = (text: string): string => withoutSecrets(text, address);
  const worker = await reached(shown, safe, () => startWorker({ ...options, address }));
  return { worker, shown };
}

function addressOf(url: string): Extract<ReturnType<typeof readQueueUrl>, { kind: 'address' }> {
  const read = readQueueUrl(url);
  if (read.kind === 'address') return read;
  throw new UserError([`the queue’s URL ${read.what}`]);
}

async function withPackages<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error;
    if (!isMissing || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UserError(['a queue needs two more packages: npm install bullmq ioredis']);
  }
}

async function reached<Opened>(
  shown: string,
  safe: (text: string) => string,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UserError([`${shown}: the queue cannot be reached: ${safe(error.message)}`]);
  }
}
