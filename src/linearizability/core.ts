/**
 * Finds a minimal core of an invalid history of one object: operations that contradict each other
 * whatever the object held before them and whatever else happened, such that to ask less of any one
 * of them resolves the contradiction.
 */
import type { Json } from '../core/kernel/json.ts';
import type { CheckOptions } from './check-options.ts';
import { CoreSearch } from './core-search.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { cutHistory } from './relax.ts';
import { distinctCalls, StartStates } from './start-states.ts';

/**
 * How to read it: at `from` the object may be in any state that the calls up to the bad return
 * lead to, in any order and however often; what had returned before `from` has no part in it, the
 * `required` operations happened when they did, the `optional` ones may have happened once, at any
 * time after their calls and after `from`, or never; and all others at any time after `from` and
 * however often. That fits into no order. Since less is asked than was recorded, the history fits
 * into none either. What a person must look at are the required and the optional operations.
 */
export interface Core {
  /** Indices of the operations that had to happen, and when they did, in the history's order. */
  readonly required: readonly number[];
  /** Of those that may have happened, but not at any time and however often. */
  readonly optional: readonly number[];
  /**
   * False when the others could lead to too many states: then each may have happened once, after
   * its call and after `from`.
   */
  readonly areOthersFree: boolean;
  /** The position from which on it holds; null: from the first state of the model on. */
  readonly from: number | null;
  /** False when a limit was reached before every operation was tried alone. */
  readonly isMinimal: boolean;
}

/** So many that were called last are looked at first; the whole of a longer history never is. */
const recentCalls = 1_024;
const longestWhole = 200_000;

/**
 * `at` is the operation whose return is the first that no order satisfies. `maxConfigurations`
 * bounds all the trials together, 50,000 by default.
 */
export function findCore<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  at: number,
  options: CheckOptions = {},
): Core {
  const cut = cutHistory(history, at, 'after');
  const starts = new StartStates(model, distinctCalls(cut));
  const recent = cut.length > recentCalls ? recentOperations(cut) : null;
  if (recent !== null) {
    const part = recent.map((index) => cut[index]).filter((operation) => operation !== undefined);
    const search = new CoreSearch(part, model, recent.indexOf(at), options);
    const core = search.find({ starts, isWhole: false });
    const inWhole = (places: readonly number[]): number[] => places.map((i) => recent[i] ?? i);
    if (core !== null) {
      return { ...core, required: inWhole(core.required), optional: inWhole(core.optional) };
    }
  }
  const isTooLong = cut.length > longestWhole;
  const search = isTooLong ? null : new CoreSearch(cut, model, at, options);
  const core = search?.find({ starts, isWhole: true }) ?? null;
  return (
    core ?? { required: [at], optional: [], areOthersFree: false, from: null, isMinimal: false }
  );
}

/** Indices of what was not over when the recent calls began. */
function recentOperations(cut: History<unknown>): readonly number[] {
  const invokes = Float64Array.from(cut, ({ invoke, outcome }) =>
    outcome === 'fail' ? Number.NEGATIVE_INFINITY : invoke,
  );
  const since = invokes.sort()[invokes.length - recentCalls] ?? Number.NEGATIVE_INFINITY;
  const indices: number[] = [];
  for (const [index, { outcome, return: end }] of cut.entries()) {
    if (outcome !== 'fail' && (end ?? since) >= since) indices.push(index);
  }
  return indices;
}
