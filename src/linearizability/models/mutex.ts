/** A mutex that knows its owner: granted only when free, released only by the owner. */
import { mistakesIn } from '../call-shape.ts';
import { decidePairedLock } from '../fast/paired-lock.ts';
import { illegal, type Model } from '../model.ts';
import { describeLockCall, describeOwner, lockShapes, mutexNeeds } from './lock-words.ts';

export type MutexCall =
  | {
      readonly name: 'acquire';
      readonly lock: string;
      readonly owner: string;
      /** `denied`: somebody held it (a try-lock); waiting for it is one long call. */
      readonly answer: 'granted' | 'denied' | 'unknown';
    }
  | {
      readonly name: 'release';
      readonly lock: string;
      readonly owner: string;
      /** `denied`: the caller did not hold it. */
      readonly answer: 'released' | 'denied' | 'unknown';
    };

/** The state is the owner, null when the mutex is free. It is not reentrant. */
export function mutex(): Model<string | null, MutexCall> {
  return {
    name: 'mutex',
    init: null,
    step(state, call): readonly (string | null)[] {
      const isPossible = call.name === 'acquire' ? state === null : state === call.owner;
      if (call.answer === 'denied' && isPossible) return illegal;
      if (!isPossible)
        return call.answer === 'granted' || call.answer === 'released' ? illegal : [state];
      return [call.name === 'acquire' ? call.owner : null];
    },
    isPure: (call) => call.answer === 'denied',
    mistakeIn: mistakesIn(lockShapes),
    partition: (call) => call.lock,
    whenFailed: (call) => ({ ...call, answer: 'denied' }),
    fastPath: decidePairedLock,
    describe: describeLockCall,
    needs: mutexNeeds,
    describeState: describeOwner,
  };
}
