// Locks as users write them, right and wrong, for `npm run sound`: on fencepost's own Redis client,
// on ioredis, on npm's redlock 4 and 5, and in memory.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { defineSystem } from 'fencepost';
import { RedisClient, RedisNode } from 'fencepost/redis';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import Redlock4 from 'redlock-4';

const TAKE = `
  if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("incr", KEYS[2]) end
  return 0`;
const TAKE_HASH = `
  if redis.call("exists", KEYS[1]) == 1 then return 0 end
  redis.call("hset", KEYS[1], "owner", ARGV[1])
  redis.call("pexpire", KEYS[1], ARGV[2])
  return redis.call("incr", KEYS[2])`;
const RENEW = `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end
  return 0`;
const FREE = `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
  return 0`;
const FREE_HASH = FREE.replace('"get", KEYS[1]', '"hget", KEYS[1], "owner"');

/** A lock on one node, with fencepost's client. */
function onNode(about, run) {
  return {
    about,
    operations: ['set', 'incr', 'eval', 'pexpire'],
    buildAsync(world) {
      const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
      return (client) => {
        const redis = new RedisClient(client, node);
        return (section) => run(redis, section);
      };
    },
  };
}

/** Retries until it has the lock; null if it gives up. */
async function until(take, { attempts = 60, betweenMs = null } = {}) {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const taken = await take();
    if (taken) return taken;
    await wait(betweenMs ?? 3 + Math.random() * 5);
  }
  return null;
}

function scripted(about, setting) {
  const { take = TAKE, free = FREE, isChecked = false, isRenewed = false, betweenMs } = setting;
  return onNode(about, async (redis, section) => {
    const { lock, ttlMs } = section;
    const owner = randomUUID();
    let askedMs = 0;
    const token = await until(
      async () => {
        askedMs = Date.now();
        return Number(await redis.eval(take, 2, lock, `${lock}:token`, owner, ttlMs));
      },
      { betweenMs },
    );
    if (token === null) return;
    const isLate = Date.now() >= askedMs + ttlMs;
    if (!isChecked || !isLate) {
      const guard = section.guard(isChecked ? { token, untilMs: askedMs + ttlMs } : { token });
      if (isRenewed) await redis.eval(RENEW, 1, lock, owner, ttlMs);
      await guard.work();
      guard.leave();
    }
    await redis.eval(free, 1, lock, owner);
  });
}

let shared = null;
function ioredis() {
  shared ??= new Redis('redis://redis-1:6379');
  shared.on('error', () => {});
  return shared;
}

let tail = Promise.resolve();
/** Runs one job after another within this process. */
function exclusively(job) {
  const done = tail.then(job);
  tail = done.catch(() => {});
  return done;
}

let depth = 0;
const waiting = [];

export default defineSystem({
  locks: {
    'atomic-token': scripted('SET NX and INCR in one script', {}),
    'checked-lease': scripted('the same, and gives up a lease that came late', { isChecked: true }),
    'hash-token': scripted('a hash with its owner, and INCR', { take: TAKE_HASH, free: FREE_HASH }),
    'slow-retry': scripted('the same, and asks again after 250 ms', { betweenMs: 250 }),
    'renewed-lease': scripted('the same, renewed as it enters', { isRenewed: true }),
    'ioredis-token': {
      about: 'SET NX and INCR in one script, by ioredis',
      operations: ['eval'],
      section: async (section) => {
        const { lock, ttlMs } = section;
        const owner = randomUUID();
        const redis = ioredis();
        const token = await until(() => redis.eval(TAKE, 2, lock, `${lock}:token`, owner, ttlMs));
        if (token === null) return;
        const guard = section.guard({ token });
        await guard.work();
        guard.leave();
        await redis.eval(FREE, 1, lock, owner);
      },
    },
    'redlock-5': {
      about: 'npm redlock 5',
      operations: ['eval', 'evalsha'],
      section: async (section) => {
        const redlock = new Redlock([ioredis()], { retryCount: 200, retryDelay: 5 });
        redlock.on('error', () => {});
        const lock = await redlock.acquire([section.lock], section.ttlMs);
        const guard = section.guard({ untilMs: lock.expiration });
        await guard.work();
        guard.leave();
        await lock.release().catch(() => {});
      },
    },
    'redlock-4': {
      about: 'npm redlock 4',
      operations: ['eval', 'evalsha'],
      section: async (section) => {
        const redlock = new Redlock4([ioredis()], { retryCount: 200, retryDelay: 5 });
        redlock.on('clientError', () => {});
        const lock = await redlock.lock(section.lock, section.ttlMs);
        const guard = section.guard({ untilMs: lock.expiration });
        await guard.work();
        guard.leave();
        await lock.unlock().catch(() => {});
      },
    },
    'in-memory': {
      about: 'one section after another within the process',
      operations: [],
      section: (section) =>
        exclusively(async () => {
          const guard = section.guard();
          await guard.work();
          guard.leave();
        }),
    },

    // Planted defects.
    'separate-token': onNode('INCR apart from SET NX', async (redis, section) => {
      const { lock, ttlMs } = section;
      const owner = randomUUID();
      const taken = await until(() => redis.set(lock, owner, 'PX', ttlMs, 'NX'));
      if (taken === null) return;
      const guard = section.guard({ token: Number(await redis.incr(`${lock}:token`)) });
      await guard.work();
      guard.leave();
      await redis.eval(FREE, 1, lock, owner);
    }),
    'from-the-reply': onNode('counts its lease from the reply', async (redis, section) => {
      const { lock, ttlMs } = section;
      const owner = randomUUID();
      const taken = await until(() => redis.set(lock, owner, 'PX', ttlMs, 'NX'));
      const untilMs = Date.now() + ttlMs;
      if (taken === null) return;
      const guard = section.guard({ untilMs });
      await guard.work();
      guard.leave();
      await redis.eval(FREE, 1, lock, owner);
    }),
    hangs: {
      about: 'waits for a turn that no section gives',
      operations: [],
      section: async (section) => {
        if (section.id > 1) await new Promise((turn) => waiting.push(turn));
        const guard = section.guard();
        await guard.work();
        guard.leave();
      },
    },
    'no-lock': {
      about: 'enters at once',
      operations: [],
      section: async (section) => {
        const guard = section.guard();
        await guard.work();
        guard.leave();
      },
    },
    'by-process': onNode(
      'lets every section of the process in that has it',
      async (redis, section) => {
        const { lock, ttlMs } = section;
        const { hostname } = await import('node:os');
        const owner = hostname();
        const taken = await until(async () => {
          if ((await redis.set(lock, owner, 'PX', ttlMs, 'NX')) === 'OK') return true;
          return (await redis.get(lock)) === owner;
        });
        if (taken === null) return;
        depth += 1;
        const guard = section.guard();
        await guard.work();
        guard.leave();
        depth -= 1;
        if (depth === 0) await redis.eval(FREE, 1, lock, owner);
      },
    ),
    'fixed-ttl': onNode(
      'takes its key for 5 s, whatever the scenario says',
      async (redis, section) => {
        const owner = randomUUID();
        if ((await until(() => redis.set(section.lock, owner, 'PX', 5000, 'NX'))) === null) return;
        const guard = section.guard();
        await guard.work();
        guard.leave();
        await redis.eval(FREE, 1, section.lock, owner);
      },
    ),
  },
});
