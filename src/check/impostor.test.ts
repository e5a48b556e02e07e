/** Whose lease was over before it entered. */
import { describe, expect, test } from 'vitest';
import type { Grant, KeyChange } from '../core/history/server-events.ts';
import type { TraceEvent } from '../core/history/trace.ts';
import { impostorUnder } from './impostor.ts';
import { enter, fault, grant, keyChange, send, traceOf } from './trace-builder.fixture.ts';

const ttlUs = new Map([
  ['alice', 10_000],
  ['bob', 10_000],
]);

function asked(ms: number, process: string, section: string): TraceEvent {
  const call = { verb: 'fetch', lock: 'db', token: 0 } as const;
  return { kind: 'invoke', atUs: ms * 1000, process, operation: `${section}/set`, call };
}

describe('where a server gives grants', () => {
  test('who enters when the server has ended the lease is an impostor', () => {
    const given = grant(1, 'alice', 1);
    const late = impostorUnder(traceOf([given, enter(20, 'alice', 1, 30)]), given, ttlUs);
    expect(late).toEqual({ client: 'alice', enteredUs: 20_000, sentAtUs: 1000, overUs: 11_000 });
  });

  test('who enters in time is none', () => {
    const given = grant(1, 'alice', 1);
    expect(impostorUnder(traceOf([given, enter(2, 'alice', 1, 11)]), given, ttlUs)).toBeNull();
  });
});

describe('where a program says itself that it has the lock', () => {
  const own = (ms: number, client: string, ordinal: number): Grant =>
    grant(ms, client, ordinal, { process: client, sentAtUs: ms * 1000 });
  const mine = own(25, 'alice', 2);
  const before = [asked(0, 'alice', 'alice/2'), asked(14, 'bob', 'bob/1')];
  const after = [mine, enter(25, 'alice', 2, 35)];

  test('it is an impostor if another asked for the lock since, and has entered', () => {
    const other = [own(16, 'bob', 1), enter(16, 'bob', 1, 26)];
    const found = impostorUnder(traceOf([...before, ...other, ...after]), mine, ttlUs);
    expect(found).toMatchObject({ client: 'alice', sentAtUs: 0, overUs: 10_000 });
  });

  test('it is none as long as nobody has', () => {
    expect(impostorUnder(traceOf([...before, ...after]), mine, ttlUs)).toBeNull();
  });
});

describe('where a server tells of its keys, to whom a reply came late by just about the lease', () => {
  const key = (ms: number, client: string): KeyChange =>
    keyChange(ms, client, {
      key: 'lock:db',
      isNamed: false,
      message: `${client}/set/1/request`,
    });
  const at = (ms: number, before: readonly TraceEvent[]): ReturnType<typeof impostorUnder> => {
    const mine = grant(ms, 'alice', 1, { process: 'alice', sentAtUs: ms * 1000, untilUs: null });
    return impostorUnder(traceOf([...before, mine, enter(ms, 'alice', 1, 90)]), mine, ttlUs);
  };
  const clockOf = (process: string): TraceEvent => fault(2, 'clock', process);

  test('who enters as the key goes is an impostor, and one who enters before is none', () => {
    const found = { client: 'alice', enteredUs: 11_000, sentAtUs: 1000, overUs: 11_000 };
    expect(at(11, [key(1, 'alice')])).toEqual(found);
    expect(at(10, [key(1, 'alice')])).toBeNull();
  });

  test('a clock of the server that went wrong has no say, until another has the key', () => {
    expect(at(12, [key(1, 'alice'), clockOf('lock')])).toBeNull();
    expect(at(12, [key(1, 'alice'), clockOf('lock'), key(8, 'bob')])).not.toBeNull();
    expect(at(12, [key(1, 'alice'), clockOf('alice')])).not.toBeNull();
  });

  test.each<[string, Partial<KeyChange>]>([
    ['another key', { key: 'lock:mail' }],
    ['the key on another server', { process: 'lock-2' }],
  ])('another that took %s does not show that the key was gone', (_, more) => {
    const taken = { ...key(8, 'bob'), ...more };
    expect(at(12, [key(1, 'alice'), clockOf('lock'), taken])).toBeNull();
  });

  test('the lease counts from the departure of the request that took the key', () => {
    const sent = [send(0.25, 'bob', 'bob/set'), send(0.5, 'alice', 'alice/set')];
    const found = { client: 'alice', enteredUs: 11_000, sentAtUs: 500, overUs: 11_000 };
    expect(at(11, [...sent, key(1, 'alice')])).toEqual(found);
  });

  test('a key that was prolonged in between is not over', () => {
    const prolonged = { change: 'prolonged', holder: 'alice' } as const;
    expect(at(12, [key(1, 'alice'), { ...key(5, 'alice'), ...prolonged }])).toBeNull();
  });
});

test('a client that entered again itself, or another lock, took the lock from nobody', () => {
  const own = (ms: number, client: string, ordinal: number): Grant =>
    grant(ms, client, ordinal, { process: client, sentAtUs: ms * 1000 });
  const mine = own(25, 'alice', 2);
  const last = [mine, enter(25, 'alice', 2, 35)];
  const since = (...events: readonly TraceEvent[]): ReturnType<typeof impostorUnder> =>
    impostorUnder(traceOf([asked(0, 'alice', 'alice/2'), ...events, ...last]), mine, ttlUs);
  expect(since(asked(14, 'alice', 'alice/1'), enter(16, 'alice', 1, 26))).toBeNull();
  const elsewhere = { ...enter(16, 'bob', 1, 26), lock: 'b' };
  expect(since(asked(14, 'bob', 'bob/1'), elsewhere)).toBeNull();
  expect(since(asked(14, 'bob', 'bob/1'), enter(16, 'bob', 1, 26))).not.toBeNull();
});

test('an entry to another lock by the same number is not that of the grant', () => {
  const given = grant(1, 'alice', 1);
  const elsewhere = { ...enter(20, 'alice', 1, 30), lock: 'b' };
  expect(impostorUnder(traceOf([given, elsewhere]), given, ttlUs)).toBeNull();
  const both = [given, elsewhere, enter(25, 'alice', 1, 30)];
  expect(impostorUnder(traceOf(both), given, ttlUs)).toMatchObject({ enteredUs: 25_000 });
});

test('the end that a quorum gave counts only where there were servers to ask', () => {
  const given = grant(2, 'alice', 1, { process: 'alice', sentAtUs: 1000 });
  const trace = traceOf([given, enter(20, 'alice', 1, 30)]);
  expect(impostorUnder(trace, given, ttlUs)).toMatchObject({ sentAtUs: 1000, overUs: 12_000 });
  const processes = trace.processes.filter(({ role }) => role !== 'lock');
  expect(impostorUnder({ ...trace, processes }, given, ttlUs)).toBeNull();
});
