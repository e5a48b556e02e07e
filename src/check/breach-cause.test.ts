/**
 * Finds the cause of a breach from the trace: the faults that it depends on, and what they
 * affected.
 */
import { describe, expect, test } from 'vitest';
import type { Call } from '../core/history/call.ts';
import type { FaultInjected, Invoke, Receive, TraceEvent } from '../core/history/events.ts';
import {
  type BreachCause,
  breachPlace,
  causeOf,
  causeText,
  faultsBehind,
  isPartOf,
  isSameCause,
} from './breach-cause.ts';
import {
  answer,
  enter,
  fault,
  grant,
  invoke,
  keyChange,
  pause,
  read,
  release,
  traceOf,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';
import type { Invalid } from './verdict.ts';

function broken(claim: string, events: readonly TraceEvent[]): Invalid {
  const verdict = verdictOn(claim, events);
  if (verdict.kind !== 'invalid') throw new Error(`${claim} is ${verdict.kind}`);
  return verdict;
}

function causeIn(claim: string, events: readonly TraceEvent[]): BreachCause {
  return causeOf(indexTrace(traceOf(events)), broken(claim, events));
}

type LockVerb = Extract<Call, { readonly lock: string }>['verb'];

function call(ms: number, operation: string, verb: LockVerb = 'release'): Invoke {
  const [process = ''] = operation.split('/');
  const asked: Call = { verb, lock: 'lock.db', token: 0 };
  return { kind: 'invoke', atUs: ms * 1000, process, operation, call: asked };
}

/** The lock server receives the request of an operation. */
function handled(ms: number, operation: string): Receive {
  const [from = ''] = operation.split('/');
  const names = { from, to: 'lock', message: `${operation}/1/request` };
  return { kind: 'receive', atUs: ms * 1000, ...names, isCopy: false };
}

/** A client acquires a lock whose server records nothing: it notes the grant and enters itself. */
function taken(ms: number, client: string, ordinal: number): readonly TraceEvent[] {
  const operation = `${client}/${ordinal}/set`;
  return [
    call(ms, operation, 'acquire'),
    handled(ms, operation),
    answer(ms, operation, { kind: 'granted', token: 0 }),
    grant(ms, client, ordinal, { process: client, untilUs: null, token: 0 }),
    enter(ms, client, ordinal, 1_000_000),
  ];
}

function deleted(ms: number, operation: string): readonly TraceEvent[] {
  return [handled(ms, operation), answer(ms, operation, { kind: 'released' })];
}

/** bob reads, carol enters and reads, then bob writes: both are inside. */
function lostTurn(ms: number, betweenThem: readonly TraceEvent[]): readonly TraceEvent[] {
  return [
    ...taken(ms, 'bob', 2),
    read(ms, 'bob', 2, 0),
    ...betweenThem,
    ...taken(ms + 2, 'carol', 3),
    read(ms + 2, 'carol', 3, 0),
    write(ms + 3, 'bob', 2, 1),
  ];
}

const lateDel = [
  ...taken(0, 'alice', 1),
  pause(1, 'alice', 12),
  call(12, 'alice/1/del'),
  ...lostTurn(11, deleted(12, 'alice/1/del')),
];

describe('a late release that frees the lock of a successor', () => {
  test('is the cause if the lock service reports which grant each release ended', () => {
    const events = [
      grant(0, 'alice', 1),
      pause(3, 'alice', 12),
      grant(11, 'bob', 2),
      call(12, 'alice/1/release'),
      release(13, 'alice', 1, { released: 2 }),
      grant(14, 'carol', 3),
    ];
    expect(causeIn('mutual-exclusion', events)).toEqual({
      rule: 'granted-while-live',
      isByNonOwnerRelease: true,
      faults: [{ kind: 'pause', what: 'before release' }],
    });
  });

  test('is the cause if only the calls and their answers are known', () => {
    const cause = causeIn('grant-order', lateDel);
    expect(causeText(cause)).toBe('another’s release (pause before release)');
    const [behind] = faultsBehind(indexTrace(traceOf(lateDel)), broken('grant-order', lateDel));
    expect(behind?.event.processes).toEqual(['alice']);
  });

  test('counts even if it came in time, when its own grant had been lost to another client', () => {
    const events = [
      ...taken(0, 'alice', 1),
      pause(1, 'alice', 12),
      call(12, 'alice/1/del'),
      ...taken(11, 'dave', 4),
      ...deleted(12, 'alice/1/del'),
      ...taken(12, 'bob', 2),
      read(12, 'bob', 2, 0),
      call(12.5, 'dave/4/del'),
      ...deleted(13, 'dave/4/del'),
      ...taken(13, 'carol', 3),
      read(13, 'carol', 3, 0),
      write(14, 'bob', 2, 1),
    ];
    const cause = causeIn('grant-order', events);
    expect(causeText(cause)).toBe('another’s release (pause before release)');
  });

  test('counts even if the client whose lock it freed is the last to learn of its grant', () => {
    const [asked, heard] = [taken(11, 'bob', 4).slice(0, 2), taken(13, 'bob', 4).slice(2)];
    const events = [
      ...taken(0, 'alice', 1),
      pause(1, 'alice', 12),
      call(12, 'alice/1/del'),
      ...asked,
      ...deleted(12, 'alice/1/del'),
      ...taken(12, 'carol', 3),
      read(12, 'carol', 3, 0),
      ...heard,
      read(13, 'bob', 4, 0),
      write(14, 'carol', 3, 1),
    ];
    const cause = causeIn('grant-order', events);
    expect(causeText(cause)).toBe('another’s release (pause before release)');
  });

  test('is not the cause if it freed nothing, or a lock that its own client held', () => {
    const denied = answer(12, 'alice/1/del', { kind: 'denied', holder: '' });
    const inVain = lostTurn(11, [call(12, 'alice/1/del'), handled(12, 'alice/1/del'), denied]);
    const deletedByClient = lostTurn(11, [call(12, 'bob/2/del'), ...deleted(12, 'bob/2/del')]);
    const again = lostTurn(11, [
      ...taken(11.5, 'alice', 4).filter(({ kind }) => kind !== 'grant' && kind !== 'enter'),
      call(12, 'alice/4/del'),
      ...deleted(12, 'alice/4/del'),
    ]);
    for (const events of [inVain, deletedByClient, again]) {
      const cause = causeIn('grant-order', [...taken(0, 'alice', 1), ...events]);
      expect(cause.isByNonOwnerRelease).toBe(false);
    }
  });

  test('differs as a cause from a lease that expired during a pause', () => {
    const expired = [...lostTurn(11, [pause(11.5, 'bob', 13)]), invoke(14, 'bob/2/write')];
    const late = causeIn('grant-order', lateDel);
    const out = causeIn('grant-order', expired);
    expect([late.rule, causeText(out)]).toEqual([out.rule, 'pause before access']);
    expect(isSameCause(late, out)).toBe(false);
  });
});

describe('the operation or process that a fault affected', () => {
  const whenLate = (hit: TraceEvent, ...next: readonly TraceEvent[]): string => {
    const stale = write(15, 'alice', 1, 1, { operation: 'alice/1/write' });
    const begun = [grant(0, 'alice', 1), enter(0, 'alice', 1, 99), invoke(1, 'alice/1/write')];
    const rest = [grant(11, 'bob', 2), write(12, 'bob', 2, 2), stale];
    return causeText(causeIn('fence-monotone', [...begun, hit, ...next, ...rest]));
  };
  const message = (target: string, kind: FaultInjected['fault'] = 'delay'): FaultInjected =>
    fault(2, kind, 'alice', { target, processes: ['alice', 'store'] });

  test.each([
    ['pause before access', pause(2, 'alice', 14), [invoke(14, 'alice/1/read')]],
    ['pause before renew', pause(2, 'alice', 14), [call(14, 'alice/1/pexpire', 'renew')]],
    ['pause before eval', pause(2, 'alice', 14), [call(14, 'alice/1/eval-2', 'fetch')]],
    ['pause before its end', pause(2, 'alice', 14), []],
    ['pause of a store', pause(2, 'store', 14), []],
    ['clock of a client, ahead', fault(2, 'clock', 'alice', { amount: 5 }), []],
    ['clock of a client, behind', fault(2, 'clock', 'alice', { amount: -5 }), []],
    ['clock of a store', fault(2, 'clock', 'store'), []],
    ['delay of write request', message('alice/1/write/1/request'), []],
    ['drop of write reply', message('alice/1/write/1/reply', 'drop'), []],
    ['delay of set-up reply', message('alice/1/set-up/1/reply'), []],
    [
      'partition between a client and a store',
      fault(2, 'partition', '', { processes: ['alice', 'bob', 'store'] }),
      [],
    ],
    [
      'reset between a client and a store',
      fault(2, 'reset', '', { processes: ['alice', 'store'] }),
      [],
    ],
  ])('%s', (words, hit, next) => {
    expect(whenLate(hit, ...next)).toBe(words);
  });

  test('includes messages that the evidence lacks, the longest delay first', () => {
    const delays = [
      fault(1, 'delay', 'alice', { target: 'alice/1/read/1/reply', amount: 5 }),
      fault(1, 'delay', 'alice', { target: 'alice/1/acquire/1/reply', amount: 9 }),
      fault(1, 'delay', 'carol', { target: 'carol/3/renew/1/reply', amount: 99 }),
    ];
    expect(whenLate(pause(2, 'carol', 14), ...delays)).toBe('delay of acquire reply');
    const beside = enter(2, 'carol', 3, 99);
    expect(whenLate(beside, ...delays)).toBe('delay of acquire reply');
    // A delay of an operation in the evidence takes precedence, however short it is.
    const shown = fault(1, 'delay', 'bob', { target: 'bob/2/write/1/request', amount: 1 });
    expect(whenLate(shown, ...delays)).toBe('delay of write request');
    expect(whenLate(pause(2, 'alice', 14), ...delays)).toBe('pause before its end');
  });

  test('includes a fault of the lock server that granted a lock before the lease ended', () => {
    const evicted = fault(4, 'evict', 'lock', { target: 'db' });
    const stale = [grant(0, 'alice', 1), evicted, grant(5, 'bob', 2), write(6, 'bob', 2, 2)];
    const cause = causeIn('fence-monotone', [...stale, write(8, 'alice', 1, 1)]);
    expect(causeText(cause)).toBe('evict of a lock server');
    const partition = fault(4, 'partition', '', { processes: ['alice', 'lock'], untilMs: 6 });
    const parted = stale.map((event) => (event === evicted ? partition : event));
    const between = causeIn('fence-monotone', [...parted, write(8, 'alice', 1, 1)]);
    expect(causeText(between)).toBe('partition between a client and a lock server');
    const over = [grant(0, 'alice', 1), evicted, grant(11, 'bob', 2), write(12, 'bob', 2, 2)];
    const later = causeIn('fence-monotone', [...over, write(13, 'alice', 1, 1)]);
    expect(causeText(later)).toBe('earlier evict of a lock server');
    const without = over.filter((event) => event !== evicted);
    const none = causeIn('fence-monotone', [...without, write(13, 'alice', 1, 1)]);
    expect(causeText(none)).toBe('no fault');
    expect(isSameCause(later, none)).toBe(true);
  });
});

describe('two causes', () => {
  const of = (...whats: readonly string[]): BreachCause => ({
    rule: 'stale-write',
    isByNonOwnerRelease: false,
    faults: whats.map((what) => ({ kind: 'pause', what })),
  });

  test('are the same if one includes the other', () => {
    expect(isSameCause(of('a', 'b'), of('b'))).toBe(true);
    expect(isSameCause(of(), of('b'))).toBe(true);
    expect(isPartOf(of('b'), of('a', 'b'))).toBe(true);
    expect(isPartOf(of('a', 'b'), of('b'))).toBe(false);
  });

  test('differ if each has a fault that the other lacks, or in the rule, or in the release', () => {
    expect(isSameCause(of('a', 'b'), of('b', 'c'))).toBe(false);
    expect(isSameCause(of('a'), { ...of('a'), rule: 'write-after-read' })).toBe(false);
    expect(isSameCause(of('a'), { ...of('a'), isByNonOwnerRelease: true })).toBe(false);
  });
});

test('a fault after the breach is not a cause', () => {
  const twice = [grant(0, 'alice', 1), grant(4, 'bob', 2)];
  const late = (ms: number): FaultInjected =>
    fault(ms, 'delay', 'lock', { target: 'bob/2/acquire/1/request', amount: 2000 });
  expect(causeIn('mutual-exclusion', [...twice, late(9)]).faults).toEqual([]);
});

test('a fault counts if any process that it affected granted the lock', () => {
  const partition = fault(1, 'partition', '', { processes: ['alice', 'lock'], untilMs: 3 });
  const beside = fault(1, 'partition', '', { processes: ['carol', 'store'], untilMs: 3 });
  const events = [grant(0, 'alice', 1), partition, beside, grant(4, 'bob', 2)];
  expect(causeIn('mutual-exclusion', events).faults.map(({ kind }) => kind)).toEqual(['partition']);
});

describe('the place of a breach', () => {
  const events: readonly TraceEvent[] = [
    grant(1, 'alice', 1),
    enter(2, 'alice', 1, 15),
    invoke(3, 'alice/1/write'),
    write(4, 'alice', 1, 5, { key: 'y' }),
    pause(5, 'alice', 9),
    answer(10, 'alice/1/write', { kind: 'accepted' }),
    call(11, 'alice/1/del'),
    handled(12, 'alice/1/del'),
    keyChange(12, 'alice', { key: 'lock.db', message: 'alice/1/del/1/request' }),
  ];
  const placeAt = (...evidence: readonly (readonly [role: string, event: number])[]): string => {
    const shown = evidence.map(([role, event]) => ({ role, event }));
    const verdict = { kind: 'invalid', claim: 'a', exercised: 1, rule: 'a' } as const;
    return breachPlace(traceOf(events), { ...verdict, evidence: shown });
  };

  test.each([
    ['a grant', 0, 'alice/1 db'],
    ['an entry', 1, 'alice/1 db'],
    ['a call', 2, 'alice/1 x'],
    ['a write', 3, 'alice/1 y'],
    ['an answer', 5, 'alice/1 x'],
    ['a message', 7, 'alice/1 lock.db'],
    ['the change of a key', 8, 'alice/1 lock.db'],
  ])('is the section and the key of %s', (_, event, place) => {
    expect(placeAt(['first', 0], ['last', event])).toBe(place);
  });

  test('is given neither by a fault nor by an event beside the contradiction', () => {
    expect(placeAt(['write', 3], ['pause', 4], ['lease test', 8])).toBe('alice/1 y');
    expect(placeAt(['pause', 4])).toBe('');
  });
});
