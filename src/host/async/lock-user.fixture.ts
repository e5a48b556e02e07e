/**
 * A lock on one Redis, written as in application code, with `async`, `Date.now`, `setTimeout` and
 * random values, and clients that use the lock.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { builtIn, type Catalogue, extend } from '../../catalogue.ts';
import type { Plan, Work } from '../../core/plan/plan.ts';
import type { Port } from '../../core/world/port.ts';
import { defineSystem } from '../../define-system.ts';
import { clientOf, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';
import type { AsyncSection, BuildAsync } from '../../systems/protocol.ts';
import { grantRecorder } from '../../zoo/redis/protocol.ts';
import {
  describeRedisReply,
  type LockNodeReply,
  type LockNodeRequest,
  RedisServer,
} from '../../zoo/redis/server.ts';

type RedisPort = Port<LockNodeRequest, LockNodeReply>;

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

const buildAsync: BuildAsync = (world) => {
  const server = new RedisServer(
    { persistence: 'none', expiry: 'wall', restart: 'at-once' },
    grantRecorder('lock', false),
  );
  const redis: RedisPort = {
    host: world.addServer({ name: 'lock', role: 'lock' }, server),
    describeRequest: ({ kind, key: lock }) =>
      kind === 'set'
        ? { verb: 'acquire', lock, token: 0 }
        : { verb: kind === 'delete' ? 'release' : 'fetch', lock, token: 0 },
    describeReply: (reply, request) => describeRedisReply(request, 0)(reply),
  };
  return () => async (section) => {
    const { lock, ttlMs } = section;
    const lease = await acquire(section, redis, { key: lock, ttlMs });
    if (lease === null) return;
    const guard = section.guard({ untilMs: lease.untilMs });
    await guard.work();
    guard.leave();
    const request = { kind: 'delete', key: lock, ifValue: lease.value } as const;
    await section.call(redis, { label: 'release', request });
  };
};

const about = 'a lock on one Redis, in asynchronous code';
const operations = ['acquire', 'release'];

/** The built-in catalogue with the lock `own`. */
export const withLock: Catalogue = extend(
  builtIn,
  defineSystem({ locks: { own: { about, operations, buildAsync } } }),
);

const increment: Work = { kind: 'increment', id: 1, store: 'store', key: 'x' };

/**
 * Returns a plan of two clients with two sections each and random latencies, modified by `more`.
 */
export function lockPlan(seed: number, more: Partial<PlanSetup> = {}): Plan {
  const sections = [1, 2].map((id) => ({ id, thinkUs: id * 1000, lock: 'db', work: [increment] }));
  const clients = ['alice', 'bob'].map((name) => ({
    ...clientOf(name, []),
    ttlUs: 30_000,
    sections,
  }));
  const plan = planOf({ clients, lock: 'own', store: 'unfenced', ...more });
  return {
    ...plan,
    chance: {
      seed,
      latency: { minUs: 500, maxUs: 3000 },
      latencyStepUs: seed % 2 === 0 ? 1 : 1000,
      delay: null,
      drop: null,
      duplicate: null,
      lateTimer: null,
      jitter: null,
    },
    bounds: {
      ...plan.bounds,
      latency: { minUs: 500, maxUs: 3000 },
      think: { minUs: 0, maxUs: 2000 },
      durations: { pause: { minUs: 1000, maxUs: 60_000 } },
    },
  };
}
