/**
 * The cache that CacheLock is kept in, as a server of the world: it knows keys and values, no locks
 * and no holders. Everything in it is lost in a crash, and a key may be evicted at any time.
 */
import type { Answer } from '../../history/trace.ts';
import type { Server, Turn } from '../../world/server.ts';
import { Cache } from '../cache/cache.ts';
import { GrantBook } from '../grant-book.ts';

/** `onlyIf` compares with the value that is there; null takes whatever is there. */
export type CacheRequest =
  | {
      readonly kind: 'add';
      readonly key: string;
      readonly value: string;
      readonly ttlUs: number;
    }
  | {
      readonly kind: 'touch';
      readonly key: string;
      readonly ttlUs: number;
      readonly onlyIf: string | null;
    }
  | { readonly kind: 'get'; readonly key: string }
  | { readonly kind: 'delete'; readonly key: string; readonly onlyIf: string | null };

/** `value` is what is there instead, for people: the commands of a cache do not tell. */
export type CacheReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'not-done'; readonly value: string | null }
  | { readonly kind: 'value'; readonly value: string | null };

/** What the trace says of a reply to this request. */
export function describeCacheReply(request: CacheRequest): (reply: CacheReply) => Answer {
  return (reply) => {
    if (reply.kind === 'not-done') return { kind: 'denied', holder: ownerOf(reply.value) };
    if (reply.kind === 'value') return { kind: 'accepted' };
    if (request.kind === 'add') return { kind: 'granted', token: 0 };
    return { kind: request.kind === 'touch' ? 'renewed' : 'released' };
  };
}

/** Whose section a value names; '' for none. */
export function ownerOf(value: string | null): string {
  return value?.split('/')[0] ?? '';
}

type Ask<K extends CacheRequest['kind']> = Extract<CacheRequest, { kind: K }>;

export class CacheServer implements Server<CacheRequest, CacheReply> {
  private readonly cache: Cache = new Cache();
  private readonly book: GrantBook;

  constructor(name: string) {
    this.book = new GrantBook(name);
  }

  handle(request: CacheRequest, turn: Turn): CacheReply {
    switch (request.kind) {
      case 'add':
        return this.add(request, turn);
      case 'touch':
        return this.touch(request, turn);
      case 'get':
        return { kind: 'value', value: this.valueOf(request.key, turn) };
      case 'delete':
        return this.delete(request, turn);
    }
  }

  private add({ key, value, ttlUs }: Ask<'add'>, turn: Turn): CacheReply {
    const asked = { lock: key, client: turn.client };
    if (!this.cache.add(key, value, ttlUs, turn.monotonicUs)) {
      const there = this.valueOf(key, turn);
      this.book.deny(turn, { ...asked, holder: ownerOf(there) });
      return { kind: 'not-done', value: there };
    }
    this.book.grant(turn, { ...asked, token: 0, ttlUs, untilUs: this.endOf(key, turn) });
    return { kind: 'done' };
  }

  private touch({ key, ttlUs, onlyIf }: Ask<'touch'>, turn: Turn): CacheReply {
    const there = this.valueOf(key, turn);
    const isEffective =
      (onlyIf === null || onlyIf === there) && this.cache.touch(key, ttlUs, turn.monotonicUs);
    const untilUs = isEffective ? this.endOf(key, turn) : null;
    const asked = { lock: key, client: turn.client, token: 0, ttlUs };
    this.book.renew(turn, { ...asked, untilUs, isEffective });
    return isEffective ? { kind: 'done' } : { kind: 'not-done', value: there };
  }

  private delete({ key, onlyIf }: Ask<'delete'>, turn: Turn): CacheReply {
    const there = this.valueOf(key, turn);
    const isEffective =
      (onlyIf === null || onlyIf === there) && this.cache.delete(key, turn.monotonicUs);
    this.book.release(turn, { lock: key, client: turn.client, isEffective });
    return isEffective ? { kind: 'done' } : { kind: 'not-done', value: there };
  }

  private valueOf(key: string, turn: Turn): string | null {
    const value = this.cache.get(key, turn.monotonicUs)?.value;
    return typeof value === 'string' ? value : null;
  }

  /** True time at which the cache's clock, as it now runs, ends the key. */
  private endOf(key: string, turn: Turn): number | null {
    const end = this.cache.endOf(key, turn.monotonicUs);
    return end === null ? null : turn.trueTimeOf('monotonic', end);
  }

  restart(): void {
    this.cache.clear();
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
