/**
 * The names that editors complete where a test is written: the locks, stores and claims of
 * fencepost. Others may be given as well, those of a `use`. A test holds the lists against what
 * there is.
 */

/** As `fencepost list locks` has them. */
export const LOCK_NAMES = [
  'cache-lock',
  'etcd',
  'kubernetes',
  'lock-service',
  'lock-service-published',
  'none',
  'optimistic',
  'pessimistic',
  'postgres',
  'lease-dynamodb',
  'lease-dynamodb-published',
  'lease-memcached',
  'lease-memcached-published',
  'lease-redis',
  'lease-redis-published',
  'redis',
  'redlock',
  'zookeeper',
] as const;

/** As `fencepost list stores` has them. */
export const STORE_NAMES = [
  'unfenced',
  'fenced',
  'fenced-strict',
  'fenced-reads',
  'fenced-open',
  'fenced-sequenced',
  'fenced-volatile',
  'fenced-per-key',
  'unique-token',
  'fence-inverted',
  'fence-equality',
  'highest-not-updated',
  'highest-on-one-replica',
  'client-side-fence',
  'drops-writes',
  'token-missing-accepted',
  'check-sequencer',
  'quorum',
  'versioned',
  'timestamped',
  'timestamped-by-client',
  'versioned-sql',
  'timestamped-sql',
  'stock',
  'stock-sql',
] as const;

/** As `fencepost list claims` has them. */
export const CLAIM_NAMES = [
  'grant-order',
  'mutual-exclusion',
  'tokens-unique',
  'tokens-increase',
  'token-stable',
  'token-bound',
  'fence-monotone',
  'fence-durable',
  'read-fence',
  'holder-order',
  'no-lost-update',
  'no-write-after-release',
  'owner-only-release',
  'renew-live',
  'lease-conservative',
  'no-orphan',
  'cross-key',
  'at-most-once',
  'single-flight',
  'progress',
  'acknowledged-durable',
  'linearizable',
  'linearizable(register)',
  'linearizable(counter)',
  'linearizable(fenced-register)',
  'linearizable(fenced-register-with-reads)',
  'holder-overlap',
  'loss-noticed',
] as const;

/** One of these, or any other name: an editor offers these, and the compiler takes all. */
export type NameLike<Known extends string> = Known | (string & Record<never, never>);

export type LockName = NameLike<(typeof LOCK_NAMES)[number]>;
export type StoreName = NameLike<(typeof STORE_NAMES)[number]>;
export type ClaimName = NameLike<(typeof CLAIM_NAMES)[number]>;
