// Locks on unmodified npm drivers, which connect to redis-1:6379; `own` is fencepost's client.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { defineSystem } from 'fencepost';
import { listen, RedisClient, RedisNode } from 'fencepost/redis';
import Redis from 'ioredis';
import Redlock from 'redlock';

const RELEASE = `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
  return 0`;

async function acquire(redis, key, ttlMs) {
  const value = randomUUID();
  const giveUpAtMs = Date.now() + 1000;
  while (Date.now() < giveUpAtMs) {
    const askedAtMs = Date.now();
    const answer = await redis.set(key, value, 'PX', ttlMs, 'NX');
    if (answer === 'OK') return { key, value, untilMs: askedAtMs + ttlMs };
    await wait(5 + Math.random() * 10);
  }
  return null;
}

async function once(redis, section) {
  const lock = await acquire(redis, section.lock, section.ttlMs);
  if (lock === null) return;
  const guard = section.guard(lock);
  await guard.work();
  guard.leave();
  await redis.eval(RELEASE, 1, lock.key, lock.value);
}

// At the top of a module, as in much application code.
const shared = new Redis('redis://redis-1:6379');
shared.on('error', () => {});

async function throughRedlock(locks, section) {
  const lock = await locks.acquire([section.lock], section.ttlMs);
  const guard = section.guard({ untilMs: lock.expiration });
  await guard.work();
  guard.leave();
  await lock.release();
}

const lock = (about, open) => ({
  about,
  operations: ['set', 'eval', 'evalsha'],
  buildAsync(world) {
    const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
    listen(world, 'redis-1:6379', node);
    return (client) => open(client, node);
  },
});

export default defineSystem({
  locks: {
    own: lock('fencepost’s own client', (client, node) => {
      const redis = new RedisClient(client, node);
      return (section) => once(redis, section);
    }),
    ioredis: lock('ioredis', () => (section) => once(shared, section)),
    secure: lock('ioredis over TLS, by the number of its host', () => {
      const redis = new Redis('rediss://10.0.0.1:6379', { db: 2 });
      redis.on('error', () => {});
      return (section) => once(redis, section);
    }),
    'redlock-5': lock('redlock on ioredis', () => {
      const locks = new Redlock([shared], { retryCount: 40, retryDelay: 10, retryJitter: 5 });
      locks.on('error', () => {});
      return (section) => throughRedlock(locks, section);
    }),
    notified: lock('who waits until a message says that the lock is free', () => {
      const listener = shared.duplicate();
      let freed = () => {};
      listener.on('error', () => {});
      listener.on('message', () => freed());
      const ready = listener.subscribe('freed');
      return async (section) => {
        await ready;
        const value = randomUUID();
        for (;;) {
          const isFree = new Promise((resolve) => {
            freed = resolve;
          });
          if ((await shared.set(section.lock, value, 'PX', section.ttlMs, 'NX')) === 'OK') break;
          await Promise.race([isFree, wait(section.ttlMs)]);
        }
        const guard = section.guard();
        await guard.work();
        guard.leave();
        await shared.multi().del(section.lock).publish('freed', section.lock).exec();
      };
    }),
  },
});
