/**
 * The cache that CacheLock is kept in, as a server of the world: it knows keys and values, no locks
 * and no holders. Everything in it is lost in a crash, and a key may be evicted at any time.
 */
import type { Answer } from '../../core/history/trace.ts';
import type { Server, Turn } from '../../core/world/server.ts';
import { Cache, cacheSnapshot } from '../cache/cache.ts';
import { GrantBook, restoreAll } from '../grant-book.ts';
import { type CacheReply, type CacheRequest, execute } from './commands.ts';

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
    const reply = execute(this.cache, request, turn.monotonicUs);
    switch (request.kind) {
      case 'add':
        this.noteAdd(request, reply, turn);
        break;
      case 'touch':
        this.noteTouch(request, reply, turn);
        break;
      case 'delete': {
        const { key: lock } = request;
        this.book.release(turn, { lock, client: turn.client, isEffective: reply.kind === 'done' });
        break;
      }
      case 'get':
        break;
    }
    return reply;
  }

  private noteAdd({ key: lock, ttlUs }: Ask<'add'>, reply: CacheReply, turn: Turn): void {
    const { client } = turn;
    if (reply.kind === 'not-done') {
      this.book.deny(turn, { lock, client, holder: ownerOf(reply.value) });
    } else {
      this.book.grant(turn, { lock, client, token: 0, ttlUs, untilUs: this.endOf(lock, turn) });
    }
  }

  private noteTouch({ key: lock, ttlUs }: Ask<'touch'>, reply: CacheReply, turn: Turn): void {
    const isEffective = reply.kind === 'done';
    const untilUs = isEffective ? this.endOf(lock, turn) : null;
    this.book.renew(turn, { lock, client: turn.client, token: 0, ttlUs, untilUs, isEffective });
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
    return restoreAll(cacheSnapshot(this.cache), this.book.snapshot());
  }

  evict(key: string): boolean {
    return this.cache.forget(key);
  }
}
