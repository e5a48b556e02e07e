/**
 * Finds a minimal core of an invalid history of one object: operations that contradict each other,
 * such that to ask less of any one of them resolves the contradiction.
 */
import type { Json } from '../kernel/json.ts';
import { type CheckOptions, decide } from './decide.ts';
import type { Model } from './model.ts';
import type { CallData, History, Operation } from './operation.ts';
import { cutHistory, leaveOut, makeOptional } from './relax.ts';

export interface Core {
  /**
   * Indices of the operations that had to happen, and when they did, in the order of the history.
   */
  readonly required: readonly number[];
  /**
   * Of those that may have happened, at any time after their calls, or never. The rest is left out.
   */
  readonly optional: readonly number[];
  /** False when a limit was reached before every operation was tried alone. */
  readonly isMinimal: boolean;
}

const defaultMaxConfigurations = 50_000;
const maxConfigurationsOfTrial = 5_000;
/** Once so many were spent, the core found so far has to do. */
const mostBeforeAnotherWay = 3_000;

/**
 * `at` is the operation whose return is the first that no order satisfies. `maxConfigurations`
 * bounds all the trials together, 50,000 by default.
 */
export function findCore<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  at: number,
  options: CheckOptions = {},
): Core {
  const cut = cutHistory(history, at, 'after');
  const maxConfigurations = options.maxConfigurations ?? defaultMaxConfigurations;
  let left = maxConfigurations;
  let best: Core | null = null;
  for (const way of ways) {
    const trials = new Trials(cut, model, { ...options, maxConfigurations: left });
    const core = relaxAll(trials, model, at, way);
    left = trials.left;
    if (best === null || isSmaller(core, best)) best = core;
    if (maxConfigurations - left > mostBeforeAnotherWay) break;
  }
  return best ?? { required: [], optional: [], isMinimal: false };
}

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

function isSmaller(one: Core, other: Core): boolean {
  if (one.isMinimal !== other.isMinimal) return one.isMinimal;
  return one.required.length < other.required.length;
}

function relaxAll<State extends Json, Call extends CallData>(
  trials: Trials<State, Call>,
  model: Model<State, Call>,
  at: number,
  { first, from }: Way,
): Core {
  const isPure = ({ operation }: Place<Call>): boolean => model.isPure?.(operation.call) ?? false;
  const others = trials.having('ok').filter(({ index }) => index !== at);
  if (from === 'the newest') others.reverse();
  const pure = others.filter(isPure);
  const effects = others.filter((place) => !isPure(place));
  if (first === 'pure') trials.relax(pure, leaveOut);
  trials.relax(effects, makeOptional);
  if (first === 'effects') trials.relax(pure, leaveOut);
  const optional = trials.having('info').filter((place) => !isPure(place));
  return {
    required: trials.having('ok').map(({ index }) => index),
    optional: optional.map(({ index }) => index),
    isMinimal: trials.isMinimal,
  };
}

interface Place<Call> {
  readonly index: number;
  readonly operation: Operation<Call>;
}

/** An invalid history of which less and less is asked. */
class Trials<State extends Json, Call extends CallData> {
  isMinimal = true;
  private readonly operations: Operation<Call>[];
  private readonly model: Model<State, Call>;
  private readonly options: CheckOptions;
  left: number;

  constructor(history: History<Call>, model: Model<State, Call>, options: CheckOptions) {
    this.operations = [...history];
    this.model = model;
    this.options = options;
    this.left = options.maxConfigurations ?? defaultMaxConfigurations;
  }

  having(outcome: Operation<Call>['outcome']): Place<Call>[] {
    return this.operations
      .map((operation, index) => ({ index, operation }))
      .filter(({ operation }) => operation.outcome === outcome);
  }

  /** Asks less of as many of `places` as it can without resolving the contradiction. */
  relax(places: readonly Place<Call>[], less: typeof leaveOut): void {
    if (places.length === 0) return;
    for (const { index, operation } of places) this.operations[index] = less(operation);
    const ending = this.try();
    if (ending === 'invalid') return;
    for (const { index, operation } of places) this.operations[index] = operation;
    if (ending === 'stopped' || (ending === 'unknown' && places.length === 1)) {
      this.isMinimal = false;
    }
    if (ending === 'stopped' || places.length === 1) return;
    // What cannot be relaxed now cannot be when even less is asked of the rest: one pass is enough.
    const middle = places.length >> 1;
    this.relax(places.slice(0, middle), less);
    this.relax(places.slice(middle), less);
  }

  private try(): 'valid' | 'invalid' | 'unknown' | 'stopped' {
    if (this.left <= 0 || this.options.shouldStop?.()) return 'stopped';
    const maxConfigurations = Math.min(this.left, maxConfigurationsOfTrial);
    const decision = decide(this.operations, this.model, {
      ...this.options,
      maxConfigurations,
      isRough: true,
    });
    this.left -= decision.configurations;
    return decision.kind;
  }
}
