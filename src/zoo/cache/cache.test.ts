import { describe, expect, test } from 'vitest';
import { Cache } from './cache.ts';

describe('the cache', () => {
  test('keeps an item until its end, exclusive', () => {
    const cache = new Cache();
    cache.set('a', 'x', 10, 5);
    expect([5, 14, 15].map((now) => cache.get('a', now)?.value ?? null)).toEqual(['x', 'x', null]);
    expect(cache.endOf('a', 14)).toBe(15);
  });

  test('keeps an item without a ttl forever', () => {
    const cache = new Cache();
    cache.set('a', 'x', null, 5);
    expect(cache.get('a', Number.MAX_SAFE_INTEGER)?.value).toBe('x');
    expect(cache.endOf('a', 5)).toBeNull();
  });

  test('adds an item only if none exists, and again from its end on', () => {
    const cache = new Cache();
    const tries = [0, 9, 10].map((now) => cache.add('a', now, 10, now));
    expect(tries).toEqual([true, false, true]);
    expect(cache.get('a', 10)?.value).toBe(10);
  });

  test('stores by cas only over the item that was read', () => {
    const cache = new Cache();
    expect(cache.cas('a', 'x', 1, null, 0)).toBe('not-found');
    cache.set('a', 'x', 10, 0);
    const read = cache.get('a', 0)?.unique ?? 0;
    expect(cache.cas('a', 'y', read, 10, 1)).toBe('stored');
    expect(cache.cas('a', 'z', read, 10, 2)).toBe('exists');
    expect(cache.cas('a', 'z', read + 1, 10, 11)).toBe('not-found');
    expect(cache.get('a', 10)?.value).toBe('y');
  });

  test('changes the end by a touch and keeps value and cas id', () => {
    const cache = new Cache();
    cache.set('a', 'x', 10, 0);
    const before = cache.get('a', 0);
    expect(cache.touch('a', 10, 9)).toBe(true);
    expect(cache.get('a', 18)).toEqual(before);
    expect([cache.get('a', 19), cache.touch('a', 10, 19)]).toEqual([null, false]);
  });

  test('deletes an existing item regardless of its writer, but no expired one', () => {
    const cache = new Cache();
    cache.set('a', 'x', 10, 0);
    expect([cache.delete('a', 10), cache.delete('b', 0)]).toEqual([false, false]);
    expect([cache.delete('a', 9), cache.delete('a', 9)]).toEqual([true, false]);
  });

  test('evicts one key or all, and never reuses a cas id', () => {
    const cache = new Cache();
    cache.set('a', 'x', null, 0);
    cache.set('b', 'y', null, 0);
    const before = cache.get('b', 0)?.unique ?? 0;
    expect([cache.forget('a'), cache.forget('a')]).toEqual([true, false]);
    expect(cache.get('b', 0)).not.toBeNull();
    cache.clear();
    expect(cache.get('b', 0)).toBeNull();
    cache.set('b', 'y', null, 1);
    expect(cache.get('b', 1)?.unique).toBeGreaterThan(before);
  });

  test('is restored from a snapshot that shares no state with it', () => {
    const cache = new Cache();
    cache.set('a', 'x', 10, 0);
    const saved = cache.save();
    cache.set('a', 'y', 10, 1);
    cache.set('b', 'z', 10, 1);
    cache.load(saved);
    expect([cache.get('a', 2)?.value, cache.get('b', 2)]).toEqual(['x', null]);
    cache.set('b', 'z', 10, 2);
    expect(cache.get('b', 2)?.unique).toBe(2);
  });
});
