/**
 * Decides the history of one object, and finds the first return that no order satisfies.
 *
 * 1. A fast path decides, if the model has one that applies (the folder `fast/`).
 * 2. Otherwise, `search.ts` searches for an order, and `look-ahead.ts` rules out hopeless orders
 *    early. A history is *infeasible* from the first return whose required state no earlier call
 *    can have produced.
 * 3. If the search makes no progress for 500 configurations (then 1,000, and so on), the checker
 *    spends the same number on the last part of the history, and then continues the search. To
 *    refute a long history, the search visits everything that may precede a contradiction, although
 *    most contradictions are local. A *window* of the history begins at some return and is less
 *    constrained. The object may be in any state there, and calls still open there may already have
 *    happened. A history is refuted if one of its windows has no order. For example, in a history
 *    of a register, with time from left to right:
 *
 *        … 5,000 calls …  w(2) ├┤  w(1) ├──┤  r=2 ├──┤
 *                                w(3) ├────────────────┤
 *
 *    The window that begins at the return of w(2) is refuted at once. It may begin with any value,
 *    even 2, but w(1) lies inside the window and before r=2. After w(1), only w(3) can change the
 *    value. None of the 5,000 calls is examined.
 *
 * 4. The look-ahead and windows may refute a longer prefix than the shortest bad one. The first bad
 *    return is then found by bisection: if a prefix has an order, so do all shorter prefixes.
 *
 * One count of configurations limits all of these searches together.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import { LookAhead } from './look-ahead.ts';
import type { History, Model } from './model.ts';
import { OrderSearch, type SearchEnding, Shared, theBeginning } from './search.ts';
import { Transitions } from './transitions.ts';

/** Options of the checker. */
export interface CheckOptions {
  /**
   * Maximum number of configurations that all searches of a part may visit together, at least 1.
   * Default 1,000,000; `Infinity` means no limit. A count, unlike a time, gives the same verdict on
   * every machine.
   */
  readonly maxConfigurations?: number;
  /** Maximum bytes that each part's search may use, at least 1. Default 2 GB. */
  readonly maxBytes?: number;
  /** Called from time to time. Returns true to end the search, for limits on time or memory. */
  readonly shouldStop?: () => boolean;
  /**
   * The meaning of a failed operation. With `drop`, the default, it did not happen. With `strict`,
   * the reason for the failure must also be possible if the model knows the reason: for example, a
   * failed cas must have found another value.
   */
  readonly failed?: 'drop' | 'strict';
}

/** Further options for the checker's own modules and tests. */
export interface DecideOptions extends CheckOptions {
  /**
   * Number of configurations without progress before windows of the history are searched for a
   * contradiction. Default 500. Doubles each time that none is found.
   */
  readonly patience?: number;
  /** Decremented like `maxConfigurations`, for callers that limit several decisions together. */
  readonly allowance?: Allowance;
  /** Accepts any bad return as `at`, which costs less than finding the first. */
  readonly isRough?: boolean;
  /** Skips the fast paths, for comparison. */
  readonly isSearchOnly?: boolean;
}

/** The number of configurations that several decisions may still visit together. */
export interface Allowance {
  left: number;
}

/** The decision on a history. `configurations` is the number visited, 0 for a fast path. */
export type Decision =
  | {
      readonly kind: 'valid';
      /** Indices of operations, including all completed ones, in an order that the model allows. */
      readonly order: readonly number[];
      readonly configurations: number;
    }
  | {
      readonly kind: 'invalid';
      /** The operation whose return is the first that no order satisfies. */
      readonly at: number;
      readonly configurations: number;
      /** Set if `at` was not verified to be the first, perhaps because of a limit. */
      readonly isPerhapsLate?: true;
    }
  | {
      readonly kind: 'unknown';
      readonly cause: 'maxConfigurations' | 'maxBytes' | 'shouldStop';
      /** Some order satisfies all returns before the return of this operation. */
      readonly deepest: number;
      readonly configurations: number;
    };

/** A state in which an operation may find the object. */
export interface PossibleState<State> {
  readonly state: State;
  /** Indices of the operations that lead to this state, except operations that change no state. */
  readonly order: readonly number[];
}

/** Minimum memory that the lists of numbers need per operation, in bytes. */
const bytesOfOperation = 100;
export const defaultMaxConfigurations = 1_000_000;
const defaultMaxBytes = 0x8000_0000;
/** Maximum number of configurations to visit to distinguish all possible states. */
const maxConfigurationsApart = 20_000;
const defaultPatience = 500;
/** Patience after a contradiction was found. Lower, because another one is likely near. */
const patienceForPrefix = 64;
/** Maximum patience as a share of the remaining configurations. Windows get the rest. */
const mostPatience = 0.9;
/**
 * Windows begin this many returns before the deepest one, and end at most `returnsAhead` after it.
 * Two steps double the length, so a window is at most half again as long as necessary. If the
 * effort is proportional to the length, all failed attempts together cost about two and a half
 * times the last.
 */
const windows = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024] as const;
const returnsAhead = 64;
const mostStatesOfWindow = 1_000;

/** Decides a history of one object. Ignores the model's parts and `failed` (see `readFailures`). */
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
  // A reused table may be so large that it never grows and so never reaches the limit.
  if (options.maxBytes !== undefined) {
    return new Run(new Searches(), history, model, options).decide();
  }
  return withSearches((searches) => new Run(searches, history, model, options).decide());
}

function whyNotBegin(
  history: History,
  { shouldStop, maxBytes = Number.POSITIVE_INFINITY }: CheckOptions,
): 'shouldStop' | 'maxBytes' | null {
  if (bytesOfOperation * history.length > maxBytes) return 'maxBytes';
  return shouldStop?.() ? 'shouldStop' : null;
}

/** Returns the operation that returns first, or null if no operation was answered. */
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
 * Returns at most `limit` states that are possible just before the first return that no order
 * satisfies. Returns an empty list if `history` is not found invalid. If there are too many states
 * to visit, one state represents all states that no remaining call distinguishes.
 */
export function findPossibleStates<State extends Json>(
  history: History,
  model: Model<State>,
  options: DecideOptions & { readonly limit: number },
): readonly PossibleState<State>[] {
  return withSearches((searches) => {
    const run = new Run(searches, history, model, options);
    return run.isExhausted() ? run.possibleStates(options.limit) : [];
  });
}

/** The search from the start of the history, and the search of windows. */
class Searches {
  private readonly shared = new Shared();
  readonly complete: OrderSearch = new OrderSearch(this.shared);
  readonly window: OrderSearch = new OrderSearch(this.shared);

  get bytes(): number {
    return this.complete.bytes + this.window.retainedBytes;
  }
}

const keptBytes = 1 << 26;
const idleSearches: Searches[] = [];

/** Reuses searches, and so their memory, for later histories, unless they grew large. */
function withSearches<Result>(use: (searches: Searches) => Result): Result {
  const searches = idleSearches.pop() ?? new Searches();
  const result = use(searches);
  if (searches.bytes <= keptBytes) idleSearches.push(searches);
  return result;
}

/** A bad prefix of a history. `isFirst` is true if all shorter prefixes are known to be good. */
interface BadPrefix {
  readonly returns: number;
  readonly isFirst: boolean;
}

/** A part of a history. `from` is the first return to satisfy. */
interface Window {
  readonly from: number;
  /** Number of returns of the complete history to satisfy, including those before `from`. */
  readonly horizon: number;
  /** An order that satisfies this many returns is enough. */
  readonly ahead: number;
}

interface Effort {
  readonly patience?: number;
  readonly most?: number;
}

/** The number of windows before `deepest` that are known to have an order up to `horizon`. */
interface TriedWindows {
  readonly deepest: number;
  readonly horizon: number;
  count: number;
}

/** The searches of one history, and their total effort. */
class Run<State extends Json> {
  private readonly search: OrderSearch;
  private readonly window: OrderSearch;
  private readonly history: History;
  private readonly model: Model<State>;
  private readonly transitions: Transitions<State>;
  private readonly options: DecideOptions;
  private readonly isRough: boolean;
  private readonly firstPatience: number;
  /** Configurations visited by all searches. `left` is how many more they may visit. */
  private spent = 0;
  private left: number;
  private latest: { readonly horizon: number; readonly lookAhead: LookAhead | null } | null = null;
  private tried: TriedWindows = { deepest: 0, horizon: 0, count: 0 };
  /** Start of the window that was just found to have no order, or null. */
  private contradictoryFrom: number | null = null;

  constructor(searches: Searches, history: History, model: Model<State>, options: DecideOptions) {
    this.search = searches.complete;
    this.window = searches.window;
    this.history = history;
    this.model = model;
    this.options = options;
    this.isRough = options.isRough ?? false;
    this.firstPatience = options.patience ?? defaultPatience;
    const { shared } = this.search;
    this.transitions = new Transitions(model, shared.history.load(history, model), shared.tables);
    const { maxConfigurations = defaultMaxConfigurations, allowance } = options;
    const most = Math.min(maxConfigurations, allowance?.left ?? maxConfigurations);
    // Infinity minus infinity is NaN.
    this.left = Math.min(most, Number.MAX_SAFE_INTEGER);
  }

  decide(): Decision {
    const { search } = this;
    const { completed, source } = search.history;
    const infeasible = this.lookAhead(completed)?.infeasible ?? completed;
    if (infeasible < completed && this.isRough) {
      return this.invalid({ returns: infeasible + 1, isFirst: false });
    }
    const ending = this.look(infeasible, this.firstPatience);
    if (ending === 'exhausted' || ending === 'refuted') {
      const bad = { returns: infeasible, isFirst: false };
      return this.invalid(this.isRough ? bad : this.shortestBadPrefix(search.deepest, infeasible));
    }
    if (infeasible < completed) {
      return this.invalid({ returns: infeasible + 1, isFirst: ending === 'found' });
    }
    const configurations = this.spent;
    if (ending === 'found') {
      const order = search.order.toArray().map((operation) => source.get(operation));
      return { kind: 'valid', order, configurations };
    }
    assert(ending !== 'stuck', 'its patience is not limited');
    return { kind: 'unknown', cause: ending, deepest: source.get(search.deepest), configurations };
  }

  private invalid({ returns, isFirst }: BadPrefix): Decision {
    const at = this.search.history.source.get(returns - 1);
    const decision = { kind: 'invalid' as const, at, configurations: this.spent };
    return isFirst ? decision : { ...decision, isPerhapsLate: true };
  }

  /** Returns the shortest bad prefix. `good` returns can be satisfied, but `bad` returns cannot. */
  private shortestBadPrefix(good: number, bad: number): BadPrefix {
    if (this.lookAhead(bad) === null) return { returns: good + 1, isFirst: true };
    const least = { good, bad };
    for (let step = 1; least.bad - least.good > 1; ) {
      const middle = Math.min(least.good + step, (least.good + least.bad) >> 1);
      const tried = this.lessen(least) ? least.bad - 1 : middle;
      if (tried <= least.good) break;
      const ending = this.look(tried, Math.min(this.firstPatience, patienceForPrefix));
      if (ending === 'found') {
        least.good = tried;
        step *= 2;
      } else if (ending === 'exhausted' || ending === 'refuted') {
        least.bad = tried;
        least.good = Math.max(least.good, this.search.deepest);
        step = 1;
      } else return { returns: least.bad, isFirst: false };
    }
    return { returns: least.bad, isFirst: true };
  }

  /**
   * Lowers `bad` to the fewest returns for which the last refuted window has no order. Each window
   * is used once. Returns false if there is no unused window.
   */
  private lessen(least: { readonly good: number; bad: number }): boolean {
    const { contradictoryFrom: from } = this;
    if (from === null) return false;
    this.contradictoryFrom = null;
    let low = Math.max(from, least.good);
    for (let step = 1; least.bad - low > 1; ) {
      const tried = Math.min(low + step, (low + least.bad) >> 1);
      if (this.tryWindow({ from, horizon: tried, ahead: tried }, this.left) === 'exhausted') {
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
   * Searches for an order of the first `horizon` returns. If the search makes no progress for long,
   * searches for a contradiction just before the deepest return.
   */
  private look(horizon: number, first: number): SearchEnding | 'refuted' {
    const lookAhead = this.lookAhead(horizon);
    const { search } = this;
    search.begin({ horizon, lookAhead, start: theBeginning });
    // A window needs a known set of possible states at its start.
    if (lookAhead?.knowsStates !== true) return this.goOn(search);
    for (let patience = first; ; patience *= 2) {
      const patient = Math.min(patience, Math.ceil(this.left * mostPatience));
      const ending = this.goOn(search, { patience: patient });
      if (ending !== 'stuck') return ending;
      if (this.hasContradiction(horizon, patient)) return 'refuted';
    }
  }

  /** Visits at most `most` configurations to find a contradiction before the deepest return. */
  private hasContradiction(horizon: number, most: number): boolean {
    const { deepest } = this.search;
    const end = this.left - most;
    const isKnown = deepest === this.tried.deepest && horizon <= this.tried.horizon;
    this.tried = { deepest, horizon, count: isKnown ? this.tried.count : 0 };
    for (; this.tried.count < windows.length; this.tried.count++) {
      const from = deepest - (windows[this.tried.count] ?? deepest);
      if (from <= 0) break;
      const ahead = deepest + returnsAhead;
      const ending = this.tryWindow({ from, horizon, ahead }, this.left - end);
      if (ending === 'maxConfigurations') break;
      if (ending !== 'exhausted') continue;
      this.contradictoryFrom = from;
      return true;
    }
    return false;
  }

  /** Returns `exhausted` if the window has no order, regardless of the history before it. */
  private tryWindow({ from, horizon, ahead }: Window, most: number): SearchEnding {
    const { window } = this;
    const lookAhead = this.lookAhead(horizon);
    const states = lookAhead?.statesAt(from) ?? [];
    if (states.length === 0 || states.length > mostStatesOfWindow) return 'stuck';
    window.begin({ horizon: Math.min(horizon, ahead), lookAhead, start: { next: from, states } });
    return this.goOn(window, { most });
  }

  /** Continues a search. `most` limits the configurations to visit. */
  private goOn(
    search: OrderSearch,
    { patience = Number.POSITIVE_INFINITY, most = this.left }: Effort = {},
  ): SearchEnding {
    const { maxBytes = defaultMaxBytes, shouldStop } = this.options;
    const other = search === this.search ? this.window : this.search;
    const before = search.memo.count;
    const ending = search.go(this.transitions, {
      maxConfigurations: Math.min(most, this.left),
      patience,
      maxBytes: maxBytes - other.retainedBytes,
      shouldStop,
    });
    const met = search.memo.count - before;
    const { allowance } = this.options;
    this.spent += met;
    this.left -= met;
    if (allowance !== undefined) allowance.left -= met;
    return ending;
  }

  /** Caches the look-ahead of the last horizon, which is often requested again. */
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

  /** Visits everything before the bad return. Returns true if there is no order. */
  isExhausted(): boolean {
    const { completed } = this.search.history;
    if (this.tryAll(null, maxConfigurationsApart)) return true;
    return this.tryAll(this.lookUpTo(completed, 'merges only'), Number.POSITIVE_INFINITY);
  }

  /** Returns true if at most `most` configurations show that there is no order. */
  private tryAll(lookAhead: LookAhead | null, most: number): boolean {
    const { search } = this;
    search.begin({ horizon: search.history.completed, lookAhead, start: theBeginning });
    return this.goOn(search, { most }) === 'exhausted';
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

  /** Returns the actual state, not its representative. Undefined if a call had several outcomes. */
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

  /** Returns the state-changing operations before a configuration, in order. */
  private wayTo(configuration: number): readonly number[] {
    const { memo, history } = this.search;
    const way: number[] = [];
    for (let met = configuration; memo.parent.get(met) >= 0; met = memo.parent.get(met)) {
      way.push(history.source.get(memo.placed.get(met)));
    }
    return way.reverse();
  }
}
