/**
 * The ways to ask less of a history that can never make a linearizable one fail, so that what has
 * no order even then has none at all:
 *
 * - `cutHistory`: up to a return only. `beginHistory`: from a position on only; the object may then
 *   be in any of the states that all calls lead to (`StartStates`).
 * - `leaveOut`: a pure operation did not happen. One that changes the state is never left out:
 *   others may need what it did.
 * - `makeOptional`: an operation happened at any time after its call, or never.
 * - `FreeCalls`: some calls happen at any time, and however often.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import { Interner } from './interner.ts';
import type { CallData, History, Model, Operation } from './model.ts';

/** It may have happened, with the answer that it has, at any time after its call. */
export function makeOptional<Call>(operation: Operation<Call>): Operation<Call> {
  return operation.outcome === 'ok' ? { ...operation, return: null, outcome: 'info' } : operation;
}

/** As if it was never called; for a pure operation, or one that was called after the cut. */
export function leaveOut<Call>(operation: Operation<Call>): Operation<Call> {
  return { ...operation, outcome: 'fail' };
}

/**
 * The history up to the return of `at`, an index: what was called later is left out, what returned
 * later is optional, and so is `at` itself when the cut comes `before` its return. Indices stay.
 */
export function cutHistory<Call>(
  history: History<Call>,
  at: number,
  side: 'before' | 'after',
): History<Call> {
  const end = history[at]?.return ?? Number.POSITIVE_INFINITY;
  return history.map((operation, index) => {
    if (operation.invoke > end) return leaveOut(operation);
    const position = operation.return ?? end;
    // Of equal returns the search takes that of the lower index first.
    const isEarlier = position < end || (position === end && index < at);
    return isEarlier || (index === at && side === 'after') ? operation : makeOptional(operation);
  });
}

/**
 * The history from a position on, for an object that may then be in any state: what returned before
 * is left out, and what was called before and not answered yet may have happened by then, or after,
 * or never. Indices stay.
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

/** In which states a part of a history may find its object, whatever came before it. */
export class StartStates {
  private readonly model: Model;
  /** All that the calls make of the first one, however often; null when perhaps too many. */
  private readonly all: readonly Json[] | null;

  /** `calls`: all of the history. */
  constructor(model: Model, calls: readonly CallData[]) {
    const effects = calls.filter((call) => !model.isPure?.(call));
    const isSmall = effects.length <= mostCalls;
    const reached = isSmall ? new FreeCalls(model, []).reach([model.init], effects) : null;
    this.model = model;
    this.all = reached ?? providedStates(model, effects);
  }

  /**
   * Those in which `part` may find the object. Of states that no call of it tells apart one
   * stands for all, or one that allows more. Null when they are too many.
   */
  before(part: History): readonly Json[] | null {
    const { model, all } = this;
    const states = model.startingStates?.(distinctCalls(part)) ?? all;
    const told = states === null ? null : toldApart(states, part, model);
    return told === null || told.length > mostStates ? null : told;
  }
}

/** The first state and what calls leave, where a model says so of all. */
function providedStates(model: Model, calls: readonly CallData[]): readonly Json[] | null {
  if (model.approaches !== undefined || model.awaits === undefined) return null;
  const provided = calls.map((call) => model.provides?.(call));
  return [model.init, ...provided.filter((state) => state !== undefined)];
}

/** Each once, and of those that no call awaits one. */
function toldApart(states: readonly Json[], part: History, model: Model): readonly Json[] {
  if (model.approaches !== undefined || model.awaits === undefined) return states;
  const awaited = new Interner();
  awaited.reset();
  for (const { call, outcome } of part) {
    const state = outcome === 'fail' ? undefined : model.awaits(call);
    if (state !== undefined) awaited.intern(state);
  }
  const told = awaited.values.length;
  const found = new Map<number, Json>();
  for (const state of states) {
    const place = Math.min(told, awaited.intern(state));
    if (!found.has(place)) found.set(place, state);
  }
  return [...found.values()];
}

/** Those that happened or may have, each once. */
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

/** The calls of a history that may be free, as far as what they lead to can be listed. */
export class FreeCalls {
  private readonly model: Model;
  private readonly awaited: readonly Json[];

  /** `calls`: all of the history. */
  constructor(model: Model, calls: readonly CallData[]) {
    this.model = model;
    const awaited = model.approaches === undefined ? [] : calls.map((call) => model.awaits?.(call));
    this.awaited = awaited.filter((state) => state !== undefined);
  }

  /** The model in which `free` calls may come before each call; `reach` must know what they do. */
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
   * All that `calls` make of `states`, however often they come, with one state for those that are
   * not awaited and grow into none that is; null when that is too much.
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
