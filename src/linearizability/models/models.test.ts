/** For each model one history that it allows and one that it forbids, made by hand. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../kernel/json.ts';
import { checkHistory } from '../check-history.ts';
import type { Model } from '../model.ts';
import type { CallData } from '../operation.ts';
import { type CasRegisterCall, casRegister } from './cas-register.ts';
import { type CounterCall, counter } from './counter.ts';
import { type Answer, type FencedCall, fencedRegister } from './fenced-register.ts';
import { fencedRegisterWithReads } from './fenced-register-with-reads.ts';
import { type MutexCall, mutex } from './mutex.ts';
import { type RegisterCall, register } from './register.ts';

/** Whether `calls`, each after the one before has returned, are allowed. */
function allows<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
  calls: readonly Call[],
): boolean {
  const history = calls.map((call, place) => {
    const span = { client: 'a', invoke: 2 * place, return: 2 * place + 1 };
    return { ...span, call, outcome: 'ok' as const };
  });
  return checkHistory(history, model).kind === 'valid';
}

describe('a register', () => {
  const first: RegisterCall = { name: 'write', key: 'x', value: 1 };
  const second: RegisterCall = { name: 'write', key: 'x', value: 2 };
  it('returns what was written last', () => {
    expect(allows(register(), [first, second, { name: 'read', key: 'x', value: 2 }])).toBe(true);
  });
  it('never returns a value that was overwritten', () => {
    expect(allows(register(), [first, second, { name: 'read', key: 'x', value: 1 }])).toBe(false);
  });
  it('holds its initial value at first', () => {
    expect(allows(register(0), [{ name: 'read', key: 'x', value: 0 }])).toBe(true);
    expect(allows(register(0), [{ name: 'read', key: 'x', value: null }])).toBe(false);
  });
});

describe('a CAS register', () => {
  const cas = (expected: number, answer: 'matched' | 'missed'): CasRegisterCall => {
    return { name: 'cas', key: 'x', expected, value: 9, answer };
  };
  const write: CasRegisterCall = { name: 'write', key: 'x', value: 1 };
  it('writes where it finds what was expected, and only there', () => {
    const after: CasRegisterCall = { name: 'read', key: 'x', value: 9 };
    expect(allows(casRegister(), [write, cas(2, 'missed'), cas(1, 'matched'), after])).toBe(true);
  });
  it('neither matches another value nor misses the expected one', () => {
    expect(allows(casRegister(), [write, cas(2, 'matched')])).toBe(false);
    expect(allows(casRegister(), [write, cas(1, 'missed')])).toBe(false);
  });
});

describe('a counter', () => {
  const calls = (value: number): CounterCall[] => [
    { name: 'increment', key: 'x', by: 2 },
    { name: 'increment', key: 'x', by: 1 },
    { name: 'read', key: 'x', value },
  ];
  it('returns the sum', () => expect(allows(counter(), calls(3))).toBe(true));
  it('loses no increment', () => expect(allows(counter(), calls(2))).toBe(false));
});

describe('a mutex', () => {
  const acquire = (owner: string, answer: 'granted' | 'denied' = 'granted'): MutexCall => {
    return { name: 'acquire', lock: 'l', owner, answer };
  };
  const release = (owner: string, answer: 'released' | 'denied' = 'released'): MutexCall => {
    return { name: 'release', lock: 'l', owner, answer };
  };
  it('passes from its owner to the next', () => {
    const calls = [acquire('a'), acquire('b', 'denied'), release('b', 'denied'), release('a')];
    expect(allows(mutex(), [...calls, acquire('b')])).toBe(true);
  });
  it('is never granted twice', () => {
    expect(allows(mutex(), [acquire('a'), acquire('b')])).toBe(false);
    expect(allows(mutex(), [acquire('a'), acquire('a')])).toBe(false);
  });
  it('is released by none but its owner', () => {
    expect(allows(mutex(), [acquire('a'), release('b')])).toBe(false);
  });
  it('is denied to nobody while it is free', () => {
    expect(allows(mutex(), [acquire('a', 'denied')])).toBe(false);
    expect(allows(mutex(), [acquire('a'), release('a', 'denied')])).toBe(false);
  });
});

const write = (token: number, value: number, answer: Answer): FencedCall => {
  return { name: 'write', resource: 'db', key: 'x', value, token, answer };
};
const read = (token: number, value: number | 'refused'): FencedCall => {
  return { name: 'read', resource: 'db', key: 'x', token, value };
};

describe('a fenced register', () => {
  it('refuses a write below the highest token, and only there', () => {
    const calls = [write(2, 7, 'accepted'), write(1, 8, 'refused'), write(2, 9, 'accepted')];
    expect(allows(fencedRegister(), [...calls, read(1, 9)])).toBe(true);
  });
  it('accepts no lowered token and refuses no current one', () => {
    expect(allows(fencedRegister(), [write(2, 7, 'accepted'), write(1, 8, 'accepted')])).toBe(
      false,
    );
    expect(allows(fencedRegister(), [write(2, 7, 'accepted'), write(2, 8, 'refused')])).toBe(false);
    expect(allows(fencedRegister(), [write(2, 7, 'refused')])).toBe(false);
  });
  it('registers nothing when it is read', () => {
    expect(allows(fencedRegister({ initial: 0 }), [read(5, 0), write(1, 7, 'accepted')])).toBe(
      true,
    );
  });
  it('registers the token of an open, which writes nothing', () => {
    const open: FencedCall = { name: 'open', resource: 'db', token: 3, answer: 'accepted' };
    const calls = [write(2, 7, 'accepted'), open, write(2, 8, 'refused'), read(2, 7)];
    expect(allows(fencedRegister(), calls)).toBe(true);
  });
  it('takes each token once when it is strict', () => {
    const strict = fencedRegister({ isStrict: true });
    expect(allows(strict, [write(1, 7, 'accepted'), write(1, 8, 'refused')])).toBe(true);
    expect(allows(strict, [write(1, 7, 'accepted'), write(1, 8, 'accepted')])).toBe(false);
  });
});

describe('a fenced register with reads', () => {
  it('refuses below the token of a read', () => {
    const calls = [write(1, 7, 'accepted'), read(2, 7), write(1, 8, 'refused'), read(1, 'refused')];
    expect(allows(fencedRegisterWithReads(), calls)).toBe(true);
  });
  it('serves no read with a lowered token and accepts no write below a read', () => {
    const reads = fencedRegisterWithReads(0);
    expect(allows(reads, [write(2, 7, 'accepted'), read(1, 7)])).toBe(false);
    expect(allows(reads, [read(2, 0), write(1, 7, 'accepted')])).toBe(false);
    expect(allows(reads, [read(2, 0), read(2, 'refused')])).toBe(false);
  });
});
