/**
 * Every lock protocol by the name that scenarios call it, and with the stores all that systems are
 * put together of. A newcomer reads from here: `protocol.ts` (what a lock is), `section.ts` (what
 * every client does) and `work.ts` (what it does under its grant), one lock, such as
 * `pessimistic/protocol.ts` and its server, `store/store-kinds.ts` (what a lock guards), and
 * `assemble.ts`, which makes a plan's system of them. `grant-book.ts` and `store/witness.ts` tell
 * the observer; `define-lock.ts` takes locks that people define.
 */
import { cacheLock } from './cache-lock/protocol.ts';
import { etcd } from './etcd/protocol.ts';
import { kubernetes } from './kubernetes/protocol.ts';
import { lockService, lockServicePublished } from './lock-service/protocol.ts';
import { none } from './none/protocol.ts';
import { optimistic } from './optimistic/protocol.ts';
import { pessimistic } from './pessimistic/protocol.ts';
import { postgres } from './postgres/protocol.ts';
import type { Protocol } from './protocol.ts';
import { redis } from './redis/protocol.ts';
import { redlock } from './redlock/protocol.ts';
import { type StoreKind, storeKinds } from './store/store-kinds.ts';
import {
  leaseDynamodb,
  leaseDynamodbPublished,
  leaseMemcached,
  leaseMemcachedPublished,
  leaseRedis,
  leaseRedisPublished,
} from './worker-lease/protocol.ts';
import { zookeeper } from './zookeeper/protocol.ts';

export const protocols: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ['cache-lock', cacheLock],
  ['etcd', etcd],
  ['kubernetes', kubernetes],
  ['lock-service', lockService],
  ['lock-service-published', lockServicePublished],
  ['none', none],
  ['optimistic', optimistic],
  ['pessimistic', pessimistic],
  ['postgres', postgres],
  ['lease-dynamodb', leaseDynamodb],
  ['lease-dynamodb-published', leaseDynamodbPublished],
  ['lease-memcached', leaseMemcached],
  ['lease-memcached-published', leaseMemcachedPublished],
  ['lease-redis', leaseRedis],
  ['lease-redis-published', leaseRedisPublished],
  ['redis', redis],
  ['redlock', redlock],
  ['zookeeper', zookeeper],
]);

/** The locks and stores that systems are put together of, by the names that plans give them. */
export interface SystemParts {
  readonly locks: ReadonlyMap<string, Protocol>;
  readonly stores: ReadonlyMap<string, StoreKind>;
}

/** Those of fencepost itself. */
export const ownParts: SystemParts = { locks: protocols, stores: storeKinds };
