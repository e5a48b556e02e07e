/** For each model one history that it allows and one that it forbids, made by hand. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../kernel/json.ts';
import { checkHistory } from '../check-history.ts';
import type { Model } from '../model.ts';
import type { CallData, History } from '../operation.ts';
import { anonymousMutex } from './anonymous-mutex.ts';
import { type CasRegisterCall, casRegister } from './cas-register.ts';
import { type CounterCall, counter } from './counter.ts';
import { type FencedMutexCall, fencedMutex, reentrantFencedMutex } from './fenced-mutex.ts';
import { type Answer, type FencedCall, fencedRegister } from './fenced-register.ts';
import { fencedRegisterWithReads } from './fenced-register-with-reads.ts';
import { type KeyValueCall, keyValue } from './key-value.ts';
import { type LeaseCall, lease } from './lease.ts';
import { type MutexCall, mutex } from './mutex.ts';
import { reentrantMutex } from './reentrant-mutex.ts';
import { type RegisterCall, register } from './register.ts';
import { type SemaphoreCall, semaphore } from './semaphore.ts';
import { type VersionedCall, versionedRegister } from './versioned-register.ts';

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

const acquire = (owner: string, answer: 'granted' | 'denied' = 'granted'): MutexCall => {
  return { name: 'acquire', lock: 'l', owner, answer };
};
const release = (owner: string, answer: 'released' | 'denied' = 'released'): MutexCall => {
  return { name: 'release', lock: 'l', owner, answer };
};

describe('a mutex', () => {
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
  it.each(['constructor', 'toString', '__proto__'])('holds nothing under the key %s', (key) => {
    const told: FencedCall = { name: 'read', resource: 'db', key, token: 1, value: null };
    expect(allows(fencedRegister(), [told])).toBe(true);
    const put: FencedCall = {
      name: 'write',
      resource: 'db',
      key,
      token: 1,
      value: 7,
      answer: 'accepted',
    };
    const calls: FencedCall[] = [put, { ...told, value: 7 }];
    expect(allows(fencedRegister(), calls)).toBe(true);
    expect(allows(fencedRegister(), [...calls, told])).toBe(false);
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

describe('an anonymous mutex', () => {
  it('is freed by anybody', () => {
    const calls = [acquire('a'), acquire('b', 'denied'), release('b'), acquire('b')];
    expect(allows(anonymousMutex(), calls)).toBe(true);
  });
  it('is neither granted while it is held nor released while it is free', () => {
    expect(allows(anonymousMutex(), [acquire('a'), acquire('b')])).toBe(false);
    expect(allows(anonymousMutex(), [release('a')])).toBe(false);
  });
});

describe('a reentrant mutex', () => {
  it('is free after as many releases as acquires', () => {
    const calls = [acquire('a'), acquire('a'), release('a'), acquire('b', 'denied'), release('a')];
    expect(allows(reentrantMutex(), [...calls, acquire('b')])).toBe(true);
  });
  it('is not free after fewer, and is taken no more often than it may', () => {
    const twice = [acquire('a'), acquire('a')];
    expect(allows(reentrantMutex(), [...twice, release('a'), acquire('b')])).toBe(false);
    const bounded = reentrantMutex({ maxDepth: 2 });
    expect(allows(bounded, [...twice, acquire('a')])).toBe(false);
    expect(allows(bounded, [...twice, acquire('a', 'denied')])).toBe(true);
  });
});

describe('a fenced mutex', () => {
  const grant = (owner: string, token: number): FencedMutexCall => {
    return { name: 'acquire', lock: 'l', owner, answer: 'granted', token };
  };
  const free = (owner: string): FencedMutexCall => {
    return { name: 'release', lock: 'l', owner, answer: 'released' };
  };
  it('gives a higher token with every grant', () => {
    expect(allows(fencedMutex(), [grant('a', 1), free('a'), grant('b', 5)])).toBe(true);
    expect(allows(fencedMutex(), [grant('a', 5), free('a'), grant('b', 5)])).toBe(false);
    expect(allows(fencedMutex(), [grant('a', 5), grant('b', 6)])).toBe(false);
  });
  const unseen: FencedMutexCall = {
    name: 'acquire',
    lock: 'l',
    owner: 'a',
    answer: 'granted',
    token: null,
  };
  it.each([0, -3])('may give %d as its first token', (token) => {
    expect(allows(fencedMutex(), [grant('a', token), free('a'), grant('b', token + 1)])).toBe(true);
    expect(allows(fencedMutex(), [grant('a', token), free('a'), grant('b', token)])).toBe(false);
    expect(allows(fencedMutex(), [unseen, free('a'), grant('b', token)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [grant('a', token), grant('a', token)])).toBe(true);
  });
  it('leaves room for a token that nobody saw', () => {
    const around = (last: number): FencedMutexCall[] => {
      return [grant('a', 1), free('a'), unseen, free('a'), grant('b', last)];
    };
    expect(allows(fencedMutex(), around(3))).toBe(true);
    expect(allows(fencedMutex(), around(2))).toBe(false);
  });
  it('shows with a second grant what the first of its owner was', () => {
    const calls = [unseen, grant('a', 5), free('a'), free('a')];
    expect(allows(reentrantFencedMutex(), [...calls, grant('b', 6)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [...calls, grant('b', 5)])).toBe(false);
    const later = [grant('b', 4), free('b'), ...calls];
    expect(allows(reentrantFencedMutex(), [...later, grant('b', 6)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [grant('b', 5), free('b'), ...calls])).toBe(false);
  });
  it('says that no token is known as long as none is', () => {
    const { describeState, init } = fencedMutex();
    expect(describeState?.(init)).toBe('it is free and no token is known yet');
  });
  it('gives the same again while it is held, if it is reentrant', () => {
    const again = [grant('a', 3), grant('a', 3), free('a'), free('a')];
    expect(allows(reentrantFencedMutex(), [...again, grant('b', 4)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [grant('a', 3), grant('a', 4)])).toBe(false);
    expect(allows(reentrantFencedMutex(), [...again, grant('b', 3)])).toBe(false);
  });
});

describe('a semaphore', () => {
  const call = (
    name: 'acquire' | 'release',
    permits: number,
    answer: 'granted' | 'released' | 'denied',
  ): SemaphoreCall => {
    const named = { semaphore: 's', permits };
    if (name === 'acquire' && answer !== 'released') return { name, ...named, answer };
    return { name: 'release', ...named, answer: answer === 'denied' ? answer : 'released' };
  };
  const two = call('acquire', 2, 'granted');
  it('grants while enough permits are left, and denies no sooner', () => {
    const calls = [two, call('acquire', 2, 'denied'), call('acquire', 1, 'granted')];
    expect(allows(semaphore(3), [...calls, call('release', 2, 'released'), two])).toBe(true);
    expect(allows(semaphore(3), [two, two])).toBe(false);
    expect(allows(semaphore(3), [call('acquire', 3, 'denied')])).toBe(false);
  });
  it('takes back no more than was taken', () => {
    expect(allows(semaphore(3), [two, call('release', 3, 'released')])).toBe(false);
    expect(allows(semaphore(3), [two, call('release', 3, 'denied')])).toBe(true);
  });
});

describe('a lease', () => {
  const take = (owner: string): LeaseCall => {
    return { name: 'acquire', lease: 'l', owner, answer: 'granted' };
  };
  const renew = (owner: string, answer: 'renewed' | 'denied'): LeaseCall => {
    return { name: 'renew', lease: 'l', owner, answer };
  };
  it('may expire unseen', () => {
    expect(allows(lease(), [take('a'), take('b'), renew('a', 'denied')])).toBe(true);
    expect(allows(lease(), [take('a'), renew('a', 'denied'), take('b')])).toBe(true);
  });
  it('is renewed for nobody who lost it', () => {
    expect(allows(lease(), [take('a'), take('b'), renew('a', 'renewed')])).toBe(false);
    const expired: LeaseCall = { name: 'expire', lease: 'l' };
    expect(allows(lease(), [take('a'), expired, renew('a', 'renewed')])).toBe(false);
    expect(allows(lease(), [take('a'), renew('a', 'denied'), renew('a', 'renewed')])).toBe(false);
  });
  it('is denied to nobody while nobody holds it', () => {
    const denied: LeaseCall = { name: 'acquire', lease: 'l', owner: 'b', answer: 'denied' };
    expect(allows(lease(), [denied])).toBe(false);
    expect(allows(lease(), [take('a'), denied])).toBe(true);
  });
  it('may be denied to the client that took it, whose first attempt was not answered', () => {
    const denied: LeaseCall = { name: 'acquire', lease: 'l', owner: 'a', answer: 'denied' };
    const asked: LeaseCall = { name: 'acquire', lease: 'l', owner: 'a', answer: 'unknown' };
    const history: History<LeaseCall> = [
      { client: 'a', call: asked, invoke: 0, return: null, outcome: 'info' },
      { client: 'a', call: denied, invoke: 2, return: 3, outcome: 'ok' },
    ];
    expect(checkHistory(history, lease()).kind).toBe('valid');
    expect(checkHistory(history.slice(1), lease()).kind).toBe('invalid');
    expect(allows(lease(), [take('a'), renew('a', 'denied'), denied])).toBe(false);
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
  it('returns what was put, appended, compared and deleted last', () => {
    const gone: KeyValueCall = { name: 'delete', key };
    const calls = [get(''), append, put, append, get('ab'), cas('b', 'missed')];
    expect(allows(keyValue(), [...calls, cas('ab', 'matched'), get('c'), gone, get('')])).toBe(
      true,
    );
    expect(allows(keyValue(null), [get(null), append, get('b'), gone, get(null)])).toBe(true);
  });
  it('loses no append and returns nothing that was replaced', () => {
    expect(allows(keyValue(), [put, append, get('a')])).toBe(false);
    expect(allows(keyValue(), [append, put, get('ba')])).toBe(false);
    expect(allows(keyValue(), [put, cas('b', 'matched')])).toBe(false);
  });
});

describe('a get of nothing', () => {
  it('of a map in which a missing key holds a text is told how to begin with nothing', () => {
    const get: KeyValueCall = { name: 'get', key: 'x', value: null };
    expect(keyValue().needs?.(get)).toBe(
      'nothing, where a key that was never put holds "" (unless the map begins with null)',
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
});
