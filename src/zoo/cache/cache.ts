/** A cache with the memcached commands that locks are built on: pure state and rules. */
import { argument } from '../../servers.ts';

/**
 * A cache like memcached, without a clock or a network. Times are integers in any unit. An invalid
 * argument throws a `TypeError` or a `RangeError`.
 */
export class Cache {
  private unique: number = 0;
  private readonly entries: Map<string, CacheEntry> = new Map();

  /**
   * Returns a key's value and its cas id, or null if the key has no item. The cas id changes with
   * each stored value.
   */
  get(key: string, now: number): { readonly value: unknown; readonly unique: number } | null {
    const entry = liveIn(this.entries, { key, now });
    return entry === null ? null : { value: entry.value, unique: entry.unique };
  }

  /** Returns the expiry time of an item, or null if the item never expires or is missing. */
  endOf(key: string, now: number): number | null {
    return liveIn(this.entries, { key, now })?.end ?? null;
  }

  /**
   * Stores the item unless the key already has an item. If `ttl` is null, the item never expires.
   */
  add(key: string, value: unknown, ttl: number | null, now: number): boolean {
    requireStored({ key, value, ttl, now });
    if (liveIn(this.entries, { key, now }) !== null) return false;
    this.set(key, value, ttl, now);
    return true;
  }

  set(key: string, value: unknown, ttl: number | null, now: number): void {
    requireStored({ key, value, ttl, now });
    this.unique += 1;
    this.entries.set(key, { key, value, unique: this.unique, end: endOf(ttl, now) });
  }

  /** Stores the item only if the key's present item has this `unique`. */
  cas(
    key: string,
    value: unknown,
    unique: number,
    ttl: number | null,
    now: number,
  ): 'stored' | 'exists' | 'not-found' {
    requireStored({ key, value, ttl, now });
    argument.integerFrom('unique', unique, 0);
    const entry = liveIn(this.entries, { key, now });
    if (entry === null) return 'not-found';
    if (entry.unique !== unique) return 'exists';
    this.set(key, value, ttl, now);
    return 'stored';
  }

  /** Changes the expiry time of any client's item. Value and `unique` stay the same. */
  touch(key: string, ttl: number | null, now: number): boolean {
    requireAsked(key, now);
    requireTtl(ttl);
    const entry = liveIn(this.entries, { key, now });
    if (entry === null) return false;
    const { value, unique } = entry;
    this.entries.set(key, { key, value, unique, end: endOf(ttl, now) });
    return true;
  }

  /** Removes any client's item. */
  delete(key: string, now: number): boolean {
    return liveIn(this.entries, { key, now }) !== null && this.entries.delete(key);
  }

  /** Evicts a key, even if its item has expired. Returns false if nothing was stored. */
  forget(key: string): boolean {
    argument.name('key', key);
    return this.entries.delete(key);
  }

  /** Loses everything, as in a crash. Cas ids are still never reused. */
  clear(): void {
    this.entries.clear();
  }

  /** @internal */
  save(): CacheState {
    return { unique: this.unique, entries: [...this.entries.values()] };
  }

  /** @internal */
  load(state: CacheState): void {
    requireState(state);
    this.unique = state.unique;
    this.entries.clear();
    for (const entry of state.entries) this.entries.set(entry.key, entry);
  }
}

function liveIn(
  entries: ReadonlyMap<string, CacheEntry>,
  { key, now }: { readonly key: string; readonly now: number },
): CacheEntry | null {
  requireAsked(key, now);
  const entry = entries.get(key);
  if (entry === undefined) return null;
  return entry.end !== null && now >= entry.end ? null : entry;
}

/** Returns a function that restores the present contents of a cache. */
export function cacheSnapshot(cache: Cache): () => void {
  const state = cache.save();
  return () => cache.load(state);
}

function requireAsked(key: string, now: number): void {
  argument.name('key', key);
  argument.safe('now', now);
}

/** A ttl is positive, or null for an item that never expires. */
function requireTtl(ttl: number | null): void {
  if (ttl !== null) argument.integerFrom('ttl', ttl, 1);
}

interface Stored {
  readonly key: string;
  readonly value: unknown;
  readonly ttl: number | null;
  readonly now: number;
}

function requireStored({ key, value, ttl, now }: Stored): void {
  requireAsked(key, now);
  argument.json('value', value);
  requireTtl(ttl);
}

function requireState(state: CacheState): void {
  argument.object('state', state);
  argument.integerFrom('unique', state.unique, 0);
  argument.list('entries', state.entries);
  for (const entry of state.entries) {
    argument.object('entry', entry);
    argument.name('key', entry.key);
    argument.json('value', entry.value);
    argument.integerFrom('unique', entry.unique, 0);
    if (entry.end !== null) argument.safe('end', entry.end);
  }
}

/** A stored item. It has expired when `now >= end`, and never if `end` is null. */
interface CacheEntry {
  readonly key: string;
  readonly value: unknown;
  readonly unique: number;
  readonly end: number | null;
}

interface CacheState {
  readonly unique: number;
  readonly entries: readonly CacheEntry[];
}

function endOf(ttl: number | null, now: number): number | null {
  return ttl === null ? null : now + ttl;
}
