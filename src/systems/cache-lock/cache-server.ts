/**
 * The cache that CacheLock is kept in, as a server of the world: it knows keys and values, no locks
 * and no holders. Everything in it is lost in a crash, and a key may be evicted at any time.
 */
import type { Answer } from '../../core/history/trace.ts';
import type { Server, Turn } from '../../core/world/server.ts';
import { CacheItems } from '../cache/cache-items.ts';
import { GrantBook } from '../grant-book.ts';
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
  private readonly cache: CacheItems = new CacheItems();
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
        const asked = { lock: request.key, client: turn.client };
        this.book.release(turn, { ...asked, isEffective: reply.kind === 'done' });
        break;
      }
      case 'get':
        break;
    }
    return reply;
  }

  private noteAdd({ key, ttlUs }: Ask<'add'>, reply: CacheReply, turn: Turn): void {
    const asked = { lock: key, client: turn.client };
    if (reply.kind === 'not-done') {
      this.book.deny(turn, { ...asked, holder: ownerOf(reply.value) });
    } else {
      this.book.grant(turn, { ...asked, token: 0, ttlUs, untilUs: this.endOf(key, turn) });
    }
  }

  private noteTouch({ key, ttlUs }: Ask<'touch'>, reply: CacheReply, turn: Turn): void {
    const isEffective = reply.kind === 'done';
    const untilUs = isEffective ? this.endOf(key, turn) : null;
    const asked = { lock: key, client: turn.client, token: 0, ttlUs };
    this.book.renew(turn, { ...asked, untilUs, isEffective });
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
