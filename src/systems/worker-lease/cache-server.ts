/**
 * memcached or Redis as a server of the world. It stores what it is told: whether a lease may be
 * taken is decided by the client that looked. A crash empties memcached, and a Redis that does not
 * persist.
 */
import type { Answer } from '../../history/trace.ts';
import type { Server, Turn } from '../../world/server.ts';
import { Cache } from '../cache/cache.ts';
import { CacheLeases, type Seen, type Vacant } from './cache-leases.ts';
import { LeaseBook } from './lease-book.ts';
import {
  freedBy,
  type LeaseAsk,
  type LeaseRecord,
  type LeaseReturn,
  takenBy,
} from './lease-rules.ts';
import { judgedAt, type LeaseTerms } from './lease-terms.ts';

/** What a client looks for, which only the observer is told. */
type Wish =
  | ({ readonly kind: 'acquire' } & LeaseAsk)
  | ({ readonly kind: 'release' } & LeaseReturn);

export type CacheRequest =
  | {
      readonly kind: 'look';
      readonly lock: string;
      readonly client: string;
      readonly wish: Wish;
    }
  | {
      readonly kind: 'put';
      readonly lock: string;
      readonly client: string;
      readonly record: LeaseRecord;
      readonly unique: number | null;
      readonly ttlUs: number;
      /** For the observer: true time at which the look left. */
      readonly sinceUs: number;
    };

export type CacheReply =
  | ({ readonly kind: 'seen'; readonly wallUs: number } & Seen)
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'denied'; readonly holder: string };

/** What the trace says of a reply; of a look, the fence token that it saw. */
export function describeCacheReply(reply: CacheReply): Answer {
  return reply.kind === 'seen' ? { kind: 'value', value: reply.record?.fence ?? 0 } : reply;
}

export interface CacheSetting {
  readonly keyLifeUs: number;
  readonly isDurable: boolean;
  readonly vacant: Vacant;
}

export class CacheServer implements Server<CacheRequest, CacheReply> {
  private readonly terms: LeaseTerms;
  private readonly isDurable: boolean;
  private readonly cache: Cache = new Cache();
  private readonly leases: CacheLeases;
  private readonly book: LeaseBook;

  constructor(name: string, terms: LeaseTerms, { keyLifeUs, isDurable, vacant }: CacheSetting) {
    this.terms = terms;
    this.isDurable = isDurable;
    this.leases = new CacheLeases(this.cache, keyLifeUs, vacant);
    this.book = new LeaseBook(name, terms);
  }

  handle(request: CacheRequest, turn: Turn): CacheReply {
    if (request.kind === 'put') return this.put(request, turn);
    const seen = this.leases.look(request.lock, turn.monotonicUs);
    this.noteLook(request, seen.record, turn);
    return { kind: 'seen', ...seen, wallUs: turn.wallUs };
  }

  /** A client that sees that it may not will not come back: that was the denial. */
  private noteLook(
    request: Extract<CacheRequest, { kind: 'look' }>,
    record: LeaseRecord | null,
    turn: Turn,
  ): void {
    const { wish } = request;
    if (wish.kind === 'release') {
      if (freedBy(record, wish) === null) this.book.release(turn, request, false);
      return;
    }
    const now = judgedAt(this.terms, wish.now, turn);
    const mayTake = takenBy(record, { ...wish, now }, this.terms.rules) !== null;
    if (!mayTake) this.book.deny(turn, request);
  }

  private put(request: Extract<CacheRequest, { kind: 'put' }>, turn: Turn): CacheReply {
    const { lock, client, record, ttlUs, sinceUs } = request;
    const isStored = this.leases.put(lock, record, request, turn.monotonicUs);
    if (record.state === 'open') {
      this.book.release(turn, request, isStored);
      return isStored ? { kind: 'released' } : this.denial(lock);
    }
    if (!isStored) {
      this.book.deny(turn, request);
      return this.denial(lock);
    }
    this.book.grant(turn, { lock, client, record, ttlUs, sentAtUs: sinceUs });
    return { kind: 'granted', token: record.fence };
  }

  private denial(lock: string): CacheReply {
    return { kind: 'denied', holder: this.book.holder(lock) };
  }

  restart(): void {
    if (!this.isDurable) this.cache.clear();
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
