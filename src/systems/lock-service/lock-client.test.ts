/** Tests that the plain client attaches the token of its own grant, and no other. */
import { describe, expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { LockClient } from './lock-client.ts';
import { LockService } from './lock-service.ts';

const X = { lock: 'db', key: 'x' };

function two(): { service: LockService; alice: LockClient; bob: LockClient } {
  const service = new LockService();
  return { service, alice: new LockClient('alice', service), bob: new LockClient('bob', service) };
}

describe('a client', () => {
  test('writes and reads with the token of its last grant of the lock', () => {
    const { alice } = two();
    const store = new Store('fenced-reads');
    alice.acquire({ lock: 'db', ttl: 10, now: 0 });
    alice.acquire({ lock: 'other', ttl: 10, now: 0 });
    expect([alice.token('db'), alice.token('other')]).toEqual([1, 2]);
    expect(alice.write(store, X, 5)).toEqual({ kind: 'accepted' });
    expect(store.highest({ resource: 'db', key: 'x' })).toBe(1);
    alice.acquire({ lock: 'db', ttl: 10, now: 1 });
    expect(alice.read(store, X)).toEqual({ kind: 'value', value: 5 });
    expect(store.highest({ resource: 'db', key: 'x' })).toBe(3);
  });

  test('sends nothing under a lock that it never had or has released', () => {
    const { alice } = two();
    const store = new Store('unfenced');
    expect(alice.write(store, X, 5)).toEqual({ kind: 'no-token', lock: 'db' });
    alice.acquire({ lock: 'db', ttl: 10, now: 0 });
    expect(alice.release('db')).toEqual({ kind: 'released' });
    expect(alice.write(store, X, 5)).toEqual({ kind: 'no-token', lock: 'db' });
    expect(store.contents('db').values.size).toBe(0);
  });

  test('continues with its old token after a denial, and a fenced store refuses it', () => {
    const { alice, bob } = two();
    const store = new Store('fenced');
    alice.acquire({ lock: 'db', ttl: 10, now: 0 });
    bob.acquire({ lock: 'db', ttl: 10, now: 10 });
    expect(alice.acquire({ lock: 'db', ttl: 10, now: 11 })).toEqual({
      kind: 'denied',
      holder: 'bob',
    });
    expect(bob.write(store, X, 2)).toEqual({ kind: 'accepted' });
    expect(alice.write(store, X, 1)).toEqual({ kind: 'refused', highest: 2 });
  });

  test('renews and releases its own grant, not a later one of another client', () => {
    const { service, alice, bob } = two();
    alice.acquire({ lock: 'db', ttl: 10, now: 0 });
    expect(alice.renew({ lock: 'db', ttl: 20, now: 5 })).toMatchObject({ kind: 'renewed' });
    expect(service.current('db')).toMatchObject({ token: 1, issuedAt: 5, ttl: 20 });
    expect(bob.renew({ lock: 'db', ttl: 20, now: 6 })).toEqual({ kind: 'denied', holder: 'alice' });
    bob.acquire({ lock: 'db', ttl: 10, now: 25 });
    expect(alice.release('db')).toEqual({ kind: 'denied', holder: 'bob' });
    expect(service.current('db')).toMatchObject({ client: 'bob', token: 2 });
  });

  test('numbers its accesses within a grant, so that a store can order them', () => {
    const { alice } = two();
    const store = new Store('fenced-sequenced');
    alice.acquire({ lock: 'db', ttl: 10, now: 0 });
    expect(alice.write(store, X, 1)).toEqual({ kind: 'accepted' });
    alice.renew({ lock: 'db', ttl: 10, now: 5 });
    expect(alice.write(store, X, 2)).toEqual({ kind: 'accepted' });
    const repeated = { resource: 'db', key: 'x', token: 1, sequence: 2 };
    expect(store.write(repeated, 3)).toEqual({ kind: 'refused', highest: 1 });
  });

  test('announces its token to a store that requires it', () => {
    const { alice, bob } = two();
    const store = new Store('fenced-open');
    alice.acquire({ lock: 'db', ttl: 10, now: 0 });
    bob.acquire({ lock: 'db', ttl: 10, now: 10 });
    expect(bob.open(store, X)).toEqual({ kind: 'accepted' });
    expect(alice.write(store, X, 1)).toEqual({ kind: 'refused', highest: 2 });
  });

  test('without a service remembers tokens, and cannot ask for locks', () => {
    const alone = new LockClient('alice');
    alone.remember({ lock: 'db', token: 7 });
    expect(alone.token('db')).toBe(7);
    expect(() => alone.acquire({ lock: 'db', ttl: 10, now: 0 })).toThrow('has no lock service');
  });
});

describe('an invalid argument throws, and the error names the expected value', () => {
  const service = new LockService();
  const ask = { lock: 'db', client: 'alice', ttl: 10, now: 0 };

  test.each([
    [{ ttl: Number.NaN }, RangeError, 'ttl must be a whole number of at least 1, not NaN'],
    [{ ttl: Infinity }, RangeError, 'ttl must be a whole number of at least 1, not Infinity'],
    [{ ttl: 0 }, RangeError, 'ttl must be a whole number of at least 1, not 0'],
    [{ ttl: -5 }, RangeError, 'ttl must be a whole number of at least 1, not -5'],
    [{ ttl: 1.5 }, RangeError, 'ttl must be a whole number of at least 1, not 1.5'],
    [{ ttl: JSON.parse('"10ms"') }, TypeError, 'not "10ms"'],
    [{ now: Number.NaN }, RangeError, 'now must be a whole number, not NaN'],
    [{ lock: '' }, TypeError, 'lock must be a non-empty string, not ""'],
    [{ client: JSON.parse('null') }, TypeError, 'client must be a non-empty string, not null'],
  ])('acquire with %o', (wrong, kind, what) => {
    const attempt = (): unknown => service.acquire({ ...ask, ...wrong });
    expect(attempt).toThrow(kind);
    expect(attempt).toThrow(what);
    expect(service.save()).toEqual({ counter: 0, grants: [] });
  });

  test('renew and release', () => {
    const named = { lock: 'db', client: 'alice', token: 1 };
    expect(() => service.renew({ ...named, ttl: Number.NaN, now: 0 })).toThrow('ttl must be');
    expect(() => service.renew({ ...named, ttl: 1, now: 0.5 })).toThrow('now must be');
    expect(() => service.release({ ...named, token: Number.NaN })).toThrow('token must be');
    expect(() => service.release({ ...named, lock: '' })).toThrow('lock must be');
  });

  test.each([
    [{ token: Number.NaN }, 'token must be a whole number of at least 0, not NaN'],
    [{ token: -1 }, 'token must be a whole number of at least 0, not -1'],
    [{ token: 2 ** 53 }, 'token must be a whole number of at least 0, not 9007199254740992'],
    [{ resource: '' }, 'resource must be a non-empty string, not ""'],
    [{ sequence: 0.5 }, 'sequence must be a whole number of at least 0, not 0.5'],
  ])('a store with %o', (wrong, what) => {
    const access = { resource: 'db', key: 'x', token: 1, sequence: 1, ...wrong };
    for (const name of ['fenced', 'unfenced']) {
      const store = new Store(name);
      expect(() => store.write(access, 1)).toThrow(what);
      expect(() => store.read(access)).toThrow(what);
      expect(() => store.open(access)).toThrow(what);
      expect(store.contents('db')).toEqual({ highest: 0, values: new Map() });
    }
  });

  test('constructors', () => {
    expect(() => new LockService(0)).toThrow(
      'firstToken must be a whole number of at least 1, not 0',
    );
    expect(() => new LockService(1, { lockDelay: Number.NaN })).toThrow('lockDelay must be');
    expect(() => new LockClient('')).toThrow('id must be');
    expect(() => new Store('fencd')).toThrow(
      'there is no store "fencd"; there are unfenced, fenced',
    );
  });
});
