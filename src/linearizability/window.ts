/**
 * Refutes a history by a short stretch of it: the search of a long history visits all that may have
 * come before a contradiction, though it is mostly local. In the stretch less is asked: what
 * returned before is left out and may have left any state, and what was called before may have
 * happened by then or not. What has no order even so has none in the whole.
 */
import type { Json } from '../kernel/json.ts';
import { Interner } from './interner.ts';
import type { Model } from './model.ts';
import type { CallData, Operation } from './operation.ts';
import type { PreparedHistory } from './prepare.ts';
import { leaveOut, makeOptional } from './relax.ts';

/** The returns of a prepared history from `from` up to, but not, `to`. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The stretch as a history of its own; `operationAt` has the operations of the prepared one. */
export function cutStretch<State extends Json, Call extends CallData>(
  prepared: PreparedHistory,
  model: Model<State, Call>,
  { from, to }: Stretch,
  operationAt: (operation: number) => Operation<Call> | undefined,
): readonly Operation<Call>[] {
  const { completed, crashed, opensAt } = prepared;
  const stretch: Operation<Call>[] = [];
  for (let number = from; number < completed + crashed; number++) {
    const operation = operationAt(number);
    if (operation === undefined || opensAt.get(number) >= to) continue;
    const mustCome = number < to && opensAt.get(number) > from;
    if (mustCome) stretch.push(operation);
    else
      stretch.push(model.isPure?.(operation.call) ? leaveOut(operation) : makeOptional(operation));
  }
  return stretch;
}

/**
 * The states that may be found at the beginning of a stretch, and of those that no call of it tells
 * apart one; null when calls make states that they do not provide.
 */
export function statesBefore<State extends Json, Call extends CallData>(
  calls: readonly Call[],
  stretch: readonly Operation<Call>[],
  model: Model<State, Call>,
): readonly State[] | null {
  if (model.approaches !== undefined || model.awaits === undefined) return null;
  const awaited = new Interner();
  awaited.reset();
  for (const { call } of stretch) {
    const state = model.awaits(call);
    if (state !== undefined) awaited.intern(state);
  }
  const told = awaited.values.length;
  const states: State[] = [];
  /** By awaited state: whether it is listed; beyond them: whether some other one is. */
  const isListed = new Uint8Array(told + 1);
  for (const state of [model.init, ...calls.map((call) => model.provides?.(call))]) {
    if (state === undefined) continue;
    const place = Math.min(told, awaited.intern(state));
    if (isListed[place] === 1) continue;
    isListed[place] = 1;
    states.push(state);
  }
  return states;
}
