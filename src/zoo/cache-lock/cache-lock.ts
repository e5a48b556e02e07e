/**
 * djblets' CacheLock as a class that does not need the simulator. The time is an argument of each
 * call.
 *
 * The lock is documented as imperfect and lossy: a cache may evict a key at any time, and cannot
 * compare and delete in one step. Work under the lock must be safe to do twice.
 */

import { argument } from '../../servers.ts';
import { Cache } from '../cache/cache.ts';
import {
  acquiredAlready,
  execute,
  FOR_EVER,
  giveBack,
  notAcquired,
  RELEASES,
  refusalsOf,
} from './commands.ts';

/** Settings of a `CacheLock`. Times are in the unit of `now`. */
export interface CacheLockSettings {
  readonly key: string;
  /** Time that the key stays in the cache, and so the ttl of the lock. */
  readonly expiration: number;
  /** Time between two tries for a busy lock; djblets adds a random amount of up to a quarter. */
  readonly retry: number;
  /** Maximum wait for a busy lock. Default -1: without limit. */
  readonly timeout?: number;
  /** False to give up at once if the lock is busy. Default true. */
  readonly blocking?: boolean;
  /** Returns a value that no other client stores, such as `() => crypto.randomUUID()`. */
  readonly newToken: () => string;
  /**
   * The way to release the lock. `published`: touch the key, get it, and delete it if the value is
   * the lock's own; `add-again`: add the key instead of touching it; `compare-and-delete`: a single
   * command; `delete`: do not compare. Default `published`.
   */
  readonly release?: 'published' | 'add-again' | 'compare-and-delete' | 'delete';
  /** The keys that a touch extends: any existing key, or only the lock's own. Default `anyone`. */
  readonly extends?: 'anyone' | 'owner';
}

/**
 * The result of a call. A call that does not fit the state of the lock returns `refused`; an
 * invalid argument throws a `TypeError` or a `RangeError`.
 */
export type CacheLockAnswer =
  | { readonly kind: 'acquired' | 'extended'; readonly until: number }
  /** Another client holds the lock. Acquire again at `retryAt`; null: the lock does not wait. */
  | { readonly kind: 'busy'; readonly retryAt: number | null }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'released' }
  /** By the caller's `now`, the lock had expired. No command was sent to the cache. */
  | { readonly kind: 'expired' }
  /** The key is gone, or belongs to another client. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly why: string };

/** A lock for one program. It must be released before it is acquired again. */
export class CacheLock {
  private readonly cache: Cache;
  private readonly settings: Required<CacheLockSettings>;
  private held: { readonly token: string; readonly end: number } | null = null;
  /** The token that a waiting acquire will store, and the start of its wait. */
  private waiting: { readonly token: string; readonly since: number } | null = null;

  /** Throws if a setting is invalid. A `RangeError` lists every value that is out of range. */
  constructor(cache: Cache, settings: CacheLockSettings) {
    argument.made('cache', cache, Cache);
    argument.object('settings', settings);
    const { timeout = FOR_EVER, blocking = true } = settings;
    const { release = 'published', extends: scope = 'anyone' } = settings;
    this.cache = cache;
    this.settings = { ...settings, timeout, blocking, release, extends: scope };
    requireSettings(this.settings);
  }

  /** True if the lock was acquired and not released. It may have expired. */
  get isAcquired(): boolean {
    return this.held !== null;
  }

  /** Tries once to acquire the lock. The wait starts with the first try. */
  acquire(now: number): CacheLockAnswer {
    const { key, expiration, retry, timeout, blocking } = this.settings;
    argument.safe('now', now);
    if (this.held !== null) return { kind: 'refused', why: acquiredAlready(key) };
    const { token, since } = this.waiting ?? { token: this.newToken(), since: now };
    this.waiting = null;
    const add = { kind: 'add', key, value: token, ttlUs: expiration } as const;
    if (execute(this.cache, add, now).kind === 'done') {
      this.held = { token, end: now + expiration };
      return { kind: 'acquired', until: now + expiration };
    }
    if (!blocking) return { kind: 'busy', retryAt: null };
    if (timeout !== FOR_EVER && now - since >= timeout) return { kind: 'timed-out' };
    this.waiting = { token, since };
    return { kind: 'busy', retryAt: now + retry };
  }

  /** Extends the lock from `now` on. If the answer is `lost`, the lock still counts as acquired. */
  extend(now: number, expiration: number = this.settings.expiration): CacheLockAnswer {
    const { key, extends: scope } = this.settings;
    argument.safe('now', now);
    argument.integerFrom('expiration', expiration, 1);
    const { held } = this;
    if (held === null) return { kind: 'refused', why: notAcquired(key, 'extended') };
    const onlyIf = scope === 'owner' ? held.token : null;
    const touch = { kind: 'touch', key, ttlUs: expiration, onlyIf } as const;
    if (execute(this.cache, touch, now).kind !== 'done') return { kind: 'lost' };
    this.held = { token: held.token, end: now + expiration };
    return { kind: 'extended', until: now + expiration };
  }

  /** Releases the lock unless it has expired, since another client may then hold the key. */
  release(now: number): CacheLockAnswer {
    const { key, expiration, release, extends: scope } = this.settings;
    argument.safe('now', now);
    const { held } = this;
    if (held === null) return { kind: 'refused', why: notAcquired(key, 'released') };
    this.held = null;
    if (now > held.end) return { kind: 'expired' };
    const lock = { key, value: held.token, ttlUs: expiration, extends: scope, release };
    const commands = giveBack(lock);
    let next = commands.next();
    while (next.done !== true) next = commands.next(execute(this.cache, next.value.ask, now));
    return { kind: next.value === 'own' ? 'released' : 'lost' };
  }

  private newToken(): string {
    const token = this.settings.newToken();
    argument.name('what newToken returns', token);
    return token;
  }
}

/** Throws for the first value of a wrong type, or one error for all values out of range. */
function requireSettings(settings: Required<CacheLockSettings>): void {
  const { key, expiration, retry, timeout } = settings;
  if (key !== '') argument.name('key', key);
  for (const [name, value] of Object.entries({ expiration, retry, timeout })) {
    argument.number(name, value);
  }
  argument.flag('blocking', settings.blocking);
  argument.function('newToken', settings.newToken);
  const refusals = refusalsOf(settings);
  if (refusals.length > 0) throw new RangeError(refusals.join('; '));
  argument.integerFrom('expiration', expiration, 1);
  argument.integerFrom('retry', retry, 1);
  argument.integerFrom('timeout', timeout, FOR_EVER);
  argument.word('release', settings.release, RELEASES);
  argument.word('extends', settings.extends, ['anyone', 'owner']);
}
