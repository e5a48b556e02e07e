/**
 * What a CacheLock asks of its cache, and how a cache answers: the commands of memcached that it
 * needs, and none that compares before it touches or deletes, unless `onlyIf` asks for one; how the
 * lock gives its key back; and what it refuses. The simulator and the class that needs none share
 * it.
 *
 * Since no command of a cache compares and deletes, there are four ways to give a key back:
 *
 * - `published`: touch the key, so that it lives until it is deleted; get it; delete it if the
 *   value is one's own. Between get and delete the key may expire and be another's, and the touch
 *   prolongs whatever key is there.
 * - `add-again`, which djblets' author thought of in the review: add the key once more with the
 *   same value, get it, delete it if the value is one's own. Nothing of another's is prolonged. But
 *   nothing of one's own is either, so that there is less time between get and delete; and where
 *   the key had expired, the lock is taken once more on the way out.
 * - `delete`: delete whatever is there.
 * - `compare-and-delete`: what a cache would need to have, in one command.
 */
import type { Cache } from '../cache/cache.ts';

/** `onlyIf` compares with the value that is there; null takes whatever is there. */
export type CacheRequest =
  | { readonly kind: 'add'; readonly key: string; readonly value: string; readonly ttlUs: number }
  | {
      readonly kind: 'touch';
      readonly key: string;
      readonly ttlUs: number;
      readonly onlyIf: string | null;
    }
  | { readonly kind: 'get'; readonly key: string }
  | { readonly kind: 'delete'; readonly key: string; readonly onlyIf: string | null };

/** `value` is what is there instead, for people: the commands of a cache do not tell. */
export type CacheReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'not-done'; readonly value: string | null }
  | { readonly kind: 'value'; readonly value: string | null };

/** Executes one command; `now` and the command's ttl are in the cache's unit. */
export function execute(cache: Cache, request: CacheRequest, now: number): CacheReply {
  const value = cache.get(request.key, now)?.value;
  const there = typeof value === 'string' ? value : null;
  if (request.kind === 'get') return { kind: 'value', value: there };
  return isDone(cache, request, { there, now })
    ? { kind: 'done' }
    : { kind: 'not-done', value: there };
}

function isDone(
  cache: Cache,
  request: Exclude<CacheRequest, { kind: 'get' }>,
  { there, now }: { readonly there: string | null; readonly now: number },
): boolean {
  const { key } = request;
  if (request.kind === 'add') return cache.add(key, request.value, request.ttlUs, now);
  if (request.onlyIf !== null && request.onlyIf !== there) return false;
  return request.kind === 'touch' ? cache.touch(key, request.ttlUs, now) : cache.delete(key, now);
}

export const RELEASES = ['published', 'add-again', 'compare-and-delete', 'delete'] as const;

export type ReleaseRule = (typeof RELEASES)[number];

/** The lock to be given back, with the value that its holder put there. */
interface Returned {
  readonly key: string;
  readonly value: string;
  /** For how long a touch, or an add, keeps the key. */
  readonly ttlUs: number;
  /** Whether a touch prolongs whatever key is there, or only one with this value. */
  readonly extends: 'anyone' | 'owner';
  readonly release: ReleaseRule;
}

/** What is known of the key that it gives back: `gone` is also another's. */
export type Remainder = 'own' | 'gone' | 'unknown';

/** One command, and what the simulator calls it. */
export interface ReleaseCommand {
  readonly name: 'release-touch' | 'release-add' | 'release-get' | 'release';
  readonly ask: CacheRequest;
}

/** Yields commands, and is given the answer to each; null where none came. */
type Release = Generator<ReleaseCommand, Remainder, CacheReply | null>;

export function* giveBack(lock: Returned): Release {
  const { key, value, release } = lock;
  if (release === 'published' || release === 'add-again') {
    const found = yield* lookAt(lock);
    if (found !== 'own') return found;
  }
  const onlyIf = release === 'compare-and-delete' ? value : null;
  const reply = yield { name: 'release', ask: { kind: 'delete', key, onlyIf } };
  if (reply === null) return 'unknown';
  return reply.kind === 'done' ? 'own' : 'gone';
}

/** Sees to it that there is a key, and reads whose it is. */
function* lookAt({ key, value, ttlUs, release, extends: whose }: Returned): Release {
  if (release === 'add-again') {
    // Whether it was added or was there: what counts is whose it is.
    const added = yield { name: 'release-add', ask: { kind: 'add', key, value, ttlUs } };
    if (added === null) return 'unknown';
  } else {
    const onlyIf = whose === 'owner' ? value : null;
    const touched = yield { name: 'release-touch', ask: { kind: 'touch', key, ttlUs, onlyIf } };
    if (touched === null) return 'unknown';
    if (touched.kind !== 'done') return 'gone';
  }
  const reply = yield { name: 'release-get', ask: { kind: 'get', key } };
  if (reply === null) return 'unknown';
  return reply.kind === 'value' && reply.value === value ? 'own' : 'gone';
}

/** How long a lock is waited for that is waited for without end. */
export const FOR_EVER = -1;

/** Times in any one unit. */
export interface LockArguments {
  readonly key: string;
  /** How long the key is to stay in the cache. */
  readonly expiration: number;
  /** The time between two looks at a busy lock, before jitter. */
  readonly retry: number;
  /** How long a busy lock is waited for, or `FOR_EVER`. */
  readonly timeout: number;
}

/**
 * What is wrong with them, a sentence each; djblets raises a ValueError for all but the expiration,
 * which it leaves to the cache.
 */
export function refusalsOf(given: LockArguments): readonly string[] {
  const { key, expiration, retry, timeout } = given;
  const refusals: string[] = [];
  if (key === '') refusals.push('a lock needs a key');
  if (!(expiration > 0)) refusals.push(`an expiration is longer than 0, not ${expiration}`);
  if (!(retry > 0)) refusals.push(`a retry interval is longer than 0, not ${retry}`);
  if (timeout !== FOR_EVER && !(timeout > 0)) {
    refusals.push(`a timeout is longer than 0, or ${FOR_EVER} for ever, not ${timeout}`);
  }
  return refusals;
}

/** What a lock says that is acquired while it is held; in Python a RuntimeError. */
export function acquiredAlready(key: string): string {
  return `this lock on ${key} is acquired already`;
}

/** What a lock says that is not held, and is to be `extended` or `released`; the same error. */
export function notAcquired(key: string, deed: 'extended' | 'released'): string {
  return `this lock on ${key} is not acquired, and cannot be ${deed}`;
}
