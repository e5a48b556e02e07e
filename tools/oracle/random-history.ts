/**
 * Draws small histories that are often, but not always, linearizable: each operation takes effect
 * at a position between its call and its return, and some answers are made up.
 */
import alea from 'seedrandom/lib/alea.js';
import type { Json } from '../../src/core/kernel/json.ts';
import type { CallData, History, Model, Operation } from '../../src/linearizability/model.ts';

/** The parts of a model's histories. */
export interface Repertoire<State extends Json, Call extends CallData> {
  readonly model: Model<State, Call>;
  /** All possible calls with all their answers, on one object. */
  readonly calls: readonly Call[];
  /** Returns the call with an unknown answer. */
  forget(call: Call): Call;
}

export interface HistoryShape {
  readonly operations: number;
  readonly clients: number;
  /** Maximum number of positions from an operation's call to its return. */
  readonly longest: number;
  /** Percentages of operations with a made-up answer, without an answer, and failed. */
  readonly wrong: number;
  readonly unknown: number;
  readonly failed: number;
}

/** Clients overlap and each awaits its answers; the model does not depend on the client. */
export function drawHistory<State extends Json, Call extends CallData>(
  seed: number,
  { model, calls, forget }: Repertoire<State, Call>,
  shape: HistoryShape,
): History<Call> {
  const stream = alea(`history ${seed}`);
  const below = (limit: number): number => Math.floor(stream() * limit);
  const effects = drawSpans(shape, below).sort((a, b) => a.effect - b.effect);
  let state = model.init;
  const operations = effects.map(({ client, invoke, end }): Operation<Call> => {
    const isWrong = below(100) < shape.wrong;
    const call = drawCall(calls, below, (drawn) => isWrong || model.step(state, drawn).length > 0);
    const span = { client: `c${client}`, invoke };
    const fate = below(100);
    if (fate < shape.failed) return { ...span, call, return: end, outcome: 'fail' };
    const isUnknown = fate < shape.failed + shape.unknown;
    if (!isUnknown || below(2) === 0) {
      const next = model.step(state, call);
      state = next[below(next.length)] ?? state;
    }
    if (isUnknown) return { ...span, call: forget(call), return: null, outcome: 'info' };
    return { ...span, call, return: end, outcome: 'ok' };
  });
  return operations.sort((a, b) => a.invoke - b.invoke);
}

export interface Span {
  readonly client: number;
  readonly invoke: number;
  readonly end: number;
  readonly effect: number;
}

/** Each client's spans do not overlap. */
export function drawSpans(shape: HistoryShape, below: (limit: number) => number): Span[] {
  const free = Array.from({ length: shape.clients }, () => below(shape.longest));
  return Array.from({ length: shape.operations }, () => {
    const client = below(shape.clients);
    const invoke = free[client] ?? 0;
    const end = invoke + below(shape.longest + 1);
    free[client] = end + below(3);
    return { client, invoke, end, effect: invoke + below(end - invoke + 1) };
  });
}

/** Draws one of the calls that fit, with equal chance, or any call if none fits. */
function drawCall<Call>(
  calls: readonly Call[],
  below: (limit: number) => number,
  fits: (call: Call) => boolean,
): Call {
  const fitting = calls.filter(fits);
  const pool = fitting.length > 0 ? fitting : calls;
  const call = pool[below(pool.length)];
  if (call === undefined) throw new Error('a repertoire has at least one call');
  return call;
}
