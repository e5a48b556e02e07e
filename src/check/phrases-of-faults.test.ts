/** Tests faults and messages as clauses, in handwritten traces. */
import { describe, expect, test } from 'vitest';
import type { KeyChange, Send, TraceEvent } from '../core/history/events.ts';
import { callPhrase, faultPhrase, messagePhrase } from './phrases.ts';
import { acquire, fault, grant, invoke, release, traceOf, write } from './trace-builder.fixture.ts';

const REQUEST = 'alice/1/write/1/request';
const REPLY = 'alice/1/write/1/reply';

function sent(from: string, to: string, message: string): Send {
  return { kind: 'send', atUs: 0, from, to, message, body: null };
}

describe('a message is named after the call that it belongs to', () => {
  const phrase = (message: string, ...events: TraceEvent[]): string =>
    messagePhrase(traceOf(events), message);

  test.each([
    [REQUEST, "alice's write"],
    [REPLY, "the reply to alice's write"],
    ['alice/1/write-2/1/request', "alice's write"],
    ['alice/1/write/2-again/request', "alice's write"],
    ['lock/1/grant/1/reply', "the reply to `lock`'s grant"],
    ['probe/1/write/1/request', "probe's write"],
    ['alice/1/write/1/request/again', '`alice/1/write/1/request/again`'],
    ['alice/1/write/2/check/1/request', "the check of alice's write"],
    ['alice/1/write/12/check/1/reply', "the reply to the check of alice's write"],
    ['alice/1/write/1/other', '`alice/1/write/1/other`'],
    ['alice/1/request', '`alice/1/request`'],
  ])('%s', (message, words) => {
    expect(phrase(message)).toBe(words);
  });

  test('and by the replica, if its store has several', () => {
    const there = sent('alice', 'store-2', REQUEST);
    const back = sent('store-2', 'alice', REPLY);
    const access = write(1, 'alice', 1, 7, { store: 'store', process: 'store-2' });
    expect(phrase(REQUEST, there, access)).toBe("alice's write to `store-2`");
    expect(phrase(REPLY, there, back, access)).toBe("the reply of `store-2` to alice's write");
    const single = write(1, 'alice', 1, 7);
    expect(phrase(REQUEST, there, single)).toBe("alice's write");
    expect(phrase(REPLY, there, back, single)).toBe("the reply to alice's write");
    const other = sent('alice', 'lock', REQUEST);
    expect(phrase(REQUEST, other, access)).toBe("alice's write");
    expect(phrase(REQUEST, access)).toBe("alice's write");
  });
});

test('a call is named only if its section has others of its kind', () => {
  const calls = [invoke(0, 'alice/1/write'), acquire(1, 'alice/1/acquire')];
  expect(callPhrase(traceOf(calls), 'alice/1/write')).toBe("alice's write");
  const twice = [...calls, invoke(2, 'alice/2/write-2'), invoke(3, 'bob/3/write')];
  expect(callPhrase(traceOf(twice), 'alice/2/write-2')).toBe("alice's write (`alice/2/write-2`)");
  expect(callPhrase(traceOf(twice), 'bob/3/write')).toBe("bob's write");
  const call = invoke(0, 'alice/1/save', { verb: 'write' });
  expect(callPhrase(traceOf([call]), 'alice/1/save')).toBe("alice's `save`");
});

describe('a clock', () => {
  test.each([
    ['step', -3000, "bob's clock was set 3 ms back at 1 ms"],
    ['step', 3000, "bob's clock was set 3 ms ahead at 1 ms"],
    ['rate', -200, "bob's clock ran 200 ppm too slow from 1 ms"],
    ['rate', 200, "bob's clock ran 200 ppm too fast from 1 ms"],
  ])('with a %s of %i is described by size and direction', (target, amount, words) => {
    expect(faultPhrase(traceOf([]), fault(1, 'clock', 'bob', { target, amount }))).toBe(words);
  });
});

describe('a crash', () => {
  const key = (ms: number, client: string, more: Partial<KeyChange> = {}): KeyChange => ({
    kind: 'key-change',
    atUs: ms * 1000,
    process: 'lock',
    key: 'lock:db',
    client,
    message: '',
    change: 'taken',
    isNamed: false,
    isDone: true,
    holder: client,
    taking: '',
    meant: '',
    untilUs: null,
    ...more,
  });
  const crash = fault(5, 'crash', 'alice');
  const phrase = (...events: TraceEvent[]): string =>
    faultPhrase(traceOf([...events, crash]), crash);
  const left = 'alice crashed at 5 ms, and its key `lock:db` has no end';

  test('leaves behind a key without an end that the client took last', () => {
    expect(phrase(key(1, 'alice'))).toBe(left);
    expect(phrase(key(1, 'alice', { untilUs: 9000 }), key(2, 'alice'))).toBe(left);
    expect(phrase(key(1, 'alice'), key(2, 'bob', { untilUs: 9000 }))).toBe(left);
    expect(phrase(key(5, 'alice'))).toBe(left);
  });

  test('leaves behind no key that has an end, is removed, is another’s, or was not taken', () => {
    const others = [
      key(1, 'alice', { untilUs: 9000 }),
      key(1, 'alice', { change: 'removed' }),
      key(1, 'bob'),
      key(6, 'alice'),
      key(1, 'alice', { isDone: false }),
    ];
    for (const other of others) expect(phrase(other)).toBe('alice crashed at 5 ms');
  });
});

describe('a lock service that crashes', () => {
  const crash = fault(5, 'crash', 'lock');
  const phrase = (before: readonly TraceEvent[], after: readonly TraceEvent[]): string =>
    faultPhrase(traceOf([...before, crash, ...after]), crash).replace('`lock` crashed at 5 ms', '');
  const held = grant(1, 'alice', 1, { token: 4 });
  const forgot = ", and forgot alice's grant";

  test('began its tokens again if the next token is not higher', () => {
    expect(phrase([held], [grant(8, 'bob', 2, { token: 4 })])).toBe(
      ', and its tokens began again at 4',
    );
    expect(phrase([held], [grant(20, 'bob', 2, { token: 5 })])).toBe('');
    expect(phrase([held], [grant(20, 'bob', 2, { token: 0 })])).toBe('');
    expect(phrase([held], [])).toBe('');
  });

  test('forgot a grant if it granted the lock again before the end', () => {
    const next = grant(8, 'bob', 2, { token: 5 });
    expect(phrase([held], [next])).toBe(forgot);
    expect(phrase([{ ...held, untilUs: null }], [next])).toBe(forgot);
    expect(phrase([{ ...held, untilUs: 8000 }], [next])).toBe('');
    expect(phrase([held], [grant(8, 'alice', 2, { token: 5 })])).toBe('');
    expect(phrase([held, release(3, 'alice', 1)], [next])).toBe('');
    expect(phrase([{ ...held, lock: 'b' }], [next])).toBe('');
    expect(phrase([{ ...held, process: 'lock-2' }], [next])).toBe('');
  });

  test('is described so only if it is a lock server and forgot something', () => {
    const next = grant(8, 'bob', 2, { token: 4 });
    const store = fault(5, 'crash', 'store');
    expect(faultPhrase(traceOf([held, store, next]), store)).toBe('`store` crashed at 5 ms');
    const paused = fault(5, 'pause', 'lock');
    expect(faultPhrase(traceOf([held, paused, next]), paused)).toBe('`lock` was paused from 5 ms');
    const elsewhere = { ...next, process: 'lock-2' };
    expect(phrase([held], [elsewhere])).toBe('');
  });
});
