/** Helpers of the fast paths: order operations by return, and find the first failure. */
import type { History } from '../model.ts';

/** Returns the indices of the answered operations, in the order of their returns. */
export function answeredByReturn<Call>(history: History<Call>): number[] {
  const returns = new Float64Array(history.length);
  const answered: number[] = [];
  let isSorted = true;
  let last = Number.NEGATIVE_INFINITY;
  history.forEach((operation, index) => {
    if (operation.outcome !== 'ok') return;
    const end = operation.return ?? 0;
    returns[index] = end;
    answered.push(index);
    if (end < last) isSorted = false;
    last = end;
  });
  if (isSorted) return answered;
  return answered.sort((a, b) => (returns[a] ?? 0) - (returns[b] ?? 0) || a - b);
}

/**
 * Returns the number of returns in the shortest prefix that is not linearizable. The complete
 * history has `returns` returns and must not be linearizable. Every longer prefix is bad too, so
 * bisection finds the shortest one.
 */
export function shortestBadPrefix(returns: number, isGood: (returns: number) => boolean): number {
  let good = 0;
  let bad = returns;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isGood(middle)) good = middle;
    else bad = middle;
  }
  return bad;
}
