/** Tests which keys of a server are locks, and who may remove them. */
import { expect, test } from 'vitest';
import type { KeyChange, TraceEvent } from '../core/history/events.ts';
import { changesOfLocks } from './lock-keys.ts';
import {
  breachOf,
  enter,
  fault,
  grant,
  invoke,
  keyChange,
  leave,
  traceOf,
  verdictOn,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

function change(key: string, isNamed = false): KeyChange {
  return keyChange(0, 'alice', { key, isNamed, message: '', untilUs: null });
}

const keys = ['db', 'lock:db', 'db.mutex', 'redlock-db', 'db:lease:2', 'leaders/db'];
const others = ['seen', 'db:count', 'clock:db', 'lock:mail', 'dbx', 'unlockable:db'];

test('a key is a lock if its name contains the name of a lock that a client enters', () => {
  const changes = [...keys, ...others].map((key) => change(key));
  const lockKeys = (...events: Parameters<typeof traceOf>[0]): readonly string[] =>
    changesOfLocks(indexTrace(traceOf([...changes, ...events]))).map(({ event }) => event.key);
  expect(lockKeys(enter(1, 'alice', 1, 9))).toEqual(keys);
  expect(lockKeys(grant(1, 'alice', 1))).toEqual([]);
  expect(lockKeys({ ...enter(1, 'alice', 1, 9), lock: 'mail' })).toEqual(['lock:mail']);
});

test('a key that is declared as a lock is one, whatever its name', () => {
  const changes = [change('seen', true), change('seen-too')];
  const found = changesOfLocks(indexTrace(traceOf(changes)));
  expect(found.map(({ event }) => event.key)).toEqual(['seen']);
});

test('a removal of another client’s key is shown with the takings of both keys', () => {
  const at = (ms: number, { client = 'alice', ...more }: Partial<KeyChange>): KeyChange =>
    keyChange(ms, client, more);
  const [MINE, THEIRS] = ['alice/1/acquire/1/request', 'bob/2/acquire/1/request'];
  const mine = at(1, { message: MINE, untilUs: 11_000 });
  const theirs = at(12, { client: 'bob', message: THEIRS, untilUs: 22_000 });
  const removal = at(15, {
    change: 'removed',
    message: 'alice/1/release/1/request',
    untilUs: null,
    holder: 'bob',
    taking: THEIRS,
    meant: MINE,
  });
  const others = [{ key: 'other' }, { process: 'lock-2' }, { isDone: false }, { message: 'm' }];
  const beside = [mine, theirs].flatMap((one) => others.map((more) => ({ ...one, ...more })));
  const shown = (last: KeyChange): readonly string[] =>
    breachOf('owner-only-release', [mine, theirs, ...beside, last, { ...mine, atUs: 16_000 }])
      .evidence;
  expect(shown(removal)).toEqual(['0 own taking', '1 taking', '10 change']);
  // A client that never had the key meant none of its own.
  expect(shown({ ...removal, meant: '' })).toEqual(['1 taking', '10 change']);
  const paused = fault(13, 'pause', 'alice', { untilMs: 14 });
  const breach = breachOf('owner-only-release', [mine, theirs, paused, removal]);
  expect(breach.evidence).toEqual(['0 own taking', '1 taking', '2 pause', '3 change']);
  expect(breach.words).toBe(
    'Lock `db` released by alice while bob held it. Then bob took `db` at 12 ms, until 22 ms. ' +
      'However, alice, who had it from 1 ms until 11 ms at most, removed it at 15 ms by `release`: ' +
      'alice was paused from 13 ms to 14 ms.',
  );
  const words = (...events: readonly KeyChange[]): string =>
    breachOf('owner-only-release', [mine, ...events, theirs, removal]).words;
  const given = at(5, { change: 'removed', message: 'alice/1/del', holder: 'alice' });
  expect(words(given)).toContain('who had it from 1 ms until its release at 5 ms,');
  const stolen = { ...given, client: 'carol', holder: '' };
  expect(words(stolen)).toContain("who had it from 1 ms until carol's release at 5 ms,");
  const renewed = at(5, { change: 'prolonged', message: 'alice/1/set', untilUs: 12_000 });
  expect(words(renewed)).toContain('who had it from 1 ms until 12 ms at most,');
  // A clock that steps ahead ends a key early.
  expect(words({ ...renewed, untilUs: 30_000 })).toContain('from 1 ms until 12 ms at most,');
  const lost = at(5, { change: 'lost', client: '', message: '', holder: 'alice' });
  expect(words(lost)).toContain('who had it from 1 ms until 5 ms,');
  const unseen = { ...removal, taking: '', meant: '' };
  expect(breachOf('owner-only-release', [unseen]).words).toBe(
    'Lock `db` released by alice while bob held it. Then bob had `db`. ' +
      'However, alice removed it at 15 ms by `release`.',
  );
  // A fault before the client took its own key caused nothing; without one, any fault counts.
  const before = fault(0, 'pause', 'alice', { untilMs: 0.5 });
  const evidenceOf = (last: KeyChange): readonly string[] =>
    breachOf('owner-only-release', [before, mine, theirs, last]).evidence;
  expect(evidenceOf(removal)).toEqual(['1 own taking', '2 taking', '3 change']);
  expect(evidenceOf({ ...removal, meant: '' })).toEqual(['0 pause', '2 taking', '3 change']);
  const endless = { ...theirs, untilUs: null };
  const kept = breachOf('owner-only-release', [{ ...mine, untilUs: null }, endless, removal]);
  expect(kept.words).toContain(
    'Then bob took `db` at 12 ms. However, alice, who had it from 1 ms, ',
  );
});

test('a section may not remove the key of a later one by a call sent before that was taken', () => {
  const [FIRST, SECOND] = ['alice/1/acquire/1/request', 'alice/2/acquire/1/request'];
  const taken = (ms: number, message: string): KeyChange => keyChange(ms, 'alice', { message });
  const removal = keyChange(15, 'alice', {
    change: 'removed',
    message: 'alice/1/release/1/request',
    holder: 'alice',
    taking: SECOND,
    meant: SECOND,
  });
  const sentAt = (ms: number): TraceEvent[] =>
    [taken(1, FIRST), taken(12, SECOND), invoke(ms, 'alice/1/release'), removal].sort(
      (one, other) => one.atUs - other.atUs,
    );
  const breach = breachOf('owner-only-release', sentAt(5));
  expect(breach.evidence).toEqual(['2 taking', '3 change']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Lock \`db\` released by alice's section 1 while alice's section 2 held it. Then alice's section 2 took \`db\` at 12 ms, until 22 ms. However, alice's section 1 removed it at 15 ms by \`release\`."`,
  );
  expect(verdictOn('owner-only-release', sentAt(13)).kind).toBe('valid');
  // Nor may an earlier section remove its key while a later section of its client is inside.
  const clientGrant = grant(13, 'alice', 2, { process: 'alice', message: '', untilUs: null });
  const inside = (...left: readonly TraceEvent[]): TraceEvent[] => {
    const [first, second] = [taken(1, FIRST), taken(12, SECOND)];
    const asked = invoke(14, 'alice/1/release');
    return [first, second, clientGrant, enter(13, 'alice', 2, 1e12), ...left, asked, removal];
  };
  expect(breachOf('owner-only-release', inside()).rule).toBe('foreign-key-removal');
  expect(verdictOn('owner-only-release', inside(leave(14, 'alice', 2))).kind).toBe('valid');
  expect(verdictOn('owner-only-release', inside().slice(1)).kind).toBe('valid');
});

test.each<[string, 'valid' | 'invalid', number, Partial<KeyChange>]>([
  ['affects the key of another client', 'invalid', 1, { holder: 'bob' }],
  ['is refused by the key of another client', 'valid', 1, { holder: 'bob', isDone: false }],
  ['affects its own key', 'valid', 0, { holder: 'alice' }],
  ['affects its own key, acquired again', 'valid', 1, { holder: 'alice', taking: 'b' }],
  ['names a key and finds none', 'valid', 1, { taking: '' }],
  ['names no key', 'valid', 0, { holder: 'alice', meant: '' }],
])('a removal that %s is %s', (_, kind, exercised, more) => {
  const removal: KeyChange = {
    ...change('db', true),
    change: 'removed',
    meant: 'a',
    taking: 'a',
    ...more,
  };
  expect(verdictOn('owner-only-release', [removal])).toMatchObject({ kind, exercised });
});
