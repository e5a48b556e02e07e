/**
 * Law: a client of a correct lock that learns late of its grant, and has a lower token than one
 * that entered before, breaks neither `tokens-increase` nor `progress`, although no server records
 * who has the key; and a lock with wrong tokens is still found.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { builtIn, extend } from '../src/catalogue.ts';
import { defineSystem } from '../src/define-system.ts';
import { loadScenario } from '../src/load.ts';
import { claimCounts, NO_COUNTS } from '../src/search/sweep/counts.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import { onRedis } from './third-party-locks.ts';

const SEEDS = 60;

/** Time of the token's draw: with the key, before it, or by a counter that expires with the key. */
type Draw = 'with' | 'before' | 'goes';

const RELEASE = `
  if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
  if ARGV[2] == "goes" then redis.call("del", KEYS[2]) end
  return redis.call("del", KEYS[1])`;

/** Sets a missing key by a script instead of `SET NX`, so the node records no grant. */
function scripted(draw: Draw): ReturnType<typeof onRedis> {
  const drawn = draw === 'before' ? '1' : 'redis.call("incr", KEYS[2])';
  const take = `
    if redis.call("exists", KEYS[1]) == 1 then return 0 end
    redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2])
    return ${drawn}`;
  return onRedis(async (redis, section) => {
    const { lock, ttlMs } = section;
    const [owner, counter] = [randomUUID(), `${lock}:token`];
    const early = draw === 'before' ? Number(await redis.incr(counter)) : 0;
    let got = 0;
    while (got === 0) {
      got = Number(await redis.eval(take, 2, lock, counter, owner, ttlMs));
      if (got === 0) await wait(5);
    }
    const guard = section.guard({ token: draw === 'before' ? early : got });
    await guard.work();
    guard.leave();
    await redis.eval(RELEASE, 2, lock, counter, owner, draw);
  });
}

/** Counts how often each claim broke and was exercised. */
async function found(draw: Draw): Promise<Readonly<Record<string, readonly [number, number]>>> {
  const claims = ['grant-order', 'tokens-increase', 'progress'];
  const catalogue = extend(builtIn, defineSystem({ locks: { scripted: scripted(draw) } }));
  const text = `
name: late
systems:
  own: { lock: scripted, store: fenced-reads, expect: { holds: [${claims.join(', ')}] } }
clients: { count: 3, ttl: 30ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults:
  - delay: { message: eval, leg: reply, by: 5ms..60ms, chance: 1/4 }
  - pause: { process: clients, for: 1ms..80ms, chance: 1/4 }
`;
  const read = loadScenario(text, 'late.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { countsBySystem } = await sweep(read.scenario, {
    from: 0,
    to: SEEDS - 1,
    pool: null,
    catalogue,
  });
  const counts = countsBySystem.get('own') ?? NO_COUNTS;
  return Object.fromEntries(
    claims.map((claim) => {
      const { broken, exercised } = claimCounts(counts, claim);
      return [claim, [broken, exercised]];
    }),
  );
}

test('a lock that draws its token with its key breaks nothing, and is exercised', async () => {
  const { 'tokens-increase': tokens, progress, 'grant-order': order } = await found('with');
  expect([tokens?.[0], progress?.[0], order?.[0]]).toEqual([0, 0, 0]);
  expect(tokens?.[1]).toBeGreaterThan(SEEDS / 2);
  expect(progress?.[1]).toBeGreaterThan(SEEDS / 2);
});

test('a lock that draws its token before it has the key is found', async () => {
  const { 'tokens-increase': tokens, progress } = await found('before');
  expect(tokens?.[0]).toBeGreaterThan(0);
  expect(progress?.[0]).toBeGreaterThan(0);
});

test('a lock whose counter is deleted with its key is found', async () => {
  const { 'tokens-increase': tokens, progress } = await found('goes');
  expect(tokens?.[0]).toBeGreaterThan(0);
  expect(progress?.[0]).toBeGreaterThan(0);
});
