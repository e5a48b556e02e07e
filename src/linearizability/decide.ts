/**
 * Decides one history of one object: by a fast path where the model has one that applies, else by
 * search.
 */
import type { Json } from '../core/kernel/json.ts';
import { type LookAhead, none, Prospects } from './look-ahead.ts';
import type { CallData, History, Model } from './model.ts';
import { type Budget, type Ending, Search, type Steps, theBeginning } from './search.ts';
import { Transitions } from './transitions.ts';

/** What the checker's own parts, and its tests, ask for beside it. */
export interface DecideOptions extends CheckOptions {
  /**
   * After how many configurations a contradiction is looked for in short stretches of the history,
   * before the search goes on; 20,000 and four for each return by default.
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

/**
 * Decides `history` as that of one object, whatever the model says about parts. `failed` is not
 * looked at: see `readFailures`.
 */
export function decide<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: DecideOptions = {},
): Decision {
  const cause = whyNotBegin(history, options);
  const first = cause === null ? null : firstReturn(history);
  if (cause !== null && first !== null) {
    return { kind: 'unknown', cause, deepest: first, configurations: 0 };
  }
  if (!options.isSearchOnly) {
    const decision = model.fastPath?.(history, model) ?? null;
    if (decision !== null) return { ...decision, configurations: 0 };
  }
  return searchFor(history, model, options);
}

/** What each operation takes at least, as a number in lists. */
const bytesOfOperation = 100;

function whyNotBegin<Call>(
  history: History<Call>,
  { shouldStop, maxBytes = Number.POSITIVE_INFINITY }: CheckOptions,
): 'shouldStop' | 'maxBytes' | null {
  if (bytesOfOperation * history.length > maxBytes) return 'maxBytes';
  return shouldStop?.() ? 'shouldStop' : null;
}

/** The operation that returns first; null when none was answered. */
function firstReturn<Call>(history: History<Call>): number | null {
  let first: number | null = null;
  let earliest = Number.POSITIVE_INFINITY;
  for (const [index, { outcome, return: end }] of history.entries()) {
    if (outcome !== 'ok' || end === null || end >= earliest) continue;
    first = index;
    earliest = end;
  }
  return first;
}

/** What a caller of the checker may ask for. */

export interface CheckOptions {
  /**
   * How many configurations each part may need, 1,000,000 by default; from 1 on. It is counted, so
   * that a verdict is the same on every machine.
   */
  readonly maxConfigurations?: number;
  /**
   * How many bytes each part's search may take, 2 GB by default; from 1 on. It ends before it would
   * take more.
   */
  readonly maxBytes?: number;
  /** Asked now and then; for limits in time or memory, which this code cannot measure. */
  readonly shouldStop?: () => boolean;
  /**
   * What a failed operation says. `drop`, the default: it did not happen. `strict`: that too, and
   * why, where the model knows a reason, e.g. that a cas did not match.
   */
  readonly failed?: 'drop' | 'strict';
}

/** Throws a `RangeError` that names the option, where it is none of those above. */
export function refuseOptions({ maxConfigurations, maxBytes, failed }: CheckOptions): void {
  refuseLimit('maxConfigurations', maxConfigurations);
  refuseLimit('maxBytes', maxBytes);
  if (failed !== undefined && failed !== 'drop' && failed !== 'strict') {
    throw new RangeError(`failed must be drop or strict, not ${String(failed)}`);
  }
}

function refuseLimit(name: string, limit: number | undefined): void {
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return;
  if (Number.isInteger(limit) && limit >= 1) return;
  throw new RangeError(`${name} must be a whole number from 1 on, not ${limit}`);
}

/**
 * Puts the ending of a search into words. A look-ahead may give up long before the return that no
 * order satisfies, so that is then looked for by searches of prefixes.
 */

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
const mostPatience = 0.9;

function searchFor<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: DecideOptions,
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
  options: DecideOptions & { readonly limit: number },
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
  private spent = 0;
  private latest: {
    readonly horizon: number;
    readonly lookAhead: Prospects<State, Call> | null;
  } | null = null;
  /** As in the search that began with the history's beginning. */
  private deepest = 0;
  /** The return from which on there is no order, when one was just found. */
  private contradictoryFrom = none;

  constructor(
    search: Search,
    history: History<Call>,
    model: Model<State, Call>,
    options: DecideOptions,
  ) {
    this.search = search;
    this.history = history;
    this.model = model;
    this.isRough = options.isRough ?? false;
    this.patience = options.patience;
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
    const { deepest } = this;
    if (ending === 'exhausted' || ending === 'refuted') {
      const bad = { returns: starved, isFirst: false };
      return this.invalid(this.isRough ? bad : this.shortestBadPrefix(deepest, starved));
    }
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

  /**
   * Lowers `bad` to the least that the contradiction found last refutes, once; false when it was.
   */
  private lessen(least: { readonly good: number; bad: number }): boolean {
    const { contradictoryFrom: from } = this;
    if (from === none) return false;
    this.contradictoryFrom = none;
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
  private look(horizon: number, maxConfigurations: number): Ending | 'refuted' {
    if (this.lookAhead(horizon)?.knowsStates !== true) return this.try(horizon, maxConfigurations);
    const long = this.patience ?? firstConfigurations + configurationsPerReturn * horizon;
    const patience = Math.min(long, Math.ceil(maxConfigurations * mostPatience));
    const ending = this.try(horizon, patience);
    if (ending !== 'maxConfigurations') return ending;
    const { deepest } = this;
    for (const before of stretches) {
      if (before >= deepest) break;
      const stretch = { from: deepest - before, horizon, ahead: deepest + returnsAhead };
      if (!this.isContradictory(stretch)) continue;
      this.contradictoryFrom = stretch.from;
      return 'refuted';
    }
    const left = maxConfigurations - patience;
    return left > patience ? this.try(horizon, left) : ending;
  }

  private isContradictory(stretch: Stretch): boolean {
    const { search, transitions, budget } = this;
    const lookAhead = this.lookAhead(stretch.horizon);
    if (lookAhead === null) return false;
    const isContradictory = isStretchContradictory(search, transitions, {
      ...stretch,
      lookAhead,
      budget,
    });
    this.spent += search.memo.count;
    return isContradictory;
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
      { horizon, lookAhead, start: theBeginning },
      { ...budget, maxConfigurations },
    );
    this.spent += search.memo.count;
    this.deepest = search.deepest;
    return ending;
  }

  /** That of the last horizon is kept, which is often asked for again. */
  private lookAhead(horizon: number): Prospects<State, Call> | null {
    if (this.latest?.horizon !== horizon) {
      this.latest = { horizon, lookAhead: this.lookUpTo({ horizon, givesUp: true }) };
    }
    return this.latest.lookAhead;
  }

  private lookUpTo(options: {
    readonly horizon: number;
    readonly givesUp: boolean;
  }): Prospects<State, Call> | null {
    const { search, model, calls, transitions } = this;
    return Prospects.of(model, calls, search.history, transitions, options);
  }

  /** Whether there is no order, having looked at everything before the return that has none. */
  isExhausted(): boolean {
    const { completed } = this.search.history;
    const { maxConfigurations } = this.budget;
    const few = Math.min(maxConfigurations, maxConfigurationsApart);
    if (this.try(completed, few, null) === 'exhausted') return true;
    const merging = this.lookUpTo({ horizon: completed, givesUp: false });
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

/**
 * Refutes a history by its last part: the search of a long one visits all that may have come before
 * a contradiction, though it is mostly local. From some return on less is asked: the object may be
 * in any state, and what was called before and returns later may have come before. What has no
 * order even so has none in the whole.
 */

/** What comes after the return before `from`. */
interface Stretch {
  readonly from: number;
  /** How many returns of the whole history are to be satisfied, those before `from` included. */
  readonly horizon: number;
  /** An order that comes as far as this will do. */
  readonly ahead: number;
}

/**
 * So many returns before the deepest a stretch begins, and up to so many behind it it ends. Two
 * steps double it: so none is half again as long as it need be, and the ones tried in vain cost
 * about as much together as two and a half of the last, where the effort grows with the length.
 */
const stretches: readonly number[] = [
  8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
];
const returnsAhead = 64;

const mostStates = 1_000;
const maxConfigurations = 20_000;

/** Whether it has no order, whatever came before; false when nobody knows. */
function isStretchContradictory(
  search: Search,
  steps: Steps,
  {
    from,
    horizon,
    ahead,
    lookAhead,
    budget,
  }: Stretch & { readonly lookAhead: StretchLookAhead; readonly budget: Budget },
): boolean {
  const states = lookAhead.statesAt(from);
  if (states.length > mostStates) return false;
  const aim = { horizon: Math.min(horizon, ahead), lookAhead, start: { next: from, states } };
  return search.run(steps, aim, { ...budget, maxConfigurations }) === 'exhausted';
}

interface StretchLookAhead extends LookAhead {
  /** The states that an order may have there. */
  statesAt(next: number): readonly number[];
}

/** Lends a search, so that its memory serves the next history too, unless it grew large. */

const keptBytes = 1 << 26;
const spareSearches: Search[] = [];

function withSearch<Result>(use: (search: Search) => Result): Result {
  const search = spareSearches.pop() ?? new Search();
  const result = use(search);
  if (search.bytes <= keptBytes) spareSearches.push(search);
  return result;
}
