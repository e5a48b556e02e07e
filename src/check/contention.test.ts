import { describe, expect, test } from 'vitest';
import type { Call } from '../core/history/call.ts';
import type { Invoke, Receive, TraceEvent } from '../core/history/events.ts';
import { acquiresOf, unnotedAcquires } from './contention.ts';
import {
  accepted,
  acquire,
  answer,
  breachOf,
  deny,
  enter,
  grant,
  invoke,
  leaseTest,
  leave,
  pause,
  read,
  release,
  traceOf,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

/** A client notes its own grant and enters. */
function clientGrant(
  ms: number,
  client: string,
  ordinal: number,
  untilMs: number,
): readonly TraceEvent[] {
  const untilUs = untilMs * 1000;
  const given = grant(ms, client, ordinal, { process: client, message: '', untilUs });
  return [given, enter(ms, client, ordinal, untilMs)];
}

function left(ms: number, client: string, ordinal: number): readonly TraceEvent[] {
  const { message: _, ...rest } = release(ms, client, ordinal);
  return [leave(ms, client, ordinal), { ...rest, process: client, message: '' }];
}

/** A server receives a call about a lock and records no outcome. */
function handled(ms: number, operation: string, call?: Call): readonly [Invoke, Receive] {
  const asked = acquire(ms, operation);
  const names = { from: asked.process, to: 'lock', message: `${operation}/1/request` };
  const received: Receive = { kind: 'receive', atUs: ms * 1000, ...names, isCopy: false };
  return [call === undefined ? asked : { ...asked, call }, received];
}

const fetch = (lock: string): Call => ({ verb: 'fetch', lock, token: 0 });

function unnoted(events: readonly TraceEvent[]): readonly string[] {
  const indexed = indexTrace(traceOf(events));
  return [...indexed.locks.values()].flatMap((lock) =>
    unnotedAcquires(indexed, lock).map(({ client, index }) => `${index} ${client} ${lock.lock}`),
  );
}

describe('an acquire whose outcome no server recorded', () => {
  const alice = clientGrant(1, 'alice', 1, 20);

  test('is a call that was handled before its section entered', () => {
    expect(unnoted([...alice, ...handled(5, 'bob/1/set')])).toEqual(['3 bob db']);
    const never = acquire(5, 'bob/1/set');
    expect(unnoted([...alice, never])).toEqual([]);
    expect(unnoted([...alice, ...handled(5, 'alice/1/set')])).toEqual([]);
  });

  test('counts once, however often its message was sent', () => {
    const [asked, received] = handled(5, 'bob/1/set');
    const again: Receive = { ...received, message: 'bob/1/set/2/request' };
    expect(unnoted([...alice, asked, received, again])).toEqual(['3 bob db']);
  });

  test('is a script if no call is an explicit acquire; otherwise no script counts', () => {
    const script = handled(5, 'bob/1/eval', fetch('db'));
    expect(unnoted([...alice, ...script])).toEqual(['3 bob db']);
    expect(unnoted([...alice, ...script, ...handled(6, 'carol/1/set')])).toEqual(['5 carol db']);
  });

  test('outside sections is only an explicit acquire', () => {
    const script = handled(5, 'alice/shared/eval', fetch('db'));
    expect(unnoted([...alice, ...script])).toEqual([]);
    expect(unnoted([...alice, ...handled(6, 'alice/shared/set')])).toEqual(['3 alice db']);
  });

  test('is the start of a section, for one of several sections at once', () => {
    const begin: TraceEvent = {
      kind: 'mark',
      atUs: 5000,
      process: 'alice',
      point: 'alice/2/begin',
    };
    expect(unnoted([...alice, begin])).toEqual(['2 alice db']);
    expect(unnoted([...alice, { ...begin, point: 'alice/2/checked' }])).toEqual([]);
  });

  test('belongs to the lock that its section enters, or to the only lock, whatever its key', () => {
    const key = handled(5, 'bob/1/eval', fetch('lock:db'));
    expect(unnoted([...alice, ...key])).toEqual(['3 bob db']);
    const other = clientGrant(2, 'carol', 2, 20).map((event) =>
      'lock' in event ? { ...event, lock: 'disk' } : event,
    );
    expect(unnoted([...alice, ...other, ...key])).toEqual([]);
    expect(unnoted([...alice, ...other, ...key, ...clientGrant(9, 'bob', 1, 20)])).toEqual([
      '5 bob db',
    ]);
  });

  test('does not count if a server recorded its outcome; then the record counts', () => {
    const [asked, received] = handled(5, 'bob/9/acquire');
    const events = [...alice, asked, received, deny(5, 'bob', 1)];
    expect(unnoted(events)).toEqual([]);
    const indexed = indexTrace(traceOf(events));
    const db = indexed.locks.get('db');
    const found = db && acquiresOf(indexed, db);
    expect(found).toMatchObject([{ client: 'bob', section: 'bob/9', index: 4, atUs: 5000 }]);
  });
});

test('recorded and unrecorded acquires are in trace order', () => {
  const noted = [deny(6, 'carol', 1), grant(7, 'dave', 3)];
  const events = [...clientGrant(1, 'alice', 1, 20), ...handled(5, 'bob/1/set'), ...noted];
  const indexed = indexTrace(traceOf([...events, ...handled(8, 'erin/1/set')]));
  const db = indexed.locks.get('db');
  const found = db === undefined ? [] : acquiresOf(indexed, db);
  expect(found.map(({ client }) => client)).toEqual(['bob', 'carol', 'dave', 'erin']);
});

describe('without records of the server', () => {
  test('mutual-exclusion is exercised by an acquire while another is inside, lease or not', () => {
    const inside = [...clientGrant(1, 'alice', 1, 10), ...handled(5, 'bob/1/set')];
    expect(verdictOn('mutual-exclusion', inside)).toMatchObject({ kind: 'valid', exercised: 1 });
    const over = [...clientGrant(1, 'alice', 1, 10), ...handled(15, 'bob/1/set')];
    expect(verdictOn('mutual-exclusion', over)).toMatchObject({ exercised: 1 });
    const alone = [
      ...clientGrant(1, 'alice', 1, 10),
      ...left(4, 'alice', 1),
      ...handled(5, 'bob/1/set'),
      ...clientGrant(6, 'bob', 1, 20),
    ];
    expect(verdictOn('mutual-exclusion', alone)).toMatchObject({ kind: 'valid', exercised: 0 });
    const beside = [...alone, ...handled(7, 'bob/2/set')];
    expect(verdictOn('mutual-exclusion', beside)).toMatchObject({ kind: 'valid', exercised: 1 });
  });

  test('mutual-exclusion is exercised by a denial while a section is open after its lease', () => {
    const events = [grant(0, 'alice', 1), enter(1, 'alice', 1, 10), deny(15, 'bob', 1)];
    expect(verdictOn('mutual-exclusion', events)).toMatchObject({ kind: 'valid', exercised: 1 });
    const after = [...events.slice(0, 2), leave(12, 'alice', 1), deny(15, 'bob', 1)];
    expect(verdictOn('mutual-exclusion', after)).toMatchObject({ kind: 'valid', exercised: 0 });
  });

  test('no-lost-update is exercised by an acquire between a read and its write', () => {
    const [asked, received] = handled(5, 'bob/1/set');
    const increment = (
      at: 'before' | 'between' | 'after',
      pausedUntilMs = 25,
    ): readonly TraceEvent[] => [
      ...clientGrant(1, 'alice', 1, 20),
      pause(2, 'alice', pausedUntilMs),
      ...(at === 'before' ? [asked, received] : []),
      read(2, 'alice', 1, 0),
      ...(at === 'between' ? [asked, received] : []),
      invoke(6, 'alice/1/write', { value: 1, adds: 1 }),
      write(7, 'alice', 1, 1, { issue: 2, adds: 1 }),
      ...(at === 'after' ? [asked, received] : []),
      accepted(8, 'alice/1/write'),
    ];
    const claim = 'no-lost-update';
    expect(verdictOn(claim, increment('between'))).toMatchObject({ kind: 'valid', exercised: 1 });
    expect(verdictOn(claim, increment('before'))).toMatchObject({ exercised: 0 });
    expect(verdictOn(claim, increment('after'))).toMatchObject({ exercised: 0 });
    // No fault outlasts the lease.
    expect(verdictOn(claim, increment('between', 19))).toMatchObject({ exercised: 0 });
  });

  test('lease-conservative is exercised once a successor has shown that the lease is over', () => {
    const claim = 'lease-conservative';
    const over = { ...leaseTest(15, 'alice', 1, 10), isLive: false };
    const alone = [...clientGrant(1, 'alice', 1, 10), over];
    expect(verdictOn(claim, alone)).toMatchObject({ kind: 'valid', exercised: 0 });
    const succeeded = [...clientGrant(1, 'alice', 1, 10), ...clientGrant(12, 'bob', 2, 30), over];
    expect(verdictOn(claim, succeeded)).toMatchObject({ kind: 'valid', exercised: 1 });
    const live = [...clientGrant(1, 'alice', 1, 20), ...clientGrant(12, 'bob', 2, 30)];
    expect(breachOf(claim, [...live, leaseTest(15, 'alice', 1, 20)]).rule).toBe('live-past-end');
  });

  test('grant-order is exercised by an acquire while a grant without end is held', () => {
    const endless = clientGrant(1, 'alice', 1, 10).map((event) =>
      event.kind === 'grant' ? { ...event, untilUs: null } : event,
    );
    const asked = handled(5, 'bob/1/set');
    const claim = 'grant-order';
    expect(verdictOn(claim, [...endless, ...asked])).toMatchObject({ exercised: 1 });
    expect(verdictOn(claim, [...clientGrant(1, 'alice', 1, 10), ...asked])).toMatchObject({
      exercised: 0,
    });
    const given = [...endless, ...left(4, 'alice', 1), ...asked];
    expect(verdictOn(claim, given)).toMatchObject({ exercised: 0 });
  });
});

test('an answer alone is not an acquire', () => {
  const granted = answer(6, 'bob/1/set', { kind: 'granted', token: 0 });
  expect(unnoted([...clientGrant(1, 'alice', 1, 20), granted])).toEqual([]);
});

test('a call is recorded if a server recorded its grant or denial', () => {
  const message = 'bob/1/set/1/request';
  const asked = [...clientGrant(1, 'alice', 1, 20), ...handled(5, 'bob/1/set')];
  expect(unnoted(asked)).toEqual(['3 bob db']);
  expect(unnoted([...asked, grant(6, 'bob', 2, { message })])).toEqual([]);
  expect(unnoted([...asked, { ...deny(6, 'bob', 1), message }])).toEqual([]);
  expect(unnoted([...asked, { ...deny(6, 'bob', 1), message: 'bob/1/get/1/request' }])).toEqual([
    '3 bob db',
  ]);
});
