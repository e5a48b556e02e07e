/** These tests use constant latencies of 1 ms, a ttl of 10 ms, and no randomness. */
import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { run } from '../../run.ts';
import { protocolOf } from '../../systems/define-lock.ts';
import { clientOf, eventsOf, MS, planOf } from '../../systems/plan.fixture.ts';
import type { Protocol } from '../../systems/protocol.ts';
import { calls, compute, evictAt, logs, pauseAt, runOf } from './cache-lock.fixture.ts';
import { cacheLock } from './protocol.ts';

describe('a release', () => {
  test.each([
    [7, 'after', 4, '15 alice: released db'],
    // Exactly at its end it still asks, but the cache has just ended the key.
    [8, 'after', 2, '12 alice: released db'],
    [9, 'after', 1, '11 alice: released db, which had expired'],
    [7, 'at', 4, '15 alice: released db'],
    [8, 'at', 1, '10 alice: released db, which had expired'],
  ])('after %i ms of work, expired: %s, sends %i messages in all', (ms, expired, count, last) => {
    const options = { countsFrom: 'request', expired };
    const trace = runOf([clientOf('alice', [compute(ms)])], { options });
    expect(calls(trace)).toHaveLength(count);
    expect(logs(trace).at(-1)).toBe(last);
  });

  test('at its end extends a successor granted at the same instant, or finds no key', () => {
    const bob = clientOf('bob', [compute(5)], { section: { thinkUs: 10 * MS } });
    const plan = planOf({
      clients: [clientOf('alice', [compute(8)]), bob],
      lock: 'cache-lock',
      store: 'unfenced',
      options: { countsFrom: 'request' },
    });
    const touches = ['bob/1/acquire', 'alice/1/release-touch'].map((first) => {
      const trace = run({ ...plan, order: [`${first}/1/request`] });
      expect(trace.unmatched).toEqual([]);
      return eventsOf(trace, 'renew').find(({ client }) => client === 'alice');
    });
    expect(touches).toMatchObject([
      { atUs: 11 * MS, under: 1, extended: 2 },
      { atUs: 11 * MS, under: 1, extended: 0 },
    ]);
  });
});

describe('a CacheLock that is released by add-again', () => {
  const options = { release: 'add-again' };

  test('finds its own key, which it does not extend, and deletes it', () => {
    const trace = runOf([clientOf('alice', [compute(3)])], { options });
    expect(calls(trace).slice(1)).toEqual([
      '5 alice/1/release-add',
      '7 alice/1/release-get',
      '9 alice/1/release',
    ]);
    expect(eventsOf(trace, 'deny')).toMatchObject([{ client: 'alice', holder: 'alice' }]);
    expect(eventsOf(trace, 'renew')).toEqual([]);
    expect(eventsOf(trace, 'release')).toMatchObject([{ released: 1, under: 1 }]);
  });

  test('takes the lock again if its key is gone, and releases that grant', () => {
    const trace = runOf([clientOf('alice', [compute(3)])], { options, faults: [evictAt(4)] });
    expect(eventsOf(trace, 'grant').map(({ ordinal }) => ordinal)).toEqual([1, 2]);
    expect(eventsOf(trace, 'release')).toMatchObject([{ released: 2, under: 2 }]);
    expect(logs(trace).at(-1)).toBe('11 alice: released db');
  });

  test('leaves a successor’s key unchanged', () => {
    const bob = clientOf('bob', [compute(5)], { section: { thinkUs: 5 * MS } });
    const alice = clientOf('alice', [compute(3)]);
    const trace = runOf([alice, bob], { options, faults: [evictAt(3)] });
    const releases = eventsOf(trace, 'release').filter(({ client }) => client === 'alice');
    expect(releases).toEqual([]);
    expect(logs(trace)).toContain('9 alice: db fell out of the cache');
  });

  test('deletes the successor’s key after a stall between get and delete', () => {
    const bob = clientOf('bob', [compute(8)], { section: { thinkUs: 5 * MS } });
    const faults = [pauseAt('alice/1/release', 8)];
    const trace = runOf([clientOf('alice', []), bob], { faults, options });
    expect(eventsOf(trace, 'release')[0]).toMatchObject({ client: 'alice', under: 1, released: 2 });
  });
});

describe('a release that gets no answer', () => {
  test.each(['release-touch', 'release-get', 'release'])(
    'to its %s does not know whether the key is still there',
    (call) => {
      const late: Fault = {
        kind: 'delay',
        byUs: 20 * MS,
        which: { kind: 'message', message: `alice/1/${call}/1/reply` },
      };
      const alice = clientOf('alice', [compute(1)], { lockTimeoutUs: 3 * MS });
      expect(logs(runOf([alice], { faults: [late] })).slice(1)).toEqual([
        expect.stringMatching(/alice: the cache did not answer; db may still be there$/),
      ]);
    },
  );
});

describe('a lock that is not held', () => {
  test.each([
    ['extended', '0 alice: refused: this lock on db is not acquired, and cannot be extended'],
    ['released', '0 alice: refused: this lock on db is not acquired, and cannot be released'],
  ])('cannot be %s, and logs that', (deed, message) => {
    const lock = 'hasty-cache-lock';
    const trace = run(
      planOf({ clients: [clientOf('alice', [])], lock, store: 'unfenced' }),
      catalogueWith(lock, deed),
    );
    expect(logs(trace)).toEqual([message]);
    expect(calls(trace)).toEqual([]);
  });
});

/** A CacheLock for clients that extend or release it instead of acquiring it. */
function catalogueWith(name: string, deed: string): Catalogue {
  const build: Protocol['build'] = (world, options) => {
    const driverOf = cacheLock.build?.(world, options);
    return (client, role) => {
      const driver = driverOf?.(client, role);
      if (driver?.renew === undefined) throw new Error('it has a driver that renews');
      const { renew, release } = driver;
      return {
        *acquire(at) {
          if (deed === 'released') yield* release.call(driver, at);
          else yield* renew.call(driver, at, { id: 1, ttlUs: MS });
          return 'given up';
        },
        *release() {},
      };
    };
  };
  return {
    ...builtIn,
    locks: new Map([...builtIn.locks, [name, protocolOf(name, { ...cacheLock, build })]]),
  };
}
