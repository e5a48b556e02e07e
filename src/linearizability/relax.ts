/**
 * The ways to ask less of a history that can never make a linearizable one fail: cut it after a
 * return, leave out a pure operation, let any other happen at any time after its call or never. To
 * leave out an operation that changes the state is not among them: others may need what it did. But
 * what returned before some position may be, where the object may then be in any state.
 */
import type { History, Operation } from './operation.ts';

/** It may have happened, with the answer that it has, at any time after its call. */
export function makeOptional<Call>(operation: Operation<Call>): Operation<Call> {
  return operation.outcome === 'ok' ? { ...operation, return: null, outcome: 'info' } : operation;
}

/** As if it was never called; for a pure operation, or one that was called after the cut. */
export function leaveOut<Call>(operation: Operation<Call>): Operation<Call> {
  return { ...operation, outcome: 'fail' };
}

/**
 * The history up to the return of `at`, an index: what was called later is left out, what returned
 * later is optional, and so is `at` itself when the cut comes `before` its return. Indices stay.
 */
export function cutHistory<Call>(
  history: History<Call>,
  at: number,
  side: 'before' | 'after',
): History<Call> {
  const end = history[at]?.return ?? Number.POSITIVE_INFINITY;
  return history.map((operation, index) => {
    if (operation.invoke > end) return leaveOut(operation);
    const position = operation.return ?? end;
    // Of equal returns the search takes that of the lower index first.
    const isEarlier = position < end || (position === end && index < at);
    return isEarlier || (index === at && side === 'after') ? operation : makeOptional(operation);
  });
}

/**
 * The history from a position on, for an object that may then be in any state: what returned before
 * is left out, and what was called before and not answered yet may have happened by then, or after,
 * or never. Indices stay.
 */
export function beginHistory<Call>(
  history: History<Call>,
  from: number,
  isPure: (call: Call) => boolean,
): History<Call> {
  return history.map((operation) => {
    if (operation.invoke >= from) return operation;
    const isOver = operation.outcome === 'ok' && (operation.return ?? from) < from;
    return isOver || isPure(operation.call) ? leaveOut(operation) : makeOptional(operation);
  });
}
