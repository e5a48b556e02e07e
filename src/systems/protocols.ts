/** Every lock protocol by the name that scenarios call it. */
import { cacheLock } from './cache-lock/protocol.ts';
import { lockService, lockServicePublished } from './lock-service/protocol.ts';
import { none } from './none/protocol.ts';
import { optimistic } from './optimistic/protocol.ts';
import { pessimistic } from './pessimistic/protocol.ts';
import type { Protocol } from './protocol.ts';
import { redis } from './redis/protocol.ts';
import { redlock } from './redlock/protocol.ts';
import {
  leaseDynamodb,
  leaseDynamodbPublished,
  leaseMemcached,
  leaseMemcachedPublished,
  leaseRedis,
  leaseRedisPublished,
} from './worker-lease/protocol.ts';

export const protocols: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ['cache-lock', cacheLock],
  ['lock-service', lockService],
  ['lock-service-published', lockServicePublished],
  ['none', none],
  ['optimistic', optimistic],
  ['pessimistic', pessimistic],
  ['lease-dynamodb', leaseDynamodb],
  ['lease-dynamodb-published', leaseDynamodbPublished],
  ['lease-memcached', leaseMemcached],
  ['lease-memcached-published', leaseMemcachedPublished],
  ['lease-redis', leaseRedis],
  ['lease-redis-published', leaseRedisPublished],
  ['redis', redis],
  ['redlock', redlock],
]);
