/**
 * Counts the jobs that code of users runs within one event: a chain of promises without an end
 * (`for (;;) await null`) never gives its thread back. By a count, and not by a clock, the same run
 * ends at the same job on every machine.
 *
 * Nothing within a thread can end such a chain, not even an error that its run has failed by then.
 * So the thread is ended: by its own hand where somebody outside of it takes its last words.
 */
import process from 'node:process';
import { promiseHooks } from 'node:v8';
import { errorText } from '../../text/error-text.ts';
import { ambient } from './ambient.ts';
import { ownPlaceIn } from './call-site.ts';
import { Shared } from './patches.ts';

// As it is before simulated processes are refused it.
const { onInit } = promiseHooks;

/** Jobs in one event, after which there is no end to them. */
const MOST_JOBS = 1_000_000;

/** Throws where there are too many in one event. */
export function requireFewJobs(jobs: number): void {
  if (jobs < MOST_JOBS) return;
  throw new Error('it never waits: a million jobs of promises, one after the other');
}

/** Takes the last words of this thread, with the process at fault; null where nobody does. */
let lastWords: ((words: string) => void) | null = null;

/** From here on a chain without an end ends this thread, once `take` has its last words. */
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
/** Promises of a chain, one of which is made by code of users. */
const MOST_PROMISES = 1_000;

/** Ends this thread where the chain makes one of its next promises, and names that place. */
function endInChain(words: string): void {
  isEnding = true;
  let left = MOST_PROMISES;
  onInit(() => {
    const place = ownPlaceIn(new Error('to find the place'));
    left -= 1;
    if (place === null && left > 0) return;
    ambient.current = null; // it may not print or exit
    lastWords?.(place === null ? words : `${words}, at ${place}`);
    process.exit(1);
  });
}

let stop = (): void => {};

/** In place while somebody wants it. */
export const countedJobs: Shared = new Shared(
  () => {
    const end = promiseHooks.onBefore(countJob);
    stop = () => void end();
  },
  () => stop(),
);
