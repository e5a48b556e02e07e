import { describe, expect, test } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { CacheLock, type CacheLockSettings } from './cache-lock.ts';

/** A lock with an expiration of 10 and a retry interval of 2, with numbered tokens. */
function lockOn(cache: Cache, more: Partial<CacheLockSettings> = {}): CacheLock {
  let tokens = 0;
  const newToken = (): string => {
    tokens += 1;
    return `${more.key ?? 'db'}-${tokens}`;
  };
  return new CacheLock(cache, { key: 'db', expiration: 10, retry: 2, newToken, ...more });
}

describe('a CacheLock without the simulator', () => {
  test('is acquired, extended and released', () => {
    const cache = new Cache();
    const lock = lockOn(cache);
    expect(lock.acquire(0)).toEqual({ kind: 'acquired', until: 10 });
    expect(cache.get('db', 9)?.value).toBe('db-1');
    expect(lock.extend(4)).toEqual({ kind: 'extended', until: 14 });
    expect(lock.extend(5, 20)).toEqual({ kind: 'extended', until: 25 });
    expect(lock.isAcquired).toBe(true);
    expect(lock.release(25 - 1)).toEqual({ kind: 'released' });
    expect([lock.isAcquired, cache.get('db', 24)]).toEqual([false, null]);
  });

  test('keeps its token while it waits, without limit or until its timeout', () => {
    const cache = new Cache();
    lockOn(cache, { expiration: 100 }).acquire(0);
    const patient = lockOn(cache);
    expect(patient.acquire(1)).toEqual({ kind: 'busy', retryAt: 3 });
    expect(patient.acquire(99)).toEqual({ kind: 'busy', retryAt: 101 });
    expect(patient.acquire(100)).toEqual({ kind: 'acquired', until: 110 });
    expect(cache.get('db', 100)?.value).toBe('db-1');
    const hasty = lockOn(cache, { timeout: 4 });
    expect([100, 103, 104, 105].map((now) => hasty.acquire(now).kind)).toEqual([
      'busy',
      'busy',
      'timed-out',
      'busy',
    ]);
    const once = lockOn(cache, { blocking: false });
    expect(once.acquire(100)).toEqual({ kind: 'busy', retryAt: null });
  });

  test('refuses a second acquire, and an extend or release while it is not held', () => {
    const lock = lockOn(new Cache());
    const why = (deed: string): string => `this lock on db is not acquired, and cannot be ${deed}`;
    expect(lock.extend(0)).toEqual({ kind: 'refused', why: why('extended') });
    expect(lock.release(0)).toEqual({ kind: 'refused', why: why('released') });
    lock.acquire(0);
    const again = lock.acquire(1);
    expect(again).toEqual({ kind: 'refused', why: 'this lock on db is acquired already' });
    lock.release(2);
    expect(lock.release(3)).toEqual({ kind: 'refused', why: why('released') });
    expect(lock.acquire(4)).toEqual({ kind: 'acquired', until: 14 });
  });

  test('is not created with invalid settings', () => {
    const make = (): CacheLock => lockOn(new Cache(), { key: '', retry: 0 });
    expect(make).toThrow(
      new RangeError('a lock needs a key; a retry interval must be greater than 0, not 0'),
    );
  });

  test('does nothing after its end, but exactly at its end extends a successor’s key', () => {
    const cache = new Cache();
    const [early, late] = [lockOn(cache), lockOn(cache)];
    early.acquire(0);
    expect(early.release(11)).toEqual({ kind: 'expired' });
    expect(cache.endOf('db', 9)).toBe(10);
    late.acquire(20);
    const successor = lockOn(cache, { newToken: () => 'successor' });
    expect(successor.acquire(30)).toEqual({ kind: 'acquired', until: 40 });
    cache.touch('db', 5, 30);
    expect(late.release(30)).toEqual({ kind: 'lost' });
    expect([cache.get('db', 30)?.value, cache.endOf('db', 30)]).toEqual(['successor', 40]);
  });

  test('is lost if the cache evicts it, yet still counts as acquired', () => {
    const cache = new Cache();
    const lock = lockOn(cache);
    lock.acquire(0);
    cache.forget('db');
    expect([lock.extend(1), lock.isAcquired]).toEqual([{ kind: 'lost' }, true]);
    expect(lock.release(2)).toEqual({ kind: 'lost' });
  });

  test.each([
    ['published', 'anyone', 'lost', 'other', 12],
    ['published', 'owner', 'lost', 'other', 11],
    ['add-again', 'anyone', 'lost', 'other', 11],
    ['compare-and-delete', 'anyone', 'lost', 'other', 11],
    ['delete', 'anyone', 'released', undefined, null],
  ] as const)('released by %s, extends: %s: reports %s, leaves %s until %s', (...given) => {
    const [release, whose, kind, value, end] = given;
    const cache = new Cache();
    const lock = lockOn(cache, { release, extends: whose });
    lock.acquire(0);
    cache.forget('db');
    lockOn(cache, { newToken: () => 'other' }).acquire(1);
    expect(lock.release(2).kind).toBe(kind);
    expect([cache.get('db', 2)?.value, cache.endOf('db', 2)]).toEqual([value, end]);
  });

  test('released by add-again takes a free lock again, and releases it', () => {
    const cache = new Cache();
    const lock = lockOn(cache, { release: 'add-again' });
    lock.acquire(0);
    cache.forget('db');
    expect(lock.release(2)).toEqual({ kind: 'released' });
    expect(cache.get('db', 2)).toBeNull();
  });
});
