import { describe, expect, test } from 'vitest';
import type { ClientPlan } from '../core/plan/plan.ts';
import { calls, memoizeOf, runOf, stampedeOf } from './memoize.fixture.ts';
import { clientOf, eventsOf, MS, type PlanSetup, writeOf } from './plan.fixture.ts';

describe('a lock that is waited for in vain', () => {
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

  test.each(others)('as %s, %o, %o leaves the value to be computed without it', (...given) => {
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

  test('is looked past where the value has come in the meantime', () => {
    const quick = clientOf('alice', [memoizeOf(7, { forUs: 0 })], { ttlUs: 40 * MS });
    const trace = runOf([quick, clientOf('bob', [memoizeOf(8)], late)], waits);
    expect(
      calls(trace)
        .filter((call) => call.includes('bob'))
        .at(-1),
    ).toMatch(/read-again$/);
    expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
  });

  test('is the end of it for one that gives up', () => {
    const bob = clientOf('bob', [memoizeOf(8, { withoutLock: 'gives-up' })], late);
    const trace = runOf([holder, bob], waits);
    expect(
      calls(trace)
        .filter((call) => call.includes('bob'))
        .at(-1),
    ).toMatch(/acquire-2$/);
    expect(stampedeOf(trace)).toEqual({ computations: 1, most: 1 });
  });

  test('leaves no token of an earlier section to write with', () => {
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

  test('is refused by a fence, which wants a token', () => {
    const setup = { lock: 'lock-service', store: 'fenced' };
    const early = clientOf('alice', [writeOf(1)], { ttlUs: 90 * MS });
    const held = { ...early, releases: false };
    const bob = clientOf('bob', [memoizeOf(8, { key: 'z' })], { ...late, attempts: 3 });
    const writes = eventsOf(runOf([held, bob], setup), 'write').filter(({ key }) => key === 'z');
    expect(writes).toMatchObject([{ under: 0, token: 0, isAccepted: false }]);
  });
});
