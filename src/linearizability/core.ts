/**
 * Finds a minimal core of an invalid history of one object: operations that contradict each other
 * whatever the object held before them and whatever else happened, such that to ask less of any one
 * of them resolves the contradiction. It is found as a minimal failing input is (Zeller and
 * Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002): less is asked of half of
 * the operations at once, then of halves of those, as long as what is left has no order.
 * `CoreSearch` chooses where the history is cut and what is tried first, `CoreTrials` asks less and
 * decides.
 *
 * An example: of w(1), w(2), r=1, w(3), r=3, one after the other, the core is w(2) and r=1. From
 * the call of w(2) on, whatever the register then held, r=1 cannot follow it; w(1) was over, and
 * what was called after r=1 has no part in it.
 */
import type { Json } from '../core/kernel/json.ts';
import { type DecideOptions, decide } from './decide.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import {
  beginHistory,
  cutHistory,
  distinctCalls,
  FreeCalls,
  makeOptional,
  StartStates,
} from './relax.ts';

/**
 * How to read it: at `from` the object may be in any state that the calls up to the bad return
 * lead to, in any order and however often; what had returned before `from` has no part in it, the
 * `required` operations happened when they did, the `optional` ones may have happened once, at any
 * time after their calls and after `from`, or never; and all others at any time after `from` and
 * however often. That fits into no order. Since less is asked than was recorded, the history fits
 * into none either. What a person must look at are the required and the optional operations.
 */
export interface Core {
  /** Indices of the operations that had to happen, and when they did, in the history's order. */
  readonly required: readonly number[];
  /** Of those that may have happened, but not at any time and however often. */
  readonly optional: readonly number[];
  /**
   * False when the others could lead to too many states: then each may have happened once, after
   * its call and after `from`.
   */
  readonly areOthersFree: boolean;
  /** The position from which on it holds; null: from the first state of the model on. */
  readonly from: number | null;
  /** False when a limit was reached before every operation was tried alone. */
  readonly isMinimal: boolean;
}

/** So many that were called last are looked at first; the whole of a longer history never is. */
const recentCalls = 1_024;
const longestWhole = 200_000;

/**
 * `at` is the operation whose return is the first that no order satisfies. `maxConfigurations`
 * bounds all the trials together, 50,000 by default.
 */
export function findCore(
  history: History,
  model: Model,
  at: number,
  options: DecideOptions = {},
): Core {
  const cut = cutHistory(history, at, 'after');
  const starts = new StartStates(model, distinctCalls(cut));
  const recent = cut.length > recentCalls ? recentOperations(cut) : null;
  let left = options.maxConfigurations ?? defaultMaxConfigurationsOfCore;
  // What is spent is told by differences, and infinity minus anything is infinity.
  left = Math.min(left, options.allowance?.left ?? left, Number.MAX_SAFE_INTEGER);
  if (recent !== null) {
    const part = recent.map((index) => cut[index]).filter((operation) => operation !== undefined);
    const limited = { ...options, maxConfigurations: left };
    const search = new CoreSearch(part, model, recent.indexOf(at), limited);
    const core = search.find({ starts, isWhole: false });
    const inWhole = (places: readonly number[]): number[] => places.map((i) => recent[i] ?? i);
    if (core !== null) {
      return { ...core, required: inWhole(core.required), optional: inWhole(core.optional) };
    }
    left = search.left;
  }
  const limited = { ...options, maxConfigurations: left };
  const search = cut.length > longestWhole ? null : new CoreSearch(cut, model, at, limited);
  const core = search?.find({ starts, isWhole: true }) ?? null;
  return (
    core ?? { required: [at], optional: [], areOthersFree: false, from: null, isMinimal: false }
  );
}

/** Indices of what was not over when the recent calls began. */
function recentOperations(cut: History<unknown>): readonly number[] {
  const invokes = Float64Array.from(cut, ({ invoke, outcome }) =>
    outcome === 'fail' ? Number.NEGATIVE_INFINITY : invoke,
  );
  const since = invokes.sort()[invokes.length - recentCalls] ?? Number.NEGATIVE_INFINITY;
  const indices: number[] = [];
  for (const [index, { outcome, return: end }] of cut.entries()) {
    if (outcome !== 'fail' && (end ?? since) >= since) indices.push(index);
  }
  return indices;
}

interface CoreOptions extends DecideOptions {
  readonly maxConfigurations: number;
}

const defaultMaxConfigurationsOfCore = 50_000;
/** Once so many were spent, the core found so far has to do. */
const mostBeforeAnotherWay = 1_500;
const mostToBegin = 15_000;
/** From where on less is asked: so many times as many calls as there must be. */
const widths = [1, 1.5, 2, 4];

/** In which order less is asked: a minimal core is not always the smallest one. */
interface Way {
  readonly first: 'pure' | 'effects';
  readonly from: 'the oldest' | 'the newest';
}

const ways: readonly Way[] = [
  { first: 'pure', from: 'the oldest' },
  { first: 'effects', from: 'the oldest' },
  { first: 'pure', from: 'the newest' },
  { first: 'effects', from: 'the newest' },
];

/** What the history is part of: what its calls lead to, and whether the part is all of it. */
interface Whole {
  readonly starts: StartStates;
  readonly isWhole: boolean;
}

/**
 * Looks for the smallest of a few minimal cores: from where on the history is contradictory, and of
 * which operations less can be asked, in different orders. It is cut after the return of `at`.
 */
class CoreSearch {
  private readonly cut: History;
  private readonly model: Model;
  private readonly at: number;
  private readonly options: DecideOptions;
  left: number;

  constructor(cut: History, model: Model, at: number, options: CoreOptions) {
    this.cut = cut;
    this.model = model;
    this.at = at;
    this.options = options;
    this.left = options.maxConfigurations;
  }

  /** Null when the part is not known to be contradictory whatever came before it. */
  find({ starts, isWhole }: Whole): Core | null {
    let best: Core | null = null;
    for (const from of this.beginnings(starts, isWhole)) {
      const before = this.left;
      for (const way of ways) {
        const core = this.relaxFrom(from, way, starts);
        if (core !== null && (best === null || isSmaller(core, best))) best = core;
        if (before - this.left > mostBeforeAnotherWay) break;
      }
    }
    return best;
  }

  /** Positions of calls from which on the history is contradictory: the last, and some before. */
  private beginnings(starts: StartStates, isWhole: boolean): readonly (number | null)[] {
    const called = this.cut.flatMap(({ invoke, outcome }) => (outcome === 'fail' ? [] : [invoke]));
    const positions = [...new Set(called)].sort((a, b) => b - a);
    const spent = this.left - mostToBegin;
    const isBad = (count: number): boolean =>
      this.left > spent && this.isBadFrom(positions[count - 1] ?? 0, starts);
    let good = 0;
    let bad = 1;
    while (bad <= positions.length && !isBad(bad)) {
      good = bad;
      bad *= 2;
    }
    if (bad > positions.length) return isWhole ? [null] : [];
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      if (isBad(middle)) bad = middle;
      else good = middle;
    }
    const counts = widths.map((width) => Math.min(positions.length, Math.floor(bad * width)));
    return [...new Set(counts)].map((count) => positions[count - 1] ?? null);
  }

  private isBadFrom(from: number, starts: StartStates): boolean {
    const trials = this.trialsFrom(from, starts);
    const ending = trials?.try();
    this.left = trials?.left ?? this.left;
    return ending === 'invalid';
  }

  private trialsFrom(from: number | null, starts: StartStates): CoreTrials | null {
    const { cut, model, options, left } = this;
    const isPure = (call: CallData): boolean => model.isPure?.(call) ?? false;
    const part = from === null ? cut : beginHistory(cut, from, isPure);
    const states = from === null ? [model.init] : starts.before(part);
    if (states === null) return null;
    return new CoreTrials(part, model, states, { ...options, maxConfigurations: left });
  }

  private relaxFrom(from: number | null, way: Way, starts: StartStates): Core | null {
    const trials = this.trialsFrom(from, starts);
    if (trials === null) return null;
    const others = trials.of('required').filter(({ index }) => index !== this.at);
    if (way.from === 'the newest') others.reverse();
    const pure = others.filter(({ isPure }) => isPure);
    const effects = others.filter(({ isPure }) => !isPure);
    if (way.first === 'pure') trials.relax(pure, 'nothing');
    trials.relax(effects, 'optional');
    if (way.first === 'effects') trials.relax(pure, 'nothing');
    const { canFree } = trials;
    if (canFree) trials.relax(trials.of('optional').reverse(), 'free');
    this.left = trials.left;
    return {
      required: trials.of('required').map(({ index }) => index),
      optional: canFree ? trials.of('optional').map(({ index }) => index) : [],
      areOthersFree: canFree,
      from,
      isMinimal: trials.isMinimal,
    };
  }
}

function isSmaller(one: Core, other: Core): boolean {
  if (one.isMinimal !== other.isMinimal) return one.isMinimal;
  return sizeOf(one) < sizeOf(other);
}

function sizeOf({ required, optional }: Core): number {
  return required.length + optional.length;
}

/**
 * What is asked of an operation, less and less: that it happened when it did; that it may have
 * happened, after its call; that it may have happened at any time and however often; nothing.
 */
type Asked = 'required' | 'optional' | 'free' | 'nothing';

/** An operation of the history, by its index there. */
interface Asking {
  readonly index: number;
  readonly isPure: boolean;
  readonly operation: Operation;
  asked: Asked;
}

type TrialEnding = 'valid' | 'invalid' | 'unknown' | 'stopped';

const maxConfigurationsOfTrial = 5_000;
const freeOfCharge = 64;

/** The object may be in any of `states` at first: each must contradict the history. */
export class CoreTrials {
  isMinimal = true;
  /** How many configurations the trials may still meet; a trial counts as one more. */
  left: number;
  /** All but those that failed. */
  private readonly places: readonly Asking[];
  private readonly options: DecideOptions;
  /** What settled the last trial comes first in the next. */
  private readonly states: Json[];
  /** Whether calls that come however often lead to few states. */
  readonly canFree: boolean;
  private readonly freeCalls: FreeCalls;

  constructor(history: History, model: Model, states: readonly Json[], options: CoreOptions) {
    this.places = history.flatMap((operation, index) => {
      const isPure = model.isPure?.(operation.call) ?? false;
      // A pure operation without an answer says nothing.
      if (operation.outcome === 'fail' || (isPure && operation.outcome === 'info')) return [];
      const asked = operation.outcome === 'ok' ? 'required' : 'optional';
      return [{ index, isPure, operation, asked }];
    });
    this.states = [...states];
    this.options = options;
    this.left = options.maxConfigurations;
    const calls = this.places.map(({ operation }) => operation.call);
    this.freeCalls = new FreeCalls(model, calls);
    this.canFree = this.freeCalls.reach(states, calls) !== null;
  }

  /** In the order of the history. */
  of(asked: Asked): Asking[] {
    return this.places.filter((place) => place.asked === asked);
  }

  /** Asks less of as many of `places` as it can without resolving the contradiction. */
  relax(places: readonly Asking[], to: Asked): void {
    if (places.length === 0) return;
    const before = places.map(({ asked }) => asked);
    for (const place of places) place.asked = to;
    const ending = this.try();
    if (ending === 'invalid') return;
    for (const [at, place] of places.entries()) place.asked = before[at] ?? place.asked;
    if (ending === 'stopped' || (ending === 'unknown' && places.length === 1)) {
      this.isMinimal = false;
    }
    if (ending === 'stopped' || places.length === 1) return;
    // What cannot be relaxed now cannot be when even less is asked of the rest: one pass is enough.
    const middle = places.length >> 1;
    this.relax(places.slice(0, middle), to);
    this.relax(places.slice(middle), to);
  }

  try(): TrialEnding {
    const operations = this.places.flatMap(({ asked, operation }) => {
      if (asked === 'required') return [operation];
      return asked === 'optional' ? [makeOptional(operation)] : [];
    });
    const free = this.of('free').map(({ operation }) => operation.call);
    const model = this.freeCalls.modelWith(free);
    for (const [at, state] of this.states.entries()) {
      const ending = this.tryFrom(operations, { ...model, init: state });
      if (ending === 'invalid') continue;
      this.states.splice(at, 1);
      this.states.unshift(state);
      return ending;
    }
    return 'invalid';
  }

  private tryFrom(operations: History, model: Model): TrialEnding {
    if (this.left <= 0 || this.options.shouldStop?.()) return 'stopped';
    const optional = operations.filter(({ outcome }) => outcome === 'info').length;
    // A configuration takes the longer the more may still happen in it.
    const price = 1 + optional / freeOfCharge;
    const decision = decide(operations, model, {
      ...this.options,
      maxConfigurations: Math.ceil(Math.min(this.left / price, maxConfigurationsOfTrial)),
      isRough: true,
      isSearchOnly: true,
    });
    this.left -= decision.configurations * price + 1;
    return decision.kind;
  }
}
