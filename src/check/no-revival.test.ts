import { expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import { claims } from './claims.ts';
import { explain } from './explain.ts';
import { inWords } from './in-words.fixture.ts';
import {
  enter,
  fault,
  grant,
  keyChange,
  leave,
  release,
  renew,
  terms,
  traceOf,
  verdictOn,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

const claim = 'no-revival';
const granted = [grant(0, 'alice', 1), enter(1, 'alice', 1, 10)];

function storyOf(events: readonly TraceEvent[]): string {
  const trace = traceOf(events);
  const verdict = claims.get(claim)?.(indexTrace(trace), terms);
  if (verdict?.kind !== 'invalid') throw new Error(`it is ${verdict?.kind}`);
  return inWords(explain(trace, verdict));
}

test('a renewal before the end of its lease exercises nothing', () => {
  expect(verdictOn(claim, [...granted, renew(9, 'alice', 1)])).toMatchObject({ exercised: 0 });
});

test('a late renewal that is denied exercises the claim, one that takes effect breaks it', () => {
  const denied = verdictOn(claim, [...granted, renew(12, 'alice', 1, { extended: 0 })]);
  expect(denied).toMatchObject({ kind: 'valid', exercised: 1 });
  const events = [...granted, renew(12, 'alice', 1)];
  expect(verdictOn(claim, events)).toMatchObject({ kind: 'invalid', rule: 'revived-lease' });
  expect(storyOf(events)).toBe(
    "Lease of `db` brought back by a renewal after its end. Let A be alice's grant 1 of `db` (from 0 ms, ttl 10 ms). Then A ended at 10 ms. However, alice brought it back at 12 ms.",
  );
});

test('a released lease is not brought back either, whoever had the lock since', () => {
  const events = [...granted, release(3, 'alice', 1), renew(5, 'alice', 1)];
  expect(storyOf(events)).toContain('A ended at 3 ms, when it was released.');
  const since = [grant(6, 'bob', 2), release(7, 'bob', 2), renew(8, 'alice', 1)];
  expect(verdictOn(claim, [...events.slice(0, 3), ...since])).toMatchObject({ kind: 'invalid' });
});

test('a renewal that extends the live lease of another client breaks only `renew-live`', () => {
  const events = [...granted, grant(11, 'bob', 2), renew(12, 'alice', 1, { extended: 2 })];
  expect(verdictOn(claim, events)).toMatchObject({ kind: 'valid', exercised: 1 });
  expect(verdictOn('renew-live', events)).toMatchObject({ kind: 'invalid' });
});

test('an expiry that a change of the clock of the server may have moved proves nothing', () => {
  const moved = [...granted, fault(5, 'clock', 'lock'), renew(12, 'alice', 1)];
  expect(verdictOn(claim, moved)).toMatchObject({ kind: 'valid', exercised: 0 });
  const given = [...moved.slice(0, 3), release(6, 'alice', 1), renew(12, 'alice', 1)];
  expect(verdictOn(claim, given)).toMatchObject({ kind: 'invalid' });
});

const taking = 'alice/1/set/1/request';
const itself = { client: 'alice', process: 'alice', untilUs: null };
const inside = [
  keyChange(0, 'alice', { message: taking, holder: 'alice', taking }),
  grant(1, 'alice', 1, itself),
  enter(1, 'alice', 1, 1e9),
];
const again = (ms: number): TraceEvent =>
  keyChange(ms, 'alice', { message: 'alice/1/set-2/1/request', holder: 'alice' });

test('a key that a section takes again after its expiry is a lease that was brought back', () => {
  expect(verdictOn(claim, [...inside, again(9)])).toMatchObject({ kind: 'valid' });
  expect(storyOf([...inside, again(12)])).toMatch(
    /Then A ended at 10 ms\. However, alice brought it back at 12 ms\./,
  );
});

test('after its section has left, a key taken by the same request is another attempt', () => {
  const sent = (message: string, body: string): TraceEvent => ({
    kind: 'send',
    atUs: 0,
    from: 'alice',
    to: 'lock',
    message,
    body,
  });
  const left = (body: string): readonly TraceEvent[] => [
    sent(taking, 'SET db NX'),
    ...inside,
    leave(5, 'alice', 1),
    sent('alice/1/set-2/1/request', body),
    again(12),
  ];
  expect(verdictOn(claim, left('SET db NX'))).toMatchObject({ kind: 'valid', exercised: 0 });
  expect(verdictOn(claim, left('SET db'))).toMatchObject({ kind: 'invalid' });
});

test('an extension of a key that had expired, and was refused, exercises the claim', () => {
  const refused = keyChange(12, 'alice', {
    change: 'prolonged',
    isDone: false,
    meant: taking,
    message: 'alice/1/pexpire/1/request',
  });
  expect(verdictOn(claim, [...inside, refused])).toMatchObject({ kind: 'valid', exercised: 1 });
});
