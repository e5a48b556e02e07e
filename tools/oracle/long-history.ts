/**
 * Draws long legal histories: each client makes one call after another, each call takes effect
 * between its call and its return, and its answer is that of the object.
 */
import alea from 'seedrandom/lib/alea.js';
import type { History, Operation } from '../../src/linearizability/model.ts';
import type { FencedMutexCall } from '../../src/linearizability/models/fenced-mutex.ts';
import type { CasRegisterCall, RegisterCall } from '../../src/linearizability/models/register.ts';

export interface LongShape {
  readonly operations: number;
  readonly clients: number;
  /** Longest pause of a client between two calls, which take 2 to 200; default 10. */
  readonly longestIdle?: number;
}

/** Draws a number from 0 up to, but not including, the limit. */
export type Below = (limit: number) => number;

interface Effect {
  readonly client: number;
  readonly invoke: number;
  readonly effect: number;
  readonly end: number;
}

/** Calls `answer` in the order of the effects; it keeps the object's state. */
export function drawLongHistory<Call>(
  seed: number,
  shape: LongShape,
  answer: (client: number, below: Below) => Call,
): History<Call> {
  const stream = alea(`long ${seed}`);
  const below: Below = (limit) => Math.floor(stream() * limit);
  const effects = drawEffects(shape, below).sort((a, b) => a.effect - b.effect);
  const operations = effects.map(({ client, invoke, end }): Operation<Call> => {
    return {
      client: `c${client}`,
      call: answer(client, below),
      invoke,
      return: end,
      outcome: 'ok',
    };
  });
  return operations.sort((a, b) => a.invoke - b.invoke);
}

function drawEffects({ operations, clients, longestIdle = 10 }: LongShape, below: Below): Effect[] {
  const free = Array.from({ length: clients }, () => below(20));
  return Array.from({ length: operations }, (_, place) => {
    const client = place % clients;
    const invoke = free[client] ?? 0;
    const effect = invoke + 1 + below(100);
    const end = effect + 1 + below(100);
    free[client] = end + 1 + below(longestIdle);
    return { client, invoke, effect, end };
  });
}

const key = 'x';

/** Each write has a different value. */
export function drawUniqueRegister(seed: number, shape: LongShape): History<RegisterCall> {
  let last = 0;
  return drawLongHistory<RegisterCall>(seed, shape, (_, below) => {
    if (below(2) === 0) return { name: 'read', key, value: last };
    last += 1;
    return { name: 'write', key, value: last };
  });
}

/** Draws from `values` values; the register begins with 0. */
export function drawCasRegister(
  seed: number,
  shape: LongShape,
  values = 5,
): History<CasRegisterCall> {
  let held = 0;
  return drawLongHistory<CasRegisterCall>(seed, shape, (_, below) => {
    const kind = below(3);
    if (kind === 0) return { name: 'read', key, value: held };
    const value = below(values);
    if (kind === 1) {
      held = value;
      return { name: 'write', key, value };
    }
    const expected = below(values);
    const answer = expected === held ? 'matched' : 'missed';
    if (answer === 'matched') held = value;
    return { name: 'cas', key, expected, value, answer };
  });
}

/** Replaces the value of one read, at index `at` or later. */
export function misreadOf(
  history: History<CasRegisterCall>,
  values: number,
  at: number,
): History<CasRegisterCall> {
  const wrong = history.findIndex(({ call }, index) => index >= at && call.name === 'read');
  return history.map((operation, index) => {
    if (index !== wrong || operation.call.name !== 'read') return operation;
    const { value } = operation.call;
    const other = typeof value === 'number' ? (value + 1) % values : 0;
    return { ...operation, call: { ...operation.call, value: other } };
  });
}

/** A try-lock with tokens; each client releases its grants. */
export function drawLock(seed: number, shape: LongShape): History<FencedMutexCall> {
  let holder: number | null = null;
  let token = 0;
  return drawLongHistory<FencedMutexCall>(seed, shape, (client) => {
    const named = { lock: 'l', owner: `c${client}` };
    if (holder === client) {
      holder = null;
      return { name: 'release', ...named, answer: 'released' };
    }
    if (holder !== null) return { name: 'acquire', ...named, answer: 'denied', token: null };
    holder = client;
    token += 1;
    return { name: 'acquire', ...named, answer: 'granted', token };
  });
}
