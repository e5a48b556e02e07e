/** A mutex that knows its owner: granted only when free, released only by the owner. */
import { mistakesIn, oneOf, type Shapes, text } from '../call-shape.ts';
import { decidePairedLock } from '../fast/paired-lock.ts';
import { illegal, type Model } from '../model.ts';

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

/** A mutex that knows no owner: granted only when free, and anybody's release frees it. */

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

/** A mutex that its owner may take again; it is free after as many releases as acquires. */

/** Who holds it and how many times; null when it is free. */
export type Hold = { readonly owner: string; readonly depth: number } | null;

export interface ReentrantOptions {
  /** How many times its owner may hold it at once; no limit by default. */
  readonly maxDepth?: number;
}

export function reentrantMutex(options: ReentrantOptions = {}): Model<Hold, MutexCall> {
  const maxDepth = options.maxDepth ?? Number.POSITIVE_INFINITY;
  return {
    name: 'reentrant-mutex',
    init: null,
    step(hold, call): readonly Hold[] {
      const next =
        call.name === 'acquire' ? acquired(hold, call.owner, maxDepth) : released(hold, call.owner);
      if (call.answer === 'denied') return next === hold ? [hold] : illegal;
      if (next === hold && call.answer !== 'unknown') return illegal;
      return [next];
    },
    isPure: (call) => call.answer === 'denied',
    mistakeIn: mistakesIn(lockShapes),
    partition: (call) => call.lock,
    whenFailed: (call) => ({ ...call, answer: 'denied' }),
    describe: describeLockCall,
    needs: mutexNeeds,
    describeState: describeHold,
  };
}

/** The hold after an acquire; the same one when it is not possible. */
export function acquired(hold: Hold, owner: string, maxDepth: number): Hold {
  if (hold === null) return { owner, depth: 1 };
  if (hold.owner !== owner || hold.depth >= maxDepth) return hold;
  return { owner, depth: hold.depth + 1 };
}

/** The hold after a release; the same one when it is not possible. */
export function released(hold: Hold, owner: string): Hold {
  if (hold === null || hold.owner !== owner) return hold;
  return hold.depth === 1 ? null : { owner, depth: hold.depth - 1 };
}

export function describeHold(hold: Hold): string {
  if (hold === null) return 'it is free';
  return hold.depth === 1 ? `${hold.owner} holds it` : `${hold.owner} holds it ${hold.depth} times`;
}

/** What calls of locks are called and what they need, in the sentences of an explanation. */

/** What the calls of a lock must hold. */
const lockShapes: Shapes<MutexCall> = {
  acquire: { lock: text, owner: text, answer: oneOf('granted', 'denied', 'unknown') },
  release: { lock: text, owner: text, answer: oneOf('released', 'denied', 'unknown') },
};

/** `acquire(db)=granted`. */
function describeLockCall(call: MutexCall): string {
  return `${call.name}(${call.lock})=${call.answer}`;
}

export function mutexNeeds(call: MutexCall): string {
  const isDenied = call.answer === 'denied';
  if (call.name === 'acquire') {
    return isDenied ? 'somebody else to hold the lock' : 'the lock to be free';
  }
  return isDenied ? `the lock not to be held by ${call.owner}` : `${call.owner} to hold the lock`;
}

/** A state that is an owner, or null. */
function describeOwner(owner: string | null): string {
  return owner === null ? 'it is free' : `${owner} holds it`;
}
