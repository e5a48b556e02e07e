/**
 * Explains why a history is not linearizable, as data (`explainHistory`) and in a sentence
 * (`explainInWords`): how far an order comes, in which states the bad operation may then find the
 * object, why what overlaps it cannot have come later (a witness), and which few operations
 * contradict each other (the core).
 */
import type { Json } from '../core/kernel/json.ts';
import { listOf } from '../text/prose.ts';
import { type HistoryVerdict, readFailures, splitHistory } from './check-history.ts';
import { type Core, findCore } from './core.ts';
import {
  type Allowance,
  type CheckOptions,
  type DecideOptions,
  decide,
  defaultMaxConfigurations,
  findPossibleStates,
  type PossibleState,
} from './decide.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import { cutHistory, leaveOut } from './relax.ts';

/** A state that the bad operation may have found. */
export interface ExplainedState<State> extends PossibleState<State> {
  /**
   * An operation that returned before the bad one was called, and fits into no order unless the
   * last of `order` came before that: so the bad one cannot have come first. Only where the last
   * one overlaps it and such an operation was found.
   */
  readonly witness?: number;
}

/** All indices are those of the whole history, and all operations are of the verdict's part. */
export interface Reasons<State> {
  /** The operation whose return no order satisfies: the first such one, as far as is known. */
  readonly at: number;
  /** An order of all that returned before, and what else it needs: the longest such prefix. */
  readonly prefix: readonly number[];
  /**
   * States that `at` may have found, at most 16; it is illegal in every possible one. Where those
   * are too many to visit, the ones that the core alone leads to.
   */
  readonly possible: readonly ExplainedState<State>[];
  readonly core: Core;
}

const maxPossibleStates = 16;
const maxConfigurationsThere = 50_000;
const maxConfigurationsOfWitness = 5_000;
const shareOfCore = 0.75;
const mostTold = 3;
/** In place of an index: there is none. */
const none = -1;

/**
 * `history`, `model` and `options` are those of `verdict`, which `checkHistory` gave. Costs many
 * times what the verdict did, so it is not part of it; but both together stay within
 * `maxConfigurations`, or a fifth above it where the verdict left less than that.
 */
export function explainHistory<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  verdict: Extract<HistoryVerdict, { kind: 'invalid' }>,
  options: CheckOptions = {},
): Reasons<State> {
  const read = readFailures(history, model, options.failed);
  const part = splitHistory(read, model).find(({ name }) => name === verdict.part);
  const indices = part?.indices ?? [];
  const own = part?.history ?? [];
  const at = indices.indexOf(verdict.at);
  const inWhole = (places: readonly number[]): number[] => places.map((i) => indices[i] ?? i);
  const limited = { ...options, allowance: allowanceAfter(verdict, options) };
  const core = findCore(own, model, at, forCore(limited));
  const before = decide(cutHistory(own, at, 'before'), model, limited);
  return {
    at: verdict.at,
    prefix: before.kind === 'valid' ? inWhole(before.order) : [],
    possible: statesThere<State>(own, model, at, { core, options: limited }).map(
      ({ state, order }) => {
        const witness = findWitness(own, model, { at, last: order.at(-1) ?? none }, limited);
        const explained = { state, order: inWhole(order) };
        return witness === null
          ? explained
          : { ...explained, witness: indices[witness] ?? witness };
      },
    ),
    core: { ...core, required: inWhole(core.required), optional: inWhole(core.optional) },
  };
}

/** What the verdict left of the limit, and a fifth of it at least. */
export function allowanceAfter(
  { configurations }: { readonly configurations: number },
  { maxConfigurations = defaultMaxConfigurations }: CheckOptions,
): Allowance {
  return { left: Math.max(maxConfigurations - configurations, Math.ceil(maxConfigurations / 5)) };
}

/** The core matters most, but not so much that nothing is left for the rest. */
function forCore(options: DecideOptions & { readonly allowance: Allowance }): DecideOptions {
  const { maxConfigurations, allowance } = options;
  const most = Math.ceil(allowance.left * shareOfCore);
  return maxConfigurations === undefined ? options : { ...options, maxConfigurations: most };
}

function statesThere<State extends Json>(
  history: History,
  model: Model<State>,
  at: number,
  { core, options }: { readonly core: Core; readonly options: DecideOptions },
): readonly PossibleState<State>[] {
  const few = Math.min(options.maxConfigurations ?? maxConfigurationsThere, maxConfigurationsThere);
  const limited = { ...options, maxConfigurations: few, limit: maxPossibleStates };
  const all = findPossibleStates(cutHistory(history, at, 'after'), model, limited);
  if (all.length > 0) return all;
  const required = new Set(core.required);
  const alone = history.map((one, index) => (required.has(index) ? one : leaveOut(one)));
  // Nobody knows what it was before the core.
  return findPossibleStates(alone, model, limited).filter(({ order }) => order.length > 0);
}

/**
 * The first return, before the call of `at`, that no order satisfies if `last` comes after that
 * call; null when there is none, when nobody knows, or when `last` returned before.
 */
function findWitness(
  history: History,
  model: Model,
  { at, last }: { readonly at: number; readonly last: number },
  options: DecideOptions,
): number | null {
  const position = history[at]?.invoke ?? 0;
  const before = lastReturnBefore(history, position);
  const isOver = history[last]?.outcome === 'ok' && (history[last].return ?? 0) < position;
  if (before === null || history[last] === undefined || isOver) return null;
  const later = cutHistory(history, before, 'after').map((operation, index) => {
    return index === last ? { ...operation, invoke: position } : operation;
  });
  const decision = decide(later, model, {
    ...options,
    maxConfigurations: maxConfigurationsOfWitness,
  });
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
function remediesInWords(
  history: History,
  model: Model,
  bad: Operation,
  { at, possible, core }: Reasons<Json>,
): string {
  const states = [model.init, ...possible.map(({ state }) => state)];
  const helps = (call: CallData): boolean =>
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
  return ` ${listOf(names)} might help, but in no order of the core ${names.length === 1 ? 'does it' : 'do they'}.`;
}

/** "`write(2)` by 1". */
function nameOf({ call, client }: Operation, model: Model): string {
  return `\`${model.describe?.(call) ?? JSON.stringify(call)}\` by ${client}`;
}

function caseInWords(
  history: History,
  model: Model,
  bad: Operation,
  { state, order, witness }: ExplainedState<Json>,
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
