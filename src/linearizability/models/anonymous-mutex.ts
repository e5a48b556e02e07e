/** A mutex that knows no owner: granted only when free, and anybody's release frees it. */

import { mistakesIn } from '../call-shape.ts';
import { decidePairedLock } from '../fast/paired-lock.ts';
import { illegal, type Model } from '../model.ts';
import { describeLockCall, lockShapes } from './lock-words.ts';
import type { MutexCall } from './mutex.ts';

/** The state is whether it is held. */
export function anonymousMutex(): Model<boolean, MutexCall> {
  return {
    name: 'anonymous-mutex',
    init: false,
    step(isHeld, call): readonly boolean[] {
      const isPossible = isHeld === (call.name === 'release');
      if (call.answer === 'denied' && isPossible) return illegal;
      if (isPossible) return [!isHeld];
      return call.answer === 'granted' || call.answer === 'released' ? illegal : [isHeld];
    },
    isPure: (call) => call.answer === 'denied',
    mistakeIn: mistakesIn(lockShapes),
    partition: (call) => call.lock,
    whenFailed: (call) => ({ ...call, answer: 'denied' }),
    fastPath: decidePairedLock,
    describe: describeLockCall,
    needs: (call) => {
      const isFree = (call.name === 'acquire') === (call.answer !== 'denied');
      return isFree ? 'the lock to be free' : 'the lock to be held';
    },
    describeState: (isHeld) => (isHeld ? 'it is held' : 'it is free'),
  };
}
