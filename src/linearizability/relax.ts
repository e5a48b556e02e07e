/**
 * Ways to relax a history that never make a linearizable one fail. If a relaxed history has no
 * order, the original has none either:
 *
 * - `truncateHistory`: only up to a return. `beginHistory`: only from a position on; the object may
 *   then be in any of the states that all calls lead to (`StartStates`).
 * - `leaveOut`: a pure operation did not happen. One that changes the state is never left out,
 *   since others may need its effect.
 * - `makeOptional`: an operation happened at any time after its call, or never.
 * - `FreeCalls`: some calls happen at any time, and any number of times.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import { Interner } from './interner.ts';
import type { CallData, History, Model, Operation } from './model.ts';

/** Returns an operation that may have happened, with its answer, at any time after its call. */
export function makeOptional<Call>(operation: Operation<Call>): Operation<Call> {
  return operation.outcome === 'ok' ? { ...operation, return: null, outcome: 'info' } : operation;
}

/** Returns an operation as never called. Only for a pure one, or one called after the cut. */
export function leaveOut<Call>(operation: Operation<Call>): Operation<Call> {
  return { ...operation, outcome: 'fail' };
}

/**
 * Returns the history up to the return of the operation with index `at`: later calls are left out,
 * later returns are optional, and so is `at` itself if the cut is `before` its return. Indices stay
 * the same.
 */
export function truncateHistory<Call>(
  history: History<Call>,
  at: number,
  side: 'before' | 'after',
): History<Call> {
  const end = history[at]?.return ?? Number.POSITIVE_INFINITY;
  return history.map((operation, index) => {
    if (operation.invoke > end) return leaveOut(operation);
    const position = operation.return ?? end;
    // Of equal returns, the search takes that with the lower index first.
    const isEarlier = position < end || (position === end && index < at);
    return isEarlier || (index === at && side === 'after') ? operation : makeOptional(operation);
  });
}

/**
 * Returns the history from a position on, for an object that may then be in any state. Operations
 * that returned before are left out; operations that were called before and not yet answered may
 * have happened before or after, or never. Indices stay the same.
 */
export function beginHistory<Call>(
  history: History<Call>,
  from: number,
  isPure: (call: Call) => boolean,
): History<Call> {
  return history.map((operation) => {
    if (operation.invoke >= from) return operation;
    const isOver = operation.outcome === 'ok' && (operation.return ?? from) < from;
    return isOver || isPure(operation.call) ? leaveOut(operation) : makeOptional(operation);
  });
}

const mostStates = 128;
const mostCalls = 200;

/** The states in which a part of a history may find its object, whatever came before it. */
export class StartStates {
  private readonly model: Model;
  /** All states that the calls lead to from the first one, or null if these may be too many. */
  private readonly all: readonly Json[] | null;

  /** `calls` are all of the history. */
  constructor(model: Model, calls: readonly CallData[]) {
    const effects = calls.filter((call) => !model.isPure?.(call));
    const isSmall = effects.length <= mostCalls;
    const reached = isSmall ? new FreeCalls(model, []).reach([model.init], effects) : null;
    this.model = model;
    this.all = reached ?? providedStates(model, effects);
  }

  /**
   * Returns the states in which `part` may find the object. States that none of its calls
   * distinguishes are represented by one of them, or by one that allows more. Returns null if there
   * are too many.
   */
  before(part: History): readonly Json[] | null {
    const { model, all } = this;
    const states = model.startingStates?.(distinctCalls(part)) ?? all;
    const distinct = states === null ? null : distinguishable(states, part, model);
    return distinct === null || distinct.length > mostStates ? null : distinct;
  }
}

/**
 * Returns the first state and the states that calls provide, or null if the model does not state
 * these for all calls.
 */
function providedStates(model: Model, calls: readonly CallData[]): readonly Json[] | null {
  if (model.approaches !== undefined || model.awaits === undefined) return null;
  const provided = calls.map((call) => model.provides?.(call));
  return [model.init, ...provided.filter((state) => state !== undefined)];
}

/** Returns each state once, and only one of those that no call awaits. */
function distinguishable(states: readonly Json[], part: History, model: Model): readonly Json[] {
  if (model.approaches !== undefined || model.awaits === undefined) return states;
  const awaited = new Interner();
  awaited.reset();
  for (const { call, outcome } of part) {
    const state = outcome === 'fail' ? undefined : model.awaits(call);
    if (state !== undefined) awaited.intern(state);
  }
  const awaitedCount = awaited.values.length;
  const found = new Map<number, Json>();
  for (const state of states) {
    const place = Math.min(awaitedCount, awaited.intern(state));
    if (!found.has(place)) found.set(place, state);
  }
  return [...found.values()];
}

/** Returns the distinct calls that happened or may have happened. */
export function distinctCalls(history: History): readonly CallData[] {
  const known = new Interner();
  known.reset();
  const calls: CallData[] = [];
  for (const { call, outcome } of history) {
    if (outcome !== 'fail' && known.intern(call) === calls.length) calls.push(call);
  }
  return calls;
}

const mostReached = 256;

/** The calls of a history that may be free, if the states that they lead to can be listed. */
export class FreeCalls {
  private readonly model: Model;
  private readonly awaited: readonly Json[];

  /** `calls` are all of the history. */
  constructor(model: Model, calls: readonly CallData[]) {
    this.model = model;
    const awaited = model.approaches === undefined ? [] : calls.map((call) => model.awaits?.(call));
    this.awaited = awaited.filter((state) => state !== undefined);
  }

  /** Returns a model in which `free` calls, whose `reach` must be known, may precede each call. */
  modelWith(free: readonly CallData[]): Model {
    const { model } = this;
    if (free.length === 0) return model;
    return {
      name: model.name,
      init: model.init,
      step: (state, call): readonly Json[] => {
        const states = this.reach([state], free);
        assert(states !== null, 'free calls lead to few states');
        return states.flatMap((one) => model.step(one, call));
      },
    };
  }

  /**
   * Returns all states that `calls`, repeated any number of times, lead to from `states`. States
   * that are not awaited and cannot grow into an awaited one are represented by one. Returns null
   * if there are too many.
   */
  reach(states: readonly Json[], calls: readonly CallData[]): readonly Json[] | null {
    const known = new Interner();
    known.reset();
    const reached: Json[] = [];
    let hasBlind = false;
    const add = (state: Json): void => {
      const met = known.values.length;
      if (known.intern(state) < met) return;
      const isBlind = this.isBlind(state);
      if (!isBlind || !hasBlind) reached.push(state);
      hasBlind ||= isBlind;
    };
    states.forEach(add);
    for (const state of reached) {
      if (reached.length > mostReached) return null;
      for (const call of calls) this.model.step(state, call).forEach(add);
    }
    return reached;
  }

  private isBlind(state: Json): boolean {
    const { model, awaited } = this;
    if (model.approaches === undefined) return false;
    return !awaited.some((one) => model.approaches?.(state, one));
  }
}
