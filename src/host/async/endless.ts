/**
 * Counts the jobs that user code runs within one event. An endless chain of promises, such as
 * `for (;;) await null`, never returns control to the thread. A count, unlike a clock, ends the
 * same run at the same job on every machine.
 *
 * Nothing within the thread can stop such a chain, not even an error after the run has failed. The
 * thread therefore exits, provided that an observer outside receives its final message.
 */
import process from 'node:process';
import { promiseHooks } from 'node:v8';
import { errorText } from '../../text/error-text.ts';
import { ambient } from './ambient.ts';
import { userPlaceIn } from './call-site.ts';
import { Shared } from './patches.ts';

// The original, which simulated processes may not call.
const { onInit } = promiseHooks;

/** More jobs than this in one event count as endless. */
const MOST_JOBS = 1_000_000;

/** Throws if there were too many jobs in one event. */
export function requireFewJobs(jobs: number): void {
  if (jobs < MOST_JOBS) return;
  throw new Error('it never waits: a million promise jobs in a row');
}

/** Receives the thread's final message, which names the process; null if there is no receiver. */
let lastWords: ((words: string) => void) | null = null;

/** Makes an endless chain of jobs end this thread, after `take` receives its final message. */
export function endEndless(take: (words: string) => void): void {
  lastWords = take;
}

function countJob(): void {
  const { current } = ambient;
  if (current === null || isEnding) return;
  try {
    current.countJob();
  } catch (error) {
    if (lastWords !== null) endInChain(`${current.name}: ${errorText(error)}`);
  }
}

let isEnding = false;
/** Maximum number of promises to inspect in search of user code. */
const MOST_PROMISES = 1_000;

/** Ends this thread when user code creates the chain's next promise, and reports that place. */
function endInChain(words: string): void {
  isEnding = true;
  let left = MOST_PROMISES;
  onInit(() => {
    const place = userPlaceIn(new Error('to find the place'));
    left -= 1;
    if (place === null && left > 0) return;
    ambient.current = null; // a simulated process may not print or exit
    lastWords?.(place === null ? words : `${words}, at ${place}`);
    process.exit(1);
  });
}

let stop = (): void => {};

/** Counts jobs while in use. */
export const countedJobs: Shared = new Shared(
  () => {
    const end = promiseHooks.onBefore(countJob);
    stop = () => void end();
  },
  () => stop(),
);
