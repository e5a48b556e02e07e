/**
 * memcached or Redis as a server of the world. It stores what it is told: whether a lease may be
 * taken is decided by the client that looked. A crash empties memcached, and a Redis that does not
 * persist. The life of a key is counted by memcached on a monotonic clock, by Redis on the wall
 * clock.
 */
import type { Answer } from '../../core/history/trace.ts';
import type { Server, Turn } from '../../core/world/server.ts';
import { CacheItems } from '../cache/cache-items.ts';
import { CacheLeases, type Seen, type Vacant } from './cache-leases.ts';
import type { LeaseBook } from './lease-book.ts';
import type { LeaseRecord } from './lease-rules.ts';

export type LeaseCacheRequest =
  | { readonly kind: 'look'; readonly lock: string }
  | {
      readonly kind: 'put';
      readonly lock: string;
      readonly record: LeaseRecord;
      readonly unique: number | null;
    };

export type LeaseCacheReply =
  | ({ readonly kind: 'seen'; readonly wallUs: number } & Seen)
  | { readonly kind: 'stored' }
  /** Somebody stored, or the key went, in between. */
  | { readonly kind: 'not-stored' };

/** What the trace says of a reply; of a look, the fence token that it saw. */
export function describeLeaseCacheReply(
  request: LeaseCacheRequest,
): (reply: LeaseCacheReply) => Answer {
  return (reply) => {
    if (reply.kind === 'seen') return { kind: 'value', value: reply.record?.fence ?? 0 };
    if (reply.kind === 'not-stored' || request.kind === 'look')
      return { kind: 'denied', holder: '' };
    const { state, fence } = request.record;
    return state === 'leased' ? { kind: 'granted', token: fence } : { kind: 'released' };
  };
}

export interface LeaseCacheSetting {
  readonly keyLifeUs: number;
  /** By which of its clocks a key's life is counted. */
  readonly expiry: 'wall' | 'monotonic';
  readonly isDurable: boolean;
  readonly vacant: Vacant;
}

export class LeaseCacheServer implements Server<LeaseCacheRequest, LeaseCacheReply> {
  private readonly setting: LeaseCacheSetting;
  private readonly book: LeaseBook;
  private readonly cache: CacheItems = new CacheItems();
  private readonly leases: CacheLeases;

  constructor(setting: LeaseCacheSetting, book: LeaseBook) {
    this.setting = setting;
    this.book = book;
    this.leases = new CacheLeases(this.cache, setting.keyLifeUs, setting.vacant);
  }

  handle(request: LeaseCacheRequest, turn: Turn): LeaseCacheReply {
    if (request.kind === 'put') return this.put(request, turn);
    const seen = this.leases.look(request.lock, this.nowUs(turn));
    this.book.looked(turn, request.lock, seen.record);
    return { kind: 'seen', record: seen.record, unique: seen.unique, wallUs: turn.wallUs };
  }

  private put(request: Extract<LeaseCacheRequest, { kind: 'put' }>, turn: Turn): LeaseCacheReply {
    const { lock, record } = request;
    const isStored = this.leases.put(lock, record, request, this.nowUs(turn));
    if (record.state === 'open') this.book.release(turn, lock, isStored);
    else if (isStored) this.book.grant(turn, lock, record);
    else this.book.deny(turn, lock);
    return { kind: isStored ? 'stored' : 'not-stored' };
  }

  private nowUs(turn: Turn): number {
    return this.setting.expiry === 'wall' ? turn.wallUs : turn.monotonicUs;
  }

  restart(): void {
    if (!this.setting.isDurable) this.cache.clear();
  }

  snapshot(): () => void {
    const state = this.cache.save();
    const restoreBook = this.book.snapshot();
    return () => {
      this.cache.load(state);
      restoreBook();
    };
  }

  evict(key: string): boolean {
    return this.cache.forget(key);
  }
}
