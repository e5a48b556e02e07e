/**
 * A mutex whose every grant carries a fencing token above all before; the reentrant one gives its
 * owner the same token again while it is held.
 */
import { decidePairedLock } from '../fast/paired-lock.ts';
import { illegal, type Model } from '../model.ts';
import { mutexNeeds } from './lock-words.ts';
import { acquired, describeHold, type Hold, released } from './reentrant-mutex.ts';

export type FencedMutexCall =
  | {
      readonly name: 'acquire';
      readonly lock: string;
      readonly owner: string;
      readonly answer: 'granted' | 'denied' | 'unknown';
      /** The token of the grant; null when there was none, or nobody saw it. */
      readonly token: number | null;
    }
  | {
      readonly name: 'release';
      readonly lock: string;
      readonly owner: string;
      readonly answer: 'released' | 'denied' | 'unknown';
    };

/** `highest` is the last token given, 0 at first. */
export type FencedHold = { readonly hold: Hold; readonly highest: number };

/** Tokens are integers. */
export function fencedMutex(): Model<FencedHold, FencedMutexCall> {
  return { ...withDepth('fenced-mutex', 1), fastPath: decidePairedLock };
}

/** `maxDepth` is how many times its owner may hold it at once; no limit by default. */
export function reentrantFencedMutex(
  options: { readonly maxDepth?: number } = {},
): Model<FencedHold, FencedMutexCall> {
  return withDepth('reentrant-fenced-mutex', options.maxDepth ?? Number.POSITIVE_INFINITY);
}

function withDepth(name: string, maxDepth: number): Model<FencedHold, FencedMutexCall> {
  return {
    name,
    init: { hold: null, highest: 0 },
    step(state, call): readonly FencedHold[] {
      const { hold, highest } = state;
      const next =
        call.name === 'acquire' ? acquired(hold, call.owner, maxDepth) : released(hold, call.owner);
      if (call.answer === 'denied') return next === hold ? [state] : illegal;
      if (next === hold) return call.answer === 'unknown' ? [state] : illegal;
      if (call.name === 'release') return [{ hold: next, highest }];
      const isAgain = hold !== null;
      // A token that nobody saw is the lowest possible: any other allows less afterwards.
      const token = call.token ?? (isAgain ? highest : highest + 1);
      const isFitting = isAgain ? token === highest : token > highest;
      return isFitting ? [{ hold: next, highest: token }] : illegal;
    },
    isPure: (call) => call.answer === 'denied',
    partition: (call) => call.lock,
    whenFailed: (call) =>
      call.name === 'acquire'
        ? { ...call, answer: 'denied', token: null }
        : { ...call, answer: 'denied' },
    describe: describeFencedMutexCall,
    needs(call): string {
      if (call.name === 'release' || call.token === null) return mutexNeeds(call);
      return `${mutexNeeds(call)} and every token before to be below ${call.token}`;
    },
    describeState: ({ hold, highest }) => `${describeHold(hold)} and the last token was ${highest}`,
  };
}

function describeFencedMutexCall(call: FencedMutexCall): string {
  const token = call.name === 'acquire' && call.token !== null ? ` with token ${call.token}` : '';
  return `${call.name}(${call.lock})=${call.answer}${token}`;
}
