/**
 * Finds why an operation must come before a bad one that it overlaps: some operation that returned
 * before the bad one was called fits into no order otherwise.
 */
import type { Json } from '../core/kernel/json.ts';
import type { CheckOptions } from './check-options.ts';
import { decide } from './decide.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { cutHistory } from './relax.ts';

const maxConfigurations = 5_000;

/**
 * The first return, before the call of `at`, that no order satisfies if `last` comes after that
 * call; null when there is none, when nobody knows, or when `last` returned before.
 */
export function findWitness<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  {
    at,
    last,
    options,
  }: { readonly at: number; readonly last: number; readonly options: CheckOptions },
): number | null {
  const position = history[at]?.invoke ?? 0;
  const before = lastReturnBefore(history, position);
  const isOver = history[last]?.outcome === 'ok' && (history[last].return ?? 0) < position;
  if (before === null || history[last] === undefined || isOver) return null;
  const later = cutHistory(history, before, 'after').map((operation, index) => {
    return index === last ? { ...operation, invoke: position } : operation;
  });
  const decision = decide(later, model, { ...options, maxConfigurations });
  return decision.kind === 'invalid' && !decision.isPerhapsLate ? decision.at : null;
}

/** The operation that returns last before `position`; null when none does. */
function lastReturnBefore(history: History<unknown>, position: number): number | null {
  let found: number | null = null;
  let latest = Number.NEGATIVE_INFINITY;
  for (const [index, { outcome, return: end }] of history.entries()) {
    if (outcome !== 'ok' || end === null || end >= position || end < latest) continue;
    found = index;
    latest = end;
  }
  return found;
}
