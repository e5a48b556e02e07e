/**
 * Explains as data why a history is not linearizable. An explanation has four parts: the longest
 * prefix with an order, the possible states after it, examples that rule out other states, and the
 * few contradictory operations (the core). `sentence.ts` puts the explanation into words.
 */
import type { Json } from '../core/kernel/json.ts';
import { type HistoryVerdict, readFailures, refuseOptions, splitHistory } from './check-history.ts';
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
import type { CallData, History, Model } from './model.ts';
import { leaveOut, truncateHistory } from './relax.ts';

/** A state that the bad operation may have found. */
export interface ExplainedState<State> {
  readonly state: State;
  /** The operations that lead to this state, in order, except operations that change no state. */
  readonly order: readonly number[];
  /**
   * An operation that shows why the last operation of `order` must come before the bad operation.
   * This example returned before the bad operation was called. Set only if the last operation
   * overlaps the bad one and an example was found.
   */
  readonly example?: number;
}

/**
 * The reasons for an invalid verdict. All indices refer to the complete history, and all operations
 * belong to the verdict's part.
 */
export interface Reasons<State> {
  /** The first operation, as far as is known, whose return no order satisfies. */
  readonly at: number;
  /** An order of everything that returned before `at`, with further operations that are needed. */
  readonly prefix: readonly number[];
  /**
   * At most 16 of the states that `at` may have found. The operation is illegal in every possible
   * state. If there are too many states to visit, contains the states to which the core alone
   * leads.
   */
  readonly possible: readonly ExplainedState<State>[];
  readonly core: Core;
}

const maxPossibleStates = 16;
const maxConfigurationsThere = 50_000;
const maxConfigurationsOfExample = 5_000;
const shareOfCore = 0.75;
const none = -1;

/**
 * Returns the reasons for `verdict`, which `checkHistory` returned for `history`, `model` and
 * `options`. Separate from the verdict, because the reasons cost many times as much. Verdict and
 * reasons together visit at most `maxConfigurations` configurations; the reasons may always use a
 * fifth of this number. Throws a `RangeError` for an invalid option.
 */
export function explainHistory<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  verdict: Extract<HistoryVerdict, { kind: 'invalid' }>,
  options: CheckOptions = {},
): Reasons<State> {
  refuseOptions(options);
  const read = readFailures(history, model, options.failed);
  const part = splitHistory(read, model).find(({ name }) => name === verdict.part);
  const indices = part?.indices ?? [];
  const operations = part?.history ?? [];
  const at = indices.indexOf(verdict.at);
  const toCompleteIndices = (places: readonly number[]): number[] =>
    places.map((i) => indices[i] ?? i);
  const limited = { ...options, allowance: allowanceAfter(verdict, options) };
  // The core is most important, but some of the limit must remain for the other reasons.
  const { maxConfigurations, allowance } = limited;
  const most = Math.ceil(allowance.left * shareOfCore);
  const coreOptions =
    maxConfigurations === undefined ? limited : { ...limited, maxConfigurations: most };
  const core = findCore(operations, model, at, coreOptions);
  const before = decide(truncateHistory(operations, at, 'before'), model, limited);
  return {
    at: verdict.at,
    prefix: before.kind === 'valid' ? toCompleteIndices(before.order) : [],
    possible: statesThere<State>(operations, model, at, { core, options: limited }).map(
      ({ state, order }) => {
        const example = findExample(operations, model, { at, last: order.at(-1) ?? none }, limited);
        const explained = { state, order: toCompleteIndices(order) };
        return example === null
          ? explained
          : { ...explained, example: indices[example] ?? example };
      },
    ),
    core: {
      ...core,
      required: toCompleteIndices(core.required),
      optional: toCompleteIndices(core.optional),
    },
  };
}

/** Returns what remains of `maxConfigurations` after the verdict, but at least a fifth of it. */
export function allowanceAfter(
  { configurations }: { readonly configurations: number },
  { maxConfigurations = defaultMaxConfigurations }: CheckOptions,
): Allowance {
  return { left: Math.max(maxConfigurations - configurations, Math.ceil(maxConfigurations / 5)) };
}

function statesThere<State extends Json>(
  history: History,
  model: Model<State>,
  at: number,
  { core, options }: { readonly core: Core; readonly options: DecideOptions },
): readonly PossibleState<State>[] {
  const few = Math.min(options.maxConfigurations ?? maxConfigurationsThere, maxConfigurationsThere);
  const limited = { ...options, maxConfigurations: few, limit: maxPossibleStates };
  const all = findPossibleStates(truncateHistory(history, at, 'after'), model, limited);
  if (all.length > 0) return all;
  const required = new Set(core.required);
  const alone = history.map((operation, index) =>
    required.has(index) ? operation : leaveOut(operation),
  );
  // If the core changes nothing, the state is unknown.
  return findPossibleStates(alone, model, limited).filter(({ order }) => order.length > 0);
}

/**
 * Moves the call of `last` to the call of `at`. Returns the first operation whose return no order
 * then satisfies. Returns null if there is none, if the search is undecided, or if `last` returned
 * before that call.
 */
function findExample(
  history: History,
  model: Model,
  { at, last }: { readonly at: number; readonly last: number },
  options: DecideOptions,
): number | null {
  const position = history[at]?.invoke ?? 0;
  const before = lastReturnBefore(history, position);
  const isOver = history[last]?.outcome === 'ok' && (history[last].return ?? 0) < position;
  if (before === null || history[last] === undefined || isOver) return null;
  const later = truncateHistory(history, before, 'after').map((operation, index) => {
    return index === last ? { ...operation, invoke: position } : operation;
  });
  const decision = decide(later, model, {
    ...options,
    maxConfigurations: maxConfigurationsOfExample,
  });
  return decision.kind === 'invalid' && !decision.isPerhapsLate ? decision.at : null;
}

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
