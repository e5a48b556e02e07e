/**
 * The queue of a fleet as commands know it: how people name it, without a secret in any list of
 * processes or line of output; how it is opened, with errors that say what to do; and how it is
 * asked. What it answers comes in time, or there is an error in our own words: otherwise a server
 * that takes connections and says nothing would hold a command for ever.
 */
import { Option } from 'commander';
import { askedThrough } from '../adapters/fleet/progress.ts';
import { type QueueAddress, readQueueUrl, withoutSecrets } from '../adapters/fleet/queue-url.ts';
import type { SweepQueue } from '../adapters/fleet/sweep-queue.ts';
import type { FleetWorker, WorkerOptions } from '../adapters/fleet/worker.ts';
import { requireVersions, UnsupportedVersion } from '../adapters/installed-version.ts';
import { Defect } from '../core/kernel/assert.ts';
import { FENCEPOST, shellWords } from '../report/finding.ts';
import { UserError } from './exit.ts';
import { openTerminal } from './terminal.ts';

/** Where people may name the queue, so that no password stands in a list of processes. */
export const QUEUE_VARIABLE = 'FENCEPOST_QUEUE';

/** The queue in the examples of `--help`. */
export const EXAMPLE_QUEUE = 'redis://127.0.0.1:6379';

export function queueOption(): Option {
  const about = 'redis://…; in the environment it stands in no list of processes';
  return new Option('--queue <url>', about).env(QUEUE_VARIABLE);
}

export function requiredQueue(queue: string | undefined): string {
  if (queue !== undefined && queue !== '') return queue;
  throw new UserError([`which queue? name it with --queue, or set ${QUEUE_VARIABLE}`]);
}

interface SweepWords {
  /** The queue's URL, as it was given. */
  readonly queue: string;
  /** The id of the sweep; null where it is not known. */
  readonly id: string | null;
  /** What else is to be typed. */
  readonly options?: readonly string[];
}

/**
 * The command that people are told to type:
 * `npx --no-install fencepost sweep resume s0123… --queue redis://…`; the queue only where it is
 * needed.
 */
export function sweepCommandText(
  verb: 'status' | 'tail' | 'stop' | 'resume',
  { queue, id, options = [] }: SweepWords,
): string {
  const words = [...FENCEPOST, 'sweep', verb, ...(id === null ? [] : [id]), ...options];
  if (process.env[QUEUE_VARIABLE] === queue) return shellWords(words).join(' ');
  // An ellipsis: whoever typed the password knows it.
  if (mayHaveSecret(queue)) return `${QUEUE_VARIABLE}=… ${shellWords(words).join(' ')}`;
  return shellWords([...words, '--queue', queue]).join(' ');
}

function mayHaveSecret(queue: string): boolean {
  if (!URL.canParse(queue)) return true;
  const { username, password, search, hash } = new URL(queue);
  return [username, password, search, hash].some((part) => part !== '');
}

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

async function openQueue(url: string): Promise<OpenQueue> {
  const place = placeOf(url);
  const terminal = openTerminal();
  const queue = await reached(place, async () => {
    const { openBullQueue } = await import('../adapters/fleet/bull-queue.ts');
    const warn = (line: string): void => terminal.warn(`warning: ${line}`);
    return await openBullQueue(place.address, () => {}, warn);
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

/** What `act` does with the queue at `url`, which is closed again. */
export async function withQueue<T>(
  url: string,
  act: (opened: OpenQueue) => Promise<T>,
): Promise<T> {
  const opened = await openQueue(url);
  try {
    return await act(opened);
  } finally {
    await opened.close();
  }
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
    requireVersions(['bullmq', 'ioredis']);
    return await within(open(), OPEN_MS);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof UnsupportedVersion) throw new UserError([error.message]);
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

/** How long a command waits for one answer. */
const ANSWER_MS = 5_000;
/** How long is waited for an answer, or for the connections to close, once it is time to go. */
const LEAVE_MS = 2_000;

type Explain = (error: Error) => Error;

/** Every answer comes within some seconds, or is an error. */
export function promptQueue(queue: SweepQueue, explain: Explain): SweepQueue {
  return watched(queue, (answer) => within(answer, ANSWER_MS), explain);
}

/** Waits for every answer, but after an interruption not for long. */
export function patientQueue(
  queue: SweepQueue,
  interrupted: AbortSignal,
  explain: Explain,
): SweepQueue {
  return watched(queue, (answer) => untilLeaving(answer, interrupted), explain);
}

/** Closes the queue, if its server lets it. */
export async function closeSoon(queue: SweepQueue): Promise<void> {
  await within(queue.close(), LEAVE_MS).catch(() => {});
}

/** What `answer` comes to, unless that takes too long. */
async function within<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`nothing came back within ${ms / 1000} s`);
    timer = setTimeout(() => reject(error), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function untilLeaving<T>(answer: Promise<T>, interrupted: AbortSignal): Promise<T> {
  if (interrupted.aborted) return await within(answer, LEAVE_MS);
  let leave: () => void = () => {};
  const leaving = new Promise<'leaving'>((resolve) => {
    leave = () => resolve('leaving');
    interrupted.addEventListener('abort', leave, { once: true });
  });
  try {
    const first = await Promise.race([answer.then((value) => ({ value })), leaving]);
    return first === 'leaving' ? await within(answer, LEAVE_MS) : first.value;
  } finally {
    interrupted.removeEventListener('abort', leave);
  }
}

function watched(
  queue: SweepQueue,
  wait: (answer: Promise<unknown>) => Promise<unknown>,
  explain: Explain,
): SweepQueue {
  return askedThrough(queue, async (ask) => {
    try {
      return await wait(ask());
    } catch (error) {
      throw error instanceof Error ? explain(error) : error;
    }
  });
}
