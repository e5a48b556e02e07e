/**
 * The leases of at-least-once workers by themselves, without the simulator: in a table, as DynamoDB
 * keeps them, and in a cache, as memcached and Redis do. Time comes with each call, as an integer
 * in whatever unit the caller counts in; what was published counts whole seconds. That a lease is
 * held is a value; an argument that cannot be meant throws (see `mistakes.ts`).
 *
 * In a table, taking a lease and giving it back is one conditional update each, and a record, with
 * its fence token, is never forgotten. In a cache a worker reads the record and the number of its
 * storing, decides, and stores it back only if nobody stored in between: memcached does it with
 * `gets`, `cas` and `add`, Redis with WATCH and MULTI. A key that was not stored for `keyLife` is
 * gone, and its fence token with it.
 */

import { argument } from '../../servers.ts';
import { Cache } from '../cache/cache.ts';
import type { LeaseAsk, LeaseRecord, LeaseReturn, LeaseRules } from './lease-rules.ts';
import { freedBy, takenBy } from './lease-rules.ts';

/** One delivery of one step of a machine: who asks for a lease, or gives it back. */
export interface LeaseHolder {
  /** The machine's correlation id; each machine has one lease. */
  readonly machine: string;
  readonly steps: number;
  /** How often this step was tried before. */
  readonly retries: number;
}

/**
 * How an acquire ended. What was published answers with a number, `False` or `0`, and `False == 0`;
 * these three cannot be taken for one another.
 */
export type LeaseAnswer =
  /** Theirs who asked until `expires`, inclusive; `fence` is above those of all leases before. */
  | { readonly kind: 'leased'; readonly fence: number; readonly expires: number }
  /** Somebody holds it, maybe the asker: a lease cannot be taken twice. Wait; ask nobody else. */
  | { readonly kind: 'held' }
  /** The back end was away: nobody knows. Only this may send a worker to a secondary. */
  | { readonly kind: 'system error' };

/** How a release ended. */
export type ReleaseAnswer =
  | { readonly kind: 'released' }
  /** It was not that very lease: other steps, retries or fence, or it was given back before. */
  | { readonly kind: 'not held' }
  | { readonly kind: 'system error' };

/** Who asks, for how long, and what time it is for the asker. */
type LeaseWish = LeaseHolder & { readonly timeout: number; readonly now: number };

/** What is given back, with the fence token that came with it. */
type GivenLease = LeaseHolder & { readonly fence: number };

/**
 * Leases in a table, which forgets no fence token.
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
  /** Set it to false to see what a worker does when the table is away. */
  isUp = true;

  /**
   * Takes the lease of a machine, unless somebody holds it: a lease has timed out when
   * `now > expires`. Throws where a number is no safe integer from 0.
   */
  acquire(wish: LeaseHolder & { readonly timeout: number; readonly now: number }): LeaseAnswer {
    requireWish(wish);
    if (!this.isUp) return { kind: 'system error' };
    const taken = this.leases.acquire(wish.machine, wish);
    if (taken === null) return { kind: 'held' };
    return { kind: 'leased', fence: taken.fence, expires: taken.expires };
  }

  /** Gives back that very lease, timed out or not, as long as nobody took it over. */
  release(given: LeaseHolder & { readonly fence: number }): ReleaseAnswer {
    requireGiven(given);
    if (!this.isUp) return { kind: 'system error' };
    return { kind: this.leases.release(given.machine, given) ? 'released' : 'not held' };
  }
}

/**
 * The same in a cache: a machine whose lease was not stored for `keyLife`, in the unit of `now`, or
 * that was evicted, begins anew with fence 1.
 */
export class LeaseCache {
  private readonly cache: Cache = new Cache();
  private readonly leases: CacheLeases;
  /** Set it to false to see what a worker does when the cache is away. */
  isUp = true;

  /** By default keys live the published 24 hours, where `now` counts seconds. */
  constructor(keyLife: number = KEY_LIFE_SECONDS) {
    argument.whole('keyLife', keyLife, 1);
    this.leases = new CacheLeases(this.cache, keyLife, 'add');
  }

  /** As `LeaseTable` does; `now` also says which keys have lived too long. */
  acquire(wish: LeaseHolder & { readonly timeout: number; readonly now: number }): LeaseAnswer {
    requireWish(wish);
    if (!this.isUp) return { kind: 'system error' };
    const seen = this.leases.look(wish.machine, wish.now);
    const taken = takenBy(seen.record, wish);
    if (taken === null) return { kind: 'held' };
    this.leases.put(wish.machine, taken, seen, wish.now);
    return { kind: 'leased', fence: taken.fence, expires: taken.expires };
  }

  release(given: LeaseHolder & { readonly fence: number; readonly now: number }): ReleaseAnswer {
    requireGiven(given);
    argument.whole('now', given.now, 0);
    if (!this.isUp) return { kind: 'system error' };
    const seen = this.leases.look(given.machine, given.now);
    const freed = freedBy(seen.record, given);
    if (freed === null) return { kind: 'not held' };
    this.leases.put(given.machine, freed, seen, given.now);
    return { kind: 'released' };
  }

  /** Forgets a machine's lease with its fence token, as a full cache does; false where none was. */
  evict(machine: string): boolean {
    argument.name('machine', machine);
    return this.cache.forget(machine);
  }
}

function requireHolder({ machine, steps, retries }: LeaseHolder): void {
  argument.name('machine', machine);
  argument.whole('steps', steps, 0);
  argument.whole('retries', retries, 0);
}

function requireWish(wish: LeaseWish): void {
  argument.object('wish', wish);
  requireHolder(wish);
  argument.whole('timeout', wish.timeout, 0);
  argument.whole('now', wish.now, 0);
}

function requireGiven(given: GivenLease): void {
  argument.object('given', given);
  requireHolder(given);
  argument.whole('fence', given.fence, 0);
}

export class TableLeases {
  private records: Map<string, LeaseRecord> = new Map();

  /** The lease as it is now taken, or null when somebody holds it. */
  acquire(key: string, ask: LeaseAsk, rules?: LeaseRules): LeaseRecord | null {
    const taken = takenBy(this.current(key), ask, rules);
    if (taken !== null) this.records.set(key, taken);
    return taken;
  }

  /** Whether the lease was that one and is free now. */
  release(key: string, given: LeaseReturn): boolean {
    const freed = freedBy(this.current(key), given);
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

/** Published: a key lives 24 hours after its last storing. */
export const KEY_LIFE_SECONDS: number = 86_400;

/** A record as it was read; `unique` names that storing. Both are null where nothing was. */
export type Seen = { readonly record: LeaseRecord | null; readonly unique: number | null };

/**
 * How a record is stored where none was. Early versions of the scheme used `cas` there too, which
 * python-memcached sends as a plain `set` when it has read nothing.
 */
export type Vacant = 'add' | 'set';

export class CacheLeases {
  private readonly cache: Cache;
  private readonly keyLife: number;
  private readonly vacant: Vacant;

  /** `keyLife` is in the unit of the cache's clock. */
  constructor(cache: Cache, keyLife: number, vacant: Vacant) {
    this.cache = cache;
    this.keyLife = keyLife;
    this.vacant = vacant;
  }

  /** `now` is the cache's own time. */
  look(key: string, now: number): Seen {
    const item = this.cache.get(key, now);
    if (item === null || typeof item.value !== 'string') return { record: null, unique: null };
    return { record: recordFrom(item.value), unique: item.unique };
  }

  /** Stores over what was seen; false when somebody stored, or the key went, in between. */
  put(key: string, record: LeaseRecord, { unique }: Pick<Seen, 'unique'>, now: number): boolean {
    const { steps, retries, since, expires, fence } = record;
    const text = [steps, retries, since, expires, fence].join(':');
    if (unique === null) {
      if (this.vacant === 'add') return this.cache.add(key, text, this.keyLife, now);
      this.cache.set(key, text, this.keyLife, now);
      return true;
    }
    return this.cache.cas(key, text, unique, this.keyLife, now) === 'stored';
  }
}

/** A lease that was given back belongs to step -1. */
const NOBODY = -1;

function recordFrom(text: string): LeaseRecord {
  const [steps = NOBODY, retries = NOBODY, since = 0, expires = 0, fence = 0] = text
    .split(':')
    .map(Number);
  const state = steps === NOBODY ? 'open' : 'leased';
  return { state, steps, retries, since, expires, fence };
}
