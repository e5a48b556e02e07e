/**
 * User code on one simulated Redis, each in three variants: the cure; its twin, the same code with
 * the mistake; and the cure alone, where the hazard cannot arise. Like real code, the cures simply
 * avoid the mistakes of their twins, so the hazard never arises in them.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { builtIn, type Catalogue, extend } from '../src/catalogue.ts';
import type { Trace } from '../src/core/history/trace.ts';
import { defineSystem } from '../src/define-system.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import type { AsyncSection, LockDefinition } from '../src/systems/protocol.ts';

interface Context {
  readonly redis: RedisClient;
  readonly section: AsyncSection;
  readonly client: string;
  /** True for the cure, false for its twin. */
  readonly isCured: boolean;
}

export interface Cure {
  readonly title: string;
  readonly claim: string;
  /** True if the twin breaks the claim on every seed. */
  readonly isEverySeed: boolean;
  /** The scenario without its systems. */
  readonly world: string;
  /** The scenario in which the hazard cannot arise, and why the claim is then not judged. */
  readonly idle: string;
  readonly why: string;
  readonly run: (context: Context) => Promise<void>;
}

const RELEASE = `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
  return 0`;

/** Takes the lock within some attempts, or returns null. */
async function take({ redis, section }: Context, isEndless = false): Promise<string | null> {
  const id = randomUUID();
  const { lock, ttlMs } = section;
  for (let tries = 0; tries < 30; tries += 1) {
    const taken = isEndless
      ? await redis.set(lock, id, 'NX')
      : await redis.set(lock, id, 'PX', ttlMs, 'NX');
    if (taken === 'OK') return id;
    await wait(2 + Math.random() * 4);
  }
  return null;
}

/** Two nodes have the same schedule; only one of them may run each occurrence. */
async function cron(context: Context): Promise<void> {
  const { redis, section, client, isCured } = context;
  const once = `cron:${section.id}`;
  if (isCured && (await redis.set(once, client, 'PX', 60_000, 'NX')) !== 'OK') return;
  const guard = section.guard();
  await guard.work();
  guard.leave();
}

/**
 * Extends the lease during the work. The twin continues after its release and sets the key again.
 */
async function watchdog(context: Context): Promise<void> {
  const { redis, section, isCured } = context;
  const id = await take(context);
  if (id === null) return;
  const guard = section.guard();
  let isOver = false;
  const extend = async (): Promise<void> => {
    while (!isOver) {
      await wait(section.ttlMs / 4);
      if (!isOver) await redis.set(section.lock, id, 'PX', section.ttlMs);
    }
  };
  const extending = extend();
  await guard.work();
  guard.leave();
  if (isCured) {
    isOver = true;
    await extending;
  }
  await redis.eval(RELEASE, 1, section.lock, id);
  if (isCured) return;
  await wait(section.ttlMs);
  isOver = true;
  await extending;
}

/** Releases the lock after the work; the twin does so again in a `finally`. */
async function doubleDelete(context: Context): Promise<void> {
  const { redis, section, isCured } = context;
  if ((await take(context)) === null) return;
  const guard = section.guard();
  await guard.work();
  guard.leave();
  await redis.del(section.lock);
  if (!isCured) await redis.del(section.lock);
}

/** Charges a card for a request that is delivered to two services. */
async function idempotency(context: Context): Promise<void> {
  const { redis, section, client, isCured } = context;
  const key = `request:${section.id}`;
  if (isCured && (await redis.set(key, client, 'PX', 60_000, 'NX')) !== 'OK') return;
  if (!isCured && (await redis.get(key)) !== null) return;
  const guard = section.guard();
  await section.mark(`charged-${section.id}`);
  if (!isCured) await redis.set(key, client);
  guard.leave();
}

/** Stores an order and announces it: by a separate message, or both in one write. */
async function outbox(context: Context): Promise<void> {
  const { redis, section, client, isCured } = context;
  const guard = section.guard();
  const order = `${client}-${section.id}`;
  await section.mark(`stored-${order}`);
  if (isCured) await redis.call('MSET', `order:${order}`, '1', `outbox:${order}`, '1');
  else {
    await redis.set(`order:${order}`, '1');
    await redis.set(`announced:${order}`, '1');
  }
  await section.mark(`announced-${order}`);
  guard.leave();
}

/** `wrap(key, compute)`: a missing value is computed once for all callers. */
async function cacheWrap(context: Context): Promise<void> {
  const { redis, section, client, isCured } = context;
  for (let tries = 0; tries < 30; tries += 1) {
    if ((await redis.get('cache')) !== null) return;
    if (!isCured || (await redis.set('cache:lock', client, 'PX', 500, 'NX')) === 'OK') break;
    await wait(4);
  }
  const guard = section.guard();
  await section.mark('computed-1');
  await wait(5);
  await redis.set('cache', '1', 'PX', 60_000);
  guard.leave();
}

/** Releases the lock by a message that may be lost; the key expires, or never does. */
async function unlock(context: Context): Promise<void> {
  const { redis, section, isCured } = context;
  const id = await take(context, !isCured);
  if (id === null) return;
  const guard = section.guard();
  await guard.work();
  guard.leave();
  await redis.eval(RELEASE, 1, section.lock, id).catch(() => null);
}

/** Each stored order was announced by the end. */
function announced() {
  return {
    about: 'each order that was stored was announced',
    hazard: 'nothing that this claim can see',
    judge: ({ events }: Trace) => {
      const stored = new Map<string, number>();
      const done = new Set<string>();
      for (const [index, event] of events.entries()) {
        if (event.kind !== 'mark') continue;
        const [, order] = /\/stored-(.+)$/.exec(event.point) ?? [];
        if (order !== undefined) stored.set(order, index);
        const [, sent] = /\/announced-(.+)$/.exec(event.point) ?? [];
        if (sent !== undefined) done.add(sent);
      }
      for (const [order, event] of stored) {
        if (done.has(order)) continue;
        const evidence = [{ role: 'mark', event }];
        return { exercised: 1, breach: { headline: `${order} was never announced`, evidence } };
      }
      return { exercised: 0 };
    },
  };
}

/** Each mark `name-…` occurs at most once in the run. */
function onceEach(name: string) {
  return {
    about: `each \`${name}\` happens once`,
    hazard: `a second \`${name}\` that was tried`,
    judge: ({ events }: Trace) => {
      const seen = new Map<string, number>();
      for (const [index, event] of events.entries()) {
        const point = event.kind === 'mark' ? (event.point.split('/').at(-1) ?? '') : '';
        if (!point.startsWith(`${name}-`)) continue;
        const first = seen.get(point);
        if (first !== undefined) {
          const evidence = [first, index].map((at) => ({ role: 'mark', event: at }));
          return { exercised: 1, breach: { headline: `${point} happened twice`, evidence } };
        }
        seen.set(point, index);
      }
      return { exercised: 0 };
    },
  };
}

const NETWORK = 'network: { latency: 1ms..2ms }';
const clientsOf = (count: number): string =>
  `clients: { count: ${count}, ttl: 20ms, sections: 2, think: 0ms..10ms }`;
const JOB = 'workload: { steps: [{ job: { for: 3ms } }] }';
const COUNTER = 'workload: { kind: read-modify-write }';

interface Case extends Pick<Cure, 'title' | 'claim' | 'run'>, Partial<Pick<Cure, 'isEverySeed'>> {
  readonly workload?: string;
  readonly faults?: readonly string[];
}

/** Two clients, and for `idle` one alone, for which the hazard cannot arise. */
function cureOf({ workload = COUNTER, faults = [], isEverySeed = false, ...about }: Case): Cure {
  const listed = `faults: [${faults.map((fault) => `{ ${fault} }`).join(', ')}]`;
  const worldOf = (count: number): string => {
    return [clientsOf(count), workload, NETWORK, listed].join('\n');
  };
  const why = `${about.claim} was never exercised`;
  return { ...about, isEverySeed, world: worldOf(2), idle: worldOf(1), why };
}

const lostUnlock = cureOf({
  title: 'lost-unlock',
  claim: 'progress',
  run: unlock,
  faults: ['drop: { message: eval, chance: 1/2 }'],
});

export const cures: readonly Cure[] = [
  cureOf({ title: 'cron', claim: 'at-most-once', run: cron, workload: JOB, isEverySeed: true }),
  cureOf({
    title: 'paused-cron',
    claim: 'at-most-once',
    run: cron,
    workload: JOB,
    faults: ['pause: { process: clients, at: 0ms..60ms, for: 1ms..40ms, chance: 1/4 }'],
    isEverySeed: true,
  }),
  cureOf({ title: 'watchdog', claim: 'mutual-exclusion', run: watchdog, isEverySeed: true }),
  cureOf({ title: 'double-delete', claim: 'owner-only-release', run: doubleDelete }),
  cureOf({ title: 'idempotency-key', claim: 'charged-once', run: idempotency }),
  cureOf({
    title: 'outbox',
    claim: 'announced',
    run: outbox,
    faults: ['crash: { process: clients, after: set, restart: 20ms, chance: 1/2 }'],
  }),
  cureOf({ title: 'cache-wrap', claim: 'computed-once', run: cacheWrap }),
  // The probe always exercises `progress`; a fault that comes too late tests nothing.
  {
    ...lostUnlock,
    idle: lostUnlock.world.replace(
      /faults: .*/,
      'faults: [crash: { process: stores, at: 900s..901s }]',
    ),
    why: 'crash never fired while a lock was held',
  },
];

function lockOf(cure: Cure, isCured: boolean): LockDefinition {
  return {
    about: `${cure.title}: ${isCured ? 'the cure' : 'its twin'}`,
    operations: ['set', 'get', 'del', 'eval', 'mset'],
    buildAsync: (world) => {
      const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
      return (client) => {
        const redis = new RedisClient(client, node);
        return (section) => cure.run({ redis, section, client: client.name, isCured });
      };
    },
  };
}

export const userCures: Catalogue = extend(
  builtIn,
  defineSystem({
    locks: Object.fromEntries(
      cures.flatMap((cure) => {
        const { title } = cure;
        return [
          [`${title}-cure`, lockOf(cure, true)],
          [`${title}-twin`, lockOf(cure, false)],
        ];
      }),
    ),
    claims: {
      announced: announced(),
      'charged-once': onceEach('charged'),
      'computed-once': onceEach('computed'),
    },
  }),
);
