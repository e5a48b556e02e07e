/**
 * Tells what a queue rejects from what is wrong anywhere else: only a queue that is away is waited
 * for, and all other errors end the coordinator.
 */
import { Defect } from '../kernel/assert.ts';
import type { SweepQueue } from './sweep-queue.ts';

/** A queue did not do what it was asked; its message is that of the queue. */
export class QueueAway extends Error {}

/** The same queue; what it rejects with is a `QueueAway`, but for what is wrong in fencepost. */
export function tellingAway(queue: SweepQueue): SweepQueue {
  return new Proxy(queue, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: readonly unknown[]): Promise<unknown> => {
        try {
          return await Reflect.apply(member, target, given);
        } catch (error) {
          if (error instanceof Defect || !(error instanceof Error)) throw error;
          throw new QueueAway(error.message, { cause: error });
        }
      };
    },
  });
}
