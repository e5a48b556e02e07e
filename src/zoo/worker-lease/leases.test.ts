/** Tests the leases without the simulator, with the numbers of the published sequence. */
import { describe, expect, test } from 'vitest';
import { LeaseCache, LeaseTable } from './leases.ts';

const machine = 'abc123';
const first = { machine, steps: 1, retries: 1 };
const other = { machine, steps: 1, retries: 2 };

describe.each([
  ['a table', () => new LeaseTable()],
  ['a cache', () => new LeaseCache()],
])('leases in %s', (_, make) => {
  test('follow the published sequence', () => {
    const leases = make();
    expect(leases.acquire({ ...first, timeout: 300, now: 0 })).toMatchObject({ fence: 1 });
    expect(leases.acquire({ ...first, timeout: 300, now: 0 })).toEqual({ kind: 'held' });
    expect(leases.acquire({ ...other, timeout: 300, now: 0 })).toEqual({ kind: 'held' });
    expect(leases.release({ ...other, fence: 1, now: 0 })).toEqual({ kind: 'not held' });
    expect(leases.release({ ...first, fence: 99, now: 0 })).toEqual({ kind: 'not held' });
    expect(leases.release({ ...first, fence: 1, now: 0 })).toEqual({ kind: 'released' });
    expect(leases.release({ ...first, fence: 1, now: 0 })).toEqual({ kind: 'not held' });
    expect(leases.acquire({ ...other, timeout: 1, now: 0 })).toMatchObject({ fence: 2 });
    expect(leases.acquire({ ...other, timeout: 300, now: 1 })).toEqual({ kind: 'held' });
    const last = { kind: 'leased', fence: 3, expires: 302 };
    expect(leases.acquire({ ...other, timeout: 300, now: 2 })).toEqual(last);
  });

  test('that are down neither grant nor deny, and lose nothing', () => {
    const leases = make();
    leases.acquire({ ...first, timeout: 300, now: 0 });
    leases.isUp = false;
    const away = { kind: 'system error' };
    expect(leases.acquire({ ...other, timeout: 300, now: 0 })).toEqual(away);
    expect(leases.release({ ...first, fence: 1, now: 0 })).toEqual(away);
    leases.isUp = true;
    expect(leases.acquire({ ...other, timeout: 300, now: 0 })).toEqual({ kind: 'held' });
  });

  test('refuse numbers that are negative or not whole', () => {
    const leases = make();
    const request = { ...first, timeout: 300, now: 0 };
    expect(() => leases.acquire({ ...request, timeout: 0.5 })).toThrow('timeout must be a whole');
    expect(() => leases.acquire({ ...request, now: Number.NaN })).toThrow('now must be a whole');
    expect(() => leases.acquire({ ...request, steps: -1 })).toThrow('steps must be a whole');
    expect(() => leases.release({ ...first, fence: -1, now: 0 })).toThrow(RangeError);
  });
});

test('a table never forgets a fence; a cache does after a day or an eviction', () => {
  const day = 86_400;
  const table = new LeaseTable();
  const cache = new LeaseCache();
  for (const leases of [table, cache]) leases.acquire({ ...first, timeout: 1, now: 0 });
  expect(table.acquire({ ...first, timeout: 1, now: day + 1 })).toMatchObject({ fence: 2 });
  expect(cache.acquire({ ...first, timeout: 1, now: day - 1 })).toMatchObject({ fence: 2 });
  expect(cache.acquire({ ...first, timeout: 1, now: 2 * day })).toMatchObject({ fence: 1 });
  expect(cache.evict(machine)).toBe(true);
  expect(cache.evict(machine)).toBe(false);
  expect(cache.acquire({ ...first, timeout: 1, now: 2 * day })).toMatchObject({ fence: 1 });
});
