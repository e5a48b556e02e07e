/**
 * The commands that a CacheLock sends, the ways to release the lock, and the checks of its
 * arguments. The commands are those of memcached; without `onlyIf`, none of them compares values.
 * The simulator and the class share this file.
 *
 * Caches cannot compare and delete in one step, so there are several ways to release a key:
 * - `published`: touch the key so that it lasts, get it, and delete it if the value is the client's
 *   own. Between get and delete, the key may expire and go to another client. The touch extends any
 *   client's key.
 * - `add-again`, suggested by djblets' author in the review: add the key again with the same value,
 *   get it, and delete it if the value is the client's own. This extends no key, so there is less
 *   time between get and delete. If the key had expired, the release first acquires the lock again.
 * - `delete`: delete any key that is there.
 * - `compare-and-delete`: a single command, which is hypothetical.
 */
import type { Cache } from '../cache/cache.ts';

/** `onlyIf`: the value that the key must have; null accepts any. */
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

/** `value`: the value found instead, for the trace. A real cache does not return it. */
export type CacheReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'not-done'; readonly value: string | null }
  | { readonly kind: 'value'; readonly value: string | null };

/** Executes one command; `now` and the command's ttl are in the cache's unit. */
export function execute(
  cache: Cache,
  request: CacheRequest,
  now: number,
  lifetimeOf: (ttlUs: number) => number = (ttlUs) => ttlUs,
): CacheReply {
  const value = cache.get(request.key, now)?.value;
  const there = typeof value === 'string' ? value : null;
  if (request.kind === 'get') return { kind: 'value', value: there };
  return isDone(cache, request, { there, now, lifetimeOf })
    ? { kind: 'done' }
    : { kind: 'not-done', value: there };
}

function isDone(
  cache: Cache,
  request: Exclude<CacheRequest, { kind: 'get' }>,
  {
    there,
    now,
    lifetimeOf,
  }: {
    readonly there: string | null;
    readonly now: number;
    readonly lifetimeOf: (ttlUs: number) => number;
  },
): boolean {
  const { key } = request;
  if (request.kind === 'add') return cache.add(key, request.value, lifetimeOf(request.ttlUs), now);
  if (request.onlyIf !== null && request.onlyIf !== there) return false;
  return request.kind === 'touch'
    ? cache.touch(key, lifetimeOf(request.ttlUs), now)
    : cache.delete(key, now);
}

export const RELEASES = ['published', 'add-again', 'compare-and-delete', 'delete'] as const;

export type ReleaseRule = (typeof RELEASES)[number];

/** The lock to release, with the value that its holder stored. */
interface Returned {
  readonly key: string;
  readonly value: string;
  /** Time for which a touch or an add keeps the key. */
  readonly ttlUs: number;
  /** The keys that a touch extends: any key that is there, or only one with this value. */
  readonly extends: 'anyone' | 'owner';
  readonly release: ReleaseRule;
}

/** The state of the key at its release; `gone` includes a key of another client. */
export type Remainder = 'own' | 'gone' | 'unknown';

/** A command, and its label in the simulator. */
export interface ReleaseCommand {
  readonly name: 'release-touch' | 'release-add' | 'release-get' | 'release';
  readonly ask: CacheRequest;
}

/** Yields commands and receives the reply to each, or null if none came. */
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

/** Makes sure that the key exists, and checks whether its value is the client's own. */
function* lookAt({ key, value, ttlUs, release, extends: scope }: Returned): Release {
  if (release === 'add-again') {
    // Whether the key was added or found does not matter: its value is compared below.
    const added = yield { name: 'release-add', ask: { kind: 'add', key, value, ttlUs } };
    if (added === null) return 'unknown';
  } else {
    const onlyIf = scope === 'owner' ? value : null;
    const touched = yield { name: 'release-touch', ask: { kind: 'touch', key, ttlUs, onlyIf } };
    if (touched === null) return 'unknown';
    if (touched.kind !== 'done') return 'gone';
  }
  const reply = yield { name: 'release-get', ask: { kind: 'get', key } };
  if (reply === null) return 'unknown';
  return reply.kind === 'value' && reply.value === value ? 'own' : 'gone';
}

/** The timeout of a wait without limit. */
export const FOR_EVER = -1;

/** Times in one unit of the caller's choice. */
export interface LockArguments {
  readonly key: string;
  /** Time that the key stays in the cache. */
  readonly expiration: number;
  /** Time between two attempts to acquire a busy lock, before jitter. */
  readonly retry: number;
  /** Maximum wait for a busy lock, or `FOR_EVER`. */
  readonly timeout: number;
}

/**
 * Returns an error message for each invalid argument. djblets leaves the expiration to the cache,
 * and raises a ValueError for the others.
 */
export function refusalsOf(args: LockArguments): readonly string[] {
  const { key, expiration, retry, timeout } = args;
  const refusals: string[] = [];
  if (key === '') refusals.push('a lock needs a key');
  if (!(expiration > 0)) refusals.push(`an expiration must be greater than 0, not ${expiration}`);
  if (!(retry > 0)) refusals.push(`a retry interval must be greater than 0, not ${retry}`);
  if (timeout !== FOR_EVER && !(timeout > 0)) {
    refusals.push(`a timeout must be greater than 0, or ${FOR_EVER} for no limit, not ${timeout}`);
  }
  return refusals;
}

/** Returns the error for acquiring a lock that is held; a RuntimeError in Python. */
export function acquiredAlready(key: string): string {
  return `this lock on ${key} is acquired already`;
}

/** Returns the error for extending or releasing a lock that is not held; also a RuntimeError. */
export function notAcquired(key: string, deed: 'extended' | 'released'): string {
  return `this lock on ${key} is not acquired, and cannot be ${deed}`;
}
