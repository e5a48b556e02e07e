/**
 * Decides the history of one object, and finds the first return that no order satisfies.
 *
 * 1. A fast path decides, where the model has one that applies (the folder `fast/`).
 * 2. Else `search.ts` looks for an order, and `look-ahead.ts` tells it early what is hopeless: a
 *    history is *infeasible* from the first return on that needs a state which nothing called by
 *    then can have brought about.
 * 3. When the search comes no further for 500 configurations, then for 1,000 and so on, as many are
 *    spent on its last part by itself; then it goes on where it was. To refute a long history the
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
 *
 * One count of configurations bounds all of these searches together.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import { LookAhead } from './look-ahead.ts';
import type { History, Model } from './model.ts';
import { OrderSearch, type SearchEnding, Shared, theBeginning } from './search.ts';
import { Transitions } from './transitions.ts';

/** What a caller of the checker may ask for. */
export interface CheckOptions {
  /**
   * How many configurations all searches of a part may meet together, 1,000,000 by default; from 1
   * on, `Infinity` for no limit. They are counted, so that a verdict is the same on every machine.
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
   * After how many configurations in which no order came further a contradiction is looked for in
   * windows of the history; 500 by default. Each time that none is found it doubles.
   */
  readonly patience?: number;
  /** Counted down beside `maxConfigurations`, for callers who ask for several decisions. */
  readonly allowance?: Allowance;
  /** Any bad return will do as `at`; that costs less than to find the first. */
  readonly isRough?: boolean;
  /** Leaves the fast paths out, to compare. */
  readonly isSearchOnly?: boolean;
}

/** How many configurations several decisions may still meet together. */
export interface Allowance {
  left: number;
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
export const defaultMaxConfigurations = 1_000_000;
const defaultMaxBytes = 0x8000_0000;
/** How many may be met in telling all possible states apart. */
const maxConfigurationsApart = 20_000;
/** After so many configurations in which no order comes further, a contradiction is looked for. */
const defaultPatience = 500;
/** The same where one was found already, so that another one is likely to be near. */
const patienceForPrefix = 64;
/** Of what is left, as the rest is for windows. */
const mostPatience = 0.9;
/**
 * So many returns before the deepest a window begins, and up to so many behind it it ends. Two
 * steps double it: so none is half again as long as it need be, and the ones tried in vain cost
 * about as much together as two and a half of the last, where the effort grows with the length.
 */
const windows = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024] as const;
const returnsAhead = 64;
const mostStatesOfWindow = 1_000;

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
  options: DecideOptions & { readonly limit: number },
): readonly PossibleState<State>[] {
  return withSearches((searches) => {
    const run = new Run(searches, history, model, options);
    return run.isExhausted() ? run.possibleStates(options.limit) : [];
  });
}

/** The search that begins with the history, and those that begin inside it. */
class Searches {
  private readonly shared = new Shared();
  readonly whole: OrderSearch = new OrderSearch(this.shared);
  readonly window: OrderSearch = new OrderSearch(this.shared);

  get bytes(): number {
    return this.whole.bytes + this.window.ownBytes;
  }
}

const keptBytes = 1 << 26;
const spareSearches: Searches[] = [];

/** Lends searches, so that their memory serves the next history too, unless it grew large. */
function withSearches<Result>(use: (searches: Searches) => Result): Result {
  const searches = spareSearches.pop() ?? new Searches();
  const result = use(searches);
  if (searches.bytes <= keptBytes) spareSearches.push(searches);
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

interface Effort {
  readonly patience?: number;
  readonly most?: number;
}

/** How many of the windows before `deepest` are known to have an order up to `horizon`. */
interface TriedWindows {
  readonly deepest: number;
  readonly horizon: number;
  count: number;
}

/** One history, and all that is spent on it. */
class Run<State extends Json> {
  private readonly search: OrderSearch;
  private readonly window: OrderSearch;
  private readonly history: History;
  private readonly model: Model<State>;
  private readonly transitions: Transitions<State>;
  private readonly options: DecideOptions;
  private readonly isRough: boolean;
  private readonly firstPatience: number;
  /** How many configurations all its searches met, and how many they may still meet. */
  private spent = 0;
  private left: number;
  private latest: { readonly horizon: number; readonly lookAhead: LookAhead | null } | null = null;
  private tried: TriedWindows = { deepest: 0, horizon: 0, count: 0 };
  /** The return from which on there is no order, when one was just found. */
  private contradictoryFrom: number | null = null;

  constructor(searches: Searches, history: History, model: Model<State>, options: DecideOptions) {
    this.search = searches.whole;
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
    // Infinity minus infinity is no number.
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

  /** Given that `good` returns can be satisfied and `bad` cannot: the least that cannot. */
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

  /** Lowers `bad` to the least that the window refuted last refutes, once; false when it was. */
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
   * Looks for an order of the first `horizon` returns, and whenever that takes long for a
   * contradiction in what came just before the deepest return.
   */
  private look(horizon: number, first: number): SearchEnding | 'refuted' {
    const lookAhead = this.lookAhead(horizon);
    const { search } = this;
    search.begin({ horizon, lookAhead, start: theBeginning });
    // No window may begin where nobody knows the states that an order may have.
    if (lookAhead?.knowsStates !== true) return this.goOn(search);
    for (let patience = first; ; patience *= 2) {
      const patient = Math.min(patience, Math.ceil(this.left * mostPatience));
      const ending = this.goOn(search, { patience: patient });
      if (ending !== 'stuck') return ending;
      if (this.hasContradiction(horizon, patient)) return 'refuted';
    }
  }

  /** Whether one is found, in so many configurations, in what came before the deepest return. */
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

  /** Whether a window has no order, whatever came before it: then it is `exhausted`. */
  private tryWindow({ from, horizon, ahead }: Window, most: number): SearchEnding {
    const { window } = this;
    const lookAhead = this.lookAhead(horizon);
    const states = lookAhead?.statesAt(from) ?? [];
    if (states.length === 0 || states.length > mostStatesOfWindow) return 'stuck';
    window.begin({ horizon: Math.min(horizon, ahead), lookAhead, start: { next: from, states } });
    return this.goOn(window, { most });
  }

  /** `most`: how many configurations it may meet, of those that are left. */
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
      maxBytes: maxBytes - other.ownBytes,
      shouldStop,
    });
    const met = search.memo.count - before;
    const { allowance } = this.options;
    this.spent += met;
    this.left -= met;
    if (allowance !== undefined) allowance.left -= met;
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
    if (this.tryAll(null, maxConfigurationsApart)) return true;
    return this.tryAll(this.lookUpTo(completed, 'merges only'), Number.POSITIVE_INFINITY);
  }

  /** Whether there is no order, told in so many configurations. */
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
