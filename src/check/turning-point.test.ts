/** Tests the first difference between two runs on the way to a breach. */
import { describe, expect, test } from 'vitest';
import type { Return, TraceEvent } from '../core/history/events.ts';
import {
  answer,
  deny,
  enter,
  grant,
  healed,
  pause,
  read,
  recovered,
  release,
  renew,
  send,
  traceOf,
  write,
} from './trace-builder.fixture.ts';
import { turnBetween } from './turning-point.ts';

function handled(ms: number, message: string, to: string): TraceEvent {
  const [from = ''] = message.split('/');
  return { kind: 'receive', atUs: ms * 1000, from, to, message, isCopy: false };
}

/** Compares two runs; the evidence is everything except messages to the server `other`. */
function turn(failing: readonly TraceEvent[], neighbour: readonly TraceEvent[]) {
  const evidence = failing.flatMap((event, index) =>
    'to' in event && event.to === 'other' ? [] : [{ role: 'part', event: index }],
  );
  return turnBetween(traceOf(failing), traceOf(neighbour), evidence);
}

const [ALICE, BOB] = ['alice/1/write/1/request', 'bob/2/write/1/request'];

describe('the first difference between two runs is that', () => {
  test('a server handles two calls in another order, at the first of the two', () => {
    const failing = [handled(15, BOB, 'store'), handled(20, ALICE, 'store')];
    const other = [handled(5, ALICE, 'store'), handled(15, BOB, 'store')];
    expect(turn(failing, other)).toEqual({
      kind: 'order',
      event: 0,
      text: "`store` handled bob's write before alice's write",
    });
  });

  test('a lock is granted that was denied', () => {
    const failing = [grant(5, 'bob', 9), write(6, 'bob', 9, 1)];
    const other = [deny(5, 'bob', 1), write(6, 'bob', 9, 1)];
    expect(turn(failing, other)).toMatchObject({ kind: 'grant', event: 0 });
  });

  test('a write is accepted that was refused', () => {
    const other = [write(6, 'bob', 2, 1, { isAccepted: false })];
    expect(turn([write(6, 'bob', 2, 1)], other)).toMatchObject({ kind: 'answer', event: 0 });
  });

  test('another client enters first', () => {
    const failing = [enter(3, 'bob', 2, 9), enter(5, 'alice', 1, 9)];
    expect(turn(failing, [...failing].reverse())).toMatchObject({
      kind: 'grant',
      event: 0,
      text: 'bob had `db` before alice did',
    });
  });

  test('a server recovered only in the failing run', () => {
    const failing = [recovered(4, 0, {}), write(6, 'bob', 2, 1)];
    expect(turn(failing, [write(6, 'bob', 2, 1)])).toMatchObject({ kind: 'only here', event: 0 });
  });
});

test('messages to different servers, or to clients, have no order', () => {
  const requests = [handled(3, BOB, 'store'), handled(4, ALICE, 'lock')];
  expect(turn(requests, [...requests].reverse())).toBeNull();
  const replyTo = (name: string): string => name.replace('request', 'reply');
  const replies = [handled(3, replyTo(BOB), 'bob'), handled(4, replyTo(ALICE), 'alice')];
  expect(turn(replies, [...replies].reverse())).toBeNull();
});

test('times, faults and events that do not lead to the breach do not count', () => {
  const failing = [pause(1, 'alice', 9), handled(3, ALICE, 'other'), write(6, 'bob', 2, 1)];
  expect(turn(failing, [write(60, 'bob', 2, 1)])).toBeNull();
});

describe('a difference is described by the events of both runs', () => {
  const rest = write(6, 'bob', 2, 1);
  const message = 'bob/9/acquire/1/request';
  const copy = { ...handled(4, BOB, 'store'), isCopy: true };
  const ended = (given: Return['answer'], more: Partial<Return> = {}): TraceEvent => ({
    ...answer(5, 'bob/2/write', { kind: 'accepted' }),
    answer: given,
    ...more,
  });
  const refused = { kind: 'refused', highest: 3 } as const;

  test.each<[string, TraceEvent, readonly TraceEvent[]]>([
    [
      "bob's acquire was granted, token 9, but denied in the other run",
      grant(5, 'bob', 9),
      [deny(5, 'bob', 1)],
    ],
    [
      "bob's acquire was denied, but granted, token 9 in the other run",
      deny(5, 'bob', 1),
      [grant(5, 'bob', 9)],
    ],
    ["bob's acquire was denied only in this run", { ...deny(5, 'bob', 1), message }, []],
    [
      "bob's renew was refused, but accepted in the other run",
      renew(5, 'bob', 2, { extended: 0 }),
      [renew(5, 'bob', 2)],
    ],
    [
      "bob's renew was accepted, but refused in the other run",
      renew(5, 'bob', 2),
      [renew(5, 'bob', 2, { extended: 0 })],
    ],
    [
      "bob's release was accepted, but refused in the other run",
      release(5, 'bob', 2),
      [release(5, 'bob', 2, { released: 0 })],
    ],
    [
      "bob's release was refused, but accepted in the other run",
      release(5, 'bob', 2, { released: 0 }),
      [release(5, 'bob', 2)],
    ],
    [
      "bob's read was refused, but accepted in the other run",
      read(5, 'bob', 2, null),
      [read(5, 'bob', 2, 7)],
    ],
    [
      "bob's write was refused, but accepted in the other run",
      ended(refused),
      [ended({ kind: 'accepted' })],
    ],
    [
      "bob's write was not answered, but accepted in the other run",
      ended(null, { outcome: 'info' }),
      [ended({ kind: 'accepted' })],
    ],
    [
      "bob's write was fail, but accepted in the other run",
      ended(null, { outcome: 'fail' }),
      [ended({ kind: 'accepted' })],
    ],
    ["`store` handled bob's write twice", copy, []],
    ['`store` came back', recovered(4, 0, {}), []],
    ['bob had `db` only in this run', enter(3, 'bob', 2, 9), []],
  ])('%s', (text, event, there) => {
    const found = turn([event, rest], [...there, rest]);
    expect(found?.text).toBe(text);
    expect(found?.event).toBe(0);
    expect(turn([event, rest], [event, rest])).toBeNull();
  });

  test('a return in one run only, or an event that answers no call, is not a difference', () => {
    const quiet = [
      grant(5, 'bob', 9, { message: '' }),
      release(5, 'bob', 2, { message: '' }),
      ended(refused),
      pause(5, 'bob', 7),
      { ...recovered(4, 0, { x: 1 }), begins: { key: 'x', version: 1 } },
    ];
    for (const event of quiet) expect(turn([event, rest], [rest])).toBeNull();
  });

  test('a lock that clients take from a quorum belongs to the first to take it', () => {
    const taken = (ms: number, client: string, ordinal: number): TraceEvent =>
      grant(ms, client, ordinal, { process: client, message: '' });
    const failing = [taken(3, 'bob', 2), taken(4, 'alice', 1)];
    expect(turn(failing, [...failing].reverse())?.text).toBe('bob had `db` before alice did');
    // If a server grants it, the order of the requests decides.
    const given = [grant(3, 'bob', 2), grant(4, 'alice', 1)];
    expect(turn(given, [...given].reverse())).toBeNull();
  });

  test('an access that is answered before another is described by its store', () => {
    const failing = [write(3, 'bob', 2, 1), write(4, 'alice', 1, 2)];
    expect(turn(failing, [...failing].reverse())).toMatchObject({
      kind: 'order',
      text: "`store` handled bob's write before alice's write",
    });
  });
});

test('causes lead to the breach through messages, not through faults or healing between', () => {
  const sent = send(1, 'carol', 'carol/3/note');
  const heard: TraceEvent = {
    kind: 'receive',
    atUs: 3000,
    from: 'carol',
    to: 'store',
    isCopy: false,
    message: 'carol/3/note/1/request',
  };
  const cause = { ...deny(0.5, 'carol', 1), process: 'carol' };
  const events = [cause, sent, healed(2), pause(2, 'dave', 9), heard, write(6, 'bob', 2, 1)];
  const other = events.map((event) => (event === cause ? grant(0.5, 'carol', 9) : event));
  const breach = [{ role: 'part', event: 5 }];
  expect(turnBetween(traceOf(events), traceOf(other), breach)?.event).toBe(0);
  const unheard = events.filter((event) => event !== heard);
  const last = [{ role: 'part', event: 4 }];
  expect(turnBetween(traceOf(unheard), traceOf(other), last)).toBeNull();
});
