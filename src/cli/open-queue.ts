/**
 * Parses the option for the queue of a fleet and opens the queue. Secrets stay out of process lists
 * and output, and errors suggest a remedy.
 */
import { Option } from 'commander';
import { type QueueAddress, readQueueUrl, withoutSecrets } from '../adapters/fleet/queue-url.ts';
import { requireVersions, UnsupportedVersion } from '../adapters/installed-version.ts';
import { UserError } from './exit.ts';

/** The environment variable for the queue. It keeps passwords out of process lists. */
const QUEUE_VARIABLE = 'FENCEPOST_QUEUE';

/** The queue in the examples of `--help`. */
export const EXAMPLE_QUEUE = 'redis://127.0.0.1:6379';

export function queueOption(): Option {
  const about = 'redis://…; set the variable to keep it out of process lists';
  return new Option('--queue <url>', about).env(QUEUE_VARIABLE);
}

/** The address of a queue, and its printable form. */
export interface QueuePlace {
  readonly address: QueueAddress;
  readonly shown: string;
}

/** Returns the queue from `--queue` or the environment. */
export function queuePlace(url: string | undefined): QueuePlace {
  if (url === undefined || url === '') {
    throw new UserError([`no queue: pass --queue <url>, or set ${QUEUE_VARIABLE}`]);
  }
  const read = readQueueUrl(url);
  if (read.kind === 'problem') throw new UserError([`the queue’s URL ${read.what}`]);
  return read;
}

/**
 * Refuses a URL, even a mistyped one, where a file is expected. The error does not contain the URL.
 */
export function requireNoUrl(words: readonly string[]): void {
  if (!words.some((word) => /:\/\/|^rediss?(:|\/\/)/i.test(word))) return;
  throw new UserError([`pass the URL of the queue with --queue, or set ${QUEUE_VARIABLE}`]);
}

/** Returns the result of `open`. Throws a `UserError` if the queue cannot be reached. */
export async function reached<Opened>(
  place: QueuePlace,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    requireVersions(['bullmq', 'ioredis']);
    return await open();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof UnsupportedVersion) throw new UserError([error.message]);
    if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
      throw new UserError(['the queue needs two packages: npm install bullmq ioredis']);
    }
    throw new UserError([`${place.shown}: queue not reachable: ${queueErrorText(error, place)}`]);
  }
}

/** Replaces unhelpful messages of the client libraries, and removes secrets from all others. */
export function queueErrorText({ message }: Error, { address }: QueuePlace): string {
  if (/max retries per request/i.test(message)) return 'the connection broke';
  if (/^connection is closed/i.test(message)) return 'the connection is closed';
  if (/timed out/i.test(message)) return 'no reply in time';
  return withoutSecrets(message, address);
}
