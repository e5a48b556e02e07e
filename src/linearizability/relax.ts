/**
 * The ways to ask less of a history that can never make a linearizable one fail: cut it after a
 * return, leave out a pure operation, let any other happen at any time after its call or never. To
 * leave out an operation that changes the state is not among them: others may need what it did. But
 * what returned before some position may be, where the object may then be in any state.
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

/**
 * Decides in which states a stretch of a history may find its object, whatever came before it: in
 * any that the calls of the whole history can make of the first one, in any order and however
 * often.
 */

const mostStates = 128;
const mostCalls = 200;

/** The states that the calls of a history lead to. */
export class StartStates<State extends Json, Call extends CallData> {
  private readonly model: Model<State, Call>;
  /** Null when they are too many, or may be. */
  private readonly all: readonly State[] | null;

  /** `calls`: all of the history. */
  constructor(model: Model<State, Call>, calls: readonly Call[]) {
    const effects = calls.filter((call) => !model.isPure?.(call));
    const isSmall = effects.length <= mostCalls;
    const reached = isSmall ? new FreeCalls(model, []).reach([model.init], effects) : null;
    this.model = model;
    this.all = reached ?? providedStates(model, effects);
  }

  /**
   * Those in which `stretch` may find the object. Of states that no call of it tells apart one
   * stands for all, or one that allows more. Null when they are too many.
   */
  before(stretch: History<Call>): readonly State[] | null {
    const { model, all } = this;
    const states = model.startingStates?.(distinctCalls(stretch)) ?? all;
    const told = states === null ? null : toldApart(states, stretch, model);
    return told === null || told.length > mostStates ? null : told;
  }
}

/** The first state and what calls leave, where a model says so of all. */
function providedStates<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
  calls: readonly Call[],
): readonly State[] | null {
  if (model.approaches !== undefined || model.awaits === undefined) return null;
  const provided = calls.map((call) => model.provides?.(call));
  return [model.init, ...provided.filter((state) => state !== undefined)];
}

/** Each once, and of those that no call awaits one. */
function toldApart<State extends Json, Call extends CallData>(
  states: readonly State[],
  stretch: History<Call>,
  model: Model<State, Call>,
): readonly State[] {
  if (model.approaches !== undefined || model.awaits === undefined) return states;
  const awaited = new Interner();
  awaited.reset();
  for (const { call, outcome } of stretch) {
    const state = outcome === 'fail' ? undefined : model.awaits(call);
    if (state !== undefined) awaited.intern(state);
  }
  const told = awaited.values.length;
  const found = new Map<number, State>();
  for (const state of states) {
    const place = Math.min(told, awaited.intern(state));
    if (!found.has(place)) found.set(place, state);
  }
  return [...found.values()];
}

/** Those that happened or may have, each once. */
export function distinctCalls<Call extends CallData>(history: History<Call>): readonly Call[] {
  const known = new Interner();
  known.reset();
  const calls: Call[] = [];
  for (const { call, outcome } of history) {
    if (outcome !== 'fail' && known.intern(call) === calls.length) calls.push(call);
  }
  return calls;
}

/**
 * Lets some calls happen at any time and however often, between those that count: what contradicts
 * even so does not depend on them.
 */

const mostReached = 256;

/** The calls of a history that may be free, as far as what they lead to can be listed. */
export class FreeCalls<State extends Json, Call extends CallData> {
  private readonly model: Model<State, Call>;
  private readonly awaited: readonly State[];

  /** `calls`: all of the history. */
  constructor(model: Model<State, Call>, calls: readonly Call[]) {
    this.model = model;
    const awaited = model.approaches === undefined ? [] : calls.map((call) => model.awaits?.(call));
    this.awaited = awaited.filter((state) => state !== undefined);
  }

  /** The model in which `free` calls may come before each call; `reach` must know what they do. */
  modelWith(free: readonly Call[]): Model<State, Call> {
    const { model } = this;
    if (free.length === 0) return model;
    return {
      name: model.name,
      init: model.init,
      step: (state, call): readonly State[] => {
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
  reach(states: readonly State[], calls: readonly Call[]): readonly State[] | null {
    const known = new Interner();
    known.reset();
    const reached: State[] = [];
    let hasBlind = false;
    const add = (state: State): void => {
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

  private isBlind(state: State): boolean {
    const { model, awaited } = this;
    if (model.approaches === undefined) return false;
    return !awaited.some((one) => model.approaches?.(state, one));
  }
}
