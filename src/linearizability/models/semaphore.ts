/** A semaphore with a number of permits: an acquire takes some, and a release returns some. */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

/** A call of `semaphore`. */
export type SemaphoreCall =
  | {
      readonly name: 'acquire';
      readonly semaphore: string;
      readonly permits: number;
      /** `denied`: too few permits were left. */
      readonly answer: 'granted' | 'denied' | 'unknown';
    }
  | {
      readonly name: 'release';
      readonly semaphore: string;
      readonly permits: number;
      /** `denied`: fewer permits were taken. */
      readonly answer: 'released' | 'denied' | 'unknown';
    };

const mistakeIn = mistakesIn<SemaphoreCall>({
  acquire: { semaphore: 'a string', permits: 'a number', answer: ['granted', 'denied', 'unknown'] },
  release: {
    semaphore: 'a string',
    permits: 'a number',
    answer: ['released', 'denied', 'unknown'],
  },
});

/** The state is the number of `permits` that are left. */
export function semaphore(permits = 1): Model<number, SemaphoreCall> {
  return {
    name: 'semaphore',
    init: permits,
    step(left, call): readonly number[] {
      const next = call.name === 'acquire' ? left - call.permits : left + call.permits;
      const isPossible = next >= 0 && next <= permits;
      if (call.answer === 'denied') return isPossible ? illegal : [left];
      if (isPossible) return [next];
      return call.answer === 'unknown' ? [left] : illegal;
    },
    isPure: (call) => call.answer === 'denied',
    mistakeIn,
    partition: (call) => call.semaphore,
    whenFailed: (call) => ({ ...call, answer: 'denied' }),
    describe: (call) => `${call.name}(${call.permits})=${call.answer}`,
    needs(call): string {
      const bound = call.answer === 'denied' ? 'fewer than' : 'at least';
      return `${bound} ${call.permits} ${call.name === 'acquire' ? 'left' : 'taken'}`;
    },
    describeState: (left) => `${left} of ${permits} are left`,
  };
}
