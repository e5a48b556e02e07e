/**
 * Decides one history of one object: lends the search its memory and puts its ending into words.
 */
import type { Json } from '../kernel/json.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { Search } from './search.ts';
import { Transitions } from './transitions.ts';

export interface CheckOptions {
  /**
   * How many configurations each part may need, 1,000,000 by default. It is counted, so that a
   * verdict is the same on every machine.
   */
  readonly maxConfigurations?: number;
  /** Asked now and then; for limits in time or memory, which this code cannot measure. */
  readonly shouldStop?: () => boolean;
}

/** `configurations` is how many were met, a measure of the effort. */
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
    }
  | {
      readonly kind: 'unknown';
      readonly cause: 'maxConfigurations' | 'shouldStop';
      /** All that returned before this operation did is satisfied by some order. */
      readonly deepest: number;
      readonly configurations: number;
    };

/** A state in which an operation may find the object, and the changes that lead to it. */
export interface PossibleState<State> {
  readonly state: State;
  /** The history's indices; operations that change no state are left out. */
  readonly order: readonly number[];
}

const defaultMaxConfigurations = 1_000_000;
const keptBytes = 1 << 26;
const spareSearches: Search[] = [];

/** Decides `history` as that of one object, whatever the model says about parts. */
export function decide<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions = {},
): Decision {
  return withSearch((search) => run(search, history, model, options).decision);
}

/**
 * The states possible just before the first return that no order satisfies, at most `limit`; empty
 * when `history` is not found invalid.
 */
export function findPossibleStates<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions & { readonly limit: number },
): readonly PossibleState<State>[] {
  return withSearch((search) => {
    const { decision, states } = run(search, history, model, options);
    const found = new Map<number, PossibleState<State>>();
    if (decision.kind !== 'invalid') return [];
    const { count, stride, words } = search.memo;
    for (let met = 0; met < count && found.size < options.limit; met++) {
      const number = words.get(met * stride + 1);
      const state = states[number];
      if (words.get(met * stride) !== search.deepest || found.has(number)) continue;
      if (state !== undefined) found.set(number, { state, order: wayTo(search, met) });
    }
    return [...found.values()];
  });
}

function run<State extends Json, Call extends CallData>(
  search: Search,
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions,
): { readonly decision: Decision; readonly states: readonly State[] } {
  const calls = search.history.load(history, model);
  const transitions = new Transitions(model, calls, search.tables);
  const maxConfigurations = options.maxConfigurations ?? defaultMaxConfigurations;
  const ending = search.run(transitions, { maxConfigurations, shouldStop: options.shouldStop });
  return { decision: describe(search, ending), states: transitions.states };
}

function describe(search: Search, ending: ReturnType<Search['run']>): Decision {
  const configurations = search.memo.count;
  const { source } = search.history;
  if (ending === 'found') {
    const order = search.order.toArray().map((operation) => source.get(operation));
    return { kind: 'valid', order, configurations };
  }
  const deepest = source.get(search.deepest);
  if (ending === 'exhausted') return { kind: 'invalid', at: deepest, configurations };
  return { kind: 'unknown', cause: ending, deepest, configurations };
}

/** The operations placed by branching on the way to a configuration: all that change a state. */
function wayTo(search: Search, configuration: number): readonly number[] {
  const { memo, history } = search;
  const way: number[] = [];
  for (let met = configuration; memo.parent.get(met) >= 0; met = memo.parent.get(met)) {
    way.push(history.source.get(memo.placed.get(met)));
  }
  return way.reverse();
}

/** Borrows a search, so that its memory serves the next history too, unless it grew large. */
function withSearch<Result>(use: (search: Search) => Result): Result {
  const search = spareSearches.pop() ?? new Search();
  const result = use(search);
  if (search.bytes <= keptBytes) spareSearches.push(search);
  return result;
}
