/**
 * A mutex in which every grant carries a fencing token above all earlier ones. The owner of a
 * reentrant fenced mutex gets the same token again.
 */
import { mistakesIn } from '../call-shape.ts';
import { decidePairedLock } from '../fast/paired-lock.ts';
import { illegal, type Model } from '../model.ts';
import { describeHold, type Hold, holdAfter, mutexNeeds, type ReentrantOptions } from './mutex.ts';

/** A call of `fenced-mutex` or `reentrant-fenced-mutex`. */
export type FencedMutexCall =
  | {
      readonly name: 'acquire';
      readonly lock: string;
      readonly owner: string;
      readonly answer: 'granted' | 'denied' | 'unknown';
      /** The token of the grant, or null if there was none or it is unknown. */
      readonly token: number | null;
    }
  | {
      readonly name: 'release';
      readonly lock: string;
      readonly owner: string;
      readonly answer: 'released' | 'denied' | 'unknown';
    };

const mistakeIn = mistakesIn<FencedMutexCall>({
  acquire: {
    lock: 'a string',
    owner: 'a string',
    answer: ['granted', 'denied', 'unknown'],
    token: 'a number or null',
  },
  release: { lock: 'a string', owner: 'a string', answer: ['released', 'denied', 'unknown'] },
});

export type FencedHold = {
  readonly hold: Hold;
  /** The last token, or a lower bound; null if any token may follow. */
  readonly highest: number | null;
  /** False while the mutex is held with an unknown token. */
  readonly isSeen: boolean;
};

/** Creates a fenced mutex. Tokens are integers; the first token may be any integer. */
export function fencedMutex(): Model<FencedHold, FencedMutexCall> {
  return { ...withDepth('fenced-mutex', 1), fastPath: decidePairedLock, startingStates };
}

/** A lower last token allows more calls, so it is enough to start without a token. */
function startingStates(calls: readonly FencedMutexCall[]): readonly FencedHold[] {
  const owners = [...new Set(calls.map(({ owner }) => owner))];
  const stranger = `not ${owners.join(' or ')}`;
  const holds = [...owners, stranger].map((owner): Hold => ({ owner, depth: 1 }));
  return [null, ...holds].map((hold) => ({ hold, highest: null, isSeen: true }));
}

export function reentrantFencedMutex(
  options: ReentrantOptions = {},
): Model<FencedHold, FencedMutexCall> {
  return withDepth('reentrant-fenced-mutex', options.maxDepth ?? Number.POSITIVE_INFINITY);
}

function withDepth(name: string, maxDepth: number): Model<FencedHold, FencedMutexCall> {
  return {
    name,
    init: { hold: null, highest: null, isSeen: true },
    step(state, call): readonly FencedHold[] {
      const { hold, highest, isSeen } = state;
      const next = holdAfter(hold, call, maxDepth);
      if (call.answer === 'denied') return next === hold ? [state] : illegal;
      if (next === hold) return call.answer === 'unknown' ? [state] : illegal;
      if (call.name === 'release') {
        return [{ hold: next, highest, isSeen: isSeen || next === null }];
      }
      const isAgain = hold !== null;
      if (call.token === null) return [isAgain ? { ...state, hold: next } : unseen(next, highest)];
      return mayBe(call.token, state)
        ? [{ hold: next, highest: call.token, isSeen: true }]
        : illegal;
    },
    isPure: (call) => call.answer === 'denied',
    mistakeIn,
    partition: (call) => call.lock,
    whenFailed: (call) =>
      call.name === 'acquire'
        ? { ...call, answer: 'denied', token: null }
        : { ...call, answer: 'denied' },
    describe(call): string {
      const token =
        call.name === 'acquire' && call.token !== null ? ` with token ${call.token}` : '';
      return `${call.name}(${call.lock})=${call.answer}${token}`;
    },
    needs(call): string {
      if (call.name === 'release' || call.token === null) return mutexNeeds(call);
      return `${mutexNeeds(call)} and every earlier token to be below ${call.token}`;
    },
    describeState({ hold, highest, isSeen }): string {
      if (highest === null) return `${describeHold(hold)} and no token is known yet`;
      return `${describeHold(hold)} and the last token was ${isSeen ? '' : 'at least '}${highest}`;
    },
  };
}

/** Assumes the lowest possible token, which allows the most calls afterwards. */
function unseen(hold: Hold, highest: number | null): FencedHold {
  return { hold, highest: highest === null ? null : highest + 1, isSeen: false };
}

function mayBe(token: number, { hold, highest, isSeen }: FencedHold): boolean {
  if (highest === null) return true;
  if (hold === null) return token > highest;
  return isSeen ? token === highest : token >= highest;
}
