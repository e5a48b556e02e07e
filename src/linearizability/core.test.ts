import { describe, expect, it } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { checkHistory } from './check-history.ts';
import { explainHistory, type Reasons } from './explain.ts';
import type { Model } from './model.ts';
import { casRegister } from './models/cas-register.ts';
import type { CallData, History, Operation } from './operation.ts';
import { isLinearizable } from './oracle/naive.ts';
import { drawHistory, type HistoryShape, type Repertoire } from './oracle/random-history.ts';
import { casRegisters, fencedRegisters, fencedRegistersWithReads } from './oracle/repertoires.ts';
import { cutHistory, leaveOut, makeOptional } from './relax.ts';
import { refuteOrder } from './verify-order.ts';

const small: HistoryShape = {
  operations: 8,
  clients: 4,
  longest: 6,
  wrong: 20,
  unknown: 10,
  failed: 5,
};

function explain<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): Reasons<State> | null {
  const verdict = checkHistory(history, model);
  return verdict.kind === 'invalid' ? explainHistory(history, model, verdict) : null;
}

/** The history with only what a core needs. */
function coreOf<Call>(history: History<Call>, reasons: Reasons<unknown>): Operation<Call>[] {
  return history.map((operation, index) => {
    if (reasons.core.required.includes(index)) return operation;
    return reasons.core.optional.includes(index) ? makeOptional(operation) : leaveOut(operation);
  });
}

function forEachInvalid<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  look: (history: History<Call>, reasons: Reasons<State>, seed: number) => void,
): void {
  let invalid = 0;
  for (let seed = 0; seed < 2_000; seed++) {
    const history = drawHistory(seed, repertoire, small);
    const reasons = explain(history, repertoire.model);
    if (reasons === null) continue;
    invalid += 1;
    look(history, reasons, seed);
  }
  expect(invalid).toBeGreaterThan(400);
}

function expectSoundReasons<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): void {
  const { model } = repertoire;
  forEachInvalid(repertoire, (history, reasons, seed) => {
    const { at, prefix, possible, core } = reasons;
    const before = cutHistory(history, at, 'before');
    expect(refuteOrder(before, model, prefix), `seed ${seed}`).toBeNull();
    expect(isLinearizable(cutHistory(history, at, 'after'), model), `seed ${seed}`).toBe(false);
    expect(possible.length, `seed ${seed}`).toBeGreaterThan(0);
    for (const { state } of possible) {
      expect(history.slice(at, at + 1).flatMap(({ call }) => model.step(state, call))).toEqual([]);
    }
    const needed = coreOf(history, reasons);
    expect(core.isMinimal).toBe(true);
    expect(isLinearizable(needed, model), `seed ${seed}`).toBe(false);
    for (const index of core.required) {
      const less = needed.map((operation, place) => {
        if (place !== index) return operation;
        return model.isPure?.(operation.call) ? leaveOut(operation) : makeOptional(operation);
      });
      expect(isLinearizable(less, model), `seed ${seed}, without ${index}`).toBe(true);
    }
  });
}

describe('the reasons of an invalid history are sound, and its core is minimal', () => {
  it('on CAS registers', () => expectSoundReasons(casRegisters));
  it('on fenced registers', () => expectSoundReasons(fencedRegisters));
  it('on fenced registers with reads', () => expectSoundReasons(fencedRegistersWithReads));
});

describe('a core', () => {
  const key = 'x';
  it('names the write between a write and the CAS that missed it, and nothing else', () => {
    const at = { client: 'a', outcome: 'ok' as const };
    const history: History<Parameters<ReturnType<typeof casRegister>['step']>[1]> = [
      { ...at, call: { name: 'read', key, value: null }, invoke: 0, return: 1 },
      { ...at, call: { name: 'write', key, value: 1 }, invoke: 2, return: 3 },
      { ...at, call: { name: 'write', key, value: 4 }, invoke: 4, return: 5 },
      { ...at, call: { name: 'read', key, value: 4 }, invoke: 6, return: 7 },
      { ...at, call: { name: 'write', key, value: 2 }, invoke: 8, return: 9 },
      {
        ...at,
        call: { name: 'cas', key, expected: 4, value: 5, answer: 'matched' },
        invoke: 10,
        return: 12,
      },
      { ...at, call: { name: 'read', key, value: 5 }, invoke: 13, return: 14 },
      { ...at, call: { name: 'write', key, value: 6 }, invoke: 15, return: 16 },
    ];
    expect(explain(history, casRegister())).toEqual({
      at: 5,
      prefix: [0, 1, 2, 3, 4],
      possible: [{ state: 2, order: [1, 2, 4] }],
      core: { required: [2, 4, 5], optional: [1], isMinimal: true },
    });
  });
});
