/**
 * Refutes a history by its last part: the search of a long one visits all that may have come before
 * a contradiction, though it is mostly local. From some return on less is asked: the object may be
 * in any state, and what was called before and returns later may have come before. What has no
 * order even so has none in the whole.
 */
import type { LookAhead } from './prospects.ts';
import type { Search } from './search.ts';
import type { Budget, Steps } from './search-aim.ts';

/** What comes after the return before `from`. */
export interface Stretch {
  readonly from: number;
  /** How many returns of the whole history are to be satisfied, those before `from` included. */
  readonly horizon: number;
  /** An order that comes as far as this will do. */
  readonly ahead: number;
}

/**
 * So many returns before the deepest a stretch begins, and up to so many behind it it ends. Two
 * steps double it: so none is half again as long as it need be, and the ones tried in vain cost
 * about as much together as two and a half of the last, where the effort grows with the length.
 */
export const stretches: readonly number[] = [
  8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
];
export const returnsAhead = 64;

const mostStates = 1_000;
const maxConfigurations = 20_000;

/** Whether it has no order, whatever came before; false when nobody knows. */
export function isStretchContradictory(
  search: Search,
  steps: Steps,
  {
    from,
    horizon,
    ahead,
    lookAhead,
    budget,
  }: Stretch & { readonly lookAhead: StretchLookAhead; readonly budget: Budget },
): boolean {
  const states = lookAhead.statesAt(from);
  if (states.length > mostStates) return false;
  const aim = { horizon: Math.min(horizon, ahead), lookAhead, start: { next: from, states } };
  return search.run(steps, aim, { ...budget, maxConfigurations }) === 'exhausted';
}

interface StretchLookAhead extends LookAhead {
  /** The states that an order may have there. */
  statesAt(next: number): readonly number[];
}
