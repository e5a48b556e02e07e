/**
 * Locks that use the published npm redlock on three simulated nodes, and plans for these locks.
 */
import { createRequire } from 'node:module';
import type Redlock5 from 'redlock';
import type Redlock4 from 'redlock-4';
import { builtIn, type Catalogue, extend } from '../../catalogue.ts';
import type { Plan, Work } from '../../core/plan/plan.ts';
import { defineSystem } from '../../define-system.ts';
import { clientOf, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';
import type { AsyncClient, AsyncSection, BuildAsync } from '../../systems/protocol.ts';
import { loadVirtually } from '../async/globals.ts';
import { RedisClient } from './client.ts';
import { RedisNode, type RedisNodeOptions } from './node.ts';

const fifth = await loadVirtually(() => import('redlock'));
const fourth = await loadVirtually(() => import('redlock-4'));

// Version 4 runs its callbacks through Bluebird. Bluebird has one queue per thread and flushes it
// with the `setImmediate` of the process that used it first. Here, a microtask of the current
// process flushes the queue before the next process runs.
createRequire(import.meta.resolve('redlock-4'))('bluebird').setScheduler(queueMicrotask);

/** Npm redlock 5.0.0-beta.2 and 4.2.0. */
export const FifthRedlock: typeof Redlock5 = fifth.default;
export const FourthRedlock: typeof Redlock4 = fourth.default;

export const NODES: readonly string[] = ['lock-1', 'lock-2', 'lock-3'];

/** A fast pace: retries after 20 to 40 ms, at most ten times. */
const PACE = { retryCount: 10, retryDelay: 30, retryJitter: 10 };
const COMMAND_TIMEOUT_MS = 50;
const TTL_US = 2_000_000;
/**
 * Delay between the clients' starts. The starts differ because a client of version 5 releases
 * the nodes of a lost vote only after a long time.
 */
const APART_US = 20_000;

export type Take = (section: AsyncSection, nodes: readonly RedisClient[]) => Promise<void>;

/** Builds a lock on three nodes, with one connection per client and node. */
export function onNodes(take: Take, options: RedisNodeOptions = {}): BuildAsync {
  return (world) => {
    const hosts = NODES.map((name) =>
      world.addServer({ name, role: 'lock' }, new RedisNode(options)),
    );
    return (client: AsyncClient) => {
      const nodes = hosts.map(
        (host) => new RedisClient(client, host, { commandTimeout: COMMAND_TIMEOUT_MS }),
      );
      return (section) => take(section, nodes);
    };
  };
}

const withFifth: Take = async (section, nodes) => {
  const redlock = new FifthRedlock(nodes, PACE);
  const lock = await redlock.acquire([section.lock], section.ttlMs);
  const guard = section.guard({ untilMs: lock.expiration });
  await guard.work();
  guard.leave();
  await lock.release();
};

const withFourth: Take = async (section, nodes) => {
  const redlock = new FourthRedlock(nodes, PACE);
  const lock = await redlock.lock(section.lock, section.ttlMs);
  const guard = section.guard({ untilMs: lock.expiration });
  await guard.work();
  guard.leave();
  await lock.unlock();
};

/** The built-in catalogue with the locks `redlock-5` and `redlock-4`. */
export const withRedlock: Catalogue = extend(
  builtIn,
  defineSystem({
    locks: {
      'redlock-5': { about: 'npm redlock 5', servers: NODES, buildAsync: onNodes(withFifth) },
      'redlock-4': { about: 'npm redlock 4', servers: NODES, buildAsync: onNodes(withFourth) },
    },
  }),
);

/** Returns a catalogue with the lock `own`, which runs `take` in each section. */
export function withTake(take: Take, options?: RedisNodeOptions): Catalogue {
  const definition = { about: 'a test', servers: NODES, buildAsync: onNodes(take, options) };
  return extend(builtIn, defineSystem({ locks: { own: definition } }));
}

const increment: Work = { kind: 'increment', id: 1, store: 'store', key: 'x' };

/** Returns a plan of three clients with two sections each, one counter, and random latencies. */
export function redlockPlan(lock: string, seed: number, more: Partial<PlanSetup> = {}): Plan {
  const sections = [1, 2].map((id) => ({ id, thinkUs: id * 1000, lock: 'db', work: [increment] }));
  const clients = ['alice', 'bob', 'carol'].map((name, at) => ({
    ...clientOf(name, []),
    ttlUs: TTL_US,
    sections: sections.map((section) => ({ ...section, thinkUs: section.thinkUs + at * APART_US })),
  }));
  const latency = { minUs: 500, maxUs: 3000 };
  const none = { delay: null, drop: null, duplicate: null, lateTimer: null, jitter: null };
  const plan = planOf({ clients, lock, store: 'unfenced', ...more });
  return { ...plan, chance: { seed, latency, latencyStepUs: 1, ...none } };
}
