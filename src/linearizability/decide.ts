/**
 * Decides one history of one object: by a fast path where the model has one that applies, else by
 * search.
 */
import type { Json } from '../core/kernel/json.ts';
import type { CheckOptions } from './check-options.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { searchFor } from './run-search.ts';

/** What the checker's own parts, and its tests, ask for beside it. */
export interface DecideOptions extends CheckOptions {
  /**
   * After how many configurations a contradiction is looked for in short stretches of the history,
   * before the search goes on; 20,000 and four for each return by default.
   */
  readonly patience?: number;
  /** Any bad return will do as `at`; that costs less than to find the first. */
  readonly isRough?: boolean;
  /** Leaves the fast paths out, to compare. */
  readonly isSearchOnly?: boolean;
}

/** `configurations` is how many were met, a measure of the effort; a fast path meets none. */
export type Decision =
  | {
      readonly kind: 'valid';
      /** The history's indices in an order that the model allows, with all completed operations. */
      readonly order: readonly number[];
      readonly configurations: number;
    }
  | {
      readonly kind: 'invalid';
      /** The operation whose return is the first that no order satisfies. */
      readonly at: number;
      readonly configurations: number;
      /** Only where nobody looked whether `at` is the first, or a limit was reached before. */
      readonly isPerhapsLate?: true;
    }
  | {
      readonly kind: 'unknown';
      readonly cause: 'maxConfigurations' | 'maxBytes' | 'shouldStop';
      /** All that returned before this operation did is satisfied by some order. */
      readonly deepest: number;
      readonly configurations: number;
    };

/**
 * Decides `history` as that of one object, whatever the model says about parts. `failed` is not
 * looked at: see `readFailures`.
 */
export function decide<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: DecideOptions = {},
): Decision {
  const cause = whyNotBegin(history, options);
  const first = cause === null ? null : firstReturn(history);
  if (cause !== null && first !== null) {
    return { kind: 'unknown', cause, deepest: first, configurations: 0 };
  }
  if (!options.isSearchOnly) {
    const decision = model.fastPath?.(history, model) ?? null;
    if (decision !== null) return { ...decision, configurations: 0 };
  }
  return searchFor(history, model, options);
}

/** What each operation takes at least, as a number in lists. */
const bytesOfOperation = 100;

function whyNotBegin<Call>(
  history: History<Call>,
  { shouldStop, maxBytes = Number.POSITIVE_INFINITY }: CheckOptions,
): 'shouldStop' | 'maxBytes' | null {
  if (bytesOfOperation * history.length > maxBytes) return 'maxBytes';
  return shouldStop?.() ? 'shouldStop' : null;
}

/** The operation that returns first; null when none was answered. */
function firstReturn<Call>(history: History<Call>): number | null {
  let first: number | null = null;
  let earliest = Number.POSITIVE_INFINITY;
  for (const [index, { outcome, return: end }] of history.entries()) {
    if (outcome !== 'ok' || end === null || end >= earliest) continue;
    first = index;
    earliest = end;
  }
  return first;
}
