/** What a CacheLock refuses: to be made so, and to be used so. */

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
