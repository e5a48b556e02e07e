/**
 * What a CacheLock asks of its cache, and how a cache answers: the commands of memcached that it
 * needs, and none that compares before it touches or deletes, unless `onlyIf` asks for one.
 */
import type { Cache } from '../cache/cache.ts';
import type { CacheItems } from '../cache/cache-items.ts';

/** With its arguments checked, or, in the simulator, without. */
type AnyCache = Cache | CacheItems;

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

/** Executes one command; `now` and the command's ttl are in the cache's unit. */
export function execute(cache: AnyCache, request: CacheRequest, now: number): CacheReply {
  const there = textAt(cache, request.key, now);
  if (request.kind === 'get') return { kind: 'value', value: there };
  return isDone(cache, request, { there, now })
    ? { kind: 'done' }
    : { kind: 'not-done', value: there };
}

function isDone(
  cache: AnyCache,
  request: Exclude<CacheRequest, { kind: 'get' }>,
  { there, now }: { readonly there: string | null; readonly now: number },
): boolean {
  const { key } = request;
  if (request.kind === 'add') return cache.add(key, request.value, request.ttlUs, now);
  if (request.onlyIf !== null && request.onlyIf !== there) return false;
  return request.kind === 'touch' ? cache.touch(key, request.ttlUs, now) : cache.delete(key, now);
}

function textAt(cache: AnyCache, key: string, now: number): string | null {
  const value = cache.get(key, now)?.value;
  return typeof value === 'string' ? value : null;
}
