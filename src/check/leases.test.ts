/** Tests leases that a quorum granted or that end with a key: how they are judged and described. */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../core/history/call.ts';
import type { Grant, KeyChange, TraceEvent } from '../core/history/events.ts';
import { type AcquisitionOrder, REPORTED_ORDER } from './holders.ts';
import {
  actualEndUs,
  couldOutlast,
  endedUnasked,
  inEveryOrder,
  isHeldAt,
  isReleasedBefore,
  keyAtEntry,
  keysUnder,
  serviceEndUs,
} from './leases.ts';
import {
  answer,
  breachOf,
  enter,
  fault,
  grant,
  keyChange,
  leave,
  release,
  renew,
  send,
  traceOf,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

const taken = (ms: number, client: string, ordinal: number): ReturnType<typeof grant> =>
  grant(ms, client, ordinal, { process: client, message: '' });

test('a breach of mutual exclusion under a quorum names the faults of the lock servers', () => {
  const step = fault(2, 'clock', 'lock', { target: 'step', amount: 8000 });
  const breach = breachOf('mutual-exclusion', [
    taken(0, 'alice', 1),
    step,
    fault(3, 'pause', 'alice', { untilMs: 5 }),
    fault(3, 'pause', 'store', { untilMs: 5 }),
    taken(4, 'bob', 2),
  ]);
  expect(breach.evidence).toEqual(['0 earlier grant', '1 clock', '2 pause', '4 later grant']);
  expect(breach.words).toMatchInlineSnapshot(
    `"bob entered \`db\` while alice held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 4 ms). Then bob entered under B at 4 ms. However, A was live (alice counted on it until 10 ms): \`lock\`'s clock was set 8 ms ahead at 2 ms and alice was paused from 3 ms to 5 ms."`,
  );
});

test('a clock beyond the declared drift on any lock server of a quorum excuses its client', () => {
  const fast = (process: string, ppm: number): ReturnType<typeof fault> =>
    fault(0, 'clock', process, { target: 'rate', amount: ppm });
  const late = [taken(1, 'alice', 1), enter(2, 'alice', 1, 12)];
  const terms = { driftPpm: 1000 };
  expect(verdictOn('lease-conservative', late, terms).kind).toBe('invalid');
  expect(verdictOn('lease-conservative', [fast('lock', 1000), ...late], terms).kind).toBe(
    'invalid',
  );
  const excused = verdictOn('lease-conservative', [fast('lock', 1001), ...late], terms);
  expect(excused).toMatchObject({ kind: 'valid', exercised: 0 });
  expect(verdictOn('lease-conservative', [fast('store', 1001), ...late], terms).kind).toBe(
    'invalid',
  );
});

describe('the key of a grant that its program reports', () => {
  const mine = { ...taken(2, 'alice', 1), untilUs: null };
  const entry = enter(2, 'alice', 1, 1e12);
  const next = taken(20, 'bob', 2);
  const names = { key: 'lock:db', isNamed: false, holder: 'alice' };
  const key = (ms: number, more: Partial<KeyChange> = {}): KeyChange =>
    keyChange(ms, 'alice', { ...names, ...more });
  const set = key(1);
  const kept = key(5, { change: 'prolonged' });
  const under = (
    grants: readonly Grant[],
    lastUs: number,
    ...events: readonly TraceEvent[]
  ): readonly (KeyChange | null)[] => keysUnder(indexTrace(traceOf(events)), grants, lastUs);
  const keyOf = (...later: readonly KeyChange[]): KeyChange | null =>
    under([mine, next], 30_000, set, mine, entry, ...later, next)[0] ?? null;

  test('is the last one that it had before another client had its lock', () => {
    expect(keyOf()).toBe(set);
    expect(keyOf(kept)).toBe(kept);
    const last = key(20, { change: 'prolonged' });
    expect(keyOf(last)).toBe(last);
    expect(keyOf({ ...kept, key: 'lock:db:2' })).toBe(set);
    expect(keyOf(key(8, { change: 'removed' }))).toBe(set);
  });

  test('is the last one that it had by the end of the evidence, for a last grant', () => {
    const other = { ...next, lock: 'b' };
    const late = key(25, { change: 'prolonged' });
    expect(under([mine, other], 24_000, set, mine, entry, other, late)).toEqual([set, null]);
    expect(under([mine, other], 25_000, set, mine, entry, other, late)).toEqual([late, null]);
  });

  test('is unknown if a server gave the grant, the grant has an end, or no key was taken', () => {
    const first = (grant: Grant, ...before: readonly KeyChange[]): KeyChange | null =>
      under([grant, next], 30_000, ...before, grant, entry, next)[0] ?? null;
    expect(first({ ...mine, process: 'lock' }, set)).toBeNull();
    expect(first({ ...mine, untilUs: 9000 }, set)).toBeNull();
    expect(first(mine)).toBeNull();
    expect(first(mine, kept)).toBeNull();
    expect(first(mine, { ...set, untilUs: null })).toBeNull();
    for (const other of [{ client: 'bob' }, { key: 'lock:b' }, { isDone: false }]) {
      expect(first(mine, { ...set, ...other })).toBeNull();
    }
    expect(first(mine, set, key(1.5, { process: 'lock-2' }))).toBeNull();
  });

  test('at its entry is the last one that it had by then', () => {
    const at = (...events: readonly TraceEvent[]): KeyChange | null =>
      keyAtEntry(indexTrace(traceOf(events)), mine);
    const early = key(1.5, { change: 'prolonged' });
    expect(at(set, mine, entry, kept)).toBe(set);
    expect(at(set, early, mine, entry)).toBe(early);
    expect(at(mine, entry, set)).toBeNull();
  });
});

test('a grant counts as ended by its server if its session ended it before the next grant', () => {
  const mine = grant(2, 'alice', 1, { untilUs: null });
  const next = grant(20, 'bob', 2);
  const over = release(9, 'alice', 1, { message: '' });
  const ended = (event: ReturnType<typeof release>): unknown =>
    endedUnasked(traceOf([mine, event, next]), mine, next);
  expect(ended(over)).toBe(over);
  expect(ended({ ...over, message: 'alice/1/release/1/request' })).toBeNull();
  expect(ended({ ...over, process: 'alice' })).toBeNull();
  expect(ended({ ...over, released: 7 })).toBeNull();
  const last = { ...over, atUs: 20_000 };
  expect(ended(last)).toBe(last);
  const late = { ...over, atUs: 21_000 };
  expect(endedUnasked(traceOf([mine, next, late]), mine, next)).toBeNull();
  expect(endedUnasked(traceOf([mine, over, next]), { ...mine, untilUs: 9000 }, next)).toBeNull();
  const byClient = { ...mine, process: 'alice' };
  expect(endedUnasked(traceOf([byClient, over, next]), byClient, next)).toBeNull();
});

test('a renewal and a release count from the time of handling', () => {
  const events = [grant(0, 'alice', 1), renew(5, 'alice', 1), release(9, 'alice', 1)];
  const [given] = indexTrace(traceOf(events)).locks.get('db')?.grants ?? [];
  if (given === undefined) throw new Error('there is no grant');
  expect([0, 1, 2, 3].map((before) => serviceEndUs(given, before))).toEqual([
    10_000, 10_000, 15_000, 15_000,
  ]);
  expect([1, 2, 3].map((before) => isReleasedBefore(given, before))).toEqual([false, false, true]);
  expect(isHeldAt(given, { index: 2, atUs: 14_999 })).toBe(true);
  expect(isHeldAt(given, { index: 2, atUs: 15_000 })).toBe(false);
  expect(isHeldAt(given, { index: 3, atUs: 14_999 })).toBe(false);
});

test('a quorum is described by the servers that granted in time to the request', () => {
  const given = grant(9, 'bob', 2, { process: 'bob', message: '', sentAtUs: 5000 });
  const asks = (ms: number, server: string, at: string): TraceEvent => ({
    ...send(ms, 'bob', `bob/2/ask-${server}`),
    to: at,
  });
  const says = (ms: number, server: string, said: Answer): TraceEvent =>
    answer(ms, `bob/2/ask-${server}`, said);
  const yes = { kind: 'granted', token: 0 } as const;
  const words = (...events: readonly TraceEvent[]): string =>
    breachOf('mutual-exclusion', [taken(0, 'alice', 1), ...events, given]).words;
  expect(words()).toContain('Then a quorum granted B');
  expect(
    words(
      asks(4, '0', 'lock-0'),
      asks(5, '1', 'lock-1'),
      asks(5, '2', 'lock-2'),
      asks(5, '3', 'lock-3'),
      says(6, '1', yes),
      says(7, '3', yes),
      says(7, '0', yes),
      says(8, '2', { kind: 'denied', holder: 'alice' }),
    ),
  ).toContain('Then a quorum (`lock-1` and `lock-3`) granted B');
});

test('an unreleased lease ends at the latest when its server grants the lock to another', () => {
  const endOf = (at: number, before: number, ...events: readonly TraceEvent[]): number => {
    const lock = indexTrace(traceOf(events)).locks.get('db');
    const given = lock?.grants[at];
    if (lock === undefined || given === undefined) throw new Error('there is no grant');
    return actualEndUs(lock, given, before);
  };
  const [mine, next] = [grant(0, 'alice', 1), grant(5, 'bob', 2)];
  expect(endOf(0, 1, mine, next)).toBe(10_000);
  expect(endOf(0, 2, mine, next)).toBe(5000);
  expect(endOf(0, 2, mine, grant(12, 'bob', 2))).toBe(10_000);
  expect(endOf(0, 3, mine, grant(3, 'alice', 3), next)).toBe(10_000);
  expect(endOf(0, 3, mine, release(3, 'alice', 1), next)).toBe(10_000);
  expect(endOf(0, 3, mine, next, release(6, 'alice', 1))).toBe(5000);
  expect(endOf(1, 3, mine, next, grant(8, 'carol', 3))).toBe(8000);
  expect(endOf(1, 2, mine, next, grant(8, 'carol', 3))).toBe(15_000);
});

test('a partition can outlast the lease of a holder unless it cuts off another client', () => {
  const keyed = [
    keyChange(1, 'alice', { untilUs: 5_000_000 }),
    grant(2, 'alice', 1, { process: 'alice', message: '', untilUs: null }),
    enter(2, 'alice', 1, 1e12),
  ];
  const couldAt = (...ends: readonly string[]): boolean => {
    const partition = fault(3, 'partition', 'lock', { processes: ends, untilMs: 60_000 });
    const indexed = indexTrace(traceOf([...keyed, partition, leave(9, 'alice', 1)]));
    return [...indexed.locks.values()].some((lock) => couldOutlast(indexed, lock));
  };
  expect(couldAt('lock', 'alice')).toBe(true);
  expect(couldAt('lock', 'carol')).toBe(false);
  expect(couldAt('lock', 'store')).toBe(true);
});

test('a grant that lost its key on one of three servers is not released', () => {
  const keys = [1, 2, 3].map((number) => keyChange(1, 'alice', { process: `redis-${number}` }));
  const clientGrant = grant(2, 'alice', 1, { process: 'alice', message: '', untilUs: null });
  const lost = (number: number): KeyChange =>
    keyChange(3, '', { process: `redis-${number}`, change: 'lost', message: '' });
  const releasedBy = (...losses: readonly KeyChange[]): boolean => {
    const events = [...keys, clientGrant, enter(2, 'alice', 1, 1e12), ...losses];
    const grants = indexTrace(traceOf(events)).locks.get('db')?.grants ?? [];
    return grants.some((one) => isReleasedBefore(one, events.length));
  };
  expect(releasedBy(lost(1))).toBe(false);
  expect(releasedBy(lost(1), lost(2))).toBe(true);
});

test('a claim that breaks in more orders than can be tried is unknown', () => {
  const indexed = indexTrace(traceOf([grant(0, 'alice', 1), write(1, 'alice', 1, 5)]));
  const log = indexed.locks.get('db') ?? expect.fail('there is a lock');
  let tried = 0;
  function* ordersWithout(end: number): Generator<AcquisitionOrder> {
    for (tried = 1; tried <= end; tried += 1) yield REPORTED_ORDER;
  }
  const foundIn = (orders: number) => {
    const all = () => ordersWithout(orders);
    const locks = new Map([['db', { ...log, orders: { likeliest: REPORTED_ORDER, all } }]]);
    return inEveryOrder({ ...indexed, locks }, () => ({ rule: 'r', evidence: [] }));
  };
  expect(foundIn(3)).toMatchObject({ breach: { rule: 'r' } });
  expect(foundIn(1_000_000)).toMatchObject({ unknown: expect.stringContaining('too many grants') });
  expect(tried).toBeLessThan(300_000);
});

test('a key that gets its end by a separate command is a lease with that end', () => {
  const outlasts = (untilMs: number): boolean => {
    const indexed = indexTrace(
      traceOf([
        keyChange(1, 'alice', { untilUs: null }),
        keyChange(2, 'alice', { change: 'prolonged', untilUs: 5_000_000 }),
        grant(3, 'alice', 1, { process: 'alice', message: '', untilUs: null }),
        enter(3, 'alice', 1, 1e12),
        fault(4, 'pause', 'alice', { untilMs }),
        leave(8, 'alice', 1),
      ]),
    );
    return [...indexed.locks.values()].some((lock) => couldOutlast(indexed, lock));
  };
  expect([outlasts(60), outlasts(6000)]).toEqual([false, true]);
});
