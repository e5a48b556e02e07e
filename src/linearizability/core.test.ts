import alea from 'seedrandom/lib/alea.js';
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import { fits } from '../../tools/oracle/core-reading.ts';
import { isLinearizable } from '../../tools/oracle/naive.ts';
import {
  drawHistory,
  type HistoryShape,
  type Repertoire,
} from '../../tools/oracle/random-history.ts';
import {
  anonymousMutexes,
  casRegisters,
  counters,
  fencedMutexes,
  fencedRegisters,
  fencedRegistersWithReads,
  keyValues,
  leases,
  mutexes,
  reentrantFencedMutexes,
  reentrantMutexes,
  registers,
  semaphores,
  strictFencedRegisters,
  swapRegisters,
  versionedRegisters,
} from '../../tools/oracle/repertoires.ts';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from './check-history.ts';
import { CoreTrials, findCore } from './core.ts';
import { explainHistory, type Reasons } from './explain.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import { type CasRegisterCall, casRegister, type RegisterCall } from './models/register.ts';
import { done, operation, read, write } from './operations.fixture.ts';
import { beginHistory, distinctCalls, StartStates, truncateHistory } from './relax.ts';
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

function forEachInvalid<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  look: (history: History<Call>, reasons: Reasons<State>, seed: number) => void,
): void {
  let invalid = 0;
  for (let seed = 0; seed < runs(150); seed++) {
    const history = drawHistory(seed, repertoire, small);
    const reasons = explain(history, repertoire.model);
    if (reasons === null) continue;
    invalid += 1;
    look(history, reasons, seed);
  }
  expect(invalid).toBeGreaterThan(runs(150) / 7.5);
}

function without(indices: readonly number[], index: number): readonly number[] {
  return indices.filter((one) => one !== index);
}

function expectSoundReasons<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): void {
  const { model } = repertoire;
  forEachInvalid(repertoire, (history, reasons, seed) => {
    const { at, prefix, possible, core } = reasons;
    const before = truncateHistory(history, at, 'before');
    expect(refuteOrder(before, model, prefix), `seed ${seed}`).toBeNull();
    expect(isLinearizable(truncateHistory(history, at, 'after'), model), `seed ${seed}`).toBe(
      false,
    );
    expect(possible.length, `seed ${seed}`).toBeGreaterThan(0);
    for (const { state } of possible) {
      expect(history.slice(at, at + 1).flatMap(({ call }) => model.step(state, call))).toEqual([]);
    }
    expect(core.isMinimal).toBe(true);
    expect(core.required).toContain(at);
    expect(fits(history, model, reasons), `seed ${seed}`).toBe(false);
    for (const index of core.required) {
      const call = history[index]?.call;
      const isPure = call !== undefined && (model.isPure?.(call) ?? false);
      const optional = isPure ? core.optional : [...core.optional, index];
      const less = { ...core, required: without(core.required, index), optional };
      expect(fits(history, model, { at, core: less }), `seed ${seed}, less ${index}`).toBe(true);
    }
    for (const index of core.optional) {
      const less = { ...core, optional: without(core.optional, index) };
      expect(fits(history, model, { at, core: less }), `seed ${seed}, free ${index}`).toBe(true);
    }
  });
}

/** Weakens valid histories at random: none may become invalid. */
function expectSoundTrials<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): void {
  const { model } = repertoire;
  const isPure = (call: Call): boolean => model.isPure?.(call) ?? false;
  let valid = 0;
  for (let seed = 0; seed < runs(150); seed++) {
    const history = drawHistory(seed, repertoire, { ...small, wrong: 4 });
    if (!isLinearizable(history, model)) continue;
    const below = alea(`trials ${seed}`);
    const from = Math.floor(below() * 20);
    const later = beginHistory(history, from, isPure);
    const found = new StartStates(model, distinctCalls(history)).before(later);
    const part = found === null ? history : later;
    const states = found ?? [model.init];
    valid += 1;
    const trials = new CoreTrials(part, model, states, { maxConfigurations: 10_000 });
    for (const place of trials.of('required')) {
      const least = place.isPure ? 'nothing' : trials.canFree ? 'free' : 'optional';
      place.asked = below() < 0.5 ? 'required' : least;
    }
    for (const place of trials.of('optional')) {
      if (trials.canFree && below() < 0.5) place.asked = 'free';
    }
    expect(trials.try(), `seed ${seed}`).toBe('valid');
  }
  expect(valid).toBeGreaterThan(runs(150) / 7.5);
}

describe('the reasons of an invalid history are sound, and its core is minimal', () => {
  it('on registers', () => expectSoundReasons(registers));
  it('on CAS registers', () => expectSoundReasons(casRegisters));
  it('on registers that swap unseen', () => expectSoundReasons(swapRegisters));
  it('on counters', () => expectSoundReasons(counters));
  it('on mutexes', () => expectSoundReasons(mutexes));
  it('on fenced registers', () => expectSoundReasons(fencedRegisters));
  it('on strict fenced registers', () => expectSoundReasons(strictFencedRegisters));
  it('on fenced registers with reads', () => expectSoundReasons(fencedRegistersWithReads));
  it('on anonymous mutexes', () => expectSoundReasons(anonymousMutexes));
  it('on reentrant mutexes', () => expectSoundReasons(reentrantMutexes));
  it('on fenced mutexes', () => expectSoundReasons(fencedMutexes));
  it('on reentrant fenced mutexes', () => expectSoundReasons(reentrantFencedMutexes));
  it('on semaphores', () => expectSoundReasons(semaphores));
  it('on leases', () => expectSoundReasons(leases));
  it('on maps', () => expectSoundReasons(keyValues));
  it('on versioned registers', () => expectSoundReasons(versionedRegisters));
});

describe('a valid history stays valid if weakened', () => {
  it('on registers', () => expectSoundTrials(registers));
  it('on CAS registers', () => expectSoundTrials(casRegisters));
  it('on registers that swap unseen', () => expectSoundTrials(swapRegisters));
  it('on counters', () => expectSoundTrials(counters));
  it('on mutexes', () => expectSoundTrials(mutexes));
  it('on fenced registers', () => expectSoundTrials(fencedRegisters));
  it('on strict fenced registers', () => expectSoundTrials(strictFencedRegisters));
  it('on fenced registers with reads', () => expectSoundTrials(fencedRegistersWithReads));
  it('on anonymous mutexes', () => expectSoundTrials(anonymousMutexes));
  it('on reentrant mutexes', () => expectSoundTrials(reentrantMutexes));
  it('on fenced mutexes', () => expectSoundTrials(fencedMutexes));
  it('on reentrant fenced mutexes', () => expectSoundTrials(reentrantFencedMutexes));
  it('on semaphores', () => expectSoundTrials(semaphores));
  it('on leases', () => expectSoundTrials(leases));
  it('on maps', () => expectSoundTrials(keyValues));
  it('on versioned registers', () => expectSoundTrials(versionedRegisters));
});

describe('a core', () => {
  it('contains the write that made a CAS fail and nothing else', () => {
    const cas = { name: 'cas', key: 'x', expected: 4, value: 5, answer: 'matched' } as const;
    const history: History<CasRegisterCall> = [
      done(read(null), 0),
      done(write(1), 2),
      done(write(4), 4),
      done(read(4), 6),
      done(write(2), 8),
      done(cas, 10, 12),
      done(read(5), 13),
      done(write(6), 15),
    ];
    expect(explain(history, casRegister())).toEqual({
      at: 5,
      prefix: [0, 1, 2, 3, 4],
      possible: [{ state: 2, order: [1, 2, 4] }],
      core: { required: [4, 5], optional: [], areOthersFree: true, from: 8, isMinimal: true },
    });
  });
});

describe('of more operations than are searched for a core', () => {
  const unseen = read('unknown');
  const count = 200_000;
  const filled = (): Operation<RegisterCall>[] =>
    Array.from({ length: count }, (_, at) => done(unseen, at, at));

  it('the last ones have a core, with indices into the complete history', () => {
    const history = [
      ...filled(),
      operation(write(4), count, count + 1, 'fail'),
      done(write(3), count + 1),
      operation(write(1), count + 3, null),
      done(read(1), count + 4),
      done(write(2), count + 6),
      done(read(1), count + 8),
    ];
    expect(findCore(history, casRegister(), count + 5)).toEqual({
      required: [1, 3, 4, 5].map((place) => count + place),
      optional: [count + 2],
      areOthersFree: true,
      from: count + 1,
      isMinimal: true,
    });
  });
  it.each([count, 2_000])('the core is unknown if it lies %d calls back', (back) => {
    const start = count - back;
    const writes = [
      done(write(1), start - 0.5, start - 0.4),
      done(write(2), start - 0.3, start - 0.2),
    ];
    const others = filled();
    const history = [...others.splice(0, start), ...writes, ...others, done(read(1), count)];
    expect(findCore(history, casRegister(), count + 2)).toEqual({
      required: [count + 2],
      optional: [],
      areOthersFree: false,
      from: null,
      isMinimal: false,
    });
  });
});

it('the possible states are unknown for a core of one operation after very many', () => {
  const writes = Array.from({ length: 60_000 }, (_, at) => done(write(at % 3), 2 * at));
  const reasons = explain([...writes, done(read(7), 120_000)], casRegister());
  expect(reasons?.core.required).toEqual([60_000]);
  expect(reasons?.possible).toEqual([]);
});
