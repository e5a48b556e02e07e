/**
 * The lock of the guide (docs/own-lock.md), and the same lock after edits that preserve its
 * behavior, such as users make over the years in which a kept plan guards it.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { builtIn, type Catalogue, extend } from '../src/catalogue.ts';
import { defineSystem } from '../src/define-system.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import type { AsyncSection } from '../src/systems/protocol.ts';

interface Held {
  readonly key: string;
  readonly value: string;
  readonly untilMs: number;
}

interface Code {
  readonly acquire: (redis: RedisClient, key: string, ttlMs: number) => Promise<Held | null>;
  readonly release: (redis: RedisClient, held: Held) => Promise<void>;
}

const RELEASE = `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
  return 0`;
const ACQUIRE = `
  if redis.call("exists", KEYS[1]) == 1 then return 0 end
  redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
  return 1`;
const PATIENCE_MS = 1000;

/** The lock as the guide prints it. */
export const asPublished: Code = {
  async acquire(redis, key, ttlMs) {
    const value = randomUUID();
    const giveUpAtMs = Date.now() + PATIENCE_MS;
    while (Date.now() < giveUpAtMs) {
      const askedAtMs = Date.now();
      const answer = await redis.set(key, value, 'PX', ttlMs, 'NX');
      if (answer === 'OK') return { key, value, untilMs: askedAtMs + ttlMs };
      await wait(5 + Math.random() * 10);
    }
    return null;
  },
  async release(redis, { key, value }) {
    await redis.eval(RELEASE, 1, key, value);
  },
};

/** One attempt, extracted into a function. */
async function tryOnce(redis: RedisClient, key: string, ttlMs: number): Promise<Held | null> {
  const value = randomUUID();
  const askedAtMs = Date.now();
  const answer = await redis.set(key, value, 'PX', ttlMs, 'NX');
  return answer === 'OK' ? { key, value, untilMs: askedAtMs + ttlMs } : null;
}

async function napFor(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
  });
}

const { acquire, release } = asPublished;

/** Ten edits, by their effect on the code. */
export const edits: Readonly<Record<string, Code>> = {
  'a function is extracted': {
    async acquire(redis, key, ttlMs) {
      const giveUpAtMs = Date.now() + PATIENCE_MS;
      while (Date.now() < giveUpAtMs) {
        const held = await tryOnce(redis, key, ttlMs);
        if (held !== null) return held;
        await wait(5 + Math.random() * 10);
      }
      return null;
    },
    release,
  },
  'the loop becomes a recursion, and its methods are renamed': {
    async acquire(redis, key, ttlMs) {
      const attempt = async (leftMs: number): Promise<Held | null> => {
        const beganMs = Date.now();
        const won = await tryOnce(redis, key, ttlMs);
        if (won !== null || leftMs <= 0) return won;
        await wait(5 + Math.random() * 10);
        return await attempt(leftMs - (Date.now() - beganMs));
      };
      return await attempt(PATIENCE_MS);
    },
    release,
  },
  'there are more awaits': {
    async acquire(redis, key, ttlMs) {
      await null;
      const held = await acquire(redis, key, ttlMs);
      await Promise.resolve();
      return await Promise.resolve(held);
    },
    async release(redis, held) {
      await null;
      await release(redis, held);
    },
  },
  'it waits by setTimeout, and draws its wait elsewhere': {
    async acquire(redis, key, ttlMs) {
      const giveUpAtMs = Date.now() + PATIENCE_MS;
      while (Date.now() < giveUpAtMs) {
        const held = await tryOnce(redis, key, ttlMs);
        if (held !== null) return held;
        await napFor(randomInt(5, 15));
      }
      return null;
    },
    release,
  },
  'who holds the lock is asked first, for a log': {
    async acquire(redis, key, ttlMs) {
      await redis.get(key);
      return await acquire(redis, key, ttlMs);
    },
    release,
  },
  'the time to live is asked once it has the lock': {
    async acquire(redis, key, ttlMs) {
      const held = await acquire(redis, key, ttlMs);
      if (held !== null) await redis.pttl(key);
      return held;
    },
    release,
  },
  'the connection is tried each time': {
    async acquire(redis, key, ttlMs) {
      const giveUpAtMs = Date.now() + PATIENCE_MS;
      while (Date.now() < giveUpAtMs) {
        await redis.ping();
        const held = await tryOnce(redis, key, ttlMs);
        if (held !== null) return held;
        await wait(5 + Math.random() * 10);
      }
      return null;
    },
    release,
  },
  'independent calls come in another order': {
    async acquire(redis, key, ttlMs) {
      const giveUpAtMs = Date.now() + PATIENCE_MS;
      const [value] = [randomUUID(), Math.random()];
      while (Date.now() < giveUpAtMs) {
        const untilMs = Date.now() + ttlMs;
        const answer = await redis.set(key, value, 'NX', 'PX', ttlMs);
        if (answer === 'OK') return { untilMs, value, key };
        await wait(5 + Math.random() * 10);
      }
      return null;
    },
    release,
  },
  'the key is looked at before it is released': {
    acquire,
    async release(redis, held) {
      if ((await redis.get(held.key)) === null) return;
      await release(redis, held);
    },
  },
  'its commands go by another name': {
    async acquire(redis, key, ttlMs) {
      const value = randomUUID();
      const giveUpAtMs = Date.now() + PATIENCE_MS;
      while (Date.now() < giveUpAtMs) {
        const askedAtMs = Date.now();
        const answer = await redis.eval(ACQUIRE, 1, key, value, ttlMs);
        if (answer === 1) return { key, value, untilMs: askedAtMs + ttlMs };
        await wait(5 + Math.random() * 10);
      }
      return null;
    },
    async release(redis, { key, value }) {
      const sha = await redis.script('LOAD', RELEASE);
      await redis.evalsha(String(sha), 1, key, value);
    },
  },
};

/** The lock, cured: no lease ends while its holder may still write, however long a pause is. */
export const asCured: Code = {
  acquire: async (redis, key, ttlMs) => await acquire(redis, key, 50 * ttlMs),
  release,
};

/** A catalogue in which `my-lock` is this code. */
export function catalogueOf(code: Code): Catalogue {
  const section = async (redis: RedisClient, at: AsyncSection): Promise<void> => {
    const held = await code.acquire(redis, at.lock, at.ttlMs);
    if (held === null) return;
    const guard = at.guard(held);
    await guard.work();
    guard.leave();
    await code.release(redis, held);
  };
  return extend(
    builtIn,
    defineSystem({
      locks: {
        'my-lock': {
          about: 'my lock on one Redis',
          operations: ['set', 'eval'],
          buildAsync(world) {
            const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
            return (client) => {
              const redis = new RedisClient(client, node);
              return (at) => section(redis, at);
            };
          },
        },
      },
    }),
  );
}
