/**
 * Relaxes a history so that a linearizable history stays linearizable. If the relaxed history has
 * no order, the original has none either. The ways to relax it:
 *
 * - `truncateHistory` keeps the history up to a return. `beginHistory` keeps it from a position on;
 *   the object may then be in any state that the calls of the history lead to (`StartStates`).
 * - `leaveOut` treats a pure operation as one that did not happen. In the kept part, an operation
 *   that changes the state is never left out, since others may need its effect.
 * - `makeOptional` lets an operation happen at any time after its call, or never.
 * - `FreeCalls` lets some calls happen at any time, any number of times.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import { Interner } from './interner.ts';
import type { CallData, History, Model, Operation } from './model.ts';

/** Returns the operation as optional: it happened after its call, with its answer, or never. */
export function makeOptional<Call>(operation: Operation<Call>): Operation<Call> {
  return operation.outcome === 'ok' ? { ...operation, return: null, outcome: 'info' } : operation;
}

/** Returns the operation as one that did not happen. It must be pure or outside the kept part. */
export function leaveOut<Call>(operation: Operation<Call>): Operation<Call> {
  return { ...operation, outcome: 'fail' };
}

/**
 * Returns the history up to the return of the operation with index `at`. Operations called later
 * are left out. Operations that return later are optional, as is operation `at` if `side` is
 * `before`. Indices stay the same.
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
    // Of equal returns, the search satisfies the lower index first.
    const isEarlier = position < end || (position === end && index < at);
    return isEarlier || (index === at && side === 'after') ? operation : makeOptional(operation);
  });
}

/**
 * Returns the history from a position on, for an object that may then be in any state. Leaves out
 * operations that returned before `from`, and pure operations called before `from`. Other
 * operations called before `from` become optional. Indices stay the same.
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

/** The states that an object may be in when a part of a history begins, whatever preceded it. */
export class StartStates {
  private readonly model: Model;
  /** All states that the calls may lead to, or null if there may be too many. */
  private readonly all: readonly Json[] | null;

  /** `calls` are all calls of the history. */
  constructor(model: Model, calls: readonly CallData[]) {
    const effects = calls.filter((call) => !model.isPure?.(call));
    const isSmall = effects.length <= mostCalls;
    const reached = isSmall ? new FreeCalls(model, []).reach([model.init], effects) : null;
    this.model = model;
    this.all = reached ?? providedStates(model, effects);
  }

  /**
   * Returns the states in which `part` may find the object, or null if there are too many. One
   * state may represent all states that `part` treats alike.
   */
  before(part: History): readonly Json[] | null {
    const { model, all } = this;
    const states = model.startingStates?.(distinctCalls(part)) ?? all;
    const distinct = states === null ? null : representativeStates(states, part, model);
    return distinct === null || distinct.length > mostStates ? null : distinct;
  }
}

/**
 * Returns the initial state and the states that the calls provide. Returns null if the model does
 * not define `awaits`, or if calls may also add to a state.
 */
function providedStates(model: Model, calls: readonly CallData[]): readonly Json[] | null {
  if (model.approaches !== undefined || model.awaits === undefined) return null;
  const provided = calls.map((call) => model.provides?.(call));
  return [model.init, ...provided.filter((state) => state !== undefined)];
}

/** Returns the awaited states, and one state for all others. */
function representativeStates(
  states: readonly Json[],
  part: History,
  model: Model,
): readonly Json[] {
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

/** Lets calls of a history happen freely, if the resulting states can be listed. */
export class FreeCalls {
  private readonly model: Model;
  private readonly awaited: readonly Json[];

  /** `calls` are all calls of the history. */
  constructor(model: Model, calls: readonly CallData[]) {
    this.model = model;
    const awaited = model.approaches === undefined ? [] : calls.map((call) => model.awaits?.(call));
    this.awaited = awaited.filter((state) => state !== undefined);
  }

  /**
   * Returns a model in which the `free` calls may precede any call. Their `reach` must not be null.
   */
  modelWith(free: readonly CallData[]): Model {
    const { model } = this;
    if (free.length === 0) return model;
    return {
      name: model.name,
      init: model.init,
      step: (state, call): readonly Json[] => {
        const states = this.reach([state], free);
        assert(states !== null, 'free calls lead to few states');
        return states.flatMap((reached) => model.step(reached, call));
      },
    };
  }

  /**
   * Returns all states that repeated `calls` lead to from `states`, or null if there are too many.
   * One state represents all states that cannot grow into an awaited state.
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
    return !awaited.some((target) => model.approaches?.(state, target));
  }
}
