/** Which keys of a server are locks, by their names and by who enters. */
import { expect, test } from 'vitest';
import type { KeyChange } from '../core/history/server-events.ts';
import { changesOfLocks } from './lock-keys.ts';
import { enter, grant, traceOf } from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

function change(key: string, isNamed = false): KeyChange {
  return {
    ...{ kind: 'key-change', atUs: 0, process: 'lock', key, client: 'alice', message: '' },
    ...{ change: 'taken', isNamed, isDone: true, holder: '', taking: '', meant: '', untilUs: null },
  };
}

const keys = ['db', 'lock:db', 'db.mutex', 'redlock-db', 'db:lease:2', 'leaders/db'];
const others = ['seen', 'db:count', 'clock:db', 'lock:mail', 'dbx', 'unlockable:db'];

test('a key is a lock that is named for one which somebody enters', () => {
  const changes = [...keys, ...others].map((key) => change(key));
  const lockKeys = (...events: Parameters<typeof traceOf>[0]): readonly string[] =>
    changesOfLocks(indexTrace(traceOf([...changes, ...events]))).map(({ event }) => event.key);
  expect(lockKeys(enter(1, 'alice', 1, 9))).toEqual(keys);
  expect(lockKeys(grant(1, 'alice', 1))).toEqual([]);
  expect(lockKeys({ ...enter(1, 'alice', 1, 9), lock: 'mail' })).toEqual(['lock:mail']);
});

test('a key that its node was told of is a lock, whatever its name', () => {
  const changes = [change('seen', true), change('seen-too')];
  const found = changesOfLocks(indexTrace(traceOf(changes)));
  expect(found.map(({ event }) => event.key)).toEqual(['seen']);
});
