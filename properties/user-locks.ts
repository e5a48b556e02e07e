/**
 * Locks as users write them, in asynchronous code whose servers record no grants: each correct, and
 * broken by one option. Their scenarios state what the correct one holds.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { builtIn, type Catalogue, extend } from '../src/catalogue.ts';
import type { Port } from '../src/core/world/port.ts';
import type { Server, Turn } from '../src/core/world/server.ts';
import { defineSystem } from '../src/define-system.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import { loadScenario } from '../src/load.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import type { AsyncSection, LockDefinition } from '../src/systems/protocol.ts';

const RELEASE = `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
  return 0`;

interface Lease {
  readonly value: string;
  readonly untilMs: number;
}

const TRIES = 40;

/** Takes the key by `SET NX`, or not atomically by `GET` and `SET`. Ignores a late answer. */
async function take(
  redis: RedisClient,
  { lock, ttlMs }: AsyncSection,
  word: string,
): Promise<Lease | null> {
  const value = randomUUID();
  for (let tries = 0; tries < TRIES; tries += 1) {
    const untilMs = Date.now() + ttlMs;
    const taken =
      word !== 'get-then-set'
        ? await redis.set(lock, value, 'PX', ttlMs, 'NX')
        : (await redis.get(lock)) === null && (await redis.set(lock, value, 'PX', ttlMs));
    if (taken === 'OK')
      return word === 'ignores' || Date.now() < untilMs ? { value, untilMs } : null;
    await wait(2 + Math.random() * 4);
  }
  return null;
}

type Use = (
  redis: RedisClient,
  section: AsyncSection,
  lease: Lease & { readonly word: string; readonly client: string },
) => Promise<void>;

/** A lock on one Redis node whose option selects one of two behaviors of `use`. */
function onRedis(option: string, values: readonly [string, ...string[]], use: Use): LockDefinition {
  return {
    about: 'a lock on one Redis node, in asynchronous code',
    options: [{ name: option, values, fallback: values[0], about: 'which way it goes' }],
    operations: ['set', 'get', 'del', 'eval', 'incr', 'releasing'],
    buildAsync(world, options) {
      const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
      return (client) => {
        const redis = new RedisClient(client, node);
        return async (section) => {
          const word = options.word(option);
          const lease = await take(redis, section, word);
          if (lease !== null) await use(redis, section, { ...lease, word, client: client.name });
        };
      };
    },
  };
}

/** Checks its own clock, then deletes the key unconditionally, or only its own key by a script. */
const clientClock: Use = async (redis, section, { value, untilMs, word }) => {
  const guard = section.guard({ untilMs });
  await guard.work();
  guard.leave();
  if (word === 'del' && Date.now() >= untilMs) return;
  await section.mark('releasing');
  if (word === 'script') await redis.eval(RELEASE, 1, section.lock, value);
  else await redis.del(section.lock);
};

/** Reads the owner of the key and compares in its own process before it deletes. */
const ownerCheck: Use = async (redis, section, { value, untilMs, word }) => {
  const guard = section.guard({ untilMs });
  await guard.work();
  guard.leave();
  if (word === 'get-then-del' && (await redis.get(section.lock)) !== value) return;
  await section.mark('releasing');
  if (word === 'script') await redis.eval(RELEASE, 1, section.lock, value);
  else await redis.del(section.lock);
};

/** Treats its lease as over at its end, or never. */
const withEnd: Use = async (redis, section, { value, untilMs, word }) => {
  const guard = section.guard(word === 'ignores' ? {} : { untilMs });
  await guard.work();
  guard.leave();
  await redis.eval(RELEASE, 1, section.lock, value);
};

/** Draws a token under the lock, and enters only if its lease is still valid after that. */
const withToken: Use = async (redis, section, { value, untilMs }) => {
  const token = Number(await redis.incr(`${section.lock}:token`));
  if (Date.now() >= untilMs) return;
  const guard = section.guard({ token, untilMs });
  await guard.work();
  guard.leave();
  await redis.eval(RELEASE, 1, section.lock, value);
};

/** A type, not an interface, since messages must be JSON. */
type Ask = Readonly<{ verb: 'take' | 'give'; lock: string; owner: string; ttlMs: number }>;

/** Stores owner and end of each lease, by its wall or monotonic clock; records no grants. */
class OwnerServer implements Server<Ask, boolean> {
  private readonly clock: 'wallUs' | 'monotonicUs';
  private readonly held: Map<string, { readonly owner: string; readonly endUs: number }> =
    new Map();

  constructor(clock: 'wallUs' | 'monotonicUs') {
    this.clock = clock;
  }

  handle({ verb, lock, owner, ttlMs }: Ask, turn: Turn): boolean {
    const nowUs = turn[this.clock];
    const holder = this.held.get(lock);
    const isOwner = holder?.owner === owner;
    if (verb === 'give') return isOwner && this.held.delete(lock);
    if (holder !== undefined && nowUs < holder.endUs) return false;
    this.held.set(lock, { owner, endUs: nowUs + ttlMs * 1000 });
    return true;
  }
}

/** Admits no client, or only alice; or admits all, which then write nothing. */
const sabotaged: Use = async (redis, section, { value, untilMs, word, client }) => {
  if (word === 'writes-nothing') {
    const guard = section.guard({ untilMs });
    await guard.read('x');
    guard.leave();
  } else if (word === 'serves-alice' && client === 'alice') {
    const guard = section.guard({ untilMs });
    await guard.work();
    guard.leave();
  }
  await redis.eval(RELEASE, 1, section.lock, value);
};

const clocks = ['monotonic', 'wall'] as const;

const ownerServer: LockDefinition = {
  about: 'a server of one’s own, in asynchronous code',
  options: [{ name: 'clock', values: clocks, fallback: 'monotonic', about: 'by which it judges' }],
  operations: ['take', 'give'],
  buildAsync(world, options) {
    const server = new OwnerServer(options.word('clock') === 'wall' ? 'wallUs' : 'monotonicUs');
    const port: Port<Ask, boolean> = {
      host: world.addServer({ name: 'lock', role: 'lock' }, server),
      describeRequest: ({ verb, lock }) => {
        return { verb: verb === 'take' ? 'acquire' : 'release', lock, token: 0 };
      },
      describeReply: (isDone, { verb }) => {
        if (!isDone) return { kind: 'denied', holder: '' };
        return verb === 'take' ? { kind: 'granted', token: 0 } : { kind: 'released' };
      },
    };
    return () => async (section) => {
      const { lock, ttlMs } = section;
      const owner = randomUUID();
      const ask = async (verb: Ask['verb']): Promise<boolean> => {
        const answer = await section.call(port, {
          label: verb,
          request: { verb, lock, owner, ttlMs },
        });
        return answer.kind === 'answered' && answer.reply;
      };
      for (let tries = 0; tries < TRIES; tries += 1) {
        const untilMs = Date.now() + ttlMs;
        if (await ask('take')) {
          const guard = section.guard({ untilMs });
          await guard.work();
          guard.leave();
          await ask('give');
          return;
        }
        await wait(2 + Math.random() * 4);
      }
    };
  },
};

export const userLocks: Catalogue = extend(
  builtIn,
  defineSystem({
    locks: {
      'own-clock': onRedis('release', ['script', 'del'], clientClock),
      'owner-check': onRedis('release', ['script', 'get-then-del'], ownerCheck),
      'own-token': onRedis('token', ['incr'], withToken),
      'at-one-go': onRedis('acquire', ['nx', 'get-then-set'], withEnd),
      'own-end': onRedis('end', ['heeds', 'ignores'], withEnd),
      'own-server': ownerServer,
      'own-saboteur': onRedis(
        'mistake',
        ['serves-nobody', 'serves-alice', 'writes-nothing'],
        sabotaged,
      ),
    },
  }),
);

/** A kind of lock, correct and broken, and the claim that the correct one holds. */
export interface UserLockKind {
  readonly title: string;
  readonly claim: string;
  readonly correct: string;
  readonly broken: string;
  readonly world: string;
}

/** Three clients that increment under one lock, and these faults. */
export function worldOf(...faults: readonly string[]): string {
  return `
clients: { count: 3, ttl: 20ms, sections: 3, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults:
${faults.map((fault) => `  - ${fault}`).join('\n')}
`;
}

function pauseOf(where: string, long = '1ms..60ms'): string {
  return `pause: { process: clients, ${where}for: ${long}, chance: 1/2 }`;
}

export const userLockKinds: readonly UserLockKind[] = [
  {
    title: 'its own clock, then DEL',
    claim: 'mutual-exclusion',
    correct: 'lock: own-clock, store: unfenced',
    broken: 'lock: own-clock, store: unfenced, options: { release: del }',
    world: worldOf(pauseOf('before: releasing, '), pauseOf('')),
  },
  {
    title: 'an owner check in the process',
    claim: 'mutual-exclusion',
    correct: 'lock: owner-check, store: unfenced',
    broken: 'lock: owner-check, store: unfenced, options: { release: get-then-del }',
    world: worldOf(pauseOf('before: releasing, '), pauseOf('')),
  },
  {
    title: 'tokens and a store that compares them',
    claim: 'no-lost-update',
    correct: 'lock: own-token, store: fenced-reads',
    broken: 'lock: own-token, store: unfenced',
    world: worldOf(pauseOf('before: write, '), pauseOf('')),
  },
  {
    title: 'a server on a monotonic clock, under a step of its wall clock',
    claim: 'mutual-exclusion',
    correct: 'lock: own-server, store: unfenced',
    broken: 'lock: own-server, store: unfenced, options: { clock: wall }',
    world: worldOf('clock: { process: lock, at: 0ms..100ms, step: -30ms..30ms, chance: 3/4 }'),
  },
  {
    title: 'SET NX, with pauses shorter than its lease',
    claim: 'no-lost-update',
    correct: 'lock: at-one-go, store: unfenced',
    broken: 'lock: at-one-go, store: unfenced, options: { acquire: get-then-set }',
    world: worldOf(pauseOf('', '1ms..8ms')),
  },
  {
    title: 'a lease that its holder considers ended at its expiry',
    claim: 'lease-conservative',
    correct: 'lock: own-end, store: unfenced',
    broken: 'lock: own-end, store: unfenced, options: { end: ignores }',
    world: worldOf(pauseOf('after: read, '), pauseOf('')),
  },
];

/** The scenario of a kind: the correct lock alone, or with its broken twin. */
export function userScenario(
  { claim, correct, broken, world }: UserLockKind,
  isAlone: boolean,
): Scenario {
  const sibling = isAlone ? '' : `  broken: { ${broken}, expect: { breaks: [${claim}] } }\n`;
  const text = `
name: own
systems:
${sibling}  correct: { ${correct}, expect: { holds: [${claim}] } }
${world}`;
  const read = loadScenario(text, 'own.yaml', userLocks);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}
