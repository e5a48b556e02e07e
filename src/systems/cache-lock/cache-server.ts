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

export function cacheServer(name: string): Server<CacheRequest, CacheReply> {
  const cache = new Cache();
  const book = new GrantBook(name);
  /** True time at which the cache's clock, as it now runs, ends the key. */
  const endOf = (key: string, turn: Turn): number | null => {
    const end = cache.endOf(key, turn.monotonicUs);
    return end === null ? null : turn.trueTimeOf('monotonic', end);
  };
  const note = (request: CacheRequest, reply: CacheReply, turn: Turn): void => {
    const { key: lock } = request;
    const { client } = turn;
    const isEffective = reply.kind === 'done';
    if (request.kind === 'delete') book.release(turn, { lock, client, isEffective });
    if (request.kind === 'get' || request.kind === 'delete') return;
    if (reply.kind === 'not-done' && request.kind === 'add') {
      book.deny(turn, { lock, client, holder: ownerOf(reply.value) });
      return;
    }
    const { ttlUs } = request;
    const untilUs = isEffective ? endOf(lock, turn) : null;
    const lent = { lock, client, token: 0, ttlUs, untilUs, isEffective };
    if (request.kind === 'add') book.grant(turn, lent);
    else book.renew(turn, lent);
  };
  return {
    handle(request, turn) {
      const reply = execute(cache, request, turn.monotonicUs);
      note(request, reply, turn);
      return reply;
    },
    restart: () => cache.clear(),
    snapshot: () => restoreAll(cacheSnapshot(cache), book.snapshot()),
    evict: (key) => cache.forget(key),
  };
}
