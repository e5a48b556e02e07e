/**
 * Law: for correct locks on Redis, however they keep and release their key, no claim about leases
 * breaks unless a pause outlasts a lease; and if one does, the breach is found.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { builtIn, extend } from '../src/catalogue.ts';
import { defineSystem } from '../src/define-system.ts';
import type { RedisClient } from '../src/host/redis/client.ts';
import { loadScenario } from '../src/load.ts';
import { claimCounts, NO_COUNTS, type SweepCounts } from '../src/search/sweep/counts.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import type { AsyncSection } from '../src/systems/protocol.ts';
import { onRedis } from './third-party-locks.ts';

interface Key {
  readonly redis: RedisClient;
  readonly section: AsyncSection;
  readonly owner: string;
}

/** Returns the value of the key from then on, or null if it was lost. */
type Renewal = (key: Key) => Promise<string | null>;

const HOLDS_KEY = 'redis.call("get", KEYS[1]) == ARGV[1]';

const RENEWALS: Readonly<Record<string, Renewal>> = {
  none: async ({ owner }) => owner,
  extended: async ({ redis, section: { lock, ttlMs }, owner }) => {
    const script = `if ${HOLDS_KEY} then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`;
    return (await redis.eval(script, 1, lock, owner, ttlMs)) === 1 ? owner : null;
  },
  'new-value': async ({ redis, section: { lock, ttlMs }, owner }) => {
    const script = `if ${HOLDS_KEY} then redis.call("set", KEYS[1], ARGV[2], "px", ARGV[3]) return 1 end`;
    const next = randomUUID();
    return (await redis.eval(script, 1, lock, owner, next, ttlMs)) === 1 ? next : null;
  },
};

const LEAVES = ['before', 'after', 'never'] as const;

async function take({ redis, section: { lock, ttlMs }, owner }: Key): Promise<boolean> {
  for (let tries = 0; tries < 60; tries += 1) {
    if ((await redis.set(lock, owner, 'PX', ttlMs, 'NX')) === 'OK') return true;
    await wait(3 + Math.random() * 5);
  }
  return false;
}

function release({ redis, section: { lock }, owner }: Key): Promise<unknown> {
  return redis.eval(`if ${HOLDS_KEY} then return redis.call("del", KEYS[1]) end`, 1, lock, owner);
}

function byKey(renew: Renewal, leaves: (typeof LEAVES)[number]): ReturnType<typeof onRedis> {
  return onRedis(async (redis, section) => {
    const key = { redis, section, owner: randomUUID() };
    if (!(await take(key))) return;
    const guard = section.guard();
    await guard.work();
    const owner = await renew(key);
    if (owner !== null) await guard.work();
    if (leaves === 'before') guard.leave();
    if (owner !== null) await release({ redis, section, owner });
    if (leaves === 'after') guard.leave();
  });
}

/** Several sections of the process that holds the key enter under it while enough of it is left. */
function byLeader(): ReturnType<typeof onRedis> {
  const untilMs = new WeakMap<RedisClient, number>();
  return onRedis(async (redis, section) => {
    const { lock, ttlMs } = section;
    for (;;) {
      const now = Date.now();
      if (now + ttlMs / 2 < (untilMs.get(redis) ?? 0)) break;
      if ((await redis.set(lock, 'leader', 'PX', ttlMs, 'NX')) === 'OK') {
        untilMs.set(redis, now + ttlMs);
      } else await wait(3 + Math.random() * 5);
    }
    const guard = section.guard();
    await guard.work();
    guard.leave();
  });
}

/** Each reader adds its own field to one hash. */
function byReaders(): ReturnType<typeof onRedis> {
  return onRedis(async (redis, section) => {
    const { lock, ttlMs } = section;
    const field = randomUUID();
    const add = `redis.call("hset", KEYS[1], ARGV[1], 1) redis.call("pexpire", KEYS[1], ARGV[2])`;
    await redis.eval(add, 1, lock, field, ttlMs);
    const guard = section.guard();
    await guard.work();
    guard.leave();
    await redis.eval('return redis.call("hdel", KEYS[1], ARGV[1])', 1, lock, field);
  });
}

const kept = Object.entries(RENEWALS).flatMap(([renewal, renew]) =>
  LEAVES.map((leaves) => [`${renewal}-leaves-${leaves}`, byKey(renew, leaves)] as const),
);
const locks = Object.fromEntries([...kept, ['leader', byLeader()], ['readers', byReaders()]]);
const names = Object.keys(locks);
const CLAIMS = ['lease-conservative', 'mutual-exclusion', 'owner-only-release', 'progress'];

async function countsBySystem(pause: string): Promise<ReadonlyMap<string, SweepCounts>> {
  const catalogue = extend(builtIn, defineSystem({ locks }));
  const systems = names.map(
    (name) => `  ${name}: { lock: ${name}, store: unfenced, expect: { may: [${CLAIMS}] } }`,
  );
  const text = `
name: leases
systems:
${systems.join('\n')}
clients: { count: 3, ttl: 60ms, sections: 3, think: 0ms..3ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults: [pause: { process: clients, before: write, for: ${pause}, chance: 1/2 }]
`;
  const read = loadScenario(text, 'leases.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const found = await sweep(read.scenario, { from: 0, to: 14, pool: null, catalogue });
  return new Map([...found.countsBySystem].map(([name, counts]) => [name, counts ?? NO_COUNTS]));
}

describe('claims about leases', () => {
  test('hold if no pause outlasts a lease', async () => {
    const found = await countsBySystem('1ms..5ms');
    for (const name of names) {
      const counts = found.get(name) ?? NO_COUNTS;
      const broken = CLAIMS.filter((claim) => claimCounts(counts, claim).broken > 0);
      // Readers may hold their lock together: only single-holder locks promise these claims.
      const shared = ['lease-conservative', 'mutual-exclusion'];
      const wrong = name === 'readers' ? broken.filter((it) => !shared.includes(it)) : broken;
      expect({ name, wrong }).toEqual({ name, wrong: [] });
    }
  });

  test('break if a pause does, for each lock whose key has a holder', async () => {
    const found = await countsBySystem('61ms..90ms');
    for (const name of names) {
      if (name === 'readers') continue;
      const { broken } = claimCounts(found.get(name) ?? NO_COUNTS, 'lease-conservative');
      expect({ name, isFound: broken > 0 }).toEqual({ name, isFound: true });
    }
  });
});
