/** Opens the queue that people name, with errors that say what to do and no secret. */
import { type QueueAddress, readQueueUrl, withoutSecrets } from '../adapters/fleet/queue-url.ts';
import type { SweepQueue } from '../adapters/fleet/sweep-queue.ts';
import type { FleetWorker, WorkerOptions } from '../adapters/fleet/worker.ts';
import { Defect } from '../core/kernel/assert.ts';
import { UserError } from './exit.ts';
import { openTerminal } from './terminal.ts';
import { closeSoon, patientQueue, promptQueue, within } from './watched-queue.ts';

/** How long to wait for the first connection, and all that opening a queue takes. */
const OPEN_MS = 5_500;

export interface OpenQueue {
  /** Every answer of it comes within some seconds, or is a `UserError`. */
  readonly queue: SweepQueue;
  /** The same queue for who waits for its answers, until he is interrupted. */
  readonly patient: (interrupted: AbortSignal) => SweepQueue;
  /** Closes it, whether its server answers or not. */
  readonly close: () => Promise<void>;
  /** The URL without credentials. */
  readonly shown: string;
  /** A text without the URL's password. */
  readonly safe: (text: string) => string;
}

/** Connects to the queue at `url`. */
export async function openQueue(url: string): Promise<OpenQueue> {
  const place = placeOf(url);
  const terminal = openTerminal({ isQuiet: false, isJson: false });
  const queue = await reached(place, async () => {
    const { openBullQueue } = await import('../adapters/fleet/bull-queue.ts');
    return await openBullQueue(
      place.address,
      () => {},
      (line) => terminal.warn(`warning: ${line}`),
    );
  });
  const { shown, safe } = place;
  const explain = (error: Error): string => ownWords(safe(error.message));
  return {
    queue: promptQueue(queue, (error) =>
      error instanceof Defect
        ? error
        : new UserError([`${shown}: the queue failed: ${explain(error)}`]),
    ),
    patient: (interrupted) =>
      patientQueue(queue, interrupted, (error) =>
        error instanceof Defect ? error : new Error(explain(error), { cause: error }),
      ),
    close: () => closeSoon(queue),
    ...{ shown, safe },
  };
}

/** Starts a worker on the queue at `url`. */
export async function openWorker(
  url: string,
  options: Omit<WorkerOptions, 'address'>,
): Promise<{ readonly worker: FleetWorker; readonly shown: string }> {
  const place = placeOf(url);
  const worker = await reached(place, async () => {
    const { startFleetWorker } = await import('../adapters/fleet/worker.ts');
    return await startFleetWorker({ ...options, address: place.address });
  });
  return { worker, shown: place.shown };
}

interface Place extends Pick<OpenQueue, 'shown' | 'safe'> {
  readonly address: QueueAddress;
}

function placeOf(url: string): Place {
  const read = readQueueUrl(url);
  if (read.kind === 'problem') throw new UserError([`the queue’s URL ${read.what}`]);
  const { address, shown } = read;
  return { address, shown, safe: (text) => withoutSecrets(text, address) };
}

async function reached<Opened>(
  { shown, safe }: Place,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await within(open(), OPEN_MS);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
      throw new UserError(['this queue needs two more packages: npm install bullmq ioredis']);
    }
    const why = ownWords(safe(error.message));
    throw new UserError([`${shown}: the queue cannot be reached: ${why}`]);
  }
}

/** What the packages below say of themselves is no use to those who type commands. */
function ownWords(message: string): string {
  if (/max retries per request/i.test(message)) return 'the connection broke';
  if (/^connection is closed/i.test(message)) return 'the connection is closed';
  return message;
}
