/**
 * A cache with the commands of memcached that locks are built on: pure state and rules, no clock
 * and no network. Times are integers in one unit of the caller's; fencepost counts microseconds.
 * That nothing is there is an answer; what cannot be meant throws (see `mistakes.ts`).
 */
import { argument } from '../../servers.ts';

/** A cache as memcached is one, by itself; see the head of the file for units and errors. */
export class Cache {
  private unique: number = 0;
  private readonly entries: Map<string, CacheEntry> = new Map();

  /** What a key holds, and its cas id: a number that is new with each storing; null: nothing. */
  get(key: string, now: number): { readonly value: unknown; readonly unique: number } | null {
    const entry = liveIn(this.entries, { key, now });
    return entry === null ? null : { value: entry.value, unique: entry.unique };
  }

  /** When the key's item ends; null where it never does, or where there is none. */
  endOf(key: string, now: number): number | null {
    return liveIn(this.entries, { key, now })?.end ?? null;
  }

  /** Stores only where nothing is; `ttl` null never ends. */
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

  /** Stores only over the item with this `unique`. */
  cas(
    key: string,
    value: unknown,
    unique: number,
    ttl: number | null,
    now: number,
  ): 'stored' | 'exists' | 'not-found' {
    requireStored({ key, value, ttl, now });
    argument.whole('unique', unique, 0);
    const entry = liveIn(this.entries, { key, now });
    if (entry === null) return 'not-found';
    if (entry.unique !== unique) return 'exists';
    this.set(key, value, ttl, now);
    return 'stored';
  }

  /** Gives the item a new end, whoever stored it; value and `unique` stay. */
  touch(key: string, ttl: number | null, now: number): boolean {
    requireAsked(key, now);
    requireLife(ttl);
    const entry = liveIn(this.entries, { key, now });
    if (entry === null) return false;
    const { value, unique } = entry;
    this.entries.set(key, { key, value, unique, end: endOf(ttl, now) });
    return true;
  }

  /** Removes the item, whoever stored it. */
  delete(key: string, now: number): boolean {
    return liveIn(this.entries, { key, now }) !== null && this.entries.delete(key);
  }

  /** Evicts the key, whether its item is over or not; false where nothing was kept. */
  forget(key: string): boolean {
    argument.name('key', key);
    return this.entries.delete(key);
  }

  /** Loses everything, as in a crash. A cas id is never given twice all the same. */
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

/** The item of a key that is not over. */
function liveIn(
  entries: ReadonlyMap<string, CacheEntry>,
  { key, now }: { readonly key: string; readonly now: number },
): CacheEntry | null {
  requireAsked(key, now);
  const entry = entries.get(key);
  if (entry === undefined) return null;
  return entry.end !== null && now >= entry.end ? null : entry;
}

/** A copy of what a cache holds, as a function that brings it back. */
export function cacheSnapshot(cache: Cache): () => void {
  const state = cache.save();
  return () => cache.load(state);
}

function requireAsked(key: string, now: number): void {
  argument.name('key', key);
  argument.safe('now', now);
}

/** An item lasts, or never ends. */
function requireLife(ttl: number | null): void {
  if (ttl !== null) argument.whole('ttl', ttl, 1);
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
  requireLife(ttl);
}

function requireState(state: CacheState): void {
  argument.object('state', state);
  argument.whole('unique', state.unique, 0);
  argument.list('entries', state.entries);
  for (const entry of state.entries) {
    argument.object('entry', entry);
    argument.name('key', entry.key);
    argument.json('value', entry.value);
    argument.whole('unique', entry.unique, 0);
    if (entry.end !== null) argument.safe('end', entry.end);
  }
}

/** An item as it is kept. It is gone when `now >= end`; null never ends. */
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
