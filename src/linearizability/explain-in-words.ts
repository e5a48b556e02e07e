/**
 * Says in one sentence why an operation fits into no order: what it needs, and the states in which
 * it may have found the object.
 */
import type { Json } from '../kernel/json.ts';
import type { Reasons } from './explain.ts';
import type { Model } from './model.ts';
import type { CallData, History, Operation } from './operation.ts';
import type { PossibleState } from './run-search.ts';

const mostTold = 3;

/**
 * For example "`cas(4→4)=ok` by 3 needs the value 4, but after `write(2)` by 1, which returned
 * before it began, it is 2." `history` is the one that was explained.
 */
export function explainInWords<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  reasons: Reasons<State>,
): string {
  const bad = history[reasons.at];
  if (bad === undefined) return 'There is no such operation.';
  const subject = nameOf(bad, model);
  const needs = model.needs?.(bad.call) ?? 'another state';
  const told = reasons.possible.slice(0, mostTold);
  if (told.length === 0) return `${subject} needs ${needs}, which no order allows.`;
  const cases = told.map((possible) => caseInWords(history, model, bad, possible));
  const left = reasons.possible.length - told.length;
  const others = left > 0 ? `, nor is it in ${left} other possible states` : '';
  return `${subject} needs ${needs}, but ${cases.join(', or ')}${others}.`;
}

/** "`write(2)` by 1". */
export function nameOf<State extends Json, Call extends CallData>(
  { call, client }: Operation<Call>,
  model: Model<State, Call>,
): string {
  return `\`${model.describe?.(call) ?? JSON.stringify(call)}\` by ${client}`;
}

function caseInWords<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  bad: Operation<Call>,
  { state, order }: PossibleState<State>,
): string {
  const is = model.describeState?.(state) ?? `the state is ${JSON.stringify(state)}`;
  const last = history[order.at(-1) ?? -1];
  if (last === undefined) return `at first ${is}`;
  return `after ${nameOf(last, model)}, which ${whenInWords(last, bad)}, ${is}`;
}

function whenInWords(last: Operation<unknown>, bad: Operation<unknown>): string {
  if (last.outcome === 'info' || last.return === null) return 'was never answered';
  return last.return < bad.invoke ? 'returned before it began' : 'overlapped it';
}
