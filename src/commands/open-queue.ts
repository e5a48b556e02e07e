/** Opens the queue that people name, with errors that say what to do and no secret. */
import { type QueueAddress, readQueueUrl, warningOf, withoutSecrets } from '../fleet/queue-url.ts';
import type { SweepQueue } from '../fleet/sweep-queue.ts';
import type { FleetWorker, WorkerOptions } from '../fleet/worker.ts';
import { UserError } from './exit.ts';
import { openTerminal } from './terminal.ts';

/** Where people may name the queue instead, so that no password stands in a list of processes. */
export const QUEUE_VARIABLE = 'FENCEPOST_QUEUE';

export interface OpenQueue {
  readonly queue: SweepQueue;
  /** The URL without credentials. */
  readonly shown: string;
  /** A text without the URL's password. */
  readonly safe: (text: string) => string;
}

/** Connects to the queue at `url`; a warning of what is experimental goes to stderr. */
export async function openQueue(url: string): Promise<OpenQueue> {
  const place = placeOf(url);
  const warning = warningOf(place.address);
  if (warning !== null) openTerminal({ isQuiet: false, isJson: false }).warn(warning);
  const queue = await reached(place, async () => {
    const { openBullQueue } = await import('../fleet/bull-queue.ts');
    return await openBullQueue(place.address, () => {});
  });
  return { queue, shown: place.shown, safe: place.safe };
}

/** Starts a worker on the queue at `url`; it is the worker that warns. */
export async function openWorker(
  url: string,
  options: Omit<WorkerOptions, 'address'>,
): Promise<{ readonly worker: FleetWorker; readonly shown: string }> {
  const place = placeOf(url);
  const worker = await reached(place, async () => {
    const { startWorker } = await import('../fleet/worker.ts');
    return await startWorker({ ...options, address: place.address });
  });
  return { worker, shown: place.shown };
}

interface Place extends Omit<OpenQueue, 'queue'> {
  readonly address: QueueAddress;
}

function placeOf(url: string): Place {
  const read = readQueueUrl(url);
  if (read.kind === 'problem') throw new UserError([`the queue’s URL ${read.what}`]);
  const { address, shown } = read;
  return { address, shown, safe: (text) => withoutSecrets(text, address) };
}

async function reached<Opened>(
  { address, shown, safe }: Place,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
      const driver = address.kind === 'postgres' ? 'pg' : 'ioredis';
      throw new UserError([`this queue needs two more packages: npm install bullmq ${driver}`]);
    }
    throw new UserError([`${shown}: the queue cannot be reached: ${safe(error.message)}`]);
  }
}
