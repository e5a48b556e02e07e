/**
 * Looks for the smallest of a few minimal cores: from where on a history is contradictory, and of
 * which operations less can be asked, in different orders.
 */
import type { Json } from '../core/kernel/json.ts';
import type { CheckOptions } from './check-options.ts';
import type { Core } from './core.ts';
import { CoreTrials } from './core-trials.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { beginHistory } from './relax.ts';
import type { StartStates } from './start-states.ts';

const defaultMaxConfigurations = 50_000;
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
interface Whole<State extends Json, Call extends CallData> {
  readonly starts: StartStates<State, Call>;
  readonly isWhole: boolean;
}

/** The history is cut after the return of `at`. */
export class CoreSearch<State extends Json, Call extends CallData> {
  private readonly cut: History<Call>;
  private readonly model: Model<State, Call>;
  private readonly at: number;
  private readonly options: CheckOptions;
  private left: number;

  constructor(cut: History<Call>, model: Model<State, Call>, at: number, options: CheckOptions) {
    this.cut = cut;
    this.model = model;
    this.at = at;
    this.options = options;
    this.left = options.maxConfigurations ?? defaultMaxConfigurations;
  }

  /** Null when the part is not known to be contradictory whatever came before it. */
  find({ starts, isWhole }: Whole<State, Call>): Core | null {
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

  /**
   * Positions of calls from which on the history is contradictory: the last one, and some before.
   */
  private beginnings(
    starts: StartStates<State, Call>,
    isWhole: boolean,
  ): readonly (number | null)[] {
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

  private isBadFrom(from: number, starts: StartStates<State, Call>): boolean {
    const trials = this.trialsFrom(from, starts);
    const ending = trials?.try();
    this.left = trials?.left ?? this.left;
    return ending === 'invalid';
  }

  private trialsFrom(
    from: number | null,
    starts: StartStates<State, Call>,
  ): CoreTrials<State, Call> | null {
    const { cut, model, options, left } = this;
    const isPure = (call: Call): boolean => model.isPure?.(call) ?? false;
    const stretch = from === null ? cut : beginHistory(cut, from, isPure);
    const states = from === null ? [model.init] : starts.before(stretch);
    if (states === null) return null;
    return new CoreTrials(stretch, model, states, { ...options, maxConfigurations: left });
  }

  private relaxFrom(from: number | null, way: Way, starts: StartStates<State, Call>): Core | null {
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
