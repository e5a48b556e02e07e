/**
 * djblets' CacheLock as a class that needs no simulator: time is an argument of each call, and the
 * cache is whatever `Cache` it is given. Times are integers in one unit of the caller's.
 *
 * It is an imperfect, lossy lock, and says so: a cache may forget a key at any time, and has no
 * command that compares and deletes. What is done under it must bear being done twice.
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

/** What a lock is given, see the constructor; times are in the unit of `now`. */
export interface CacheLockSettings {
  readonly key: string;
  /** How long the key stays in the cache: the lock is over at the end of it. */
  readonly expiration: number;
  /** The time between two looks at a busy lock; djblets adds up to a quarter, drawn anew. */
  readonly retry: number;
  /** How long a busy lock is waited for; -1, the default, for ever. */
  readonly timeout?: number;
  /** Whether a busy lock is waited for. Default true. */
  readonly blocking?: boolean;
  /** A value that nobody else puts there, such as `() => crypto.randomUUID()`. */
  readonly newToken: () => string;
  /**
   * How it is given back. `published` touches the key, reads it, and deletes it if the value is its
   * own; `add-again` adds the key first, in place of the touch; `compare-and-delete` does both in
   * one command; `delete` does not look. Default `published`.
   */
  readonly release?: 'published' | 'add-again' | 'compare-and-delete' | 'delete';
  /** Whether a touch prolongs whatever key is there, or only its own. Default `anyone`. */
  readonly extends?: 'anyone' | 'owner';
}

/**
 * How a call ended. That the lock is not in the state for it is an answer, `refused`; an argument
 * that cannot be meant throws (see `mistakes.ts`).
 */
export type CacheLockAnswer =
  | { readonly kind: 'acquired' | 'extended'; readonly until: number }
  /** Another one has it: acquire again at `retryAt`; null where it is not waited for. */
  | { readonly kind: 'busy'; readonly retryAt: number | null }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'released' }
  /** Its own time was over, so that nothing was asked of the cache. */
  | { readonly kind: 'expired' }
  /** The key is gone, or another's by now. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly why: string };

/** For one program; it is released before it is acquired again. */
export class CacheLock {
  private readonly cache: Cache;
  private readonly settings: Required<CacheLockSettings>;
  private held: { readonly token: string; readonly end: number } | null = null;
  /** The token that it waits with, and since when. */
  private waiting: { readonly token: string; readonly since: number } | null = null;

  /** Throws; a `RangeError` tells everything that is out of its range. */
  constructor(cache: Cache, settings: CacheLockSettings) {
    argument.made('cache', cache, Cache);
    argument.object('settings', settings);
    const { timeout = FOR_EVER, blocking = true } = settings;
    const { release = 'published', extends: whose = 'anyone' } = settings;
    this.cache = cache;
    this.settings = { ...settings, timeout, blocking, release, extends: whose };
    requireSettings(this.settings);
  }

  /** Whether it was acquired and not released, also when its time is over. */
  get isAcquired(): boolean {
    return this.held !== null;
  }

  /** Looks once whether the lock can be had. Its wait begins with the first look. */
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

  /** Prolongs it from `now` on. Where it is `lost`, it counts as acquired all the same. */
  extend(now: number, expiration: number = this.settings.expiration): CacheLockAnswer {
    const { key, extends: whose } = this.settings;
    argument.safe('now', now);
    argument.whole('expiration', expiration, 1);
    const { held } = this;
    if (held === null) return { kind: 'refused', why: notAcquired(key, 'extended') };
    const onlyIf = whose === 'owner' ? held.token : null;
    const touch = { kind: 'touch', key, ttlUs: expiration, onlyIf } as const;
    if (execute(this.cache, touch, now).kind !== 'done') return { kind: 'lost' };
    this.held = { token: held.token, end: now + expiration };
    return { kind: 'extended', until: now + expiration };
  }

  /** Gives it back, unless `now` is later than its end: then the key may be another's. */
  release(now: number): CacheLockAnswer {
    const { key, expiration, release, extends: whose } = this.settings;
    argument.safe('now', now);
    const { held } = this;
    if (held === null) return { kind: 'refused', why: notAcquired(key, 'released') };
    this.held = null;
    if (now > held.end) return { kind: 'expired' };
    const lock = { key, value: held.token, ttlUs: expiration, extends: whose, release };
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

/** First what is of the wrong type, then everything that is out of its range. */
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
  argument.whole('expiration', expiration, 1);
  argument.whole('retry', retry, 1);
  argument.whole('timeout', timeout, FOR_EVER);
  argument.word('release', settings.release, RELEASES);
  argument.word('extends', settings.extends, ['anyone', 'owner']);
}
