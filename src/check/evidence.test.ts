/** Tests the evidence of a breach: its faults and its other events. */
import { describe, expect, test } from 'vitest';
import type { FaultInjected, Log, TraceEvent } from '../core/history/events.ts';
import {
  accessBreach,
  breachShown,
  type Cause,
  causesIn,
  causesOfAccess,
  causesOfTaking,
  causesSince,
  reasonFor,
  recoveriesBetween,
} from './evidence.ts';
import {
  deny,
  fault,
  grant,
  leaseTest,
  pause,
  recovered,
  renew,
  traceOf,
  write,
} from './trace-builder.fixture.ts';
import { indexTrace, type TraceIndex } from './trace-index.ts';

function indexOf(...events: readonly TraceEvent[]): TraceIndex {
  return indexTrace(traceOf(events));
}

function named(causes: readonly Cause[]): readonly string[] {
  return causes.map(([role, { index }]) => `${index} ${role}`);
}

describe('a breach', () => {
  test('shows its events in trace order, each with its first role', () => {
    const breach = breachShown(
      'r',
      { late: { index: 7 }, many: [{ index: 5 }, { index: 3 }], none: null, missing: undefined },
      [
        ['pause', { index: 4 }],
        ['crash', { index: 7 }],
      ],
    );
    expect(breach.rule).toBe('r');
    expect(breach.evidence.map(({ event, role }) => `${event} ${role}`)).toEqual([
      '3 many',
      '4 pause',
      '5 many',
      '7 late',
    ]);
  });

  test('of accesses shows their grants in grant order', () => {
    const grants = ['alice', 'bob', 'carol', 'dave'].map((name, at) => grant(at, name, at + 1));
    const writes = [4, 2, 1, 3].map((under) => write(9, 'x', under, under));
    const indexed = indexOf(...grants, ...writes, write(10, 'x', 0, 9));
    const accesses = indexed.places[0]?.accesses ?? [];
    const rolesOf = (...places: readonly number[]): readonly string[] => {
      const found = places.flatMap((place) => accesses[place] ?? []);
      const { evidence } = accessBreach(indexed, 'r', { access: found });
      return evidence.flatMap(({ event, role }) => (event < 4 ? [`${event} ${role}`] : []));
    };
    expect(rolesOf(4)).toEqual([]);
    expect(rolesOf(1, 1)).toEqual(['1 grant']);
    expect(rolesOf(1, 2)).toEqual(['0 earlier grant', '1 later grant']);
    expect(rolesOf(0, 1, 2, 3, 4)).toEqual([
      '0 earlier grant',
      '1 later grant',
      '2 third grant',
      '3 further grant',
    ]);
  });
});

test('the last lease test in the evidence belongs to the grant of the late access', () => {
  const grants = [grant(0, 'alice', 1), grant(1, 'alice', 2, { lock: 'mail' })];
  const tests = [leaseTest(2, 'alice', 1, 10), leaseTest(3, 'alice', 2, 11)];
  const indexed = indexOf(...grants, ...tests, write(20, 'alice', 1, 1));
  const [late] = indexed.places[0]?.accesses ?? [];
  const { evidence } = accessBreach(indexed, 'r', { late }, { late });
  expect(evidence.map(({ event, role }) => `${event} ${role}`)).toEqual([
    '0 grant',
    '2 lease test',
    '4 late',
  ]);
});

test('the recoveries between two events exclude both events', () => {
  const place = indexOf(...[0, 1, 2, 3].map((ms) => recovered(ms, 0, {}))).places[0];
  if (place === undefined) throw new Error('the store recovers');
  const found = recoveriesBetween(place, { after: 0, before: 3 });
  expect(found.map(({ index }) => index)).toEqual([1, 2]);
});

describe('a fault counts as a cause', () => {
  const span = { processes: ['alice', 'lock'], message: 'm', fromUs: 5000, before: 1 };
  const partitionOf = (...processes: readonly string[]): FaultInjected => {
    return fault(6, 'partition', '', { processes, untilMs: 7 });
  };

  test.each<[boolean, FaultInjected]>([
    [true, pause(6, 'alice', 7)],
    [true, pause(5, 'lock', 6)],
    [false, pause(6, 'bob', 7)],
    [true, pause(4, 'alice', 5.001)],
    [false, pause(4, 'alice', 5)],
    [true, fault(5, 'crash', 'alice')],
    [false, fault(4.999, 'crash', 'alice')],
    [true, fault(0, 'clock', 'alice')],
    [false, fault(0, 'clock', 'bob')],
    [true, fault(6, 'delay', 'bob', { target: 'm' })],
    [false, fault(6, 'delay', 'alice', { target: 'n' })],
    [false, fault(6, 'delay', 'alice')],
    [true, partitionOf('alice', 'lock', 'bob')],
    [false, partitionOf('alice', 'bob')],
  ])('is %s: %j', (isCause, injected) => {
    const found = named(causesIn(indexOf(injected), span));
    expect(found).toEqual(isCause ? [`0 ${injected.fault}`] : []);
    // A fault after the breach is not a cause.
    expect(causesIn(indexOf(injected), { ...span, before: 0 })).toEqual([]);
  });

  test('of no message if it has no target', () => {
    const indexed = indexOf(fault(6, 'delay', 'alice'));
    expect(causesIn(indexed, { ...span, message: '' })).toEqual([]);
  });

  test('of a late access since the acquire was sent, or at any time without a grant', () => {
    const faults = [pause(1, 'alice', 2), pause(4, 'store', 5), pause(4, 'lock', 5)];
    const asked = { sentAtUs: 3000 };
    const causesUnder = (under: number): readonly string[] => {
      const last = write(9, 'alice', under, 1);
      const indexed = indexOf(...faults, grant(5, 'alice', 1, asked), last, pause(9, 'alice', 10));
      const [access] = indexed.places[0]?.accesses ?? [];
      return access === undefined ? [] : named(causesOfAccess(indexed, access));
    };
    expect(causesUnder(1)).toEqual(['1 pause']);
    expect(causesUnder(0)).toEqual(['0 pause', '1 pause']);
  });

  test('since a grant if it affected the holder or the grantor, once and in order', () => {
    const pauses = [pause(2, 'alice', 3), pause(3, 'store', 4), pause(4, 'lock', 5)];
    const causesBy = (process: string): readonly string[] => {
      const indexed = indexOf(grant(1, 'alice', 1, { process }), ...pauses, deny(9, 'bob', 1));
      const [first] = indexed.locks.get('db')?.grants ?? [];
      return first === undefined ? [] : named(causesSince(indexed, first, { index: 4 }));
    };
    expect(causesBy('lock')).toEqual(['1 pause', '3 pause']);
    expect(causesBy('store')).toEqual(['1 pause', '2 pause']);
    // A quorum grant: the grantors are all lock servers.
    expect(causesBy('alice')).toEqual(['1 pause', '3 pause']);
  });
});

describe('a client takes a lock that another one holds', () => {
  const first = grant(1, 'alice', 1);
  const second = grant(8, 'bob', 2, { process: 'other', sentAtUs: 6000 });
  const log = (ms: number, process = 'bob'): Log => {
    return { kind: 'log', atUs: ms * 1000, process, topic: '', text: 'it looks free' };
  };

  /** The causes of the last grant of the run. */
  function causes(...events: readonly TraceEvent[]): readonly string[] {
    const indexed = indexOf(...events);
    const [earlier, later] = indexed.locks.get('db')?.grants ?? [];
    return earlier === undefined ? [] : named(causesOfTaking(indexed, { earlier, later }));
  }

  test.each<[boolean, FaultInjected]>([
    [true, fault(0, 'clock', 'bob')],
    [false, fault(0, 'clock', 'alice')],
    [true, fault(2, 'partition', '', { processes: ['bob', 'lock'], untilMs: 3 })],
    [true, fault(2, 'partition', '', { processes: ['bob', 'lock'] })],
    [false, fault(2, 'partition', '', { processes: ['bob', 'store'], untilMs: 3 })],
    [false, fault(0, 'partition', '', { processes: ['bob', 'lock'], untilMs: 1 })],
    [false, fault(2, 'crash', '', { processes: ['bob', 'lock'], untilMs: 3 })],
  ])('because of a fault of its own, %s: %j', (isCause, injected) => {
    expect(causes(first, injected, second)).toEqual(isCause ? [`1 ${injected.fault}`] : []);
    expect(causes(first, second, injected)).toEqual([]);
    expect(causes(first, injected)).toEqual([]);
  });

  test('because it misread a denial, as its log before its next request shows', () => {
    const asked = [first, deny(5, 'bob', 1), log(6), second];
    expect(causes(...asked)).toEqual(['1 denial', '2 misreading']);
    expect(causes(first, deny(3, 'bob', 1), deny(5, 'bob', 1), log(6), second)).toEqual([
      '2 denial',
      '3 misreading',
    ]);
    const clock = fault(0, 'clock', 'bob');
    expect(causes(clock, ...asked)).toEqual(['0 clock']);
  });

  const denied = deny(5, 'bob', 1);
  test.each<[string, readonly TraceEvent[]]>([
    ['there was no denial', [first, log(6), second]],
    ['it came before the first grant', [denied, first, log(6), second]],
    ['it came after the second', [first, log(6), second, denied]],
    ['another client was denied', [first, deny(5, 'carol', 1), log(6), second]],
    ['another server denied', [first, { ...denied, process: 'third' }, log(6), second]],
    ['nothing was logged', [first, denied, second]],
    ['it was logged before', [first, log(6), denied, second]],
    ['it was logged after', [first, denied, second, log(6)]],
    ['it was logged at another time', [first, denied, log(5), second]],
    ['the event is not a log', [first, denied, pause(6, 'bob', 7), second]],
    ['another client logged it', [first, denied, log(6, 'carol'), second]],
    ['the same server gave both', [first, denied, log(6), { ...second, process: 'lock' }]],
    ['a quorum gave the second', [first, denied, log(6), { ...second, process: 'bob' }]],
    [
      'a quorum gave the first',
      [{ ...first, process: 'alice' }, { ...denied, process: 'alice' }, log(6), second],
    ],
    ['the event there is not a denial', [first, renew(5, 'bob', 1), log(6), second]],
  ])('but not because of a denial if %s', (_, events) => {
    expect(causes(...events)).toEqual([]);
  });
});

test('the reason for a grant is the last that its server logged since the previous grant', () => {
  const log = (ms: number, more: Partial<Log> = {}): Log => ({
    kind: 'log',
    atUs: ms * 1000,
    process: 'lock',
    topic: 'why',
    text: '',
    ...more,
  });
  const reason = (...between: readonly TraceEvent[]): number | undefined => {
    const indexed = indexOf(log(0), grant(1, 'alice', 1), ...between, grant(9, 'bob', 2), log(10));
    const [earlier, later] = indexed.locks.get('db')?.grants ?? [];
    if (earlier === undefined) throw new Error('there is no grant');
    expect(reasonFor(indexed, earlier, undefined)).toBeNull();
    return reasonFor(indexed, earlier, later)?.index;
  };
  expect(reason()).toBeUndefined();
  expect(reason(log(2), log(3), pause(4, 'alice', 5))).toBe(3);
  expect(reason(log(2), log(3, { process: 'store' }))).toBe(2);
  expect(reason(log(2), log(3, { topic: 'other' }))).toBe(2);
});
