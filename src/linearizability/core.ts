/**
 * Finds a minimal core of an invalid history of one object: operations that contradict each other
 * regardless of the object's state before them and of all other operations. Relaxing any one of
 * them resolves the contradiction. The method minimizes a failing input (Zeller and Hildebrandt,
 * "Simplifying and Isolating Failure-Inducing Input", 2002). It relaxes many operations at once. If
 * this resolves the contradiction, it relaxes each half separately, and so on. `CoreSearch` chooses
 * the start of the history and the order of relaxation; `CoreTrials` relaxes and decides.
 *
 * Example: in the sequence w(1), w(2), r=1, w(3), r=3, the core is w(2) and r=1. Whatever the
 * register contained when w(2) was called, r=1 cannot follow w(2). w(1) had returned by then, and
 * the operations called after r=1 are not involved.
 */
import type { Json } from '../core/kernel/json.ts';
import { type DecideOptions, decide } from './decide.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import {
  beginHistory,
  distinctCalls,
  FreeCalls,
  makeOptional,
  StartStates,
  truncateHistory,
} from './relax.ts';

/**
 * The meaning of a core. At `from`, the object may be in any state that any number of calls up to
 * the bad return can produce, in any order. Operations that returned before `from` are excluded.
 * The `required` operations happened as recorded. The `optional` operations happened at most once,
 * at any time after their calls and `from`. All other operations may have happened at any time
 * after `from`, any number of times. No order satisfies these requirements. The record requires
 * more, so no order satisfies the history either. A reader needs to look only at the required and
 * the optional operations.
 */
export interface Core {
  /** Indices of the operations that happened as recorded, in history order. */
  readonly required: readonly number[];
  /** Indices of the operations that happened at most once, at any time after their calls. */
  readonly optional: readonly number[];
  /**
   * False if the other operations, in any order and number, could lead to too many states. Each of
   * them then happened at most once, after its call and `from`.
   */
  readonly areOthersFree: boolean;
  /** The position at which the core starts, or null for the initial state of the model. */
  readonly from: number | null;
  /** False if a limit was reached before every operation was relaxed individually. */
  readonly isMinimal: boolean;
}

/** Number of recent calls to examine first. */
const recentCalls = 1_024;
/** In longer histories, only the recent calls are examined. */
const longestUnsplit = 200_000;

/**
 * Returns a core of a history. The return of `at` is the first that no order satisfies.
 * `maxConfigurations` limits all trials together. Default 50,000.
 */
export function findCore(
  history: History,
  model: Model,
  at: number,
  options: DecideOptions = {},
): Core {
  const truncated = truncateHistory(history, at, 'after');
  const starts = new StartStates(model, distinctCalls(truncated));
  const recent = truncated.length > recentCalls ? recentOperations(truncated) : null;
  let left = options.maxConfigurations ?? defaultMaxConfigurationsOfCore;
  // Spending is computed by subtraction, and infinity minus anything is infinity.
  left = Math.min(left, options.allowance?.left ?? left, Number.MAX_SAFE_INTEGER);
  if (recent !== null) {
    const part = recent
      .map((index) => truncated[index])
      .filter((operation) => operation !== undefined);
    const limited = { ...options, maxConfigurations: left };
    const search = new CoreSearch(part, model, recent.indexOf(at), limited);
    const core = search.find({ starts, isComplete: false });
    const toCompleteIndices = (places: readonly number[]): number[] =>
      places.map((i) => recent[i] ?? i);
    if (core !== null) {
      return {
        ...core,
        required: toCompleteIndices(core.required),
        optional: toCompleteIndices(core.optional),
      };
    }
    left = search.left;
  }
  const limited = { ...options, maxConfigurations: left };
  const search =
    truncated.length > longestUnsplit ? null : new CoreSearch(truncated, model, at, limited);
  const core = search?.find({ starts, isComplete: true }) ?? null;
  return (
    core ?? { required: [at], optional: [], areOthersFree: false, from: null, isMinimal: false }
  );
}

/** Returns the indices of the operations that had not returned when the recent calls began. */
function recentOperations(truncated: History<unknown>): readonly number[] {
  const invokes = Float64Array.from(truncated, ({ invoke, outcome }) =>
    outcome === 'fail' ? Number.NEGATIVE_INFINITY : invoke,
  );
  const since = invokes.sort()[invokes.length - recentCalls] ?? Number.NEGATIVE_INFINITY;
  const indices: number[] = [];
  for (const [index, { outcome, return: end }] of truncated.entries()) {
    if (outcome !== 'fail' && (end ?? since) >= since) indices.push(index);
  }
  return indices;
}

interface CoreOptions extends DecideOptions {
  readonly maxConfigurations: number;
}

const defaultMaxConfigurationsOfCore = 50_000;
/** No further `Way` is tried for a start that has cost this many configurations. */
const mostBeforeAnotherWay = 1_500;
const mostToBegin = 15_000;
/** Candidate starts, as multiples of the smallest contradictory number of last calls. */
const widths = [1, 1.5, 2, 4];

/** An order of relaxation. Different orders may lead to minimal cores of different sizes. */
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

/** `starts` are the states that the complete history leads to. */
interface PartContext {
  readonly starts: StartStates;
  readonly isComplete: boolean;
}

/**
 * Searches for the smallest of a few minimal cores, with different starts and different orders of
 * relaxation. The history ends after the return of `at`.
 */
class CoreSearch {
  private readonly truncated: History;
  private readonly model: Model;
  private readonly at: number;
  private readonly options: DecideOptions;
  left: number;

  constructor(truncated: History, model: Model, at: number, options: CoreOptions) {
    this.truncated = truncated;
    this.model = model;
    this.at = at;
    this.options = options;
    this.left = options.maxConfigurations;
  }

  /** Returns null if the part may be consistent with some state of the object before it. */
  find({ starts, isComplete }: PartContext): Core | null {
    let best: Core | null = null;
    for (const from of this.beginnings(starts, isComplete)) {
      const before = this.left;
      for (const way of ways) {
        const core = this.relaxFrom(from, way, starts);
        if (core !== null && (best === null || isSmaller(core, best))) best = core;
        if (before - this.left > mostBeforeAnotherWay) break;
      }
    }
    return best;
  }

  /** Returns positions of calls at which a contradictory history can begin, latest first. */
  private beginnings(starts: StartStates, isComplete: boolean): readonly (number | null)[] {
    const called = this.truncated.flatMap(({ invoke, outcome }) =>
      outcome === 'fail' ? [] : [invoke],
    );
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
    if (bad > positions.length) return isComplete ? [null] : [];
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
    const { truncated, model, options, left } = this;
    const isPure = (call: CallData): boolean => model.isPure?.(call) ?? false;
    const part = from === null ? truncated : beginHistory(truncated, from, isPure);
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
 * The requirement on an operation, from strict to lax. `required`: happened as recorded.
 * `optional`: may have happened after its call. `free`: may have happened at any time and any
 * number of times. `nothing`: no requirement.
 */
type Asked = 'required' | 'optional' | 'free' | 'nothing';

interface Asking {
  readonly index: number;
  readonly isPure: boolean;
  readonly operation: Operation;
  asked: Asked;
}

type TrialEnding = 'valid' | 'invalid' | 'unknown' | 'stopped';

const maxConfigurationsOfTrial = 5_000;
const freeOfCharge = 64;

/**
 * Relaxes operations and decides whether the rest is still contradictory. The object may start in
 * any of `states`, so the history must contradict each of them.
 */
export class CoreTrials {
  isMinimal = true;
  /** Remaining configurations for the trials. Each trial costs one more than it visits. */
  left: number;
  /** All operations except failed ones. */
  private readonly places: readonly Asking[];
  private readonly options: DecideOptions;
  /** The state that ended one trial is tried first in the next trial. */
  private readonly states: Json[];
  /** True if the calls, repeated any number of times, lead to few states. */
  readonly canFree: boolean;
  private readonly freeCalls: FreeCalls;

  constructor(history: History, model: Model, states: readonly Json[], options: CoreOptions) {
    this.places = history.flatMap((operation, index) => {
      const isPure = model.isPure?.(operation.call) ?? false;
      // A pure operation without an answer proves nothing.
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

  of(asked: Asked): Asking[] {
    return this.places.filter((place) => place.asked === asked);
  }

  /** Relaxes as many of `places` as possible without resolving the contradiction. */
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
    // One pass is enough. An operation that cannot be relaxed now cannot be relaxed when the rest
    // requires even less.
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
    // A configuration takes longer if more operations are still optional.
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
