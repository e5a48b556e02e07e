/** These tests use constant latencies of 1 ms, a ttl of 10 ms, and no randomness unless noted. */
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { calls, compute, evictAt, logs, pauseAt, renew, runOf } from './cache-lock.fixture.ts';

describe('a CacheLock', () => {
  test('adds its key, works, and releases it in three messages', () => {
    const trace = runOf([clientOf('alice', [compute(3)])]);
    expect(calls(trace)).toEqual([
      '0 alice/1/acquire',
      '5 alice/1/release-touch',
      '7 alice/1/release-get',
      '9 alice/1/release',
    ]);
    expect(eventsOf(trace, 'renew')).toMatchObject([{ atUs: 6 * MS, extended: 1, under: 1 }]);
    expect(eventsOf(trace, 'release')).toMatchObject([{ atUs: 10 * MS, released: 1, under: 1 }]);
    expect(logs(trace)).toEqual(['2 alice: acquired db for 10 ms', '11 alice: released db']);
  });

  test('releases it in one message if the cache compares', () => {
    const options = { release: 'compare-and-delete' };
    const trace = runOf([clientOf('alice', [compute(3)])], { options });
    expect(calls(trace)).toEqual(['0 alice/1/acquire', '5 alice/1/release']);
    expect(eventsOf(trace, 'release')).toMatchObject([{ released: 1 }]);
  });

  test.each([
    ['reply', 14],
    ['request', 10],
  ])('counts from the %s until %i ms; the cache ends the key at 12 ms', (countsFrom, end) => {
    const decisions = { 'alice/1/acquire/1/request': 2 * MS, 'alice/1/acquire/1/reply': 2 * MS };
    const trace = runOf([clientOf('alice', [])], { decisions, options: { countsFrom } });
    expect(eventsOf(trace, 'grant')).toMatchObject([{ atUs: 2 * MS, untilUs: 12 * MS }]);
    expect(eventsOf(trace, 'enter')).toMatchObject([{ atUs: 4 * MS, believedUntilUs: end * MS }]);
  });

  test('counts until 14 ms after a reply 4 ms late; the cache ends the key at 10 ms', () => {
    const decisions = { 'alice/1/acquire/1/request': 0, 'alice/1/acquire/1/reply': 4 * MS };
    const trace = runOf([clientOf('alice', [])], { decisions });
    expect(eventsOf(trace, 'grant')).toMatchObject([{ untilUs: 10 * MS }]);
    expect(eventsOf(trace, 'enter')).toMatchObject([{ believedUntilUs: 14 * MS }]);
  });

  test('finds its key gone if it counted for longer than the cache', () => {
    const trace = runOf([clientOf('alice', [compute(9)])]);
    expect(calls(trace).slice(1)).toEqual(['11 alice/1/release-touch']);
    expect(logs(trace).slice(1)).toEqual([
      '13 alice: db fell out of the cache',
      '13 alice: released db',
    ]);
  });

  test('waits while another client’s key exists', () => {
    const bob = clientOf('bob', [], { section: { thinkUs: 1 * MS } });
    const trace = runOf([clientOf('alice', [compute(20)]), bob]);
    expect(calls(trace).filter((call) => call.includes('acquire'))).toEqual([
      '0 alice/1/acquire',
      '1 bob/1/acquire',
      '5 bob/1/acquire-2',
      '9 bob/1/acquire-3',
      '13 bob/1/acquire-4',
    ]);
    expect(eventsOf(trace, 'deny')[0]).toMatchObject({ holder: 'alice', holderOrdinal: 1 });
    expect(eventsOf(trace, 'grant')[1]).toMatchObject({ atUs: 14 * MS, client: 'bob' });
  });

  test('without blocking, is tried once', () => {
    const bob = clientOf('bob', [], { section: { thinkUs: 1 * MS } });
    const options = { blocking: 'no' };
    const trace = runOf([clientOf('alice', [compute(3)]), bob], { options });
    expect(calls(trace).filter((call) => call.includes('bob'))).toEqual(['1 bob/1/acquire']);
  });

  test('is waited for until its timeout, which each answer checks', () => {
    const bob = clientOf('bob', [], { section: { thinkUs: 1 * MS } });
    for (const options of [
      { timeout: 6 },
      { timeoutUs: 6 * MS },
      { timeout: -1, timeoutUs: 6000 },
    ]) {
      const trace = runOf([clientOf('alice', [compute(3)], { releases: false }), bob], { options });
      expect(calls(trace).filter((call) => call.includes('bob'))).toEqual([
        '1 bob/1/acquire',
        '5 bob/1/acquire-2',
      ]);
      expect(logs(trace)).toContain('7 bob: timed out waiting for db');
    }
  });

  test.each([{ timeout: -1 }, { timeoutUs: 0 }, {}])(
    'is waited for without limit with %j',
    (options) => {
      const bob = clientOf('bob', [], { section: { thinkUs: 1 * MS }, attempts: 1000 });
      const clients = [clientOf('alice', [compute(300)], { ttlUs: 400 * MS }), bob];
      const trace = runOf(clients, { options });
      expect(eventsOf(trace, 'grant').map(({ client }) => client)).toEqual(['alice', 'bob']);
    },
  );

  test.each([
    [
      { timeout: 0 },
      'a timeout must be greater than 0, or -1 for no limit; to disable waiting, use blocking: no',
    ],
    [{ timeout: 5, timeoutUs: 5000 }, 'timeout is already set'],
    [{ timeout: 5, blocking: 'no' }, 'timeout has no effect with blocking: no'],
    [{ timeoutUs: 5, blocking: 'no' }, 'timeoutUs has no effect with blocking: no'],
    [{ timeout: -2 }, 'no option timeout: -2'],
  ])('is refused with %j', (options, message) => {
    expect(() => runOf([clientOf('alice', [])], { options })).toThrow(message);
  });

  test('waits between two attempts for its interval plus at most a quarter', () => {
    const retry = 2 * MS;
    const holder = clientOf('alice', [compute(90)], { ttlUs: 100 * MS });
    const bob = clientOf('bob', [], { section: { thinkUs: 1 * MS } });
    const plan = planOf({ clients: [holder, bob], lock: 'cache-lock', store: 'unfenced' });
    const waits = [1, 2, 3, 4, 5].flatMap((seed) => waitsOf(withJitter(plan, seed)));
    expect(waits.length).toBeGreaterThan(50);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(retry);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1.25 * retry);
    expect(new Set(waits).size).toBeGreaterThan(20);
  });

  test('is refused with invalid arguments, and its section does nothing', () => {
    const trace = runOf([clientOf('alice', [writeOf(1)], { backoffUs: 0 })]);
    expect(calls(trace)).toEqual([]);
    expect(logs(trace)).toEqual([
      '0 alice: refused: a retry interval must be greater than 0, not 0',
    ]);
  });

  test('logs a lock that its program drops without release, except in a crash', () => {
    const alice = clientOf('alice', [compute(3)], { releases: false });
    const dropped = '5 alice: db was dropped without release';
    expect(logs(runOf([alice]))).toEqual(['2 alice: acquired db for 10 ms', dropped]);
    const when = { kind: 'at', atUs: 3 * MS } as const;
    const crash: Fault = { kind: 'crash', process: 'alice', when, restartAfterUs: null };
    expect(logs(runOf([alice], { faults: [crash] }))).not.toContain(dropped);
  });

  test('cannot be acquired again by its instance; another one gets it after its end', () => {
    const two = [1, 2].map((id) => ({ id, thinkUs: 0, lock: 'db', work: [compute(3)] }));
    const alice = clientOf('alice', [], { releases: false });
    const twice = { ...alice, sections: two };
    const trace = runOf([twice], { options: { instance: 'client' } });
    expect(calls(trace)).toEqual(['0 alice/1/acquire']);
    expect(logs(trace)).toEqual([
      '2 alice: acquired db for 10 ms',
      '5 alice: refused: this lock on db is acquired already',
      '5 alice: db was dropped without release',
    ]);
    const apart = runOf([twice]);
    expect(logs(apart).filter((log) => log.includes('dropped'))).toHaveLength(2);
    expect(eventsOf(apart, 'grant')).toHaveLength(2);
  });
});

describe('a CacheLock that is extended', () => {
  test('counts its new ttl from the reply, and logs that', () => {
    const trace = runOf([clientOf('alice', [compute(3), renew])]);
    expect(eventsOf(trace, 'renew')[0]).toMatchObject({ untilUs: 16 * MS, extended: 1 });
    expect(eventsOf(trace, 'lease-test')[0]).toMatchObject({ believedUntilUs: 17 * MS });
    expect(logs(trace)).toContain('7 alice: extended db to 10 ms');
  });

  test('extends the successor’s key after its own end, unless it compares', () => {
    const bob = clientOf('bob', [compute(5)], { section: { thinkUs: 5 * MS } });
    const clients = [clientOf('alice', [compute(13), renew]), bob];
    const [published, cured] = [{}, { extends: 'owner' }].map((options) =>
      eventsOf(runOf(clients, { options }), 'renew').find(({ client }) => client === 'alice'),
    );
    expect(published).toMatchObject({ atUs: 16 * MS, under: 1, extended: 2 });
    expect(cured).toMatchObject({ atUs: 16 * MS, under: 1, extended: 0 });
  });

  test('notices that its key was evicted, and as published works on anyway', () => {
    const clients = [clientOf('alice', [compute(3), renew, writeOf(7, { id: 3 })])];
    const faults = [evictAt(3)];
    const published = runOf(clients, { faults });
    const lost = '7 alice: db fell out of the cache; the lock is no longer valid';
    expect(logs(published)).toContain(lost);
    expect(eventsOf(published, 'write')).toHaveLength(1);
    const cured = runOf(clients, { faults, options: { extends: 'owner' } });
    expect(logs(cured)).toContain(lost);
    expect(eventsOf(cured, 'write')).toEqual([]);
  });
});

describe('a section under a CacheLock', () => {
  test('also releases when its work stops early', () => {
    const work = [compute(3), renew, writeOf(7, { id: 3 })];
    const setup = { faults: [evictAt(3)], options: { extends: 'owner' } };
    const trace = runOf([clientOf('alice', work)], setup);
    expect(eventsOf(trace, 'leave')).toHaveLength(1);
    expect(calls(trace).at(-1)).toBe('7 alice/1/release-touch');
    expect(logs(trace).slice(-2)).toEqual([
      '9 alice: db fell out of the cache',
      '9 alice: released db',
    ]);
  });

  test('deletes the successor’s key after a stall between get and delete', () => {
    const bob = clientOf('bob', [compute(8)], { section: { thinkUs: 5 * MS } });
    const clients = [clientOf('alice', []), bob];
    const faults = [pauseAt('alice/1/release', 14)];
    const trace = runOf(clients, { faults });
    expect(eventsOf(trace, 'release')[0]).toMatchObject({ client: 'alice', under: 1, released: 2 });
    const options = { release: 'compare-and-delete' };
    const cured = runOf(clients, { faults, options });
    expect(eventsOf(cured, 'grant')[1]).toMatchObject({ atUs: 14 * MS, client: 'bob' });
    expect(eventsOf(cured, 'release')[0]).toMatchObject({
      atUs: 17 * MS,
      client: 'alice',
      under: 1,
      released: 0,
    });
  });
});

function withJitter(plan: Plan, seed: number): Trace {
  const jitter = { numerator: 1, denominator: 4 };
  const nothing = { latency: null, delay: null, drop: null, duplicate: null, lateTimer: null };
  return run({ ...plan, chance: { seed, ...nothing, latencyStepUs: 1, jitter } });
}

/** The times between bob's answers and its next attempts. */
function waitsOf(trace: Trace): readonly number[] {
  const looks = eventsOf(trace, 'invoke').filter(({ process }) => process === 'bob');
  const answers = eventsOf(trace, 'return').filter(({ process }) => process === 'bob');
  return looks
    .slice(1)
    .filter(({ operation }) => operation.includes('acquire'))
    .map(({ atUs }, at) => atUs - (answers[at]?.atUs ?? 0));
}

describe('the probe', () => {
  test.each([{ blocking: 'no' }, { timeoutUs: 5000 }, {}])(
    'waits until the key of a client that crashed has expired, with %j',
    (options) => {
      const crash: Fault = {
        kind: 'crash',
        process: 'alice',
        restartAfterUs: null,
        when: { kind: 'at', atUs: 4 * MS },
      };
      const alice = clientOf('alice', [compute(5), writeOf(1, { id: 2 })], { ttlUs: 20 * MS });
      const setup = { options, faults: [crash], probe: true, healAtUs: 10 * MS };
      const enters = eventsOf(runOf([alice], setup), 'enter');
      expect(enters.map(({ process }) => process)).toEqual(['alice', 'probe']);
    },
  );
});
