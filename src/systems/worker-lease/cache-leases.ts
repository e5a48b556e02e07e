/**
 * Leases kept in a cache: read the record and the number of its storing, decide, and store it back
 * only if nobody stored in between. memcached does it with `gets`, `cas` and `add`, Redis with
 * WATCH and MULTI. A key that was not stored for `keyLife` is gone, and its fence token with it.
 */
import type { CacheItems } from '../cache/cache-items.ts';
import type { LeaseRecord } from './lease-rules.ts';

/** Published: a key lives 24 hours after its last storing. */
export const KEY_LIFE_SECONDS: number = 86_400;

/** A record as it was read; `unique` names that storing. Both are null where nothing was. */
export type Seen = {
  readonly record: LeaseRecord | null;
  readonly unique: number | null;
};

/**
 * How a record is stored where none was. Early versions of the scheme used `cas` there too, which
 * python-memcached sends as a plain `set` when it has read nothing.
 */
export type Vacant = 'add' | 'set';

export class CacheLeases {
  private readonly cache: CacheItems;
  private readonly keyLife: number;
  private readonly vacant: Vacant;

  /** `keyLife` is in the unit of the cache's clock. */
  constructor(cache: CacheItems, keyLife: number, vacant: Vacant) {
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
    const text = textOf(record);
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

function textOf({ steps, retries, since, expires, fence }: LeaseRecord): string {
  return [steps, retries, since, expires, fence].join(':');
}

function recordFrom(text: string): LeaseRecord {
  const [steps = NOBODY, retries = NOBODY, since = 0, expires = 0, fence = 0] = text
    .split(':')
    .map(Number);
  const state = steps === NOBODY ? 'open' : 'leased';
  return { state, steps, retries, since, expires, fence };
}
