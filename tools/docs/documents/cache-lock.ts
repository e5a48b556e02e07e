/** Tests the document on the lock on a cache, line by line. */
import { HELD, LOCKS } from './cache-lock-scripts.ts';
import type { SourceDocument } from './row.ts';

const PIECES = 'show fixtures/plans/stampede-pieces-lock-service-single-flight.yaml';
const EXTENDED = 'show fixtures/cache-lock-extension.yaml --system owner --seed 1 -v';

export const document: SourceDocument = {
  title: 'A lock on a cache',
  about:
    'djblets review request 14628 for `djblets.protect.locks.CacheLock`, with its discussion. Statements that are marked *according to the code* come from djblets 6.0.',
  rows: [
    {
      lines: '18',
      says: 'The lock helps to avoid a cache stampede: if five clients miss the same value, they do not all compute it.',
      shown: {
        command: 'run fixtures/stampede.yaml --seeds 50 --workers 0 -v',
        prints: [
          '✓ none: met (must break: single-flight)',
          /stampede: \d+ computations measured, at most 5 of one value at once, several on 50 seeds/,
          '✓ cache-lock: met (must hold: single-flight, mutual-exclusion)',
          'stampede: 50 computations measured, at most 1 of one value at once, several on 0 seeds',
        ],
      },
    },
    {
      lines: '31',
      says: 'A client acquires the lock with an atomic `add` of a UUID, which succeeds for only one client.',
      shown: {
        script: `${LOCKS}
const [alice, bob] = [lock(), lock({ blocking: false })];
print('alice', alice.acquire(0));
console.log('in the cache:', cache.get('db', 0).value);
print('bob', bob.acquire(1));`,
        prints: [
          'alice {"kind":"acquired","until":10}',
          /in the cache: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n/,
          'bob {"kind":"busy","retryAt":null}',
        ],
      },
    },
    {
      lines: '32–34',
      says: 'A client may wait for a busy lock, with a timeout and with a time between attempts.',
      shown: {
        script: `${LOCKS}
lock({ expiration: 100 }).acquire(0);
const bob = lock({ timeout: 5 });
for (const now of [1, 3, 5, 6]) print('bob at ' + now, bob.acquire(now));
print('carol', lock({ blocking: false }).acquire(1));`,
        prints: [
          'bob at 1 {"kind":"busy","retryAt":3}',
          'bob at 3 {"kind":"busy","retryAt":5}',
          'bob at 5 {"kind":"busy","retryAt":7}',
          'bob at 6 {"kind":"timed-out"}',
          'carol {"kind":"busy","retryAt":null}',
        ],
      },
    },
    {
      lines: '37',
      says: 'The time between two attempts has a random jitter. In this run, it would be 4 ms without jitter: a round trip of 2 ms and a wait of 2 ms.',
      shown: {
        command: 'show fixtures/stampede-timeout.yaml --system patient --seed 1 --plan pinned',
        prints: [/backoff: 2\.\d+ms/],
      },
    },
    {
      lines: '40',
      says: 'A lock ends when it expires or when the client calls `release()`.',
      shown: {
        script: `${LOCKS}
const [alice, bob] = [lock(), lock()];
alice.acquire(0);
print('bob before the release', bob.acquire(4));
print('alice', alice.release(5));
print('bob after the release', bob.acquire(6));
print('carol before the end', lock().acquire(15));
print('carol at the end', lock().acquire(16));`,
        prints: [
          'bob before the release {"kind":"busy","retryAt":6}',
          'alice {"kind":"released"}',
          'bob after the release {"kind":"acquired","until":16}',
          'carol before the end {"kind":"busy"',
          'carol at the end {"kind":"acquired","until":26}',
        ],
      },
    },
    {
      lines: '41–43',
      says: 'The cache may drop the lock. The lock is then no longer valid, and a message is logged.',
      shown: {
        command: EXTENDED,
        prints: ['logs cache-lock: db fell out of the cache; the lock is no longer valid'],
      },
    },
    {
      lines: '45–49',
      says: 'After the expected end of the lock (`>`), `release()` does nothing. Exactly at the end, it still touches the key. If another client got the lock at that instant, `release()` extends that client’s lock.',
      shown: {
        command: 'run fixtures/cache-lock-boundary.yaml --seeds 50 --workers 0 -v',
        prints: [
          '10  │                         own clock: lease is live',
          '11  grants db to bob for 10 ms, until 21 ms ← B, grant 2, grant touched',
          '11  alice extends db until 21 ms (requested for grant 1) ← renewal',
          'breaks with any work of alice/1 of 8 ms or more',
          '✓ at-the-end: met',
        ],
      },
    },
    {
      lines: '49–52',
      says: 'Until then, `release()` extends the key, compares its owner, and deletes the key if it is the client’s own. At worst, it extends the lock of another client.',
      shown: {
        script: `${LOCKS}
const [alice, bob] = [lock(), lock()];
alice.acquire(0);
cache.forget('db');
print('bob', bob.acquire(5));
print('alice', alice.release(9));
console.log('bob’s key ends at', cache.endOf('db', 9));
print('bob', bob.release(12));
console.log('left: ' + cache.get('db', 12));`,
        prints: [
          'bob {"kind":"acquired","until":15}',
          'alice {"kind":"lost"}',
          'bob’s key ends at 19',
          'bob {"kind":"released"}',
          'left: null',
        ],
      },
    },
    {
      lines: '54–55',
      says: 'If the lock is used as a context manager, it is released however the work ends, even after a failed renewal.',
      shown: {
        command: EXTENDED,
        prints: [
          /135\.605 .*fell out of the cache; the lock is no longer valid[\s\S]*135\.605 .*logs cache-lock: released db, which had expired/,
        ],
      },
    },
    {
      lines: '65–72',
      says: 'With a lock, `cache_memoize` reads the value. On a miss, it acquires the lock, reads again, computes and stores the value if needed, and releases the lock.',
      shown: {
        command: 'show fixtures/plans/stampede-cache-lock-single-flight.yaml -v',
        prints: [
          /carol +dave[\s\S]*\n +0 +│ +calls read x[\s\S]*\n +2 +│ +calls acquire[\s\S]*\n +4 +│ +calls read x[\s\S]*\n +6 +│ +begins to compute[\s\S]*\n +16 +│ +calls write x = 1[\s\S]*\n +24 +│ +logs cache-lock: released db/,
          /grants db to dave[\s\S]*serves x = 1 to dave/,
          '✓ single-flight            holds',
        ],
      },
    },
    {
      lines: '68–71',
      says: 'If `cache_memoize` does not get the lock, it reads once more, and then computes the value without the lock (according to the code).',
      shown: {
        command: 'run fixtures/stampede-timeout.yaml --seeds 50 --workers 0 -v',
        prints: [
          'goes on without the lock on db',
          /bob, who did not get the lock\s+in time, began\s+to\s+compute/,
          '✓ impatient: met (must break: single-flight, lease-conservative; must hold: mutual-exclusion)',
          '✓ patient: met (must hold: single-flight, mutual-exclusion)',
        ],
      },
    },
    {
      lines: '65',
      says: '`cache_memoize_iter` stores its value in pieces, and extends the lock after each piece (according to the code). In this run, computing each of the four pieces takes 30 ms, and the lock lasts 60 ms.',
      shown: {
        command: PIECES,
        prints: [
          /accepts bob's x\/1 = 1[\s\S]*bob extends token 1 until 99 ms[\s\S]*accepts bob's x\/2/,
          /accepts bob's x\/4 = 1[\s\S]*bob extends token 1 until 201 ms[\s\S]*accepts bob's x = 1/,
          'serves x = 1 to carol',
          '✓ single-flight            holds',
        ],
      },
    },
    {
      lines: '137, 199',
      says: 'It is an error to extend or release a lock that is not acquired.',
      shown: {
        script: `${LOCKS}
const alice = lock();
print('extend', alice.extend(0));
print('release', alice.release(0));
alice.acquire(0);
alice.release(1);
print('release twice', alice.release(2));`,
        prints: [
          'extend {"kind":"refused","why":"this lock on db is not acquired, and cannot be extended"}',
          'release {"kind":"refused","why":"this lock on db is not acquired, and cannot be released"}',
          'release twice {"kind":"refused","why":"this lock on db is not acquired',
        ],
      },
    },
    {
      lines: '148',
      says: 'The lock logs when it is acquired, extended and released.',
      shown: {
        command: EXTENDED,
        prints: [
          /logs cache-lock: acquired db for 20 ms[\s\S]*logs cache-lock: extended db to 20 ms[\s\S]*logs cache-lock: released db/,
        ],
      },
    },
    {
      lines: '172',
      says: 'The constructor validates its arguments.',
      shown: {
        script: `${LOCKS}
try {
  lock({ key: '', retry: 0, timeout: -2 });
} catch (error) {
  console.log(error.name + ': ' + error.message);
}`,
        prints: [
          'RangeError: a lock needs a key; a retry interval must be greater than 0, not 0; a timeout must be greater than 0, or -1 for no limit, not -2',
        ],
      },
    },
    {
      lines: '174',
      says: 'With a timeout of −1, a client waits forever. Any other timeout ends the wait.',
      shown: {
        script: `${LOCKS}
lock({ expiration: 1_000_000 }).acquire(0);
const [patient, hasty] = [lock({ timeout: -1 }), lock({ timeout: 900_000 })];
for (const [name, one] of Object.entries({ patient, hasty })) {
  one.acquire(1);
  print(name, one.acquire(999_999));
}`,
        prints: ['patient {"kind":"busy","retryAt":1000001}', 'hasty {"kind":"timed-out"}'],
      },
    },
    {
      lines: '197–199',
      says: 'It is an error to acquire an instance again before its release. This does not affect other instances with the same key.',
      shown: {
        script: `${LOCKS}
const alice = lock();
print('first', alice.acquire(0));
print('again, though it is over', alice.acquire(20));
print('another instance', lock().acquire(20));`,
        prints: [
          'first {"kind":"acquired","until":10}',
          'again, though it is over {"kind":"refused","why":"this lock on db is acquired already"}',
          'another instance {"kind":"acquired","until":30}',
        ],
      },
    },
    {
      lines: '243',
      says: 'The author proposes that a release calls `add` again with the same token. Even if this fails, the release deletes the key if it is the client’s own. This does not help: the delete still removes a successor’s key.',
      shown: {
        command: 'run fixtures/cache-lock-release.yaml --seeds 50 --workers 0 -v',
        prints: [
          '✓ add-again: met (must break: owner-only-release, mutual-exclusion, lease-conservative)',
          /owner-only-release of add-again[\s\S]*bob releases db \(requested for grant 1\) ← release/,
          '✓ compared: met (must hold: owner-only-release, mutual-exclusion)',
        ],
      },
    },
    {
      lines: '245–247',
      says: 'Memcached is not safe for a lock, because it may evict any key. Two clients then hold the lock.',
      shown: {
        command: 'run fixtures/cache-lock-eviction.yaml --seeds 50 --workers 0 -v',
        prints: [
          /forgets db ← evict[\s\S]*grants db to carol/,
          '✓ compared: met (must break: mutual-exclusion; must hold: owner-only-release)',
        ],
      },
    },
    {
      lines: '267',
      says: 'It is an error to pass an acquired lock to `cache_memoize`, which then computes nothing.',
      shown: {
        script: HELD,
        prints: [
          /^calls alice\/1\/acquire\nalice: acquired db for 10 ms\nalice: refused: the lock on db is held already\nalice: db was dropped without release\nthat is all\n$/,
        ],
      },
    },
    {
      lines: '274',
      says: 'If a lock is garbage-collected while it is acquired, a warning is logged.',
      shown: {
        command: 'show fixtures/plans/stampede-timeout-impatient-single-flight.yaml -v',
        prints: ['logs cache-lock: db was dropped without release'],
      },
    },
  ],
};
