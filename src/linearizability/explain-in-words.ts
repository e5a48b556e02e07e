/**
 * Says why an operation fits into no order: what it needs, the states in which it may have found
 * the object, and what of its core might have helped.
 */
import type { Json } from '../core/kernel/json.ts';
import type { ExplainedState, Reasons } from './explain.ts';
import type { Model } from './model.ts';
import type { CallData, History, Operation } from './operation.ts';

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
  const states = left === 1 ? 'the other possible state' : `${left} other possible states`;
  const others = left > 0 ? `, nor is it in ${states}` : '';
  const story = `${subject} needs ${needs}, but ${cases.join(', or ')}${others}.`;
  return story + remediesInWords(history, model, bad, reasons);
}

/** Of the core what would leave the state that is needed, had it come last. */
function remediesInWords<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  bad: Operation<Call>,
  { at, possible, core }: Reasons<State>,
): string {
  const states = [model.init, ...possible.map(({ state }) => state)];
  const helps = (call: Call): boolean =>
    !(model.isPure?.(call) ?? false) &&
    states.some((state) =>
      model.step(state, call).some((next) => model.step(next, bad.call).length > 0),
    );
  const remedies = [...core.required, ...core.optional].flatMap((index) => {
    const operation = history[index];
    return operation !== undefined && index !== at && helps(operation.call) ? [operation] : [];
  });
  if (remedies.length === 0 || remedies.length > mostTold) return '';
  const names = remedies.map((operation) => nameOf(operation, model));
  const all = [names.slice(0, -1).join(', '), names.at(-1)].filter((name) => name).join(' and ');
  return ` ${all} might help, but in no order of the core ${names.length === 1 ? 'does it' : 'do they'}.`;
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
  { state, order, witness }: ExplainedState<State>,
): string {
  const is = model.describeState?.(state) ?? `the state is ${JSON.stringify(state)}`;
  const last = history[order.at(-1) ?? -1];
  if (last === undefined) return `at first ${is}`;
  const seen = history[witness ?? -1];
  const why = seen === undefined ? '' : ` but must come before it, as ${nameOf(seen, model)} shows`;
  return `after ${nameOf(last, model)}, which ${whenInWords(last, bad)}${why}, ${is}`;
}

function whenInWords(last: Operation<unknown>, bad: Operation<unknown>): string {
  if (last.outcome === 'info' || last.return === null) return 'was never answered';
  return last.return < bad.invoke ? 'returned before it began' : 'overlapped it';
}
