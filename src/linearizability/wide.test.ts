/** Tests larger histories: many open operations, ambiguous choices, many states. */
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import { isLinearizable } from '../../tools/oracle/naive.ts';
import {
  drawHistory,
  type HistoryShape,
  type Repertoire,
} from '../../tools/oracle/random-history.ts';
import { casRegisters, fencedRegisters, registers } from '../../tools/oracle/repertoires.ts';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from './check-history.ts';
import { type CallData, type History, illegal, type Model, type Operation } from './model.ts';
import { type RegisterCall, register, type Value } from './models/register.ts';
import { refuteOrder } from './verify-order.ts';

const small: HistoryShape = {
  operations: 6,
  clients: 3,
  longest: 6,
  wrong: 18,
  unknown: 15,
  failed: 5,
};

type Tick = { readonly name: 'tick'; readonly mark: number };
type Ticking<State> = { readonly state: State; readonly ticks: number };

/** Adds to the model a count of ticks that no other call reads. */
function withTicks<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
  isTick: (call: Call | Tick) => call is Tick,
): Model<Ticking<State>, Call | Tick> {
  return {
    name: 'ticking',
    init: { state: model.init, ticks: 0 },
    step({ state, ticks }, call): readonly Ticking<State>[] {
      if (isTick(call)) return [{ state, ticks: ticks + 1 }];
      return model.step(state, call).map((next) => ({ state: next, ticks }));
    },
    isPure: (call) => !isTick(call) && (model.isPure?.(call) ?? false),
  };
}

/** Returns ticks that are open from before the first operation until after the last. */
function ticks(count: number, outcome: 'ok' | 'info'): Operation<Tick>[] {
  return Array.from({ length: count }, (_, index) => {
    const end = outcome === 'ok' ? 1_000 + index : null;
    const call: Tick = { name: 'tick', mark: outcome === 'ok' ? 1 : index };
    return { client: `t${index}`, call, invoke: -1, return: end, outcome };
  });
}

function expectTicksChangeNothing<State extends Json, Call extends CallData>(
  { model, ...rest }: Repertoire<State, Call>,
  added: readonly Operation<Tick>[],
): void {
  const isTick = (call: Call | Tick): call is Tick => call.name === 'tick';
  const ticking = withTicks<State, Call>(model, isTick);
  let invalid = 0;
  for (let seed = 0; seed < runs(300); seed++) {
    const history = drawHistory(seed, { model, ...rest }, small);
    const wide: History<Call | Tick> = [...added, ...history];
    const verdict = checkHistory(wide, ticking);
    const isValid = isLinearizable(history, model);
    if (!isValid) invalid += 1;
    expect(verdict.kind, `seed ${seed}`).toBe(isValid ? 'valid' : 'invalid');
    if (verdict.kind !== 'valid') continue;
    expect(refuteOrder(wide, ticking, verdict.order), `seed ${seed}`).toBeNull();
  }
  expect(invalid).toBeGreaterThan(runs(300) / 10);
}

describe('additional open operations do not change a verdict', () => {
  it('with 70 completed operations', () => {
    expectTicksChangeNothing(registers, ticks(70, 'ok'));
    expectTicksChangeNothing(fencedRegisters, ticks(70, 'ok'));
  });
  it('with 3 different crashed ones', () => {
    expectTicksChangeNothing(casRegisters, ticks(3, 'info'));
  });
  it('with 70 equal crashed ones', () => {
    const equal = ticks(70, 'info').map((tick): Operation<Tick> => {
      return { ...tick, call: { name: 'tick', mark: 0 } };
    });
    expectTicksChangeNothing(registers, equal);
  });
});

/** A register that may lose any write. */
const lossyRegister: Model<Value, RegisterCall> = {
  name: 'lossy-register',
  init: null,
  step(state, call): readonly Value[] {
    if (call.name === 'write') return [call.value, state];
    return call.value === state || call.value === 'unknown' ? [state] : illegal;
  },
  isPure: ({ name }) => name === 'read',
};

describe('a state key', () => {
  it('merges all states for which it is the same', () => {
    const isTick = (call: RegisterCall | Tick): call is Tick => call.name === 'tick';
    const ticking = withTicks<Value, RegisterCall>(register(), isTick);
    const blind = { ...ticking, stateKey: ({ state }: Ticking<Value>): Value => state };
    const stale: Operation<RegisterCall> = {
      client: 'a',
      call: { name: 'read', key: 'x', value: 1 },
      invoke: 0,
      return: 1,
      outcome: 'ok',
    };
    const history = [...ticks(10, 'info'), stale];
    const seeing = checkHistory(history, ticking);
    expect([seeing.kind, seeing.configurations]).toEqual(['invalid', 2 ** 10]);
    const unseeing = checkHistory(history, blind);
    expect([unseeing.kind, unseeing.configurations]).toEqual(['invalid', 1]);
  });
});

describe('a model with several next states', () => {
  it('is searched through all of them', () => {
    const repertoire = { ...registers, model: lossyRegister };
    let invalid = 0;
    for (let seed = 0; seed < runs(3_000); seed++) {
      const history = drawHistory(seed, repertoire, { ...small, wrong: 40, unknown: 5 });
      const verdict = checkHistory(history, lossyRegister);
      const isValid = isLinearizable(history, lossyRegister);
      expect(verdict.kind, `seed ${seed}`).toBe(isValid ? 'valid' : 'invalid');
      if (!isValid) invalid += 1;
      if (verdict.kind !== 'valid') continue;
      expect(refuteOrder(history, lossyRegister, verdict.order), `seed ${seed}`).toBeNull();
    }
    expect(invalid).toBeGreaterThan(runs(3_000) / 6);
  });
});

describe('a long history of unique values', () => {
  const pairs = 3_000;
  const unique = Array.from({ length: pairs }, (_, value): Operation<RegisterCall>[] => {
    const base = { client: 'a', outcome: 'ok' as const };
    const at = 10 * value;
    return [
      { ...base, call: { name: 'write', key: 'x', value }, invoke: at, return: at + 4 },
      { ...base, call: { name: 'read', key: 'x', value }, invoke: at + 2, return: at + 12 },
    ];
  }).flat();

  it('is valid if each read overlaps its write', () => {
    const verdict = checkHistory(unique, register());
    expect(verdict.kind).toBe('valid');
    if (verdict.kind !== 'valid') return;
    expect(refuteOrder(unique, register(), verdict.order)).toBeNull();
    expect(verdict.configurations).toBeLessThan(2 * pairs);
  });

  it('is invalid if one read is stale', () => {
    const stale = 2 * 2_500 + 1;
    const broken = unique.map((operation, index): Operation<RegisterCall> => {
      if (index !== stale) return operation;
      return { ...operation, call: { name: 'read', key: 'x', value: 2_400 } };
    });
    const verdict = checkHistory(broken, register());
    expect(verdict).toMatchObject({ kind: 'invalid', part: 'x', at: stale });
  });
});
