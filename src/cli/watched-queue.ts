/**
 * A queue as commands ask it: what it answers comes in time, or there is an error in our own words.
 * Otherwise a server that takes connections and says nothing would hold a command for ever.
 */
import { askedThrough } from '../adapters/fleet/progress.ts';
import type { SweepQueue } from '../adapters/fleet/sweep-queue.ts';

/** How long a command waits for one answer. */
const ANSWER_MS = 5_000;
/** How long is waited for an answer, or for the connections to close, once it is time to go. */
const LEAVE_MS = 2_000;

/** Makes another error of one of the queue's. */
export type Explain = (error: Error) => Error;

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
export async function within<T>(answer: Promise<T>, ms: number): Promise<T> {
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
