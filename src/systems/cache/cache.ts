/**
 * A cache with the commands of memcached that locks are built on, usable without the simulator:
 * what `CacheItems` does, behind a check of every argument. Times are integers in one unit of the
 * caller's. That nothing is there is an answer; what cannot be meant throws (see `mistakes.ts`).
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
import { type CacheItem, CacheItems, type CacheState, type CasAnswer } from './cache-items.ts';

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
