/** Locks without tokens: a mutex with an owner, an anonymous mutex and a reentrant mutex. */
import { mistakesIn } from '../call-shape.ts';
import { decidePairedLock } from '../fast/paired-lock.ts';
import { illegal, type Model } from '../model.ts';

/** A call of `mutex`, `anonymous-mutex` or `reentrant-mutex`. */
export type MutexCall =
  | {
      readonly name: 'acquire';
      readonly lock: string;
      readonly owner: string;
      /** `denied`: the lock was held (a try-lock). Waiting for the lock is one long call. */
      readonly answer: 'granted' | 'denied' | 'unknown';
    }
  | {
      readonly name: 'release';
      readonly lock: string;
      readonly owner: string;
      /** `denied`: the caller did not hold it. */
      readonly answer: 'released' | 'denied' | 'unknown';
    };

const mistakeIn = mistakesIn<MutexCall>({
  acquire: { lock: 'a string', owner: 'a string', answer: ['granted', 'denied', 'unknown'] },
  release: { lock: 'a string', owner: 'a string', answer: ['released', 'denied', 'unknown'] },
});

const anyLock = {
  isPure: (call: MutexCall): boolean => call.answer === 'denied',
  mistakeIn,
  partition: (call: MutexCall): string => call.lock,
  whenFailed: (call: MutexCall): MutexCall => ({ ...call, answer: 'denied' }),
  describe: (call: MutexCall): string => `${call.name}(${call.lock})=${call.answer}`,
  needs: mutexNeeds,
};

/**
 * A mutex that is not reentrant and released only by its owner. The state is the owner, or null if
 * the mutex is free.
 */
export function mutex(): Model<string | null, MutexCall> {
  return {
    ...anyLock,
    name: 'mutex',
    init: null,
    step(state, call): readonly (string | null)[] {
      const isPossible = call.name === 'acquire' ? state === null : state === call.owner;
      if (call.answer === 'denied' && isPossible) return illegal;
      if (!isPossible)
        return call.answer === 'granted' || call.answer === 'released' ? illegal : [state];
      return [call.name === 'acquire' ? call.owner : null];
    },
    fastPath: decidePairedLock,
    describeState: (owner) => (owner === null ? 'it is free' : `${owner} holds it`),
  };
}

/** A mutex that any client may release. The state is true if the mutex is held. */
export function anonymousMutex(): Model<boolean, MutexCall> {
  return {
    ...anyLock,
    name: 'anonymous-mutex',
    init: false,
    step(isHeld, call): readonly boolean[] {
      const isPossible = isHeld === (call.name === 'release');
      if (call.answer === 'denied' && isPossible) return illegal;
      if (isPossible) return [!isHeld];
      return call.answer === 'granted' || call.answer === 'released' ? illegal : [isHeld];
    },
    fastPath: decidePairedLock,
    needs: (call) => {
      const isFree = (call.name === 'acquire') === (call.answer !== 'denied');
      return isFree ? 'the lock to be free' : 'the lock to be held';
    },
    describeState: (isHeld) => (isHeld ? 'it is held' : 'it is free'),
  };
}

/** The owner and its number of holds, or null if the lock is free. */
export type Hold = { readonly owner: string; readonly depth: number } | null;

export interface ReentrantOptions {
  /** Maximum number of holds by the owner; no limit by default. */
  readonly maxDepth?: number;
}

/** A mutex that its owner may take again. It is free after as many releases as acquires. */
export function reentrantMutex(options: ReentrantOptions = {}): Model<Hold, MutexCall> {
  const maxDepth = options.maxDepth ?? Number.POSITIVE_INFINITY;
  return {
    ...anyLock,
    name: 'reentrant-mutex',
    init: null,
    step(hold, call): readonly Hold[] {
      const next = holdAfter(hold, call, maxDepth);
      if (call.answer === 'denied') return next === hold ? [hold] : illegal;
      if (next === hold && call.answer !== 'unknown') return illegal;
      return [next];
    },
    describeState: describeHold,
  };
}

/** Returns the hold after an acquire or release, or `hold` itself if the call is not possible. */
export function holdAfter(
  hold: Hold,
  { name, owner }: Pick<MutexCall, 'name' | 'owner'>,
  maxDepth: number,
): Hold {
  if (name === 'acquire') {
    if (hold === null) return { owner, depth: 1 };
    if (hold.owner !== owner || hold.depth >= maxDepth) return hold;
    return { owner, depth: hold.depth + 1 };
  }
  if (hold === null || hold.owner !== owner) return hold;
  return hold.depth === 1 ? null : { owner, depth: hold.depth - 1 };
}

export function describeHold(hold: Hold): string {
  if (hold === null) return 'it is free';
  return hold.depth === 1 ? `${hold.owner} holds it` : `${hold.owner} holds it ${hold.depth} times`;
}

export function mutexNeeds(call: MutexCall): string {
  const isDenied = call.answer === 'denied';
  if (call.name === 'acquire') {
    return isDenied ? 'another client to hold the lock' : 'the lock to be free';
  }
  return isDenied ? `the lock not to be held by ${call.owner}` : `${call.owner} to hold the lock`;
}
