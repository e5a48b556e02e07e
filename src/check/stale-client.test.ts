/** Tests which clients entered after their lease had ended. */
import { describe, expect, test } from 'vitest';
import type { Grant, KeyChange, TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { Contradiction } from './explanation.ts';
import { grantsOf } from './phrases.ts';
import { type StaleClient, staleClientUnder as staleClientIn } from './stale-client.ts';
import {
  answer,
  enter,
  fault,
  grant,
  keyChange,
  send,
  traceOf,
  write,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

const ttlUs = new Map([
  ['alice', 10_000],
  ['bob', 10_000],
]);

function asked(ms: number, process: string, section: string): TraceEvent {
  const call = { verb: 'fetch', lock: 'db', token: 0 } as const;
  return { kind: 'invoke', atUs: ms * 1000, process, operation: `${section}/set`, call };
}

/** The lock sends the reply to that call at `leftMs`, and it arrives at `ms`. */
function findStale(
  leftMs: number,
  ms: number,
  client: string,
  section: string,
): readonly [TraceEvent, TraceEvent] {
  const names = { from: 'lock', to: client, message: `${section}/set/1/reply` };
  return [
    { kind: 'send', atUs: leftMs * 1000, ...names, body: 'OK' },
    { kind: 'receive', atUs: ms * 1000, ...names, isCopy: false },
  ];
}

function staleClientUnder(
  trace: Trace,
  grant: Grant,
  ttl: ReadonlyMap<string, number>,
): StaleClient | null {
  return staleClientIn(indexTrace(trace), grant, ttl);
}

describe('if a server records grants', () => {
  test('a client that enters after the server ended its lease is stale', () => {
    const given = grant(1, 'alice', 1);
    const late = staleClientUnder(traceOf([given, enter(20, 'alice', 1, 30)]), given, ttlUs);
    expect(late).toEqual({ client: 'alice', enteredUs: 20_000, sentAtUs: 1000, overUs: 11_000 });
  });

  test('a client that enters in time is not stale', () => {
    const given = grant(1, 'alice', 1);
    expect(staleClientUnder(traceOf([given, enter(2, 'alice', 1, 11)]), given, ttlUs)).toBeNull();
  });
});

describe('if a program notes its own grants, a client', () => {
  const clientGrant = (ms: number, client: string, ordinal: number): Grant =>
    grant(ms, client, ordinal, { process: client, sentAtUs: ms * 1000, untilUs: null });
  const mine = clientGrant(25, 'alice', 2);
  const late = findStale(1, 25, 'alice', 'alice/2');
  const his = findStale(15, 16, 'bob', 'bob/1');
  const other = [...his, clientGrant(16, 'bob', 1), enter(16, 'bob', 1, 26)];
  const calls = [asked(0, 'alice', 'alice/2'), asked(14, 'bob', 'bob/1')];
  const [leaves, comes] = late;
  const entry = enter(25, 'alice', 2, 35);

  test('is stale if another entered since, by a reply that left later than its own', () => {
    const events = [...calls, leaves, ...other, comes, mine, entry];
    const found = { client: 'alice', enteredUs: 25_000, sentAtUs: 0, overUs: 11_000 };
    expect(staleClientUnder(traceOf(events), mine, ttlUs)).toEqual(found);
  });

  test('is not stale if no other client entered', () => {
    expect(staleClientUnder(traceOf([...calls, ...late, mine, entry]), mine, ttlUs)).toBeNull();
  });

  test('is not stale if its request was handled late: its lease began then', () => {
    const [left, came] = findStale(24, 25, 'alice', 'alice/2');
    const events = [...calls, ...other, left, came, mine, entry];
    expect(staleClientUnder(traceOf(events), mine, ttlUs)).toBeNull();
  });

  test('is not stale if another message reached it that may have given it the lock', () => {
    const push = findStale(24, 25, 'alice', 'alice/2').map((event) => {
      return { ...event, message: 'alice/2/push/1/reply' };
    });
    const events = [...calls, leaves, ...other, comes, ...push, mine, entry];
    expect(staleClientUnder(traceOf(events), mine, ttlUs)).toBeNull();
  });

  test('is not stale if its lease had not ended, even if another client entered', () => {
    const [left, came] = findStale(20, 25, 'alice', 'alice/2');
    const since = [
      ...findStale(21, 22, 'bob', 'bob/1'),
      clientGrant(22, 'bob', 1),
      enter(22, 'bob', 1, 32),
    ];
    const events = [...calls, left, ...since, came, mine, entry];
    expect(staleClientUnder(traceOf(events), mine, ttlUs)).toBeNull();
  });

  test('is not stale if the trace shows nothing of any server', () => {
    const silent = [clientGrant(16, 'bob', 1), enter(16, 'bob', 1, 26)];
    expect(staleClientUnder(traceOf([...calls, ...silent, mine, entry]), mine, ttlUs)).toBeNull();
  });

  test('is stale from the end that it named itself if that is earlier', () => {
    const over = (untilUs: number): number | undefined => {
      const named = { ...mine, untilUs };
      const events = [...calls, leaves, ...other, comes, named, entry];
      return staleClientUnder(traceOf(events), named, ttlUs)?.overUs;
    };
    expect(over(9000)).toBe(9000);
    expect(over(30_000)).toBe(11_000);
  });
});

describe('if a server records its keys', () => {
  const key = (ms: number, client: string): KeyChange =>
    keyChange(ms, client, {
      key: 'lock:db',
      isNamed: false,
      message: `${client}/1/set/1/request`,
    });
  const at = (ms: number, before: readonly TraceEvent[]): ReturnType<typeof staleClientUnder> => {
    const mine = grant(ms, 'alice', 1, { process: 'alice', sentAtUs: ms * 1000, untilUs: null });
    return staleClientUnder(traceOf([...before, mine, enter(ms, 'alice', 1, 90)]), mine, ttlUs);
  };
  const clockOf = (process: string): TraceEvent => fault(2, 'clock', process);

  test('a client that enters as its key expires is stale, but not one that enters before', () => {
    const found = { client: 'alice', enteredUs: 11_000, sentAtUs: 1000, overUs: 11_000 };
    expect(at(11, [key(1, 'alice')])).toEqual(found);
    expect(at(10, [key(1, 'alice')])).toBeNull();
  });

  test('a key whose server had a clock fault is not expired until another client takes it', () => {
    expect(at(12, [key(1, 'alice'), clockOf('lock')])).toBeNull();
    expect(at(12, [key(1, 'alice'), clockOf('lock'), key(8, 'bob')])).not.toBeNull();
    expect(at(12, [key(1, 'alice'), clockOf('alice')])).not.toBeNull();
  });

  test.each<[string, Partial<KeyChange>]>([
    ['another key', { key: 'lock:mail' }],
    ['the key on another server', { process: 'lock-2' }],
  ])('another client that takes %s does not show that the key expired', (_, more) => {
    const taken = { ...key(8, 'bob'), ...more };
    expect(at(12, [key(1, 'alice'), clockOf('lock'), taken])).toBeNull();
  });

  test('the lease counts from the departure of the request that took the key', () => {
    const sent = [send(0.25, 'bob', 'bob/1/set'), send(0.5, 'alice', 'alice/1/set')];
    const found = { client: 'alice', enteredUs: 11_000, sentAtUs: 500, overUs: 11_000 };
    expect(at(11, [...sent, key(1, 'alice')])).toEqual(found);
  });

  test('a key that was extended meanwhile is not expired', () => {
    const prolonged = { change: 'prolonged', holder: 'alice' } as const;
    expect(at(12, [key(1, 'alice'), { ...key(5, 'alice'), ...prolonged }])).toBeNull();
  });
});

test('neither an own entry nor an entry to another lock makes a client stale', () => {
  const clientGrant = (ms: number, client: string, ordinal: number): Grant =>
    grant(ms, client, ordinal, { process: client, sentAtUs: ms * 1000 });
  const mine = clientGrant(25, 'alice', 2);
  const last = [mine, enter(25, 'alice', 2, 35)];
  const since = (...events: readonly TraceEvent[]): ReturnType<typeof staleClientUnder> =>
    staleClientUnder(
      traceOf([
        asked(0, 'alice', 'alice/2'),
        ...findStale(1, 2, 'alice', 'alice/2'),
        ...events,
        ...last,
      ]),
      mine,
      ttlUs,
    );
  const his = [asked(14, 'bob', 'bob/1'), ...findStale(15, 16, 'bob', 'bob/1')];
  const hers = { ...enter(16, 'alice', 1, 26), section: 'alice/2' };
  expect(since(hers)).toBeNull();
  const elsewhere = { ...enter(16, 'bob', 1, 26), lock: 'b' };
  expect(since(...his, elsewhere)).toBeNull();
  expect(since(...his, enter(16, 'bob', 1, 26))).not.toBeNull();
});

test('an entry to another lock with the same number does not belong to the grant', () => {
  const given = grant(1, 'alice', 1);
  const elsewhere = { ...enter(20, 'alice', 1, 30), lock: 'b' };
  expect(staleClientUnder(traceOf([given, elsewhere]), given, ttlUs)).toBeNull();
  const both = [given, elsewhere, enter(25, 'alice', 1, 30)];
  expect(staleClientUnder(traceOf(both), given, ttlUs)).toMatchObject({ enteredUs: 25_000 });
});

test('the end of a quorum grant counts only if there are lock servers', () => {
  const given = grant(2, 'alice', 1, { process: 'alice', sentAtUs: 1000 });
  const trace = traceOf([given, enter(20, 'alice', 1, 30)]);
  expect(staleClientUnder(trace, given, ttlUs)).toMatchObject({ sentAtUs: 1000, overUs: 12_000 });
  const processes = trace.processes.filter(({ role }) => role !== 'lock');
  expect(staleClientUnder({ ...trace, processes }, given, ttlUs)).toBeNull();
});

describe('if a server reports only its answers', () => {
  const ofClient = (ms: number): Grant =>
    grant(ms, 'alice', 1, { process: 'alice', sentAtUs: ms * 1000, untilUs: null });
  const call = { verb: 'renew', lock: 'db', token: 0 } as const;
  const operation = 'alice/1/renew';
  const renewal: readonly TraceEvent[] = [
    { kind: 'invoke', atUs: 4000, process: 'alice', operation, call },
    {
      kind: 'receive',
      atUs: 5000,
      from: 'alice',
      to: 'lock',
      message: `${operation}/1/request`,
      isCopy: false,
    },
  ];
  const isDone = false;
  const miss = keyChange(5, 'alice', { key: 'other', change: 'prolonged', isDone, isNamed: false });

  test.each<[string, readonly TraceEvent[]]>([
    ['outdated', [...renewal, answer(7, operation, { kind: 'outdated' })]],
    ['denied', [...renewal, answer(7, operation, { kind: 'denied', holder: '' })]],
    ['without effect', [miss]],
  ])('a lease had ended by the time at which a renewal was %s', (_, denied) => {
    const before = traceOf([...denied, ofClient(9), enter(9, 'alice', 1, 30)]);
    const found = { client: 'alice', enteredUs: 9000, sentAtUs: 9000, overUs: 5000 };
    expect(staleClientUnder(before, ofClient(9), ttlUs)).toEqual(found);
    const after = [ofClient(2), enter(2, 'alice', 1, 30), ...denied];
    expect(staleClientUnder(traceOf(after), ofClient(2), ttlUs)).toBeNull();
    const evidence = [{ role: 'grant', event: 0 }];
    const words = (last: TraceEvent): string =>
      grantsOf(
        new Contradiction(traceOf([...after, last]), {
          claim: 'c',
          rule: 'r',
          evidence: [...evidence, { role: 'write', event: after.length }],
        }),
      );
    expect(words(write(8, 'alice', 1, 1))).toContain('(from 2 ms, over by 5 ms)');
    expect(words(write(4, 'alice', 1, 1))).toContain('(from 2 ms, no end known)');
  });

  test.each<[string, readonly TraceEvent[]]>([
    ['an honored renewal', [...renewal, answer(7, operation, { kind: 'renewed' })]],
    [
      'a denied acquire',
      [asked(4, 'alice', 'alice/1'), answer(7, 'alice/1/set', { kind: 'denied', holder: '' })],
    ],
    ['a denied renewal of another section', [{ ...miss, message: 'alice/2/pexpire/1/request' }]],
  ])('%s ends no lease', (_, answered) => {
    const trace = traceOf([...answered, ofClient(9), enter(9, 'alice', 1, 30)]);
    expect(staleClientUnder(trace, ofClient(9), ttlUs)).toBeNull();
  });
});
