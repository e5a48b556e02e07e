/**
 * Programs that use keys of a Redis node: locks with common mistakes, and other uses of keys next
 * to a lock, under similar names.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { builtIn, type Catalogue, extend } from '../src/catalogue.ts';
import { defineSystem } from '../src/define-system.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import { loadScenario } from '../src/load.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import type { AsyncSection, LockDefinition } from '../src/systems/protocol.ts';

const script = (then: string): string => `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call(${then}) end
  return 0`;
const RELEASE = script('"del", KEYS[1]');
const RENEW = script('"pexpire", KEYS[1], ARGV[2]');

const TRIES = 40;

interface Held {
  readonly redis: RedisClient;
  readonly key: string;
  readonly value: string;
  readonly section: AsyncSection;
}

async function take(
  redis: RedisClient,
  section: AsyncSection,
  value: string = randomUUID(),
): Promise<Held | null> {
  const key = `lock:${section.lock}`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const taken = await redis.set(key, value, 'PX', section.ttlMs, 'NX');
    if (taken === 'OK') return { redis, key, value, section };
    await wait(2 + Math.random() * 4);
  }
  return null;
}

async function work({ section }: Held): Promise<void> {
  const guard = section.guard();
  await guard.work();
  guard.leave();
}

const release = ({ redis, key, value }: Held): Promise<unknown> => {
  return redis.eval(RELEASE, 1, key, value);
};

/** Behavior of a holder from acquiring to the end; the first is correct. */
const holders: Readonly<Record<string, (held: Held) => Promise<unknown>>> = {
  compares: async (held) => {
    const { redis, key, value, section } = held;
    await work(held);
    await redis.eval(RENEW, 1, key, value, section.ttlMs);
    await release(held);
  },
  deletes: async (held) => {
    await work(held);
    await held.redis.del(held.key);
  },
  'renews-any': async (held) => {
    await work(held);
    await held.redis.pexpire(held.key, held.section.ttlMs);
    await release(held);
  },
  overwrites: async (held) => {
    await work(held);
    await held.redis.set(held.key, held.value, 'PX', held.section.ttlMs, 'XX');
    await release(held);
  },
  // All of them write the same value, as many programs do.
  'overwrites-alike': async (held) => {
    await work(held);
    await held.redis.set(held.key, held.value, 'PX', held.section.ttlMs);
    await release(held);
  },
};

const VALUES: Readonly<Record<string, string>> = { 'overwrites-alike': 'locked' };

type Use = (redis: RedisClient, lock: string, value: string) => Promise<unknown>;

/** Other uses of keys, whatever other clients do to them meanwhile. */
const uses: Readonly<Record<string, Use>> = {
  cache: async (redis, lock, value) => {
    for (const key of [`cache:${lock}`, `${lock}:page`, 'blocks']) {
      if ((await redis.get(key)) === null) await redis.set(key, value, 'NX', 'PX', 15);
      await redis.pexpire(key, 20);
      await redis.call('setex', key, 1, value);
      await redis.del(key);
    }
  },
  queue: async (redis, lock, value) => {
    await redis.call('lpush', `queue:${lock}`, value);
    await redis.call('rpoplpush', `queue:${lock}`, `${lock}:taken`);
    await redis.set(`seen:${lock}`, value, 'NX', 'PX', 10);
    await redis.call('lrem', `${lock}:taken`, 1, value);
    await redis.call('unlink', `seen:${lock}`);
  },
  counter: async (redis, lock) => {
    const key = `count:${lock}`;
    await redis.setnx(key, 0);
    await redis.incr(key);
    await redis.expire(key, 1);
    await redis.call('getset', key, 0);
    await redis.call('incr', `lock:${lock}:token`);
  },
  semaphore: async (redis, lock, value) => {
    const key = `semaphore:${lock}`;
    await redis.call('zremrangebyscore', key, '-inf', Date.now() - 20);
    await redis.call('zadd', key, Date.now(), value);
    await redis.pexpire(key, 20);
    await redis.call('zrem', key, value);
  },
};

/** A correct lock, with a use of keys before and after it. */
async function beside(use: Use, redis: RedisClient, section: AsyncSection): Promise<void> {
  await use(redis, section.lock, randomUUID());
  const held = await take(redis, section);
  if (held === null) return;
  await work(held);
  await use(redis, section.lock, randomUUID());
  await release(held);
}

function lockOf(
  run: (redis: RedisClient, section: AsyncSection) => Promise<unknown>,
): LockDefinition {
  return {
    about: 'a user of keys',
    buildAsync(world) {
      const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
      return (client) => {
        const redis = new RedisClient(client, node);
        return async (section) => void (await run(redis, section));
      };
    },
  };
}

export const HOLDERS: readonly string[] = Object.keys(holders);
export const USES: readonly string[] = Object.keys(uses);

const locks = Object.fromEntries([
  ...Object.entries(holders).map(([name, hold]) => [
    name,
    lockOf(async (redis, section) => {
      const held = await take(redis, section, VALUES[name]);
      if (held !== null) await hold(held);
    }),
  ]),
  ...Object.entries(uses).map(([name, use]) => [
    name,
    lockOf((redis, section) => beside(use, redis, section)),
  ]),
]);

export const withKeyUsers: Catalogue = extend(builtIn, defineSystem({ locks }));

/** All of them, with pauses of any length at any time, delays and losses. */
export function keyUsersScenario(): Scenario {
  const systems = [...HOLDERS, ...USES].map(
    (name) => `  ${name}: { lock: ${name}, store: unfenced }`,
  );
  const text = `
name: key-users
systems:
${systems.join('\n')}
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults:
  - pause: { process: clients, for: 1ms..60ms, chance: 1/2 }
  - delay: { by: 1ms..20ms, chance: 1/20 }
  - drop: { chance: 1/50 }
`;
  const read = loadScenario(text, 'key-users.yaml', withKeyUsers);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}
