import { describe, expect, test } from 'vitest';
import type { Answer } from '../core/history/call.ts';
import type { FaultInjected, KeyChange, TraceEvent } from '../core/history/events.ts';
import { measureLossNoticed } from './loss-noticed.ts';
import {
  answer,
  breachOf,
  enter,
  grant,
  healed,
  invoke,
  keyChange,
  leaseTest,
  leave,
  release,
  renew,
  traceOf,
  verdictOn,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

const claim = 'loss-noticed';
const terms = { ttlUs: 10_000 };
const granted = [grant(0, 'alice', 1), enter(1, 'alice', 1, 10)];

function measured(events: readonly TraceEvent[]): readonly number[] {
  const { times, longestUs } = measureLossNoticed(indexTrace(traceOf(events)));
  return [times, longestUs];
}

function pause(fromMs: number, untilMs: number): FaultInjected {
  const span = { atUs: fromMs * 1000, untilUs: untilMs * 1000, amount: 0 };
  return { kind: 'fault', fault: 'pause', index: 0, processes: ['alice'], target: '', ...span };
}

describe('a program that loses its lock', () => {
  test('notices if it leaves within its ttl', () => {
    const events = [...granted, leave(15, 'alice', 1)];
    expect(verdictOn(claim, events, terms)).toMatchObject({ kind: 'valid', exercised: 1 });
    expect(measured(events)).toEqual([1, 5000]);
  });

  test('does not notice if it relies on the lock for longer than its ttl after that', () => {
    const breach = breachOf(claim, [...granted, leave(21, 'alice', 1)], terms);
    expect(breach).toMatchInlineSnapshot(`
      {
        "evidence": [
          "0 grant",
          "1 entry",
          "2 notice",
        ],
        "rule": "loss-unnoticed",
        "words": "alice lost \`db\` and did not notice. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then \`lock\` no longer held A from 10 ms on. However, alice counted on it until 21 ms.",
      }
    `);
  });

  test('to another section of its own process loses it like any other', () => {
    const endless = { untilUs: null, process: 'alice' };
    const one = [grant(0, 'alice', 1, endless), enter(0, 'alice', 1, 1e6)];
    const other = [
      grant(5, 'alice', 2, endless),
      { ...enter(5, 'alice', 2, 1e6), section: 'alice/2' },
    ];
    expect(measured([...one, ...other, leave(9, 'alice', 1)])).toEqual([1, 4000]);
    expect(measured([...one, leave(4, 'alice', 1), ...other])).toEqual([0, 0]);
  });

  test('is not blamed for the time that it is paused', () => {
    const events = [...granted, pause(9, 19), leave(21, 'alice', 1)];
    expect(verdictOn(claim, events, terms)).toMatchObject({ kind: 'valid', exercised: 1 });
    expect(measured(events)).toEqual([1, 11_000]);
  });

  test('loses it when its successor gets it or another client releases it', () => {
    expect(measured([...granted, grant(5, 'bob', 2), leave(9, 'alice', 1)])).toEqual([1, 4000]);
    const otherRelease = release(4, 'bob', 2, { released: 1 });
    expect(measured([...granted, otherRelease, leave(9, 'alice', 1)])).toEqual([1, 5000]);
  });
});

describe('no loss is counted', () => {
  test('for a lock that was left, released or extended in time', () => {
    expect(measured([...granted, leave(9, 'alice', 1)])).toEqual([0, 0]);
    expect(measured([...granted, leave(5, 'alice', 1), release(6, 'alice', 1)])).toEqual([0, 0]);
    expect(measured([...granted, renew(8, 'alice', 1), leave(17, 'alice', 1)])).toEqual([0, 0]);
  });
});

test('neither an event before the entry nor one under another grant makes a client notice', () => {
  const early = leaveOf(0.5, 1);
  const other = leaveOf(12, 7);
  expect(
    measured([grant(0, 'alice', 1), early, enter(1, 'alice', 1, 10), leave(15, 'alice', 1)]),
  ).toEqual([1, 5000]);
  expect(measured([...granted, other, leave(15, 'alice', 1)])).toEqual([1, 5000]);
});

test('a lock without an end that no other client takes is never lost', () => {
  const kept = [grant(0, 'alice', 1, { untilUs: null }), enter(1, 'alice', 1, 10)];
  const events = [...kept, leave(500, 'alice', 1)];
  expect(measured(events)).toEqual([0, 0]);
  expect(verdictOn(claim, events, terms)).toMatchObject({ kind: 'valid', exercised: 0 });
});

function leaveOf(ms: number, ordinal: number): TraceEvent {
  return leave(ms, 'alice', ordinal);
}

test('a denied renewal or a refusal makes a client notice, but not another denial', () => {
  const renewed = {
    ...invoke(11, 'alice/1/renew'),
    call: { verb: 'renew', lock: 'db', token: 1 },
  } as const;
  const denied = { kind: 'denied', holder: 'bob' } as const;
  const left = leave(30, 'alice', 1);
  const noticed = (call: TraceEvent, given: Answer): readonly number[] =>
    measured([...granted, call, answer(12, 'alice/1/renew', given), left]);
  expect(noticed(renewed, denied)).toEqual([1, 2000]);
  expect(noticed(renewed, { kind: 'renewed' })).toEqual([1, 20_000]);
  const other = { ...renewed, call: { ...renewed.call, verb: 'acquire' } } as const;
  expect(noticed(other, denied)).toEqual([1, 20_000]);
  expect(noticed(other, { kind: 'refused', highest: 2 })).toEqual([1, 2000]);
});

test('losses of all locks are counted, with the longest and their total time', () => {
  const onMail = (event: TraceEvent): TraceEvent =>
    'lock' in event ? { ...event, lock: 'mail' } : event;
  const first = [...granted, leave(15, 'alice', 1)];
  const others = [grant(20, 'bob', 2), enter(21, 'bob', 2, 30), leave(33, 'bob', 2)].map(onMail);
  expect(measureLossNoticed(indexTrace(traceOf([...first, ...others])))).toEqual({
    times: 2,
    longestUs: 5000,
    totalUs: 8000,
  });
});

test.each<[string, readonly TraceEvent[], number]>([
  ['its lease is over at that instant', [leave(10.001, 'alice', 1)], 1],
  ['it leaves as its lease ends', [leave(10, 'alice', 1)], 0],
  ['its renewal comes as its lease ends', [renew(10, 'alice', 1), leave(11, 'alice', 1)], 1000],
  [
    'its renewal comes just before',
    [renew(9.999, 'alice', 1, { untilUs: 19_999 }), leave(20, 'alice', 1)],
    1,
  ],
  [
    'it is extended without an end',
    [renew(5, 'alice', 1, { untilUs: null }), leave(99, 'alice', 1)],
    0,
  ],
  ['it releases the lock itself', [release(4, 'alice', 1), leave(9, 'alice', 1)], 0],
  ['it is granted the lock again', [grant(5, 'alice', 2), leave(9, 'alice', 1)], 0],
  ['its lease test fails', [failedTest(12, 1), leave(15, 'alice', 1)], 2000],
  ['it finds its lease live', [leaseTest(12, 'alice', 1, 20), leave(15, 'alice', 1)], 5000],
  ['it tests another lease', [failedTest(12, 2), leave(15, 'alice', 1)], 5000],
  ['it leaves, then its store refuses a write', [leave(11, 'alice', 1), ...refused(12, 1)], 1000],
  ['its store refuses a write, then it leaves', [...refused(12, 1), leave(15, 'alice', 1)], 2000],
  ['another section is refused', [...refused(12, 2), leave(15, 'alice', 1)], 5000],
  ['it does nothing until the run ends', [healed(40)], 30_000],
])('a program relies on a lost lock until it can know: %s', (_, since, longestUs) => {
  expect(measured([...granted, ...since])).toEqual([longestUs > 0 ? 1 : 0, longestUs]);
});

function failedTest(ms: number, ordinal: number): TraceEvent {
  return { ...leaseTest(ms, 'alice', ordinal, 10), isLive: false };
}

function refused(ms: number, section: number): readonly TraceEvent[] {
  const operation = `alice/${section}/write`;
  return [invoke(ms, operation), answer(ms, operation, { kind: 'refused', highest: 2 })];
}

test('a refusal before the entry does not make a client notice', () => {
  const [given, entered] = [grant(0, 'alice', 1), enter(1, 'alice', 1, 10)];
  const events = [given, ...refused(0.5, 1), entered, leave(15, 'alice', 1)];
  expect(measured(events)).toEqual([1, 5000]);
});

test.each<[string, 'valid' | 'invalid', number, readonly TraceEvent[]]>([
  ['without a pause', 'valid', 20, []],
  ['without a pause', 'invalid', 20.001, []],
  ['a pause just long enough', 'valid', 29, [pause(12, 21)]],
  ['a pause just too short', 'invalid', 29.001, [pause(12, 21)]],
  ['a pause before the loss', 'valid', 20, [pause(2, 4)]],
  ['a pause that began before the loss', 'invalid', 29.5, [pause(5, 19)]],
  ['a pause without an end', 'valid', 40, [{ ...pause(11, 12), untilUs: null }]],
  ['a pause that lasts on', 'invalid', 29, [pause(25, 60)]],
  ['two pauses that overlap', 'invalid', 26, [pause(11, 15), pause(12, 16)]],
  ['two pauses that overlap', 'valid', 25, [pause(11, 15), pause(12, 16)]],
  ['a pause of another client', 'invalid', 25, [{ ...pause(12, 21), processes: ['bob'] }]],
  ['another fault', 'invalid', 25, [{ ...pause(12, 21), fault: 'delay' }]],
])(
  'time spent paused does not count against noticing: %s, %s at %f ms',
  (_, kind, leftMs, faults) => {
    const events = [...granted, ...faults, leave(leftMs, 'alice', 1)];
    expect(verdictOn(claim, events, terms)).toMatchObject({ kind, exercised: 1 });
  },
);

test('an unnoticed loss lasts until the end of the run, and its faults are shown', () => {
  const noticed = [grant(0, 'bob', 3), enter(1, 'bob', 3, 10), leave(12, 'bob', 3)];
  const lost = [grant(20, 'alice', 1), enter(21, 'alice', 1, 30), pause(31, 32), healed(50)];
  const breach = breachOf(claim, [...noticed, ...lost], terms);
  expect(breach.evidence).toEqual(['3 grant', '4 entry', '5 pause']);
  expect(breach.words).toBe(
    "alice lost `db` and did not notice. Let A be alice's grant 1 of `db` (from 20 ms, ttl 10 ms). " +
      'Then `lock` no longer held A from 30 ms on. However, alice counted on it until the end of the ' +
      'run: alice was paused from 31 ms to 32 ms.',
  );
});

test('a holder that removes its own key does not lose it, unless most servers had lost it', () => {
  const clientGrant = grant(3, 'alice', 1, { process: 'alice', message: '', untilUs: null });
  const on = (ms: number, number: number, more: Partial<KeyChange> = {}): KeyChange =>
    keyChange(ms, 'alice', { process: `redis-${number}`, untilUs: 99_000, ...more });
  const taken = [on(1, 1), on(1, 2), on(1, 3), clientGrant, enter(3, 'alice', 1, 1e12)];
  const removes = (ms: number, number: number, client: string): KeyChange =>
    on(ms, number, { change: 'removed', client, message: `${client}/1/del/1/request` });
  const lossesIn = (...removals: readonly KeyChange[]): number =>
    measureLossNoticed(indexTrace(traceOf([...taken, ...removals, healed(40)]))).times;
  expect(lossesIn(removes(30, 1, 'alice'), removes(31, 2, 'alice'))).toBe(0);
  expect(lossesIn(removes(6, 1, 'bob'), removes(7, 2, 'bob'), removes(30, 3, 'alice'))).toBe(1);
});
