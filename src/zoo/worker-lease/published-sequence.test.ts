/** The two calls of the published scheme, `acquire_lease` and `release_lease`, in sequences. */
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import type { Program } from '../../core/world/program.ts';
import { type Dispatcher, dispatch, type Keeper, SECOND } from './dispatcher.fixture.ts';

const KEEPER_KINDS: readonly Keeper[] = ['a table', 'memcached', 'Redis'];
const DAY = 86_400;

describe.each(KEEPER_KINDS)('a lease in %s', (keeper) => {
  test('follows the published sequence', () => {
    dispatch(keeper, function* ({ acquire, release, until }) {
      const first = { steps: 1, retries: 1, timeout: 300 };
      const other = { steps: 2, retries: 2, timeout: 300 };
      expect(yield* acquire(first)).toBe(1);
      expect(yield* acquire(first), 'again by the same').toBe(false);
      expect(yield* acquire(other), 'by another').toBe(false);
      expect(yield* release({ ...other, fence: 1 }), 'by another').toBe(false);
      expect(yield* release({ ...first, fence: 2 }), 'with a wrong token').toBe(false);
      expect(yield* release({ ...first, fence: 1 })).toBe(true);
      yield* until(100);
      const short = { steps: 1, retries: 2, timeout: 1 };
      expect(yield* acquire(short)).toBe(2);
      yield* until(102);
      expect(yield* acquire(short), 'it has timed out').toBe(3);
    });
  });

  test('is held during the second in which it times out, and not in the next', () => {
    dispatch(keeper, function* ({ acquire, until }) {
      const ask = { steps: 0, retries: 0, timeout: 1 };
      expect(yield* acquire(ask)).toBe(1);
      yield* until(1.9);
      expect(yield* acquire(ask)).toBe(false);
      yield* until(2);
      expect(yield* acquire(ask)).toBe(2);
    });
  });

  test('is released only with its own steps, retries and token, and only once', () => {
    dispatch(keeper, function* ({ acquire, release }) {
      const mine = { steps: 3, retries: 1, fence: 1 };
      yield* acquire({ steps: 3, retries: 1, timeout: 300 });
      expect(yield* release({ ...mine, steps: 4 })).toBe(false);
      expect(yield* release({ ...mine, retries: 2 })).toBe(false);
      expect(yield* release(mine)).toBe(true);
      expect(yield* release(mine)).toBe(false);
    });
  });

  test('is stolen by a client with a fast clock', () => {
    const fast: Fault = {
      kind: 'clock',
      process: 'alice',
      stepUs: 301 * SECOND,
      ratePpm: 0,
      when: { kind: 'at', atUs: 10 * SECOND },
    };
    const script = function* ({ acquire, until }: Dispatcher): Program<void> {
      const ask = { steps: 0, retries: 0, timeout: 300 };
      expect(yield* acquire(ask)).toBe(1);
      yield* until(5);
      expect(yield* acquire(ask)).toBe(false);
      yield* until(20);
      expect(yield* acquire(ask)).toBe(2);
    };
    dispatch(keeper, script, [fast]);
  });
});

describe.each(KEEPER_KINDS)('a lease in %s', (keeper) => {
  test('from the secondary has a token of a separate count', () => {
    dispatch(keeper, function* ({ acquire, until }) {
      const ask = { steps: 0, retries: 0, timeout: 1 };
      for (const fence of [1, 2, 3, 4, 5]) {
        yield* until(2 * fence);
        expect(yield* acquire(ask)).toBe(fence);
      }
      expect(yield* acquire({ ...ask, at: 'standby' })).toBe(1);
    });
  });

  test('returns 0, not false, if its back end cannot be reached', () => {
    const partition: Fault = {
      kind: 'partition',
      from: ['alice'],
      to: ['lock'],
      direction: 'both',
      when: { kind: 'at', atUs: 0 },
      forUs: 100 * SECOND,
    };
    const script = function* ({ acquire, release }: Dispatcher): Program<void> {
      expect(yield* acquire({ steps: 0, retries: 0, timeout: 1 })).toBe(0);
      expect(yield* release({ steps: 0, retries: 0, fence: 1 })).toBe(0);
    };
    dispatch(keeper, script, [partition]);
  });

  test('of a machine idle for a day starts at 1 again in a cache, never in a table', () => {
    dispatch(keeper, function* ({ acquire, until }) {
      const ask = { steps: 0, retries: 0, timeout: 10 };
      expect(yield* acquire(ask)).toBe(1);
      yield* until(100);
      expect(yield* acquire(ask)).toBe(2);
      yield* until(101 + DAY);
      expect(yield* acquire(ask)).toBe(keeper === 'a table' ? 3 : 1);
    });
  });

  test('that a cache evicted gets a second holder with its token, released by the first', () => {
    const evict: Fault = {
      kind: 'evict',
      process: 'lock',
      key: 'machine',
      when: { kind: 'at', atUs: 5 * SECOND },
    };
    const script = function* ({ acquire, release, until }: Dispatcher): Program<void> {
      const ask = { steps: 0, retries: 0, timeout: 300 };
      expect(yield* acquire(ask)).toBe(1);
      yield* until(10);
      expect(yield* acquire(ask)).toBe(keeper === 'a table' ? false : 1);
      expect(yield* release({ steps: 0, retries: 0, fence: 1 })).toBe(true);
    };
    dispatch(keeper, script, [evict]);
  });
});
