/**
 * The leases of at-least-once workers without the simulator: in a table, as in DynamoDB, and in a
 * cache, as in memcached and Redis. Each call gets the time, an integer in any unit; the published
 * scheme uses whole seconds. A denial is returned; an invalid argument throws (see
 * `systems/argument.ts`).
 *
 * In a table, one conditional update takes or releases a lease, and no fence token is ever lost. In
 * a cache, a worker reads the record and its cas id, decides, and stores a new record unless
 * another worker was faster. memcached does this with `gets`, `cas` and `add`, Redis with WATCH and
 * MULTI. A key that is not stored again within `keyTtl` is lost, together with its fence token.
 */

import { argument } from '../../servers.ts';
import { Cache } from '../cache/cache.ts';
import type { LeaseAsk, LeaseRecord, LeaseReturn, LeaseRules } from './lease-rules.ts';
import { freedBy, postponed, takenBy } from './lease-rules.ts';

/** One delivery of one step of a machine, which requests or releases a lease. */
export interface LeaseHolder {
  /** The machine's correlation id; each machine has one lease. */
  readonly machine: string;
  readonly steps: number;
  /** Number of earlier tries of this step. */
  readonly retries: number;
}

/**
 * The result of an acquire. The published scheme returns a number, `False` or `0`; but in Python,
 * `False == 0`.
 */
export type LeaseAnswer =
  /** The caller holds the lease until `expires`, inclusive. A later lease has a higher `fence`. */
  | { readonly kind: 'leased'; readonly fence: number; readonly expires: number }
  /** The lease is held, maybe by the caller: leases are not re-entrant. Do not try a secondary. */
  | { readonly kind: 'held' }
  /** The back end was down, so the outcome is unknown. Only now may a worker try a secondary. */
  | { readonly kind: 'system error' };

/** The result of a release. */
export type ReleaseAnswer =
  | { readonly kind: 'released' }
  /** Steps, retries or fence differ, or the lease was already released. */
  | { readonly kind: 'not held' }
  | { readonly kind: 'system error' };

type LeaseRequest = LeaseHolder & { readonly timeout: number; readonly now: number };

type GivenLease = LeaseHolder & { readonly fence: number };

/**
 * Leases in a table, which never loses a fence token.
 *
 * ```ts
 * const leases = new LeaseTable();
 * const holder = { machine: 'order-7', steps: 0, retries: 0 };
 * leases.acquire({ ...holder, timeout: 300, now: 0 }); // leased, fence 1
 * leases.acquire({ ...holder, timeout: 300, now: 1 }); // held: it is not re-entrant
 * leases.release({ ...holder, fence: 1 }); // released
 * ```
 */
export class LeaseTable {
  private readonly leases: TableLeases = new TableLeases();
  /** Set to false to test a worker while the table is down. */
  isUp = true;

  /**
   * Takes the lease of a machine, unless it is held. A lease has timed out when `now > expires`.
   * Throws if a number is not a safe integer from 0.
   */
  acquire(request: LeaseHolder & { readonly timeout: number; readonly now: number }): LeaseAnswer {
    requireRequest(request);
    if (!this.isUp) return { kind: 'system error' };
    const taken = this.leases.acquire(request.machine, request);
    if (taken === null) return { kind: 'held' };
    return { kind: 'leased', fence: taken.fence, expires: taken.expires };
  }

  /** Releases exactly this lease, timed out or not, unless another holder has taken it over. */
  release(given: LeaseHolder & { readonly fence: number }): ReleaseAnswer {
    requireGiven(given);
    if (!this.isUp) return { kind: 'system error' };
    return { kind: this.leases.release(given.machine, given) ? 'released' : 'not held' };
  }
}

/**
 * Leases in a cache. A lease that was evicted, or not stored for `keyTtl`, starts again with fence
 * 1.
 */
export class LeaseCache {
  private readonly cache: Cache = new Cache();
  private readonly leases: CacheLeases;
  /** Set to false to test a worker while the cache is down. */
  isUp = true;

  /** `keyTtl` is in the unit of `now`. The default is 24 hours if that unit is seconds. */
  constructor(keyTtl: number = KEY_TTL_SECONDS) {
    argument.integerFrom('keyTtl', keyTtl, 1);
    this.leases = new CacheLeases(this.cache, keyTtl, 'add');
  }

  /** Like `acquire` of `LeaseTable`; `now` also determines which keys have expired. */
  acquire(request: LeaseHolder & { readonly timeout: number; readonly now: number }): LeaseAnswer {
    requireRequest(request);
    if (!this.isUp) return { kind: 'system error' };
    const seen = this.leases.look(request.machine, request.now);
    const taken = takenBy(seen.record, request);
    if (taken === null) return { kind: 'held' };
    this.leases.put(request.machine, taken, seen, request.now);
    return { kind: 'leased', fence: taken.fence, expires: taken.expires };
  }

  release(given: LeaseHolder & { readonly fence: number; readonly now: number }): ReleaseAnswer {
    requireGiven(given);
    argument.integerFrom('now', given.now, 0);
    if (!this.isUp) return { kind: 'system error' };
    const seen = this.leases.look(given.machine, given.now);
    const freed = freedBy(seen.record, given);
    if (freed === null) return { kind: 'not held' };
    this.leases.put(given.machine, freed, seen, given.now);
    return { kind: 'released' };
  }

  /** Evicts a machine's lease and fence token. Returns false if there was none. */
  evict(machine: string): boolean {
    argument.name('machine', machine);
    return this.cache.forget(machine);
  }
}

function requireHolder({ machine, steps, retries }: LeaseHolder): void {
  argument.name('machine', machine);
  argument.integerFrom('steps', steps, 0);
  argument.integerFrom('retries', retries, 0);
}

function requireRequest(request: LeaseRequest): void {
  argument.object('request', request);
  requireHolder(request);
  argument.integerFrom('timeout', request.timeout, 0);
  argument.integerFrom('now', request.now, 0);
}

function requireGiven(given: GivenLease): void {
  argument.object('given', given);
  requireHolder(given);
  argument.integerFrom('fence', given.fence, 0);
}

export class TableLeases {
  private records: Map<string, LeaseRecord> = new Map();

  /** Returns the new record, which ends `by` later, or null if the lease is held already. */
  acquire(
    key: string,
    ask: LeaseAsk,
    { rules, by = 0 }: { readonly rules?: LeaseRules; readonly by?: number } = {},
  ): LeaseRecord | null {
    const taken = takenBy(this.current(key), ask, rules);
    if (taken === null) return null;
    const record = postponed(taken, by);
    this.records.set(key, record);
    return record;
  }

  /** Releases exactly this lease. Returns false if the lease was not held. */
  release(key: string, lease: LeaseReturn): boolean {
    const freed = freedBy(this.current(key), lease);
    if (freed === null) return false;
    this.records.set(key, freed);
    return true;
  }

  private current(key: string): LeaseRecord | null {
    return this.records.get(key) ?? null;
  }

  snapshot(): () => void {
    const records = new Map(this.records);
    return () => {
      this.records = new Map(records);
    };
  }
}

/** As published, a key lasts 24 hours after it was last stored. */
export const KEY_TTL_SECONDS: number = 86_400;

/** A record and its cas id; both are null if there was no record. */
export type Seen = { readonly record: LeaseRecord | null; readonly unique: number | null };

/**
 * The command that stores a first record. Early versions of the scheme used `cas`, which
 * python-memcached sends as a plain `set` if it has read nothing.
 */
export type Vacant = 'add' | 'set';

export class CacheLeases {
  private readonly cache: Cache;
  private readonly keyTtl: number;
  private readonly vacant: Vacant;

  /** `keyTtl` is in the unit of the cache's clock. */
  constructor(cache: Cache, keyTtl: number, vacant: Vacant) {
    this.cache = cache;
    this.keyTtl = keyTtl;
    this.vacant = vacant;
  }

  /** `now` is the cache's own time. */
  look(key: string, now: number): Seen {
    const item = this.cache.get(key, now);
    if (item === null || typeof item.value !== 'string') return { record: null, unique: null };
    return { record: recordFrom(item.value), unique: item.unique };
  }

  /** Replaces the record seen. Returns false if the record was replaced or lost in between. */
  put(
    key: string,
    record: LeaseRecord,
    { unique, keyTtl = this.keyTtl }: Pick<Seen, 'unique'> & { readonly keyTtl?: number },
    now: number,
  ): boolean {
    const { steps, retries, since, expires, fence } = record;
    const text = [steps, retries, since, expires, fence].join(':');
    if (unique === null) {
      if (this.vacant === 'add') return this.cache.add(key, text, keyTtl, now);
      this.cache.set(key, text, keyTtl, now);
      return true;
    }
    return this.cache.cas(key, text, unique, keyTtl, now) === 'stored';
  }
}

/** The step of a released lease. */
const NO_HOLDER = -1;

function recordFrom(text: string): LeaseRecord {
  const [steps = NO_HOLDER, retries = NO_HOLDER, since = 0, expires = 0, fence = 0] = text
    .split(':')
    .map(Number);
  const state = steps === NO_HOLDER ? 'open' : 'leased';
  return { state, steps, retries, since, expires, fence };
}
