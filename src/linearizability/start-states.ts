/**
 * Decides in which states a stretch of a history may find its object, whatever came before it: in
 * any that the calls of the whole history can make of the first one, in any order and however
 * often.
 */
import type { Json } from '../core/kernel/json.ts';
import { FreeCalls } from './free-calls.ts';
import { Interner } from './interner.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';

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
