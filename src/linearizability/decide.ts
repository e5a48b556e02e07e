/**
 * Decides the history of one object, and finds the first return that no order satisfies.
 *
 * 1. A fast path decides, where the model has one that applies (the folder `fast/`).
 * 2. Else `search.ts` looks for an order, and `look-ahead.ts` tells it early what is hopeless: a
 *    history is *infeasible* from the first return on that needs a state which nothing called by
 *    then can have brought about.
 * 3. When the search takes long, its last part is tried by itself. To refute a long history the
 *    search visits all that may have come before a contradiction, though that is mostly local. In a
 *    *window*, which begins at some return, less is asked: the object may be in any state there,
 *    and what was called before and returns later may have come before. What has no order even so
 *    has none in the whole. An example, of a register, time from left to right:
 *
 *        … 5,000 calls …  w(2) ├┤  w(1) ├──┤  r=2 ├──┤
 *                                w(3) ├────────────────┤
 *
 *    The window from the return of w(2) on is refuted at once. It may begin with any value, also
 *    with 2; but w(1) comes inside it and before r=2, and then only w(3) is left to change the
 *    value. None of the 5,000 calls has been looked at.
 * 4. The look-ahead, and a window, refute more than the first bad return. That is then found by
 *    searches of prefixes: a prefix of one that has an order has one, so halving finds it.
 */
import type { Json } from '../core/kernel/json.ts';
import { LookAhead } from './look-ahead.ts';
import type { History, Model } from './model.ts';
import { type Budget, OrderSearch, type SearchEnding, theBeginning } from './search.ts';
import { Transitions } from './transitions.ts';

/** What a caller of the checker may ask for. */
export interface CheckOptions {
  /**
   * How many configurations each part may need, 1,000,000 by default; from 1 on. It is counted, so
   * that a verdict is the same on every machine.
   */
  readonly maxConfigurations?: number;
  /** How many bytes each part's search may take, from 1 on, 2 GB by default; it ends before. */
  readonly maxBytes?: number;
  /** Asked now and then; for limits in time or memory, which this code cannot measure. */
  readonly shouldStop?: () => boolean;
  /**
   * What a failed operation says. `drop`, the default: it did not happen. `strict`: that too, and
   * why, where the model knows a reason, e.g. that a cas did not match.
   */
  readonly failed?: 'drop' | 'strict';
}

/** What the checker's own parts, and its tests, ask for beside it. */
export interface DecideOptions extends CheckOptions {
  /**
   * After how many configurations a contradiction is looked for in windows of the history, before
   * the search goes on; 20,000 and four for each return by default.
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

/** A state in which an operation may find the object, and the changes that lead to it. */
export interface PossibleState<State> {
  readonly state: State;
  /** The history's indices; operations that change no state are left out. */
  readonly order: readonly number[];
}

/** What each operation takes at least, as a number in lists. */
const bytesOfOperation = 100;
const defaultMaxConfigurations = 1_000_000;
const defaultMaxBytes = 0x8000_0000;
/** How many may be met in telling all possible states apart. */
const maxConfigurationsApart = 20_000;
/** After so many configurations, and so many for each return, a contradiction is looked for. */
const firstConfigurations = 20_000;
const configurationsPerReturn = 4;
const mostPatience = 0.9;
/**
 * So many returns before the deepest a window begins, and up to so many behind it it ends. Two
 * steps double it: so none is half again as long as it need be, and the ones tried in vain cost
 * about as much together as two and a half of the last, where the effort grows with the length.
 */
const windows = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024] as const;
const returnsAhead = 64;
const mostStatesOfWindow = 1_000;
const maxConfigurationsOfWindow = 20_000;

/**
 * Decides `history` as that of one object, whatever the model says about parts. `failed` is not
 * looked at: see `readFailures`.
 */
export function decide(history: History, model: Model, options: DecideOptions = {}): Decision {
  const cause = whyNotBegin(history, options);
  const first = cause === null ? null : firstReturn(history);
  if (cause !== null && first !== null) {
    return { kind: 'unknown', cause, deepest: first, configurations: 0 };
  }
  if (!options.isSearchOnly) {
    const decision = model.fastPath?.(history, model) ?? null;
    if (decision !== null) return { ...decision, configurations: 0 };
  }
  // A table that was large before would not have to grow, so that no limit would be met.
  if (options.maxBytes !== undefined) {
    return new Run(new OrderSearch(), history, model, options).decide();
  }
  return withSearch((search) => new Run(search, history, model, options).decide());
}

function whyNotBegin(
  history: History,
  { shouldStop, maxBytes = Number.POSITIVE_INFINITY }: CheckOptions,
): 'shouldStop' | 'maxBytes' | null {
  if (bytesOfOperation * history.length > maxBytes) return 'maxBytes';
  return shouldStop?.() ? 'shouldStop' : null;
}

/** The operation that returns first; null when none was answered. */
function firstReturn(history: History): number | null {
  let first: number | null = null;
  let earliest = Number.POSITIVE_INFINITY;
  for (const [index, { outcome, return: end }] of history.entries()) {
    if (outcome !== 'ok' || end === null || end >= earliest) continue;
    first = index;
    earliest = end;
  }
  return first;
}

/**
 * The states possible just before the first return that no order satisfies, at most `limit`; empty
 * when `history` is not found invalid. Where they are too many to visit, one stands for all that no
 * remaining call tells apart.
 */
export function findPossibleStates<State extends Json>(
  history: History,
  model: Model<State>,
  options: CheckOptions & { readonly limit: number },
): readonly PossibleState<State>[] {
  return withSearch((search) => {
    const run = new Run(search, history, model, options);
    return run.isExhausted() ? run.possibleStates(options.limit) : [];
  });
}

const keptBytes = 1 << 26;
const spareSearches: OrderSearch[] = [];

/** Lends a search, so that its memory serves the next history too, unless it grew large. */
function withSearch<Result>(use: (search: OrderSearch) => Result): Result {
  const search = spareSearches.pop() ?? new OrderSearch();
  const result = use(search);
  if (search.bytes <= keptBytes) spareSearches.push(search);
  return result;
}

/** How many returns it has, and whether every shorter one is known to have an order. */
interface BadPrefix {
  readonly returns: number;
  readonly isFirst: boolean;
}

/** What comes after the return before `from`. */
interface Window {
  readonly from: number;
  /** How many returns of the whole history are to be satisfied, those before `from` included. */
  readonly horizon: number;
  /** An order that comes as far as this will do. */
  readonly ahead: number;
}

/** One history in one search. */
class Run<State extends Json> {
  private readonly search: OrderSearch;
  private readonly history: History;
  private readonly model: Model<State>;
  private readonly transitions: Transitions<State>;
  private readonly budget: Budget;
  private readonly isRough: boolean;
  private readonly patience: number | undefined;
  private spent = 0;
  private latest: { readonly horizon: number; readonly lookAhead: LookAhead | null } | null = null;
  /** As in the search that began with the history's beginning. */
  private deepest = 0;
  /** The return from which on there is no order, when one was just found. */
  private contradictoryFrom: number | null = null;

  constructor(search: OrderSearch, history: History, model: Model<State>, options: DecideOptions) {
    this.search = search;
    this.history = history;
    this.model = model;
    this.isRough = options.isRough ?? false;
    this.patience = options.patience;
    this.transitions = new Transitions(model, search.history.load(history, model), search.tables);
    this.budget = {
      maxConfigurations: options.maxConfigurations ?? defaultMaxConfigurations,
      maxBytes: options.maxBytes ?? defaultMaxBytes,
      shouldStop: options.shouldStop,
    };
  }

  decide(): Decision {
    const { search } = this;
    const { completed, source } = search.history;
    const infeasible = this.lookAhead(completed)?.infeasible ?? completed;
    if (infeasible < completed && this.isRough) {
      return this.invalid({ returns: infeasible + 1, isFirst: false });
    }
    const ending = this.look(infeasible, this.budget.maxConfigurations);
    const { deepest } = this;
    if (ending === 'exhausted' || ending === 'refuted') {
      const bad = { returns: infeasible, isFirst: false };
      return this.invalid(this.isRough ? bad : this.shortestBadPrefix(deepest, infeasible));
    }
    if (infeasible < completed) {
      return this.invalid({ returns: infeasible + 1, isFirst: ending === 'found' });
    }
    const configurations = this.spent;
    if (ending === 'found') {
      const order = search.order.toArray().map((operation) => source.get(operation));
      return { kind: 'valid', order, configurations };
    }
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
      const before = this.spent;
      const middle = Math.min(least.good + step, (least.good + least.bad) >> 1);
      const tried = this.lessen(least) ? least.bad - 1 : middle;
      if (tried <= least.good) break;
      const ending = this.look(tried, left);
      left -= this.spent - before;
      if (ending === 'found') {
        least.good = tried;
        step *= 2;
      } else if (ending === 'exhausted' || ending === 'refuted') {
        least.bad = tried;
        least.good = Math.max(least.good, this.deepest);
        step = 1;
      } else return { returns: least.bad, isFirst: false };
    }
    return { returns: least.bad, isFirst: true };
  }

  /** Lowers `bad` to the least that the window refuted last refutes, once; false when it was. */
  private lessen(least: { readonly good: number; bad: number }): boolean {
    const { contradictoryFrom: from } = this;
    if (from === null) return false;
    this.contradictoryFrom = null;
    let low = Math.max(from, least.good);
    for (let step = 1; least.bad - low > 1; ) {
      const tried = Math.min(low + step, (low + least.bad) >> 1);
      if (this.isContradictory({ from, horizon: tried, ahead: tried })) {
        least.bad = tried;
        step = 1;
      } else {
        low = tried;
        step *= 2;
      }
    }
    return true;
  }

  /**
   * Looks for an order of the first `horizon` returns; when that takes long, for a contradiction in
   * what came just before the deepest return.
   */
  private look(horizon: number, maxConfigurations: number): SearchEnding | 'refuted' {
    if (this.lookAhead(horizon)?.knowsStates !== true) return this.try(horizon, maxConfigurations);
    const long = this.patience ?? firstConfigurations + configurationsPerReturn * horizon;
    const patience = Math.min(long, Math.ceil(maxConfigurations * mostPatience));
    const ending = this.try(horizon, patience);
    if (ending !== 'maxConfigurations') return ending;
    const { deepest } = this;
    for (const before of windows) {
      if (before >= deepest) break;
      const from = deepest - before;
      if (!this.isContradictory({ from, horizon, ahead: deepest + returnsAhead })) continue;
      this.contradictoryFrom = from;
      return 'refuted';
    }
    const left = maxConfigurations - patience;
    return left > patience ? this.try(horizon, left) : ending;
  }

  /** Whether a window has no order, whatever came before it; false when nobody knows. */
  private isContradictory({ from, horizon, ahead }: Window): boolean {
    const { search, transitions, budget } = this;
    const lookAhead = this.lookAhead(horizon);
    if (lookAhead === null) return false;
    const states = lookAhead.statesAt(from);
    if (states.length > mostStatesOfWindow) return false;
    const aim = { horizon: Math.min(horizon, ahead), lookAhead, start: { next: from, states } };
    const limits = { ...budget, maxConfigurations: maxConfigurationsOfWindow };
    const ending = search.run(transitions, aim, limits);
    this.spent += search.memo.count;
    return ending === 'exhausted';
  }

  /** Looks for an order of the first `horizon` returns. */
  private try(
    horizon: number,
    maxConfigurations: number,
    lookAhead = this.lookAhead(horizon),
  ): SearchEnding {
    const { search, transitions, budget } = this;
    const aim = { horizon, lookAhead, start: theBeginning };
    const ending = search.run(transitions, aim, { ...budget, maxConfigurations });
    this.spent += search.memo.count;
    this.deepest = search.deepest;
    return ending;
  }

  /** That of the last horizon is kept, which is often asked for again. */
  private lookAhead(horizon: number): LookAhead | null {
    if (this.latest?.horizon !== horizon) {
      this.latest = { horizon, lookAhead: this.lookUpTo(horizon, 'gives up') };
    }
    return this.latest.lookAhead;
  }

  private lookUpTo(horizon: number, mode: 'gives up' | 'merges only'): LookAhead | null {
    const { search, transitions } = this;
    return LookAhead.of(search.history, transitions, { horizon, givesUp: mode === 'gives up' });
  }

  /** Whether there is no order, having looked at everything before the return that has none. */
  isExhausted(): boolean {
    const { completed } = this.search.history;
    const { maxConfigurations } = this.budget;
    const few = Math.min(maxConfigurations, maxConfigurationsApart);
    if (this.try(completed, few, null) === 'exhausted') return true;
    const merging = this.lookUpTo(completed, 'merges only');
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
