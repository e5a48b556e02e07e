/**
 * The laws of sweeps on a queue, on a real Redis. Left out, in one line, where there is no
 * `redis-server`.
 */
import { lawsOfSweeps } from './fleet/laws.ts';
import { hasRedis, RedisServer } from './fleet/redis.ts';
import { needs } from './needs.ts';

const isThere = hasRedis();

lawsOfSweeps({
  test: needs('redis-server', isThere),
  isThere,
  start: () => RedisServer.start(),
});
