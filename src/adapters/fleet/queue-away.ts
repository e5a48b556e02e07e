/**
 * Queues that are asked through something: only what a queue itself rejects with is waited out by a
 * coordinator, and all other errors end it.
 */
import { Defect } from '../../core/kernel/assert.ts';
import type { SweepQueue } from './sweep-queue.ts';

/** A queue did not do what it was asked; its message is that of the queue. */
export class QueueAway extends Error {}

/** The same queue; what it rejects with is a `QueueAway`, but for what is wrong in fencepost. */
export function tellingAway(queue: SweepQueue): SweepQueue {
  return askedBy(queue, async (ask) => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Defect || !(error instanceof Error)) throw error;
      throw new QueueAway(error.message, { cause: error });
    }
  });
}

/** The same queue, of which everything is asked by `by`. */
export function askedBy(
  queue: SweepQueue,
  by: (ask: () => Promise<unknown>) => Promise<unknown>,
): SweepQueue {
  return new Proxy(queue, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: readonly unknown[]) => by(async () => Reflect.apply(member, target, given));
    },
  });
}
