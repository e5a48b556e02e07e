/** The built-in lock protocols and stores, by their names in scenarios. */

import type { SystemParts } from './systems/assemble.ts';
import { protocolOf } from './systems/define-lock.ts';
import { lockService, lockServicePublished } from './systems/lock-service/protocol.ts';
import type { LockDefinition, LockDriver, Protocol } from './systems/protocol.ts';
import { storeKinds } from './systems/store/store-kinds.ts';
import { cacheLock } from './zoo/cache-lock/protocol.ts';
import { etcd } from './zoo/etcd/protocol.ts';
import { kubernetes } from './zoo/kubernetes/protocol.ts';
import { optimistic } from './zoo/optimistic/protocol.ts';
import { pessimistic } from './zoo/pessimistic/protocol.ts';
import { postgres } from './zoo/postgres/protocol.ts';
import { redis } from './zoo/redis/protocol.ts';
import { redlock } from './zoo/redlock/protocol.ts';
import {
  leaseDynamodb,
  leaseDynamodbPublished,
  leaseMemcached,
  leaseMemcachedPublished,
  leaseRedis,
  leaseRedisPublished,
} from './zoo/worker-lease/protocol.ts';
import { zookeeper } from './zoo/zookeeper/protocol.ts';

const noLock: LockDriver = {
  *acquire(at) {
    at.end = { clock: 'monotonic', us: Number.POSITIVE_INFINITY };
    return true;
  },
  *renew() {
    return true;
  },
  *release() {},
};

const none: LockDefinition = {
  about: 'no lock: all clients work at once',
  source: 'the baseline',
  servers: [],
  lock: 'none',
  notGuaranteed: ['no-lost-update', 'cross-key', 'single-flight', 'linearizable'],
  build: () => () => noLock,
};

/** All built-in locks. In a report page, the locks that its findings do not need are undefined. */
const definitions: readonly (readonly [string, LockDefinition | undefined])[] = [
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
];

export const protocols: ReadonlyMap<string, Protocol> = new Map(
  definitions.flatMap(([name, lock]) =>
    lock === undefined ? [] : [[name, protocolOf(name, lock)] as const],
  ),
);

/** The built-in locks and stores. */
export const builtInParts: SystemParts = { locks: protocols, stores: storeKinds };
