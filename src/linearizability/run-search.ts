/**
 * Lends the search its memory and puts its ending into words. A look-ahead may give up long before
 * the return that no order satisfies, so that is then looked for by searches of prefixes.
 */
import type { Json } from '../kernel/json.ts';
import type { CheckOptions, Decision } from './decide.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { Prospects } from './prospects.ts';
import { type Budget, type Ending, Search } from './search.ts';
import { Transitions } from './transitions.ts';
import { cutStretch, type Stretch, statesBefore } from './window.ts';

/** A state in which an operation may find the object, and the changes that lead to it. */
export interface PossibleState<State> {
  readonly state: State;
  /** The history's indices; operations that change no state are left out. */
  readonly order: readonly number[];
}

const defaultMaxConfigurations = 1_000_000;
const defaultMaxBytes = 0x8000_0000;
/** How many may be met in telling all possible states apart. */
const maxConfigurationsApart = 20_000;
/** After so many configurations, and so many for each return, a contradiction is looked for. */
const firstConfigurations = 20_000;
const configurationsPerReturn = 4;
/** So many returns are looked at before the deepest, and so many from there on. */
const stretches = [
  ...[16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256].map((before) => [before, 1] as const),
  ...[32, 64, 128].map((before) => [before, 32] as const),
  ...[256, 512, 1024].map((ahead) => [64, ahead] as const),
];
const mostStatesBefore = 200;
const stretchLimits = { maxConfigurations: 20_000, patience: 20_000, isRough: true };
const keptBytes = 1 << 26;
const spareSearches: Search[] = [];

export function searchFor<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions,
): Decision {
  // A table that was large before would not have to grow, so that no limit would be met.
  if (options.maxBytes !== undefined)
    return new Run(new Search(), history, model, options).decide();
  return withSearch((search) => new Run(search, history, model, options).decide());
}

/**
 * The states possible just before the first return that no order satisfies, at most `limit`; empty
 * when `history` is not found invalid. Where they are too many to visit, one stands for all that no
 * remaining call tells apart.
 */
export function findPossibleStates<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions & { readonly limit: number },
): readonly PossibleState<State>[] {
  return withSearch((search) => {
    const run = new Run(search, history, model, options);
    return run.isExhausted() ? run.possibleStates(options.limit) : [];
  });
}

/** How many returns it has, and whether every shorter one is known to have an order. */
interface BadPrefix {
  readonly returns: number;
  readonly isFirst: boolean;
}

/** One history in one search. */
class Run<State extends Json, Call extends CallData> {
  private readonly search: Search;
  private readonly history: History<Call>;
  private readonly model: Model<State, Call>;
  private readonly calls: readonly Call[];
  private readonly transitions: Transitions<State, Call>;
  private readonly budget: Budget;
  private readonly isRough: boolean;
  private readonly patience: number | undefined;
  private readonly stretchOptions: CheckOptions;
  private spent = 0;
  /** A stretch that has no order, when one was found. */
  private refuted: Stretch | null = null;

  constructor(
    search: Search,
    history: History<Call>,
    model: Model<State, Call>,
    options: CheckOptions,
  ) {
    this.search = search;
    this.history = history;
    this.model = model;
    this.isRough = options.isRough ?? false;
    this.patience = options.patience;
    this.stretchOptions = { ...options, ...stretchLimits };
    this.calls = search.history.load(history, model);
    this.transitions = new Transitions(model, this.calls, search.tables);
    this.budget = {
      maxConfigurations: options.maxConfigurations ?? defaultMaxConfigurations,
      maxBytes: options.maxBytes ?? defaultMaxBytes,
      shouldStop: options.shouldStop,
    };
  }

  decide(): Decision {
    const { search } = this;
    const { completed, source } = search.history;
    const { maxConfigurations } = this.budget;
    const starved = this.lookAhead(completed)?.starved ?? completed;
    if (starved < completed && this.isRough) {
      return this.invalid({ returns: starved + 1, isFirst: false });
    }
    const ending = this.look(starved, maxConfigurations);
    const { deepest } = search;
    if (ending === 'refuted') {
      return this.invalid(this.shortestBadPrefix(deepest, this.refuted?.to ?? starved));
    }
    if (ending === 'exhausted' && this.isRough) {
      return this.invalid({ returns: starved, isFirst: false });
    }
    if (ending === 'exhausted') return this.invalid(this.shortestBadPrefix(deepest, starved));
    if (starved < completed) {
      return this.invalid({ returns: starved + 1, isFirst: ending === 'found' });
    }
    if (ending === 'found') {
      const order = search.order.toArray().map((operation) => source.get(operation));
      return { kind: 'valid', order, configurations: this.spent };
    }
    const configurations = this.spent;
    return { kind: 'unknown', cause: ending, deepest: source.get(deepest), configurations };
  }

  private invalid({ returns, isFirst }: BadPrefix): Decision {
    const at = this.search.history.source.get(returns - 1);
    const decision = { kind: 'invalid' as const, at, configurations: this.spent };
    return isFirst ? decision : { ...decision, isPerhapsLate: true };
  }

  /** Given that `good` returns can be satisfied and `bad` cannot: the least that cannot. */
  private shortestBadPrefix(good: number, bad: number): BadPrefix {
    if (this.lookAhead(bad) === null) return { returns: good + 1, isFirst: true };
    const least = { good, bad };
    let left = this.budget.maxConfigurations;
    for (let step = 1; least.bad - least.good > 1; ) {
      const tried = Math.min(least.good + step, (least.good + least.bad) >> 1);
      const before = this.spent;
      const ending = this.isRefutedUpTo(tried) ? 'refuted' : this.look(tried, left);
      left -= this.spent - before;
      if (ending === 'found') {
        least.good = tried;
        step *= 2;
      } else if (ending === 'exhausted' || ending === 'refuted') {
        least.bad = tried;
        if (ending === 'exhausted') least.good = Math.max(least.good, this.search.deepest);
        step = 1;
      } else return { returns: least.bad, isFirst: false };
    }
    return { returns: least.bad, isFirst: true };
  }

  /**
   * Looks for an order of the first `horizon` returns; when that takes long, for a short stretch
   * without one, which ends at `refuted`.
   */
  private look(horizon: number, maxConfigurations: number): Ending | 'refuted' {
    const patience = this.patience ?? firstConfigurations + configurationsPerReturn * horizon;
    if (patience >= maxConfigurations) return this.try(horizon, maxConfigurations);
    const ending = this.try(horizon, patience);
    if (ending !== 'maxConfigurations') return ending;
    const { deepest } = this.search;
    for (const [before, ahead] of stretches) {
      const stretch = { from: deepest - before, to: Math.min(horizon, deepest + ahead) };
      if (stretch.from <= 0 || !this.isRefutedBy(stretch)) continue;
      this.refuted = stretch;
      return 'refuted';
    }
    const left = maxConfigurations - patience;
    return left > 0 ? this.try(horizon, left) : ending;
  }

  /** Whether the stretch that was found has no order even when it ends at `to`. */
  private isRefutedUpTo(to: number): boolean {
    const from = this.refuted?.from ?? to;
    return from < to && this.isRefutedBy({ from, to });
  }

  private isRefutedBy(stretch: Stretch): boolean {
    const { search, model, calls, history } = this;
    const operations = cutStretch(search.history, model, stretch, (operation) => {
      return history[search.history.source.get(operation)];
    });
    const states = statesBefore(calls, operations, model);
    if (states === null || states.length > mostStatesBefore) return false;
    return states.every((init) => {
      const decision = searchFor(operations, { ...model, init }, this.stretchOptions);
      this.spent += decision.configurations;
      return decision.kind === 'invalid';
    });
  }

  /** Looks for an order of the first `horizon` returns. */
  private try(
    horizon: number,
    maxConfigurations: number,
    lookAhead = this.lookAhead(horizon),
  ): Ending {
    const { search, transitions, budget } = this;
    const ending = search.run(
      transitions,
      { horizon, lookAhead },
      { ...budget, maxConfigurations },
    );
    this.spent += search.memo.count;
    return ending;
  }

  private lookAhead(horizon: number, givesUp = true): Prospects<State, Call> | null {
    const { search, model, calls, transitions } = this;
    const options = { horizon, givesUp };
    return Prospects.of(model, calls, search.history, transitions, options);
  }

  /** Whether there is no order, having looked at everything before the return that has none. */
  isExhausted(): boolean {
    const { completed } = this.search.history;
    const { maxConfigurations } = this.budget;
    const few = Math.min(maxConfigurations, maxConfigurationsApart);
    if (this.try(completed, few, null) === 'exhausted') return true;
    const merging = this.lookAhead(completed, false);
    return this.try(completed, maxConfigurations, merging) === 'exhausted';
  }

  possibleStates(limit: number): readonly PossibleState<State>[] {
    const { memo, deepest } = this.search;
    const { count, stride, words } = memo;
    const found = new Map<number, PossibleState<State>>();
    for (let met = 0; met < count && found.size < limit; met++) {
      if (words.get(met * stride) !== deepest) continue;
      const number = words.get(met * stride + 1);
      if (found.has(number)) continue;
      const order = this.wayTo(met);
      const state = this.stateAfter(order) ?? this.transitions.states[number];
      if (state !== undefined) found.set(number, { state, order });
    }
    return [...found.values()];
  }

  /** The state itself, not the one that stands for it; undefined when nobody saw a choice. */
  private stateAfter(order: readonly number[]): State | undefined {
    let state = this.model.init;
    for (const index of order) {
      const call = this.history[index]?.call;
      const next = call === undefined ? [] : this.model.step(state, call);
      const [only] = next;
      if (only === undefined || next.length > 1) return undefined;
      state = only;
    }
    return state;
  }

  /** The operations placed by branching on the way to it: all that change a state. */
  private wayTo(configuration: number): readonly number[] {
    const { memo, history } = this.search;
    const way: number[] = [];
    for (let met = configuration; memo.parent.get(met) >= 0; met = memo.parent.get(met)) {
      way.push(history.source.get(memo.placed.get(met)));
    }
    return way.reverse();
  }
}

/** Borrows a search, so that its memory serves the next history too, unless it grew large. */
function withSearch<Result>(use: (search: Search) => Result): Result {
  const search = spareSearches.pop() ?? new Search();
  const result = use(search);
  if (search.bytes <= keptBytes) spareSearches.push(search);
  return result;
}
