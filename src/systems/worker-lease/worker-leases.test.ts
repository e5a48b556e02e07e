import { describe, expect, test } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { CacheLeases, KEY_LIFE_SECONDS } from './cache-leases.ts';
import { TableLeases } from './table-leases.ts';
import { type LeaseKeeper, WorkerLeases } from './worker-leases.ts';

const BACK_ENDS: readonly (readonly [string, () => LeaseKeeper])[] = [
  ['a cache', () => new CacheLeases(new Cache(), KEY_LIFE_SECONDS)],
  ['a table', () => new TableLeases()],
];

const TIMEOUT = 300;
const machine = { correlationId: 'm', isPrimary: true };

describe.each(BACK_ENDS)('a lease in %s', (_, backEnd) => {
  test('goes through the published sequence', () => {
    const leases = new WorkerLeases({ primary: backEnd(), secondary: null });
    const first = { ...machine, steps: 1, retries: 1, timeout: TIMEOUT, now: 100 };
    const other = { ...machine, steps: 2, retries: 2, timeout: TIMEOUT, now: 100 };
    expect(leases.acquireLease(first)).toBe(1);
    expect(leases.acquireLease(first), 'again by the same').toBe(false);
    expect(leases.acquireLease(other), 'by another').toBe(false);
    expect(leases.releaseLease({ ...other, fence: 1 }), 'by another').toBe(false);
    expect(leases.releaseLease({ ...first, fence: 2 }), 'with a wrong token').toBe(false);
    expect(leases.releaseLease({ ...first, fence: 1 })).toBe(true);
    const short = { ...machine, steps: 1, retries: 2, timeout: 1, now: 100 };
    expect(leases.acquireLease(short)).toBe(2);
    expect(leases.acquireLease({ ...short, now: 102 }), 'it has timed out').toBe(3);
  });

  test('is held through the second in which its timeout ends, and not in the next', () => {
    const leases = new WorkerLeases({ primary: backEnd(), secondary: null });
    const ask = { ...machine, steps: 0, retries: 0, timeout: 1 };
    expect(leases.acquireLease({ ...ask, now: 0 })).toBe(1);
    expect(leases.acquireLease({ ...ask, now: 1 })).toBe(false);
    expect(leases.acquireLease({ ...ask, now: 2 })).toBe(2);
  });

  test('is released only with its own steps, retries and token, and only once', () => {
    const leases = new WorkerLeases({ primary: backEnd(), secondary: null });
    const mine = { ...machine, steps: 3, retries: 1, timeout: TIMEOUT, now: 0 };
    leases.acquireLease(mine);
    expect(leases.releaseLease({ ...mine, steps: 4, fence: 1 })).toBe(false);
    expect(leases.releaseLease({ ...mine, retries: 2, fence: 1 })).toBe(false);
    expect(leases.releaseLease({ ...mine, fence: 1 })).toBe(true);
    expect(leases.releaseLease({ ...mine, fence: 1 })).toBe(false);
  });

  test('that a fast clock asks for is stolen', () => {
    const leases = new WorkerLeases({ primary: backEnd(), secondary: null });
    const ask = { ...machine, steps: 0, retries: 0, timeout: TIMEOUT };
    expect(leases.acquireLease({ ...ask, now: 1000 })).toBe(1);
    expect(leases.acquireLease({ ...ask, now: 1000 + 300 })).toBe(false);
    expect(leases.acquireLease({ ...ask, now: 1000 + 301 })).toBe(2);
  });

  test('that another worker asks the secondary for has a token of its own count', () => {
    const leases = new WorkerLeases({ primary: backEnd(), secondary: backEnd() });
    const ask = { ...machine, steps: 0, retries: 0, timeout: 1 };
    const tokens = [0, 2, 4, 6, 8].map((now) => leases.acquireLease({ ...ask, now }));
    expect(tokens).toEqual([1, 2, 3, 4, 5]);
    expect(leases.acquireLease({ ...ask, isPrimary: false, now: 8 })).toBe(1);
  });

  test('costs 0, not false, where its back end cannot be reached', () => {
    const leases = new WorkerLeases({ primary: backEnd(), secondary: null });
    const ask = { ...machine, isPrimary: false, steps: 0, retries: 0, timeout: 1, now: 0 };
    expect(leases.acquireLease(ask)).toBe(0);
    expect(leases.releaseLease({ ...ask, fence: 1 })).toBe(0);
  });
});

describe('what is forgotten', () => {
  const ask = { steps: 0, retries: 0, timeout: 10 };

  test('a cache forgets the fence token of a machine that was idle for 24 hours', () => {
    const leases = new CacheLeases(new Cache(), KEY_LIFE_SECONDS);
    const times = [0, 100, 200, 200 + KEY_LIFE_SECONDS];
    expect(times.map((now) => leases.acquire('m', { ...ask, now }))).toEqual([1, 2, 3, 1]);
  });

  test('a table never forgets it', () => {
    const leases = new TableLeases();
    const times = [0, 100, 200, 200 + KEY_LIFE_SECONDS];
    expect(times.map((now) => leases.acquire('m', { ...ask, now }))).toEqual([1, 2, 3, 4]);
  });

  test('an evicted live lease has a second holder with the same token, who is released by the first', () => {
    const cache = new Cache();
    const leases = new CacheLeases(cache, KEY_LIFE_SECONDS);
    expect(leases.acquire('m', { ...ask, now: 0 })).toBe(1);
    cache.forget('m');
    expect(leases.acquire('m', { ...ask, now: 1 })).toBe(1);
    expect(leases.release('m', { steps: 0, retries: 0, fence: 1 }, 2)).toBe(true);
  });

  test('a worker that was overtaken between its look and its store gets nothing', () => {
    const leases = new CacheLeases(new Cache(), KEY_LIFE_SECONDS);
    const record = { steps: 0, retries: 0, since: 0, expires: 10, fence: 1 };
    const leased = { ...record, state: 'leased' as const };
    const seen = leases.look('m', 0);
    expect(leases.acquire('m', { ...ask, now: 0 })).toBe(1);
    expect(leases.put('m', leased, seen, 0)).toBe(false);
    const again = leases.look('m', 1);
    expect(leases.release('m', { steps: 0, retries: 0, fence: 1 }, 1)).toBe(true);
    expect(leases.put('m', leased, again, 1)).toBe(false);
  });
});
