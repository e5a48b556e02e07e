/**
 * A cache with the commands of memcached that locks are built on: pure state and rules, no clock
 * and no network. Times are integers in one unit of the caller's; fencepost counts microseconds.
 *
 * `CacheItems` is what the simulated caches run on, which ask for nothing that cannot be meant.
 * `Cache`, for programs, is the same behind a check of every argument: that nothing is there is an
 * answer; what cannot be meant throws (see `mistakes.ts`).
 */
import type { Json } from '../../core/kernel/json.ts';
import {
  requireJson,
  requireList,
  requireName,
  requireObject,
  requireTime,
  requireWhole,
} from '../mistakes.ts';

export class Cache {
  private readonly items: CacheItems = new CacheItems();

  get(key: string, now: number): CacheItem | null {
    requireAsked(key, now);
    return this.items.get(key, now);
  }

  /** When the key's item ends; null where it never does, or where there is none. */
  endOf(key: string, now: number): number | null {
    requireAsked(key, now);
    return this.items.endOf(key, now);
  }

  /** Stores only where nothing is; `ttl` null never ends. */
  add(key: string, value: Json, ttl: number | null, now: number): boolean {
    requireStored({ key, value, ttl, now });
    return this.items.add(key, value, ttl, now);
  }

  set(key: string, value: Json, ttl: number | null, now: number): void {
    requireStored({ key, value, ttl, now });
    this.items.set(key, value, ttl, now);
  }

  /** Stores only over the item with this `unique`. */
  cas(key: string, value: Json, unique: number, ttl: number | null, now: number): CasAnswer {
    requireStored({ key, value, ttl, now });
    requireWhole('unique', unique, 0);
    return this.items.cas(key, value, unique, ttl, now);
  }

  /** Gives the item a new end, whoever stored it; value and `unique` stay. */
  touch(key: string, ttl: number | null, now: number): boolean {
    requireAsked(key, now);
    requireLife(ttl);
    return this.items.touch(key, ttl, now);
  }

  /** Removes the item, whoever stored it. */
  delete(key: string, now: number): boolean {
    requireAsked(key, now);
    return this.items.delete(key, now);
  }

  /** Evicts the key, whether its item is over or not; false where nothing was kept. */
  forget(key: string): boolean {
    requireName('key', key);
    return this.items.forget(key);
  }

  /** Loses everything, as in a crash. A cas id is never given twice all the same. */
  clear(): void {
    this.items.clear();
  }

  save(): CacheState {
    return this.items.save();
  }

  load(state: CacheState): void {
    requireState(state);
    this.items.load(state);
  }
}

function requireAsked(key: string, now: number): void {
  requireName('key', key);
  requireTime('now', now);
}

/** An item lasts, or never ends. */
function requireLife(ttl: number | null): void {
  if (ttl !== null) requireWhole('ttl', ttl, 1);
}

interface Stored {
  readonly key: string;
  readonly value: Json;
  readonly ttl: number | null;
  readonly now: number;
}

function requireStored({ key, value, ttl, now }: Stored): void {
  requireAsked(key, now);
  requireJson('value', value);
  requireLife(ttl);
}

function requireState(state: CacheState): void {
  requireObject('state', state);
  requireWhole('unique', state.unique, 0);
  requireList('entries', state.entries);
  for (const entry of state.entries) {
    requireObject('entry', entry);
    requireName('key', entry.key);
    requireJson('value', entry.value);
    requireWhole('unique', entry.unique, 0);
    if (entry.end !== null) requireTime('end', entry.end);
  }
}

/** What a key holds, and the number that memcached calls its cas id: new with each storing. */
export interface CacheItem {
  readonly value: Json;
  readonly unique: number;
}

/** An item as it is kept. It is gone when `now >= end`; null never ends. */
interface CacheEntry extends CacheItem {
  readonly key: string;
  readonly end: number | null;
}

interface CacheState {
  readonly unique: number;
  readonly entries: readonly CacheEntry[];
}

/** How a `cas` ended: somebody stored in between, or nothing is there any more. */
export type CasAnswer = 'stored' | 'exists' | 'not-found';

export class CacheItems {
  private unique: number = 0;
  private readonly entries: Map<string, CacheEntry> = new Map();

  get(key: string, now: number): CacheItem | null {
    const entry = this.live(key, now);
    return entry === null ? null : { value: entry.value, unique: entry.unique };
  }

  /** When the key's item ends; null where it never does, or where there is none. */
  endOf(key: string, now: number): number | null {
    return this.live(key, now)?.end ?? null;
  }

  /** Stores only where nothing is; `ttl` null never ends. */
  add(key: string, value: Json, ttl: number | null, now: number): boolean {
    if (this.live(key, now) !== null) return false;
    this.set(key, value, ttl, now);
    return true;
  }

  set(key: string, value: Json, ttl: number | null, now: number): void {
    this.unique += 1;
    this.entries.set(key, { key, value, unique: this.unique, end: endOf(ttl, now) });
  }

  /** Stores only over the item with this `unique`. */
  cas(key: string, value: Json, unique: number, ttl: number | null, now: number): CasAnswer {
    const entry = this.live(key, now);
    if (entry === null) return 'not-found';
    if (entry.unique !== unique) return 'exists';
    this.set(key, value, ttl, now);
    return 'stored';
  }

  /** Gives the item a new end, whoever stored it; value and `unique` stay. */
  touch(key: string, ttl: number | null, now: number): boolean {
    const entry = this.live(key, now);
    if (entry === null) return false;
    const { value, unique } = entry;
    this.entries.set(key, { key, value, unique, end: endOf(ttl, now) });
    return true;
  }

  /** Removes the item, whoever stored it. */
  delete(key: string, now: number): boolean {
    return this.live(key, now) !== null && this.entries.delete(key);
  }

  /** Evicts the key, whether its item is over or not; false where nothing was kept. */
  forget(key: string): boolean {
    return this.entries.delete(key);
  }

  /** Loses everything, as in a crash. A cas id is never given twice all the same. */
  clear(): void {
    this.entries.clear();
  }

  save(): CacheState {
    return { unique: this.unique, entries: [...this.entries.values()] };
  }

  load(state: CacheState): void {
    this.unique = state.unique;
    this.entries.clear();
    for (const entry of state.entries) this.entries.set(entry.key, entry);
  }

  /** A copy of its state, as a function that brings it back. */
  snapshot(): () => void {
    const state = this.save();
    return () => this.load(state);
  }

  private live(key: string, now: number): CacheEntry | null {
    const entry = this.entries.get(key);
    if (entry === undefined) return null;
    return entry.end !== null && now >= entry.end ? null : entry;
  }
}

function endOf(ttl: number | null, now: number): number | null {
  return ttl === null ? null : now + ttl;
}
