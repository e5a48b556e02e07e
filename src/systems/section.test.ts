import { describe, expect, test } from 'vitest';
import type { Trace } from '../core/history/trace.ts';
import type { Fault } from '../core/plan/fault.ts';
import type { Work } from '../core/plan/plan.ts';
import { run } from '../run.ts';
import { clientOf, eventsOf, MS, type PlanSetup, planOf, writeOf } from './plan.fixture.ts';

function calls(trace: Trace): readonly string[] {
  return eventsOf(trace, 'invoke').map(({ atUs, operation }) => `${atUs / MS} ${operation}`);
}

function runOf(work: readonly Work[], setup: Partial<PlanSetup> = {}): Trace {
  return run(planOf({ clients: [clientOf('alice', work)], ...setup }));
}

const increment: Work = { kind: 'increment', id: 1, store: 'store', key: 'x' };

describe('a section', () => {
  test('thinks, takes the lock, works under its token, and releases', () => {
    const clients = [clientOf('alice', [increment], { section: { thinkUs: 4 * MS } })];
    const trace = run(planOf({ clients }));
    expect(calls(trace)).toEqual([
      '4 alice/1/acquire',
      '6 alice/1/read',
      '8 alice/1/write',
      '10 alice/1/release',
    ]);
    expect(eventsOf(trace, 'write')[0]).toMatchObject({ value: 1, token: 1, under: 1, adds: 1 });
    expect(eventsOf(trace, 'enter')[0]).toMatchObject({ ordinal: 1, believedUntilUs: 14 * MS });
    expect(eventsOf(trace, 'leave')[0]).toMatchObject({ atUs: 10 * MS });
    expect(eventsOf(trace, 'release')[0]).toMatchObject({ released: 1, under: 1 });
  });

  test('numbers its steps after the first of a kind, and its accesses by position', () => {
    const work = [writeOf(1), writeOf(2, { id: 2 }), writeOf(3, { id: 3, awaits: false })];
    const trace = runOf(work);
    expect(calls(trace).slice(1)).toEqual([
      '2 alice/1/write',
      '4 alice/1/write-2',
      '6 alice/1/write-3',
      '8 alice/1/release',
    ]);
    expect(eventsOf(trace, 'write').map(({ issue }) => issue)).toEqual([2, 3, 4]);
  });

  test('ends only when every answer has arrived, even those that it did not await', () => {
    const decisions = { 'alice/1/write/1/reply': 20 * MS };
    const trace = runOf([writeOf(1, { awaits: false })], { decisions });
    expect(calls(trace).at(-1)).toBe('23 alice/1/release');
  });

  test('retries a busy lock after its backoff, up to its number of attempts', () => {
    const bob = clientOf('bob', [writeOf(1)], { attempts: 3, section: { thinkUs: 2 * MS } });
    const alice = clientOf('alice', [{ kind: 'compute', id: 1, forUs: 300 * MS }], {
      ttlUs: 400 * MS,
    });
    const trace = run(planOf({ clients: [alice, bob] }));
    expect(calls(trace).filter((call) => call.includes('bob'))).toEqual([
      '2 bob/1/acquire',
      '6 bob/1/acquire-2',
      '10 bob/1/acquire-3',
    ]);
    expect(eventsOf(trace, 'deny')[0]).toMatchObject({ holder: 'alice', holderOrdinal: 1 });
  });

  test('skips its write if its lease is over by its own clock', () => {
    const trace = runOf([{ kind: 'compute', id: 1, forUs: 8 * MS }, writeOf(1)]);
    expect(eventsOf(trace, 'lease-test')).toMatchObject([{ isLive: false, atUs: 10 * MS }]);
    expect(eventsOf(trace, 'mark')).toEqual([]);
    expect(calls(trace)).toEqual(['0 alice/1/acquire', '10 alice/1/release']);
  });

  test('considers a lease live at its very end only with `leaseEnds: after`', () => {
    const work: Work[] = [{ kind: 'compute', id: 1, forUs: 8 * MS }, writeOf(1)];
    const clients = [clientOf('alice', work, { leaseEnds: 'after' })];
    const trace = run(planOf({ clients }));
    expect(eventsOf(trace, 'lease-test')).toMatchObject([{ isLive: true, atUs: 10 * MS }]);
    expect(eventsOf(trace, 'mark')).toMatchObject([{ point: 'alice/1/checked' }]);
  });

  test('writes without a lease test if it does not check its lease', () => {
    const work: Work[] = [{ kind: 'compute', id: 1, forUs: 80 * MS }, writeOf(1)];
    const trace = run(planOf({ clients: [clientOf('alice', work, { checksLease: false })] }));
    expect(eventsOf(trace, 'lease-test')).toEqual([]);
    expect(eventsOf(trace, 'write')).toHaveLength(1);
  });

  test('counts its lease from its request, the reply, or the service’s timestamp', () => {
    const ends = (['sent', 'reply', 'issued'] as const).map((countsLeaseFrom) => {
      const clients = [clientOf('alice', [writeOf(1)], { countsLeaseFrom })];
      return eventsOf(run(planOf({ clients })), 'enter')[0]?.believedUntilUs;
    });
    expect(ends).toEqual([10 * MS, 12 * MS, 11 * MS]);
  });

  test('lets its lease expire if it does not release', () => {
    const trace = run(planOf({ clients: [clientOf('alice', [writeOf(1)], { releases: false })] }));
    expect(calls(trace)).toEqual(['0 alice/1/acquire', '2 alice/1/write']);
    expect(eventsOf(trace, 'leave')).toHaveLength(1);
  });

  test('stops if a write is refused or a renew is denied', () => {
    const pause: Fault = {
      kind: 'pause',
      process: 'alice',
      when: { kind: 'before', point: 'alice/1/write' },
      forUs: 40 * MS,
      clocks: 'run',
    };
    const checksLease = false;
    const late = clientOf('alice', [writeOf(1), writeOf(2, { id: 2 })], { checksLease });
    const bob = clientOf('bob', [writeOf(3)], { section: { thinkUs: 5 * MS } });
    const refused = run(planOf({ clients: [late, bob], faults: [pause] }));
    const alices = (trace: Trace): readonly string[] =>
      calls(trace).filter((call) => call.includes('alice'));
    expect(alices(refused)).toEqual([
      '0 alice/1/acquire',
      '42 alice/1/write',
      '44 alice/1/release',
    ]);
    const work: Work[] = [
      { kind: 'compute', id: 1, forUs: 30 * MS },
      { kind: 'renew', id: 2, ttlUs: 10 * MS },
      writeOf(1, { id: 3 }),
    ];
    const slow = run(planOf({ clients: [clientOf('alice', work, { checksLease })] }));
    expect(alices(slow)).toEqual(['0 alice/1/acquire', '32 alice/1/renew-2', '34 alice/1/release']);
  });

  test('continues with a longer lease, counted from its request, after a confirmed renew', () => {
    const trace = runOf([{ kind: 'renew', id: 1, ttlUs: 30 * MS }, writeOf(1, { id: 2 })]);
    expect(eventsOf(trace, 'renew')[0]).toMatchObject({ extended: 1, token: 1, untilUs: 33 * MS });
    expect(eventsOf(trace, 'lease-test')[0]).toMatchObject({
      isLive: true,
      believedUntilUs: 32 * MS,
    });
  });

  test('has no live lease after a renew that is confirmed too late', () => {
    const work: Work[] = [{ kind: 'renew', id: 1, ttlUs: 10 * MS }, writeOf(1, { id: 2 })];
    const trace = runOf(work, { decisions: { 'alice/1/renew/1/reply': 20 * MS } });
    expect(eventsOf(trace, 'lease-test').map(({ isLive }) => isLive)).toEqual([false, false]);
    expect(eventsOf(trace, 'write')).toEqual([]);
  });

  test('moves an amount between two stores', () => {
    const work: Work = { kind: 'transfer', id: 1, from: 'a', to: 'b', key: 'x', amount: 5 };
    const trace = runOf([work]);
    expect(
      eventsOf(trace, 'write').map(({ process, value, operation }) => [process, operation, value]),
    ).toEqual([
      ['a', 'alice/1/write-from', -5],
      ['b', 'alice/1/write-to', 5],
    ]);
  });

  test('announces its token once to each store that requires it, before the first access', () => {
    const work = [writeOf(1), { ...increment, id: 2 }, writeOf(3, { id: 3, store: 'other' })];
    const clients = [clientOf('alice', work, { ttlUs: 100 * MS })];
    const trace = run(planOf({ clients, store: 'fenced-open' }));
    expect(calls(trace).map((call) => call.split('/').at(-1))).toEqual([
      'acquire',
      'open',
      'write',
      'read-2',
      'write-2',
      'open-2',
      'write-3',
      'release',
    ]);
  });

  test('numbers its accesses for a store that orders them', () => {
    const work = [writeOf(1), writeOf(2, { id: 2 })];
    const writes = eventsOf(runOf(work, { store: 'fenced-sequenced' }), 'write');
    expect(writes.map(({ isAccepted }) => isAccepted)).toEqual([true, true]);
  });

  test('is left once, even if its client crashes afterwards', () => {
    const crash: Fault = {
      kind: 'crash',
      process: 'alice',
      when: { kind: 'before', point: 'alice/1/release' },
      restartAfterUs: null,
    };
    const trace = runOf([writeOf(1)], { faults: [crash] });
    expect(eventsOf(trace, 'leave')).toHaveLength(1);
    const inside: Fault = { ...crash, when: { kind: 'before', point: 'alice/1/write' } };
    expect(eventsOf(runOf([writeOf(1)], { faults: [inside] }), 'leave')).toHaveLength(1);
  });

  test('is followed by the next one', () => {
    const client = clientOf('alice', []);
    const sections = [1, 2].map((id) => ({ id, thinkUs: 0, lock: 'db', work: [writeOf(id)] }));
    const trace = run(planOf({ clients: [{ ...client, sections }] }));
    expect(eventsOf(trace, 'write').map(({ token, under }) => [token, under])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });
});
