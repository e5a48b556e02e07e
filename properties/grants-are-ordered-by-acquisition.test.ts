/**
 * Laws of the order of grants, for Redis locks drawn from ways to take the key and its token, to
 * release and to renew the lock, and from stores:
 *
 * - If a history is linearizable for a store that fences reads and writes, its tokens rise in the
 *   order of the acquisitions, and no increment is lost, then `grant-order`, `read-fence` and
 *   `fence-monotone` hold as well, however late a client enters.
 * - A lock that draws its token by a separate command after it has the key is found.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { builtIn, extend } from '../src/catalogue.ts';
import { defineSystem } from '../src/define-system.ts';
import type { RedisClient } from '../src/host/redis/client.ts';
import { loadScenario } from '../src/load.ts';
import { claimCounts, NO_COUNTS, type SweepCounts } from '../src/search/sweep/counts.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import { some } from './runs.ts';
import { onRedis } from './third-party-locks.ts';

interface Asked {
  readonly redis: RedisClient;
  readonly lock: string;
  readonly owner: string;
  readonly ttlMs: number;
}

const INCR = 'redis.call("incr", KEYS[2])';
const SET_NX = 'redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[2])';

function byScript(script: string): (asked: Asked) => Promise<number> {
  return async ({ redis, lock, owner, ttlMs }) =>
    Number(await redis.eval(script, 2, lock, `${lock}:token`, owner, ttlMs));
}

/** Ways to take the key and its token; 0 if the client did not get the key. */
const TAKES: Readonly<Record<string, (asked: Asked) => Promise<number>>> = {
  atomic: byScript(`if ${SET_NX} then return ${INCR} end return 0`),
  checked: byScript(`if redis.call("exists", KEYS[1]) == 1 then return 0 end
    redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2]) return ${INCR}`),
  hash: byScript(`if redis.call("exists", KEYS[1]) == 1 then return 0 end
    redis.call("hset", KEYS[1], "owner", ARGV[1]) redis.call("pexpire", KEYS[1], ARGV[2])
    return ${INCR}`),
  early: byScript(`local token = ${INCR} if ${SET_NX} then return token end return 0`),
  // Planted mistake: another client may take the key and its token in between.
  separate: async ({ redis, lock, owner, ttlMs }) => {
    if ((await redis.set(lock, owner, 'PX', ttlMs, 'NX')) !== 'OK') return 0;
    return Number(await redis.incr(`${lock}:token`));
  },
};

const HOLDS_STRING = 'redis.call("get", KEYS[1]) == ARGV[1]';
const OF_HASH = 'redis.call("hget", KEYS[1], "owner") == ARGV[1]';
const IS_OWNER = `(redis.call("type", KEYS[1]).ok == "hash" and ${OF_HASH} or
  redis.call("type", KEYS[1]).ok == "string" and ${HOLDS_STRING})`;

const RELEASES: Readonly<Record<string, (asked: Asked) => Promise<unknown>>> = {
  compared: ({ redis, lock, owner }) =>
    redis.eval(
      `if ${IS_OWNER} then return redis.call("del", KEYS[1]) end return 0`,
      1,
      lock,
      owner,
    ),
  shortened: ({ redis, lock, owner }) =>
    redis.eval(
      `if ${IS_OWNER} then redis.call("pexpire", KEYS[1], 1) end return 0`,
      1,
      lock,
      owner,
    ),
  plain: ({ redis, lock }) => redis.del(lock),
  never: async () => {},
};

const RENEWALS: Readonly<Record<string, (asked: Asked) => Promise<unknown>>> = {
  never: async () => {},
  compared: ({ redis, lock, owner, ttlMs }) =>
    redis.eval(
      `if ${IS_OWNER} then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`,
      1,
      lock,
      owner,
      ttlMs,
    ),
  plain: ({ redis, lock, ttlMs }) => redis.pexpire(lock, ttlMs),
};

const STORES = ['unfenced', 'fenced', 'fenced-reads', 'fenced-per-key', 'fenced-open'] as const;

interface Parts {
  readonly take: string;
  readonly release: string;
  readonly renewal: string;
}

function lockOf({ take, release, renewal }: Parts): ReturnType<typeof onRedis> {
  return onRedis(async (redis, section) => {
    const asked = { redis, lock: section.lock, owner: randomUUID(), ttlMs: section.ttlMs };
    let got = 0;
    for (let attempt = 0; attempt < 40 && got === 0; attempt += 1) {
      got = (await TAKES[take]?.(asked)) ?? 0;
      if (got === 0) await wait(5);
    }
    if (got === 0) return;
    const guard = section.guard({ token: got });
    await RENEWALS[renewal]?.(asked);
    await guard.work();
    guard.leave();
    await RELEASES[release]?.(asked);
  });
}

function all(takes: readonly string[]): readonly Parts[] {
  return takes.flatMap((take) =>
    Object.keys(RELEASES).flatMap((release) =>
      Object.keys(RENEWALS).map((renewal) => ({ take, release, renewal })),
    ),
  );
}

const PREMISES = ['linearizable(fenced-register-with-reads)', 'tokens-increase', 'no-lost-update'];
const CONCLUSIONS = ['grant-order', 'read-fence', 'fence-monotone'];

/** Returns the results of these locks with each store, over `seeds`. */
async function countsBySystem(
  parts: readonly Parts[],
  {
    stores,
    seeds,
    take,
  }: { readonly stores: readonly string[]; readonly seeds: number; readonly take: string },
): Promise<readonly { readonly name: string; readonly counts: SweepCounts }[]> {
  const named = parts.map((one) => ({ name: Object.values(one).join('-'), one }));
  const locks = Object.fromEntries(named.map(({ name, one }) => [name, lockOf(one)]));
  const catalogue = extend(builtIn, defineSystem({ locks }));
  const systems = named.flatMap(({ name }) =>
    stores.map((store) => {
      const holds = [...PREMISES, ...CONCLUSIONS].join(', ');
      return `  ${name}-${store}: { lock: ${name}, store: ${store}, expect: { may: [${holds}] } }`;
    }),
  );
  const text = `
name: order
systems:
${systems.join('\n')}
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults:
  - pause: { process: clients, after: ${take}, for: 21ms..30ms, chance: 1/2 }
  - pause: { process: clients, before: read, for: 1ms..20ms, chance: 1/2 }
  - pause: { process: clients, before: write, for: 1ms..20ms, chance: 1/2 }
`;
  const read = loadScenario(text, 'order.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const found = await sweep(read.scenario, { from: 0, to: seeds - 1, pool: null, catalogue });
  return [...found.countsBySystem].map(([name, counts]) => ({ name, counts: counts ?? NO_COUNTS }));
}

test('a history that a fenced store and rising tokens order is in grant order', async () => {
  const takes = Object.keys(TAKES).filter((take) => take !== 'separate');
  const parts = some(all(takes));
  const kinds = new Set(parts.flatMap((one) => Object.entries(one).map(String)));
  expect(kinds.size).toBe([takes, RELEASES, RENEWALS].flatMap((one) => Object.keys(one)).length);
  const found = await countsBySystem(parts, { stores: STORES, seeds: 3, take: 'eval' });
  expect(found.length).toBe(parts.length * STORES.length);
  let tested = 0;
  for (const { name, counts } of found) {
    if (PREMISES.some((claim) => claimCounts(counts, claim).unknown > 0)) continue;
    const excused = PREMISES.flatMap((claim) => claimCounts(counts, claim).brokenSeeds);
    for (const claim of CONCLUSIONS) {
      const { brokenSeeds, exercised } = claimCounts(counts, claim);
      if (excused.length === 0) tested += exercised;
      const wrong = brokenSeeds.filter((seed) => !excused.includes(seed));
      expect({ name, claim, wrong }).toEqual({ name, claim, wrong: [] });
    }
  }
  // More than 100 if all locks are tried.
  expect(tested).toBeGreaterThan(2.1 * parts.length);
});

test('a token that is drawn separately from the key is found', async () => {
  const found = await countsBySystem(some(all(['separate'])), {
    stores: ['fenced'],
    seeds: 40,
    take: 'set',
  });
  for (const { name, counts } of found) {
    const { broken } = claimCounts(counts, 'tokens-increase');
    expect({ name, isFound: broken > 0 }).toEqual({ name, isFound: true });
  }
});
