/**
 * Fifteen locks, or ways to use one, that are not built into fencepost: npm's redlock 5, the
 * guide's lock with one mistake each, and two protocols with their own servers. Each row states,
 * before any run, the cause of its failure: what its story must mention, and what it must not.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Port } from '../src/core/world/port.ts';
import type { Server, Turn } from '../src/core/world/server.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import type { AsyncSection, LockDefinition } from '../src/systems/protocol.ts';

/** A lock with a mistake, the claim that it breaks, and its expected story. */
export interface ThirdPartyLock {
  readonly title: string;
  readonly lock: LockDefinition;
  readonly store?: string;
  readonly claim: string;
  readonly clients?: string;
  readonly work?: string;
  readonly faults: readonly string[];
  readonly says: readonly RegExp[];
  readonly never: readonly RegExp[];
  /** Roles that the trace below the story shows; absent if none is required. */
  readonly shows?: readonly string[];
}

const RELEASE = `
  if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
  return 0`;

/**
 * Phrases that no story may use for a lock without tokens, or for a store that was not involved.
 */
export const BLAMES_STORE: readonly RegExp[] = [
  /never compares/,
  /a store (that|whose)/i,
  /fenced/,
];
const OVER = /had ended at|under a lease that was over/;

export type Section = (redis: RedisClient, section: AsyncSection) => Promise<void>;

export function onRedis(run: Section, commandTimeout?: number): LockDefinition {
  return {
    about: 'a lock on one Redis node',
    operations: ['set', 'get', 'del', 'eval', 'incr', 'pexpire', 'releasing', 'working'],
    buildAsync(world) {
      const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
      return (client) => {
        const redis = new RedisClient(
          client,
          node,
          commandTimeout === undefined ? {} : { commandTimeout },
        );
        return (section) => run(redis, section);
      };
    },
  };
}

interface Lease {
  readonly value: string;
  readonly untilMs: number;
}

/** The guide's acquire. `from` is the start of the lease: counting from the reply is a mistake. */
export async function take(
  redis: RedisClient,
  { lock, ttlMs }: AsyncSection,
  from: 'request' | 'reply' = 'request',
): Promise<Lease | null> {
  const value = randomUUID();
  for (let tries = 0; tries < 40; tries += 1) {
    const askedMs = Date.now();
    if ((await redis.set(lock, value, 'PX', ttlMs, 'NX')) === 'OK') {
      return { value, untilMs: (from === 'reply' ? Date.now() : askedMs) + ttlMs };
    }
    await wait(2 + Math.random() * 4);
  }
  return null;
}

export const giveBack = async (
  redis: RedisClient,
  lock: string,
  { value }: Lease,
): Promise<void> => {
  await redis.eval(RELEASE, 1, lock, value);
};

/** Works without checking the time again. */
const unchecked: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard({ untilMs: lease.untilMs });
  await guard.work();
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** Releases the lock by a plain DEL, without checking the owner of the key. */
const plainDel: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard({ untilMs: lease.untilMs });
  await guard.work();
  guard.leave();
  if (Date.now() < lease.untilMs) await redis.del(section.lock);
};

/** Wait for an answer, in ms; a lock here then treats silence as success. */
const PATIENCE_MS = 8;

/** Treats a missing answer as success. */
const hopeful: Section = async (redis, section) => {
  const value = randomUUID();
  const { lock, ttlMs } = section;
  let untilMs = 0;
  for (let tries = 0; ; tries += 1) {
    if (tries === 40) return;
    untilMs = Date.now() + ttlMs;
    const answer = await redis.set(lock, value, 'PX', ttlMs, 'NX').catch(() => 'OK');
    if (answer === 'OK') break;
    await wait(2 + Math.random() * 4);
  }
  const guard = section.guard({ untilMs });
  await guard.work();
  guard.leave();
  await giveBack(redis, lock, { value, untilMs });
};

/** Counts its lease from the reply. It checks the lease before the work, which does not help. */
const staleClient: Section = async (redis, section) => {
  const lease = await take(redis, section, 'reply');
  if (lease === null || Date.now() >= lease.untilMs) return;
  const guard = section.guard({ untilMs: lease.untilMs });
  await guard.work();
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** Extends the key without checking its owner, and continues. */
const renewsAny: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard();
  const before = await guard.read('x');
  await redis.pexpire(section.lock, section.ttlMs);
  await guard.write('x', before + 1);
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** Finds its key gone, takes the lock again, and writes a value based on its earlier read. */
const takesAgain: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard();
  const before = await guard.read('x');
  await section.mark('working');
  const mine = (await redis.get(section.lock)) === lease.value;
  if (!mine && (await redis.set(section.lock, lease.value, 'PX', section.ttlMs, 'NX')) !== 'OK') {
    guard.leave();
    return;
  }
  await guard.write('x', before + 1);
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** Counts tokens locally, so they are not ordered with those of other clients. */
function countsItself(): LockDefinition {
  return {
    ...onRedis(unchecked),
    buildAsync(world) {
      const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
      return (client) => {
        const redis = new RedisClient(client, node);
        let token = 0;
        return async (section) => {
          const lease = await take(redis, section);
          if (lease === null) return;
          token += 1;
          const guard = section.guard({ token, untilMs: lease.untilMs });
          await guard.work();
          guard.leave();
          await giveBack(redis, section.lock, lease);
        };
      };
    },
  };
}

/** Draws a token at the node and sends it along if `isSent`. */
const withToken =
  (isSent: boolean): Section =>
  async (redis, section) => {
    const lease = await take(redis, section);
    if (lease === null) return;
    const token = Number(await redis.incr(`${section.lock}:token`));
    if (Date.now() >= lease.untilMs) return;
    const guard = section.guard({ untilMs: lease.untilMs, ...(isSent ? { token } : {}) });
    await guard.work();
    guard.leave();
    await giveBack(redis, section.lock, lease);
  };

/** A type, not an interface, since messages must be JSON. */
type Ask = Readonly<{ verb: 'draw' | 'mine' | 'done'; lock: string; owner: string; ttlMs: number }>;

/** Numbers clients as they arrive, and calls the next one if one does not finish in time. */
class TicketServer implements Server<Ask, number> {
  private readonly lines: Map<string, { owner: string; sinceUs: number }[]> = new Map();

  handle({ verb, lock, owner, ttlMs }: Ask, turn: Turn): number {
    const line = this.lines.get(lock) ?? [];
    this.lines.set(lock, line);
    if (verb === 'draw') line.push({ owner, sinceUs: turn.monotonicUs });
    if (verb === 'done' && line[0]?.owner === owner) line.shift();
    const head = line[0];
    if (head !== undefined && turn.monotonicUs - head.sinceUs >= ttlMs * 1000) line.shift();
    const first = line[0];
    if (first !== undefined && first !== head) first.sinceUs = turn.monotonicUs;
    return line.findIndex((one) => one.owner === owner);
  }
}

/** A file with its owner and the end of the lease, by the clock of the client that wrote it. */
type FileAsk = Readonly<{
  verb: 'look' | 'replace' | 'remove';
  name: string;
  owner: string;
  untilMs: number;
}>;
type LeaseFile = Readonly<{ owner: string; untilMs: number }>;

/** Stands for a missing file. */
const NO_FILE: LeaseFile = { owner: '', untilMs: 0 };

class FileServer implements Server<FileAsk, LeaseFile> {
  private readonly files: Map<string, LeaseFile> = new Map();

  handle({ verb, name, owner, untilMs }: FileAsk): LeaseFile {
    const file = this.files.get(name) ?? NO_FILE;
    if (verb === 'remove' && file.owner === owner) this.files.delete(name);
    if (verb === 'replace') this.files.set(name, { owner, untilMs });
    return file;
  }
}

const ticketLock: LockDefinition = {
  about: 'a ticket lock whose server calls the next after a while',
  operations: ['draw', 'mine', 'done'],
  buildAsync(world) {
    const host = world.addServer({ name: 'lock', role: 'lock' }, new TicketServer());
    const port: Port<Ask, number> = {
      host,
      describeRequest: ({ verb, lock }) => {
        return { verb: verb === 'done' ? 'release' : 'acquire', lock, token: 0 };
      },
      describeReply: (place, { verb }) => {
        if (verb === 'done') return { kind: 'released' };
        return place === 0 ? { kind: 'granted', token: 0 } : { kind: 'denied', holder: '' };
      },
    };
    return () => async (section) => {
      const { lock, ttlMs } = section;
      const owner = randomUUID();
      const ask = async (verb: Ask['verb']): Promise<number> => {
        const request = { verb, lock, owner, ttlMs };
        const answer = await section.call(port, { label: verb, request });
        return answer.kind === 'answered' ? answer.reply : -1;
      };
      let place = await ask('draw');
      for (let tries = 0; place > 0 && tries < 60; tries += 1) {
        await wait(2);
        place = await ask('mine');
      }
      if (place !== 0) return;
      const guard = section.guard();
      await guard.work();
      guard.leave();
      await ask('done');
    };
  },
};

const leaseFile: LockDefinition = {
  about: 'a lease in a file, which names when it ends by the clock of its owner',
  operations: ['look', 'replace', 'remove'],
  buildAsync(world) {
    const host = world.addServer({ name: 'lock', role: 'lock' }, new FileServer());
    const port: Port<FileAsk, LeaseFile> = {
      host,
      describeRequest: ({ verb, name }) => {
        return { verb: verb === 'remove' ? 'release' : 'acquire', lock: name, token: 0 };
      },
      describeReply: (_, { verb }) => {
        return verb === 'remove' ? { kind: 'released' } : { kind: 'granted', token: 0 };
      },
    };
    return () => async (section) => {
      const owner = randomUUID();
      const ask = async (verb: FileAsk['verb'], untilMs: number): Promise<LeaseFile> => {
        const request = { verb, name: section.lock, owner, untilMs };
        const answer = await section.call(port, { label: verb, request });
        return answer.kind === 'answered' ? answer.reply : { owner: '', untilMs: 1e15 };
      };
      for (let tries = 0; tries < 60; tries += 1) {
        const file = await ask('look', 0);
        const isFree = file.untilMs <= Date.now();
        const untilMs = Date.now() + section.ttlMs;
        if (isFree) {
          await ask('replace', untilMs);
          if ((await ask('look', 0)).owner === owner) {
            const guard = section.guard({ untilMs });
            await guard.work();
            guard.leave();
            await ask('remove', 0);
            return;
          }
        }
        await wait(3 + Math.random() * 4);
      }
    };
  },
};

export const pause = (where: string): string =>
  `pause: { process: clients, ${where}, for: 10ms..60ms, chance: 1/2 }`;
export const delay = (message: string, leg: string): string =>
  `delay: { message: ${message}, leg: ${leg}, by: 10ms..40ms, chance: 1/2 }`;

/** Long enough for faults in between. */
export const LONG = 'workload: { steps: [read: {}, compute: 8ms, write: {}] }';

export const thirdPartyLocks: readonly ThirdPartyLock[] = [
  {
    title: 'never checks its ttl again',
    lock: onRedis(unchecked),
    claim: 'grant-order',
    faults: [pause('before: write')],
    says: [/paused from .* to/],
    never: BLAMES_STORE,
  },
  {
    title: 'releases with a plain DEL, and is paused before it',
    lock: onRedis(plainDel),
    claim: 'mutual-exclusion',
    faults: [pause('before: del')],
    says: [/paused from .*, before its `del`/, /`del`.* removed \w+'s key/],
    never: BLAMES_STORE,
    shows: ['foreign release'],
  },
  {
    title: 'releases with a plain DEL, which arrives late',
    lock: onRedis(plainDel),
    claim: 'mutual-exclusion',
    faults: [delay('del', 'request')],
    says: [/`del`.* came [\d.]+ ms late/, /`del`.* removed \w+'s key/],
    never: BLAMES_STORE,
    shows: ['foreign release'],
  },
  {
    title: 'acquires the lock again after its lease ended, and writes the old value',
    lock: onRedis(takesAgain),
    claim: 'grant-order',
    faults: [pause('before: working')],
    says: [/paused from .* to/],
    never: BLAMES_STORE,
  },
  {
    title: 'treats a missing reply as a grant, and the reply is late',
    lock: onRedis(hopeful, PATIENCE_MS),
    claim: 'mutual-exclusion',
    faults: [delay('set', 'reply')],
    says: [/the reply to \w+'s `set`.* came [\d.]+ ms late/],
    never: BLAMES_STORE,
  },
  {
    title: 'treats a missing reply as a grant, and the reply is lost',
    lock: onRedis(hopeful, PATIENCE_MS),
    claim: 'mutual-exclusion',
    faults: ['drop: { message: set, leg: reply, chance: 1/3 }'],
    says: [/the reply to \w+'s `set`.* was lost/],
    never: BLAMES_STORE,
  },
  {
    title: 'counts its lease from the reply, and enters after it ended',
    lock: onRedis(staleClient),
    claim: 'grant-order',
    // So late that another client has entered before; otherwise its lease may be longer than
    // stated.
    faults: ['delay: { message: set, leg: reply, by: 30ms..60ms, chance: 1/3 }'],
    says: [/the reply to \w+'s `set`.* came [\d.]+ ms late/, OVER],
    never: BLAMES_STORE,
  },
  {
    title: 'extends the key without an owner check',
    lock: onRedis(renewsAny),
    claim: 'grant-order',
    faults: [pause('before: pexpire')],
    says: [/paused from .*, before its `pexpire`/, /its key until [12]\d(\.\d+)? ms/],
    never: BLAMES_STORE,
  },
  {
    title: 'counts its tokens in the client',
    lock: countsItself(),
    store: 'fenced',
    claim: 'grant-order',
    work: 'workload: { kind: blind-writes }',
    faults: [pause('before: write')],
    says: [/paused from .* to/, /its token, \d+, is not below \d+/],
    never: [/never compares/, /a store (that|whose)/i],
  },
  {
    title: 'gets a token and does not send it',
    lock: onRedis(withToken(false)),
    claim: 'grant-order',
    faults: [pause('before: write')],
    says: [/paused from .* to/],
    never: [/never compares/, /token/],
  },
  {
    title: 'reads, modifies and writes with a fence that does not cover reads',
    lock: onRedis(withToken(true)),
    store: 'fenced',
    claim: 'no-lost-update',
    faults: [delay('write', 'request')],
    says: [/write of .* delayed by|write came .* late/, /between that read and that write/],
    never: [/never compares/],
  },
  {
    title: 'loses its counter in a crash of the node',
    lock: onRedis(withToken(true)),
    store: 'fenced',
    claim: 'progress',
    faults: ['crash: { process: locks, at: 0ms..60ms, restart: 1ms..5ms, chance: 1/2 }'],
    says: [/`lock` crashed at/, /refused/],
    never: [/never compares/],
  },
  {
    title: 'loses its keys in a crash of the node',
    lock: onRedis(unchecked),
    claim: 'grant-order',
    work: LONG,
    faults: ['crash: { process: locks, at: 0ms..60ms, restart: 1ms..2ms, chance: 1/2 }'],
    says: [/`lock` crashed at/],
    never: BLAMES_STORE,
  },
  {
    title: 'skips the holder of a ticket lock',
    lock: ticketLock,
    claim: 'grant-order',
    faults: [pause('before: write')],
    says: [/paused from .* to/],
    never: BLAMES_STORE,
  },
  {
    title: 'compares the lease in a file with the clock of the reader',
    lock: leaseFile,
    claim: 'grant-order',
    work: LONG,
    faults: ['clock: { process: clients, at: 0ms..40ms, step: 10ms..60ms, chance: 1/2 }'],
    says: [/'s clock was set [\d.]+ ms ahead/],
    never: BLAMES_STORE,
  },
];
