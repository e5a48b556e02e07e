/**
 * A lock on one Redis as engineers write it, with `async`, `Date.now`, `setTimeout` and random
 * values, and a client that increments a counter under it.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClientPlan, Plan } from '../plan/plan.ts';
import { clientOf, type PlanSetup, planOf } from '../systems/plan.fixture.ts';
import {
  describeRedisReply,
  type RedisReply,
  type RedisRequest,
  RedisServer,
} from '../systems/redis/server.ts';
import { GrantWitness } from '../systems/redis/witness.ts';
import type { StoreReply, StoreRequest } from '../systems/store/request.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import type { ServerHost } from '../world/server.ts';
import type { AsyncProgram } from './async-host.ts';
import type { AsyncSection, Port } from './context.ts';
import type { Fill } from './run-async.ts';

type RedisPort = Port<RedisRequest, RedisReply>;
type StoreHost = ServerHost<StoreRequest, StoreReply>;

interface Lease {
  readonly key: string;
  readonly value: number;
  readonly untilMs: number;
}

async function acquire(
  section: AsyncSection,
  redis: RedisPort,
  { key, ttlMs }: { key: string; ttlMs: number },
): Promise<Lease | null> {
  const value = randomInt(1, 2 ** 31);
  for (let tries = 0; tries < 50; tries += 1) {
    const sentMs = Date.now();
    const request = { kind: 'set', key, value, ttlUs: ttlMs * 1000 } as const;
    const answer = await section.call(redis, { label: 'acquire', request }, { timeoutMs: 50 });
    if (answer.kind === 'answered' && answer.reply.kind === 'done') {
      return { key, value, untilMs: sentMs + ttlMs };
    }
    await wait(2 + Math.floor(Math.random() * 4));
  }
  return null;
}

function programOf(
  plan: ClientPlan,
  servers: { redis: RedisPort; store: StoreHost },
): AsyncProgram {
  return async (context) => {
    for (const { id, thinkUs, lock } of plan.sections.slice(context.begun)) {
      const section = context.section(id);
      await new Promise((resolve) => setTimeout(resolve, thinkUs / 1000));
      const lease = await acquire(section, servers.redis, { key: lock, ttlMs: plan.ttlUs / 1000 });
      if (lease === null) continue;
      const guard = section.enter({ lock, untilMs: lease.untilMs });
      const read = await guard.read(servers.store, 'x');
      if (read.kind === 'answered' && read.reply.kind === 'value') {
        await guard.write(servers.store, 'x', read.reply.value + 1);
      }
      guard.leave();
      const request = { kind: 'delete', key: lock, ifValue: lease.value } as const;
      await section.call(servers.redis, { label: 'release', request });
    }
  };
}

/** One Redis, one store that checks nothing, and a client for each of the plan's. */
export const fillLockUsers: Fill = (plan, world) => {
  const server = new RedisServer(
    { persistence: 'none', expiry: 'wall', restart: 'at-once' },
    new GrantWitness('lock', false),
  );
  const redis: RedisPort = {
    host: world.addServer({ name: 'lock', role: 'lock' }, server),
    describeRequest: ({ kind, key: lock }) =>
      kind === 'set'
        ? { verb: 'acquire', lock, token: 0 }
        : { verb: kind === 'delete' ? 'release' : 'fetch', lock, token: 0 },
    describeReply: (reply, request) => describeRedisReply(request, 0)(reply),
  };
  const kind = storeKinds.get('unfenced');
  if (kind === undefined) throw new Error('there is no unfenced store');
  const store = world.addServer({ name: 'store', role: 'store' }, kind.build('store', null));
  for (const client of plan.clients)
    world.addClient(client.name, programOf(client, { redis, store }));
};

/** Two clients with two sections each, latencies by chance, and what a test adds. */
export function lockPlan(seed: number, more: Partial<PlanSetup> = {}): Plan {
  const sections = [1, 2].map((id) => ({ id, thinkUs: id * 1000, lock: 'db', work: [] }));
  const clients = ['alice', 'bob'].map((name) => ({
    ...clientOf(name, []),
    ttlUs: 30_000,
    sections,
  }));
  const plan = planOf({ clients, ...more });
  return {
    ...plan,
    chance: {
      seed,
      latency: { minUs: 500, maxUs: 3000 },
      latencyStepUs: seed % 2 === 0 ? 1 : 1000,
      ...{ delay: null, drop: null, duplicate: null, lateTimer: null, jitter: null },
    },
    bounds: {
      ...plan.bounds,
      latency: { minUs: 500, maxUs: 3000 },
      think: { minUs: 0, maxUs: 2000 },
      durations: { pause: { minUs: 1000, maxUs: 60_000 } },
    },
  };
}
