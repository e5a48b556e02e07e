/** A mutex that its owner may take again; it is free after as many releases as acquires. */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';
import { describeLockCall, lockShapes, mutexNeeds } from './lock-words.ts';
import type { MutexCall } from './mutex.ts';

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
