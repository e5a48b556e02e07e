/** Tests values that are computed once, under a lock and without one. */

import { describe, expect, test } from 'vitest';
import { measureStampede, type Stampede } from '../check/single-flight.ts';
import { indexTrace } from '../check/trace-index.ts';
import type { Trace } from '../core/history/trace.ts';
import type { Fault } from '../core/plan/fault.ts';
import { sectionPointsOf, timersOf } from '../core/plan/operation-names.ts';
import type { ClientPlan, Work } from '../core/plan/plan.ts';
import { run } from '../run.ts';
import { clientOf, eventsOf, MS, type PlanSetup, planOf, writeOf } from './plan.fixture.ts';

type Memoize = Extract<Work, { kind: 'memoize' }>;

function memoizeOf(value: number, more: Partial<Memoize> = {}): Work {
  const place = { id: 1, store: 'store', key: 'x' };
  return { kind: 'memoize', ...place, value, forUs: 3 * MS, pieces: 1, ...more };
}

function runOf(clients: readonly ClientPlan[], setup: Partial<PlanSetup> = {}): Trace {
  return run(planOf({ clients, lock: 'cache-lock', store: 'unfenced', ...setup }));
}

function calls(trace: Trace): readonly string[] {
  return eventsOf(trace, 'invoke').map(({ atUs, operation }) => `${atUs / MS} ${operation}`);
}

function stampedeOf(trace: Trace): Stampede {
  return measureStampede(indexTrace(trace));
}

const COMPARES = { release: 'compare-and-delete' };

describe('a memoized value', () => {
  test('is missed, locked, missed again, computed and stored, and the lock is released', () => {
    const trace = runOf([clientOf('alice', [memoizeOf(7)])], { options: COMPARES });
    expect(calls(trace)).toEqual([
      '0 alice/1/read',
      '2 alice/1/acquire',
      '4 alice/1/read-again',
      '9 alice/1/write',
      '11 alice/1/release',
    ]);
    expect(eventsOf(trace, 'mark').map(({ atUs, point }) => [atUs / MS, point])).toEqual([
      [6, 'alice/1/computing'],
      [9, 'alice/1/computed'],
    ]);
    expect(eventsOf(trace, 'write')).toMatchObject([{ key: 'x', value: 7, under: 1 }]);
  });

  test('that exists is read without the lock', () => {
    const bob = clientOf('bob', [memoizeOf(8)], { section: { thinkUs: 30 * MS } });
    const trace = runOf([clientOf('alice', [memoizeOf(7)]), bob]);
    expect(calls(trace).filter((call) => call.includes('bob'))).toEqual(['30 bob/1/read']);
    expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
  });

  test('that was stored while its reader waited for the lock is not computed again', () => {
    const bob = clientOf('bob', [memoizeOf(8)], { section: { thinkUs: 1 * MS } });
    const trace = runOf([clientOf('alice', [memoizeOf(7)]), bob], { options: COMPARES });
    const reads = eventsOf(trace, 'read').filter(({ client }) => client === 'bob');
    expect(reads.map(({ value }) => value)).toEqual([0, 7]);
    expect(calls(trace).at(-1)).toMatch(/bob\/1\/release$/);
    expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
  });

  test('is stored in pieces before its own key marks it as complete', () => {
    const work = [memoizeOf(7, { id: 2, pieces: 3, forUs: MS })];
    const trace = runOf([clientOf('alice', work, { ttlUs: 30 * MS })], { options: COMPARES });
    expect(calls(trace).slice(3)).toEqual([
      '7 alice/1/write-piece-2',
      '9 alice/1/renew',
      '12 alice/1/write-piece-2-2',
      '14 alice/1/renew-2',
      '17 alice/1/write-piece-3-2',
      '19 alice/1/renew-3',
      '21 alice/1/write-2',
      '23 alice/1/release',
    ]);
    expect(eventsOf(trace, 'write').map(({ key }) => key)).toEqual(['x/1', 'x/2', 'x/3', 'x']);
    expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
  });

  test('is computed if the read under the lock, or the one before it, gets no answer', () => {
    const late = (look: string): Fault => ({
      kind: 'delay',
      byUs: 20 * MS,
      which: { kind: 'message', message: `alice/1/${look}/1/reply` },
    });
    const alice = clientOf('alice', [memoizeOf(7)], { storeTimeoutUs: 3 * MS });
    const writes = (look: string): readonly unknown[] =>
      eventsOf(runOf([alice], { faults: [late(look)] }), 'write').map(({ value }) => value);
    expect(writes('read')).toEqual([7]);
    expect(writes('read-again')).toEqual([7]);
  });

  test.each(['cache-lock', 'lock-service'])(
    'is stored under %s without a lease test, even after the lease ended',
    (lock) => {
      const trace = runOf([clientOf('alice', [memoizeOf(7, { forUs: 20 * MS })])], { lock });
      expect(eventsOf(trace, 'write')).toMatchObject([{ value: 7, under: 1, isAccepted: true }]);
    },
  );

  test('in four pieces of 30 ms is stored under a lock of 60 ms that is extended each time', () => {
    const alice = clientOf('alice', [memoizeOf(7, { pieces: 4, forUs: 30 * MS })], {
      ttlUs: 60 * MS,
    });
    const bob = clientOf('bob', [memoizeOf(8)], { ttlUs: 60 * MS, section: { thinkUs: 5 * MS } });
    for (const lock of ['cache-lock', 'lock-service']) {
      const trace = runOf([alice, bob], { lock });
      expect(eventsOf(trace, 'write').map(({ value }) => value)).toEqual([7, 7, 7, 7, 7]);
      expect(eventsOf(trace, 'renew').slice(0, 4)).toMatchObject(
        [1, 2, 3, 4].map(() => ({ client: 'alice', under: 1, extended: 1 })),
      );
      expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
    }
  });

  test('in pieces is computed to the end even if its lock is evicted', () => {
    const evict = { kind: 'evict', process: 'lock', key: 'db' } as const;
    const faults: Fault[] = [{ ...evict, when: { kind: 'at', atUs: 8 * MS } }];
    for (const whose of ['anyone', 'owner']) {
      const options = { extends: whose };
      const trace = runOf([clientOf('alice', [memoizeOf(7, { pieces: 2 })])], { faults, options });
      expect(eventsOf(trace, 'write').map(({ key }) => key)).toEqual(['x/1', 'x/2', 'x']);
    }
  });

  test('is refused if its client already holds the lock', () => {
    const alice = clientOf('alice', [], { releases: false });
    const first = { id: 1, thinkUs: 0, lock: 'db', work: [] };
    const sections = [first, { ...first, id: 2, work: [memoizeOf(7)] }];
    const trace = runOf([{ ...alice, sections }], { options: { instance: 'client' } });
    expect(calls(trace)).toEqual(['0 alice/1/acquire']);
    expect(eventsOf(trace, 'log').map(({ text }) => text)).toContain(
      'refused: the lock on db is held already',
    );
  });

  test('works with any lock, and with none', () => {
    const locks = ['none', 'lock-service', 'lock-service-published', 'cache-lock'];
    const written = locks.map((lock) => {
      const work = [memoizeOf(7, { pieces: 2, forUs: MS })];
      const trace = runOf([clientOf('alice', work, { ttlUs: 30 * MS })], { lock });
      return eventsOf(trace, 'write').map(({ key, value }) => [key, value]);
    });
    const all = [
      ['x/1', 7],
      ['x/2', 7],
      ['x', 7],
    ];
    expect(written).toEqual(locks.map(() => all));
  });

  test('does not stop a probe, which acquires the lock and writes', () => {
    const trace = runOf([clientOf('alice', [memoizeOf(7)])], { probe: true });
    const probed = calls(trace).filter((call) => call.includes('probe'));
    expect(probed.map((call) => call.split('/').at(-1))).toEqual([
      'acquire',
      'read',
      'write',
      'release-touch',
      'release-get',
      'release',
    ]);
  });

  test.each([1, 2, 3])('passes the listed points as step %i', (id) => {
    for (const pieces of [1, 3]) {
      const alice = clientOf('alice', [memoizeOf(7, { id, pieces, forUs: MS })], {
        ttlUs: 99 * MS,
      });
      const [section] = alice.sections;
      if (section === undefined) expect.fail('it has a section');
      const points = sectionPointsOf({ client: alice, section, store: 'unfenced' });
      const when = points.map(({ point }) => ({ kind: 'before', point }) as const);
      const faults: Fault[] = when.map((at) => ({
        kind: 'pause',
        process: 'alice',
        forUs: 0,
        clocks: 'run',
        when: at,
      }));
      const late = timersOf({ client: alice, section }).map(
        (timer): Fault => ({ kind: 'late-timer', byUs: MS, which: { kind: 'timer', timer } }),
      );
      const trace = runOf([alice], { faults: [...faults, ...late], options: COMPARES });
      expect(trace.unmatched).toEqual([]);
      expect(late).toHaveLength(pieces);
      const named = new Set(points.map(({ point }) => point));
      expect(
        eventsOf(trace, 'invoke')
          .map(({ operation }) => operation)
          .filter((name) => !named.has(name)),
      ).toEqual([]);
    }
  });
});

describe('a stampede', () => {
  const names = ['alice', 'bob', 'carol'];
  const late = { ttlUs: 10 * MS, backoffUs: 1 * MS, checksLease: false };
  const crowd = names.map((name, at) =>
    clientOf(name, [memoizeOf(at + 1, { forUs: 4 * MS })], late),
  );
  const evict: Fault = {
    kind: 'evict',
    process: 'lock',
    key: 'db',
    when: { kind: 'at', atUs: 5 * MS },
  };
  const pause: Fault = {
    kind: 'pause',
    process: 'alice',
    when: { kind: 'after', point: 'alice/1/computing' },
    forUs: 30 * MS,
    clocks: 'run',
  };

  test('is all clients without a lock, one with it, two after an eviction or a pause', () => {
    expect(stampedeOf(runOf(crowd, { lock: 'none' }))).toEqual({ computations: 3, most: 3 });
    expect(stampedeOf(runOf(crowd))).toEqual({ computations: 1, most: 1 });
    expect(stampedeOf(runOf(crowd, { faults: [evict] }))).toEqual({ computations: 2, most: 2 });
    expect(stampedeOf(runOf(crowd, { faults: [pause] }))).toEqual({ computations: 2, most: 2 });
  });

  test('counts each key separately, and no write that was not memoized', () => {
    const apart = names.map((name, at) => clientOf(name, [memoizeOf(1, { key: `k${at}` })], late));
    expect(stampedeOf(runOf(apart, { lock: 'none' }))).toEqual({ computations: 3, most: 1 });
    expect(stampedeOf(runOf([clientOf('alice', [writeOf(1)])]))).toEqual({
      computations: 0,
      most: 0,
    });
  });

  test('a crash ends the computation of its program', () => {
    const [alice, bob] = crowd.slice(0, 2).map((client, at) => ({
      ...client,
      sections: client.sections.map((section) => ({ ...section, thinkUs: at * 2 * MS })),
    }));
    if (alice === undefined || bob === undefined) expect.fail('there are two');
    const when = { kind: 'at', atUs: 5 * MS } as const;
    const crash: Fault = { kind: 'crash', process: 'alice', when, restartAfterUs: null };
    const clients = [alice, bob];
    expect(stampedeOf(runOf(clients, { lock: 'none' }))).toEqual({ computations: 2, most: 2 });
    expect(stampedeOf(runOf(clients, { lock: 'none', faults: [crash] }))).toEqual({
      computations: 2,
      most: 1,
    });
  });
});

describe('a lock whose wait fails', () => {
  const holder = clientOf('alice', [memoizeOf(7, { forUs: 20 * MS })], { ttlUs: 40 * MS });
  const late = { ttlUs: 40 * MS, section: { thinkUs: 1 * MS } };
  const waits: Partial<PlanSetup> = { options: { timeout: 5 } };
  const others: readonly (readonly [string, Partial<ClientPlan>, Partial<PlanSetup>])[] = [
    ['cache-lock', late, waits],
    ['cache-lock', late, { options: { blocking: 'no' } }],
    ['cache-lock', { ...late, attempts: 3 }, {}],
    ['lock-service', { ...late, attempts: 3 }, {}],
    ['redis', { ...late, attempts: 3 }, {}],
  ];

  test.each(others)('as %s, %o, %o lets the value be computed without it', (...given) => {
    const [lock, settings, setup] = given;
    const bob = clientOf('bob', [memoizeOf(8, { pieces: 2 })], settings);
    const trace = runOf([holder, bob], { lock, ...setup });
    const writes = eventsOf(trace, 'write').filter(({ client }) => client === 'bob');
    expect(writes).toMatchObject(
      ['x/1', 'x/2', 'x'].map((key) => ({ key, under: 0, token: 0, isAccepted: true })),
    );
    expect(eventsOf(trace, 'log').map(({ text }) => text)).toContain(
      'goes on without the lock on db',
    );
    expect(calls(trace).filter((call) => /bob.*(renew|release)/.test(call))).toEqual([]);
    expect(stampedeOf(trace)).toEqual({ computations: 2, most: 2 });
  });

  test('is not needed if the value was stored meanwhile', () => {
    const quick = clientOf('alice', [memoizeOf(7, { forUs: 0 })], { ttlUs: 40 * MS });
    const trace = runOf([quick, clientOf('bob', [memoizeOf(8)], late)], waits);
    expect(
      calls(trace)
        .filter((call) => call.includes('bob'))
        .at(-1),
    ).toMatch(/read-again$/);
    expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
  });

  test('ends the section of a client that gives up without it', () => {
    const bob = clientOf('bob', [memoizeOf(8, { withoutLock: 'gives-up' })], late);
    const trace = runOf([holder, bob], waits);
    expect(
      calls(trace)
        .filter((call) => call.includes('bob'))
        .at(-1),
    ).toMatch(/acquire-2$/);
    expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
  });

  test('leaves no token of an earlier section for the writes', () => {
    const first = { id: 1, thinkUs: 0, lock: 'db', work: [writeOf(1, { key: 'y' })] };
    const second = { id: 2, thinkUs: 20 * MS, lock: 'db', work: [memoizeOf(8)] };
    const bob = clientOf('bob', [], { attempts: 2, releases: false });
    const long = { ttlUs: 90 * MS, section: { thinkUs: 15 * MS } };
    const alice = clientOf('alice', [memoizeOf(7, { forUs: 50 * MS })], long);
    const trace = runOf([{ ...bob, sections: [first, second] }, alice], { lock: 'lock-service' });
    const tokens = eventsOf(trace, 'write').map(({ client, token }) => [client, token]);
    expect(tokens).toEqual([
      ['bob', 1],
      ['bob', 0],
      ['alice', 2],
    ]);
  });

  test('leads to a refusal by a fence, which requires a token', () => {
    const setup = { lock: 'lock-service', store: 'fenced' };
    const early = clientOf('alice', [writeOf(1)], { ttlUs: 90 * MS });
    const held = { ...early, releases: false };
    const bob = clientOf('bob', [memoizeOf(8, { key: 'z' })], { ...late, attempts: 3 });
    const writes = eventsOf(runOf([held, bob], setup), 'write').filter(({ key }) => key === 'z');
    expect(writes).toMatchObject([{ under: 0, token: 0, isAccepted: false }]);
  });
});
