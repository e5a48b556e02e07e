/** Tests each model with handwritten histories that it allows and that it forbids. */
import { describe, expect, it } from 'vitest';
import type { History, Operation } from '../model.ts';
import { allows } from './allows.fixture.ts';
import { type CounterCall, counter } from './counter.ts';
import { type FencedCall, fencedRegister, fencedRegisterWithReads } from './fenced-register.ts';
import { type KeyValueCall, keyValue } from './key-value.ts';
import { type CasRegisterCall, casRegister, type RegisterCall, register } from './register.ts';
import { type VersionedCall, versionedRegister } from './versioned-register.ts';

describe('a register', () => {
  const first: RegisterCall = { name: 'write', key: 'x', value: 1 };
  const second: RegisterCall = { name: 'write', key: 'x', value: 2 };
  it('returns the last written value', () => {
    expect(allows(register(), [first, second, { name: 'read', key: 'x', value: 2 }])).toBe(true);
  });
  it('never returns an overwritten value', () => {
    expect(allows(register(), [first, second, { name: 'read', key: 'x', value: 1 }])).toBe(false);
  });
  it('starts with its initial value', () => {
    expect(allows(register(0), [{ name: 'read', key: 'x', value: 0 }])).toBe(true);
    expect(allows(register(0), [{ name: 'read', key: 'x', value: null }])).toBe(false);
  });
});

describe('a CAS register', () => {
  const cas = (expected: number, answer: 'matched' | 'missed'): CasRegisterCall => {
    return { name: 'cas', key: 'x', expected, value: 9, answer };
  };
  const write: CasRegisterCall = { name: 'write', key: 'x', value: 1 };
  it('writes if and only if it finds the expected value', () => {
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

const write = (
  token: number,
  value: number,
  answer: Exclude<FencedCall, { readonly name: 'read' }>['answer'],
): FencedCall => {
  return { name: 'write', resource: 'db', key: 'x', value, token, answer };
};
const read = (token: number, value: number | 'refused'): FencedCall => {
  return { name: 'read', resource: 'db', key: 'x', token, value };
};

describe('a fenced register', () => {
  it('refuses a write below the highest token, and no other', () => {
    const calls = [write(2, 7, 'accepted'), write(1, 8, 'refused'), write(2, 9, 'accepted')];
    expect(allows(fencedRegister(), [...calls, read(1, 9)])).toBe(true);
  });
  it('accepts no lower token and refuses no current one', () => {
    expect(allows(fencedRegister(), [write(2, 7, 'accepted'), write(1, 8, 'accepted')])).toBe(
      false,
    );
    expect(allows(fencedRegister(), [write(2, 7, 'accepted'), write(2, 8, 'refused')])).toBe(false);
    expect(allows(fencedRegister(), [write(2, 7, 'refused')])).toBe(false);
  });
  it('does not register the token of a read', () => {
    expect(allows(fencedRegister({ initial: 0 }), [read(5, 0), write(1, 7, 'accepted')])).toBe(
      true,
    );
  });
  it('registers the token of an open, which writes nothing', () => {
    const open: FencedCall = { name: 'open', resource: 'db', token: 3, answer: 'accepted' };
    const calls = [write(2, 7, 'accepted'), open, write(2, 8, 'refused'), read(2, 7)];
    expect(allows(fencedRegister(), calls)).toBe(true);
  });
  it('accepts each token once if it is strict', () => {
    const strict = fencedRegister({ isStrict: true });
    expect(allows(strict, [write(1, 7, 'accepted'), write(1, 8, 'refused')])).toBe(true);
    expect(allows(strict, [write(1, 7, 'accepted'), write(1, 8, 'accepted')])).toBe(false);
  });
  it.each(['constructor', 'toString', '__proto__'])('holds nothing under the key %s', (key) => {
    const readCall: FencedCall = { name: 'read', resource: 'db', key, token: 1, value: null };
    expect(allows(fencedRegister(), [readCall])).toBe(true);
    const put: FencedCall = {
      name: 'write',
      resource: 'db',
      key,
      token: 1,
      value: 7,
      answer: 'accepted',
    };
    const calls: FencedCall[] = [put, { ...readCall, value: 7 }];
    expect(allows(fencedRegister(), calls)).toBe(true);
    expect(allows(fencedRegister(), [...calls, readCall])).toBe(false);
  });
});

describe('a fenced register with reads', () => {
  it('refuses a write below the token of a read', () => {
    const calls = [write(1, 7, 'accepted'), read(2, 7), write(1, 8, 'refused'), read(1, 'refused')];
    expect(allows(fencedRegisterWithReads(), calls)).toBe(true);
  });
  it('serves no read with a lower token and accepts no write below a read', () => {
    const reads = fencedRegisterWithReads(0);
    expect(allows(reads, [write(2, 7, 'accepted'), read(1, 7)])).toBe(false);
    expect(allows(reads, [read(2, 0), write(1, 7, 'accepted')])).toBe(false);
    expect(allows(reads, [read(2, 0), read(2, 'refused')])).toBe(false);
  });
});

describe('a map', () => {
  const key = 'x';
  const get = (value: string | null): KeyValueCall => ({ name: 'get', key, value });
  const put: KeyValueCall = { name: 'put', key, value: 'a' };
  const append: KeyValueCall = { name: 'append', key, value: 'b' };
  const cas = (expected: string, answer: 'matched' | 'missed'): KeyValueCall => {
    return { name: 'cas', key, expected, value: 'c', answer };
  };
  it('returns the result of puts, appends, cas and deletes', () => {
    const gone: KeyValueCall = { name: 'delete', key };
    const calls = [get(''), append, put, append, get('ab'), cas('b', 'missed')];
    expect(allows(keyValue(), [...calls, cas('ab', 'matched'), get('c'), gone, get('')])).toBe(
      true,
    );
    expect(allows(keyValue(null), [get(null), append, get('b'), gone, get(null)])).toBe(true);
  });
  it('loses no append and returns no replaced value', () => {
    expect(allows(keyValue(), [put, append, get('a')])).toBe(false);
    expect(allows(keyValue(), [append, put, get('ba')])).toBe(false);
    expect(allows(keyValue(), [put, cas('b', 'matched')])).toBe(false);
  });
});

describe('a get that returns nothing', () => {
  it('suggests the initial value null if missing keys hold a text', () => {
    const get: KeyValueCall = { name: 'get', key: 'x', value: null };
    expect(keyValue().needs?.(get)).toBe(
      'no value, but a key that was never put reads as "" (or null, with --init null)',
    );
    expect(keyValue(null).needs?.(get)).toBe('the value nothing');
  });
});

describe('a versioned register', () => {
  const put = (value: number, version: number): VersionedCall => {
    return { name: 'write', key: 'x', value, version };
  };
  const read = (value: number, version: number): VersionedCall => {
    return { name: 'read', key: 'x', value, version };
  };
  it('counts its writes', () => {
    expect(allows(versionedRegister(), [put(7, 1), put(7, 2), read(7, 2)])).toBe(true);
    expect(allows(versionedRegister(), [put(7, 1), put(7, 2), read(7, 1)])).toBe(false);
    expect(allows(versionedRegister(), [put(7, 1), put(8, 3)])).toBe(false);
    expect(allows(versionedRegister(), [put(7, 1), read(8, 1)])).toBe(false);
  });
  it('accepts a write only over the version that it expects', () => {
    const over = (expected: number, version: number | null): VersionedCall => {
      return { name: 'write', key: 'x', value: 9, version, expected };
    };
    expect(allows(versionedRegister(), [over(0, 1), over(1, 2)])).toBe(true);
    expect(allows(versionedRegister(), [over(0, 1), over(1, null), read(9, 2)])).toBe(true);
    expect(allows(versionedRegister(), [put(7, 1), put(7, 2), over(1, 3)])).toBe(false);
    expect(allows(versionedRegister(), [put(7, 1), over(0, null)])).toBe(false);
    expect(allows(versionedRegister(10, 5), [over(5, 6)])).toBe(true);
    expect(allows(versionedRegister(10, 5), [over(0, 6)])).toBe(false);
  });
  it('refuses a write over any other version, and reports the current one', () => {
    const refused = (expected: number, version: number | null): VersionedCall => {
      return { name: 'write', key: 'x', value: 9, version, expected, answer: 'refused' };
    };
    expect(allows(versionedRegister(), [put(7, 1), refused(0, 1), read(7, 1)])).toBe(true);
    expect(allows(versionedRegister(), [put(7, 1), refused(0, null), put(8, 2)])).toBe(true);
    expect(allows(versionedRegister(), [put(7, 1), refused(1, 1)])).toBe(false);
    expect(allows(versionedRegister(), [put(7, 1), refused(1, null)])).toBe(false);
    expect(allows(versionedRegister(), [put(7, 1), refused(0, 2)])).toBe(false);
  });
});

describe('the fast path of versions', () => {
  const { fastPath, ...model } = versionedRegister();
  const decide = (history: History<VersionedCall>): unknown => fastPath?.(history, model);
  const put = (version: number | null, invoke: number): Operation<VersionedCall> => {
    const call: VersionedCall = { name: 'write', key: 'x', value: version, version };
    return { client: 'a', call, invoke, return: 20, outcome: 'ok' };
  };
  const read = (version: number, invoke: number): Operation<VersionedCall> => {
    const call: VersionedCall = { name: 'read', key: 'x', value: version, version };
    return { client: 'b', call, invoke, return: 20, outcome: 'ok' };
  };
  it('orders by version, a write before its reads, and reads by their calls', () => {
    const first: Operation<VersionedCall> = {
      ...read(0, 3),
      call: { name: 'read', key: 'x', value: null, version: 0 },
    };
    const history = [read(2, 9), read(2, 4), put(2, 5), read(1, 6), put(1, 7), first];
    expect(decide(history)).toEqual({ kind: 'valid', order: [5, 4, 3, 2, 1, 0] });
    const turned = [read(2, 4), put(1, 7), read(2, 9), put(2, 5)];
    expect(decide(turned)).toEqual({ kind: 'valid', order: [1, 3, 0, 2] });
  });
  it('leaves out unanswered and failed operations', () => {
    const unheard = { ...put(null, 1), return: null, outcome: 'info' as const };
    const failed = { ...put(1, 1), outcome: 'fail' as const };
    expect(decide([unheard, failed, put(1, 2)])).toEqual({ kind: 'valid', order: [2] });
    expect(decide([])).toEqual({ kind: 'valid', order: [] });
  });
  it('leaves histories without versions, or without an order, to the search', () => {
    expect(decide([put(null, 1)])).toBeNull();
    expect(decide([put(1, 1), put(3, 2)])).toBeNull();
    expect(decide([{ ...put(1, 9) }, { ...read(1, 1), return: 2 }])).toBeNull();
  });
});
