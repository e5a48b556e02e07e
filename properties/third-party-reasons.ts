/**
 * Locks and programs that are not built into fencepost, and that break without a fault or leave a
 * lock stuck. As in `third-party-locks.ts`, each row states, before any run, the reason that its
 * story must name.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Port } from '../src/core/world/port.ts';
import type { Server, Turn } from '../src/core/world/server.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import { GrantRecorder } from '../src/systems/grant-recorder.ts';
import type { LockDefinition } from '../src/systems/protocol.ts';
import {
  BLAMES_STORE,
  giveBack,
  onRedis,
  type Section,
  type ThirdPartyLock,
  take,
} from './third-party-locks.ts';

/** Takes an idempotency key that expires before the job is delivered again. */
const idempotent: Section = async (redis, section) => {
  const key = `done:${section.lock}`;
  if ((await redis.set(key, section.lock, 'PX', section.ttlMs, 'NX')) !== 'OK') return;
  const guard = section.guard();
  await guard.work();
  guard.leave();
};

/** Deletes the key in the success path, and again in a cleanup that always runs. */
const deletesTwice: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard();
  await guard.work();
  guard.leave();
  await redis.del(section.lock);
  await wait(3);
  await redis.del(section.lock);
};

/** Looks whether the lock is free, and takes it in a second call. */
const looksThenTakes: Section = async (redis, section) => {
  for (let tries = 0; tries < 40; tries += 1) {
    if ((await redis.get(section.lock)) === null) {
      await redis.set(section.lock, 'locked');
      const guard = section.guard();
      await guard.work();
      guard.leave();
      await redis.del(section.lock);
      return;
    }
    await wait(2 + Math.random() * 4);
  }
};

/** Fails between the start of the timer that renews the key and the code that stops it. */
const renewsForever: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const timer = setInterval(() => {
    void redis.pexpire(section.lock, section.ttlMs);
  }, section.ttlMs / 3);
  const guard = section.guard();
  await guard.work();
  guard.leave();
  if (Math.random() < 0.3) throw new Error('the job failed');
  clearInterval(timer);
  await giveBack(redis, section.lock, lease);
};

/** Takes two locks without an end, bob in the opposite order, and waits for each for ever. */
const takesTwo: LockDefinition = {
  ...onRedis(idempotent),
  buildAsync(world) {
    const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
    return (client) => {
      const redis = new RedisClient(client, node);
      const names = client.name === 'bob' ? ['lock:b', 'lock:a'] : ['lock:a', 'lock:b'];
      return async (section) => {
        for (const name of names) {
          while ((await redis.set(name, client.name, 'NX')) !== 'OK') await wait(5);
          await wait(3);
        }
        const guard = section.guard();
        await guard.work();
        guard.leave();
        for (const name of names) await redis.del(name);
      };
    };
  },
};

type Ask = Readonly<{ verb: 'acquire' | 'renew' | 'release'; lock: string; ttlMs: number }>;

/** Ends the session of a client that has sent nothing for a while, and with it its lock. */
class IdleServer implements Server<Ask, boolean> {
  private readonly recorder: GrantRecorder = new GrantRecorder('lock');
  private readonly held: Map<string, { client: string; seenUs: number }> = new Map();

  handle({ verb, lock, ttlMs }: Ask, turn: Turn): boolean {
    const { client, monotonicUs } = turn;
    const held = this.held.get(lock);
    if (verb === 'release') {
      const isEffective = held?.client === client;
      if (isEffective) this.held.delete(lock);
      this.recorder.release(turn, { lock, client, isEffective });
      return isEffective;
    }
    if (held !== undefined) {
      this.recorder.deny(turn, { lock, client });
      return false;
    }
    const session = { client, seenUs: monotonicUs };
    this.held.set(lock, session);
    const idleUs = turn.lifetimeUs((ttlMs * 1000) / 4);
    turn.setTimer({ label: 'idle', afterUs: idleUs }, (boot) => {
      if (this.held.get(lock) !== session) return undefined;
      this.held.delete(lock);
      this.recorder.end(boot, { lock, client }, 'its session was idle for 5 ms');
      return undefined;
    });
    this.recorder.grant(turn, { lock, client, token: 0, ttlUs: 0, untilUs: null });
    return true;
  }
}

const idleSession: LockDefinition = {
  about: 'a lock that ends with the session of its holder, which the server drops when idle',
  operations: ['acquire', 'release'],
  buildAsync(world) {
    const host = world.addServer({ name: 'lock', role: 'lock' }, new IdleServer());
    const port: Port<Ask, boolean> = {
      host,
      describeRequest: ({ verb, lock }) => ({ verb, lock, token: 0 }),
      describeReply: (isDone, { verb }) => {
        if (verb === 'release') return { kind: 'released' };
        return isDone ? { kind: 'granted', token: 0 } : { kind: 'denied', holder: '' };
      },
    };
    return () => async (section) => {
      const { lock, ttlMs } = section;
      const ask = async (verb: Ask['verb']): Promise<boolean> => {
        const answer = await section.call(port, { label: verb, request: { verb, lock, ttlMs } });
        return answer.kind === 'answered' && answer.reply;
      };
      for (let tries = 0; tries < 40; tries += 1) {
        if (await ask('acquire')) {
          const guard = section.guard();
          await guard.work();
          guard.leave();
          await ask('release');
          return;
        }
        await wait(2 + Math.random() * 4);
      }
    };
  },
};

const JOB = 'workload: { steps: [job: { tick: 1, for: 2ms }] }';
const SLOW = 'workload: { steps: [read: {}, compute: 8ms, write: {}] }';

export const reasonedLocks: readonly ThirdPartyLock[] = [
  {
    title: 'takes an idempotency key that expires',
    lock: onRedis(idempotent),
    claim: 'at-most-once',
    clients: '{ count: 2, ttl: 20ms, sections: 2, think: 0ms..30ms }',
    work: JOB,
    faults: [],
    says: [/`set`.* had expired at/],
    never: BLAMES_STORE,
  },
  {
    title: 'loses its session to an idle timeout',
    lock: idleSession,
    claim: 'grant-order',
    work: SLOW,
    faults: [],
    says: [/its session was idle for 5 ms/],
    never: [...BLAMES_STORE, /no fault was needed/],
  },
  {
    title: 'deletes its key a second time',
    lock: onRedis(deletesTwice),
    claim: 'mutual-exclusion',
    work: SLOW,
    faults: [],
    says: [/second `del`|`del-2`|`del`.* removed \w+'s key/],
    never: BLAMES_STORE,
  },
  {
    title: 'looks, then takes',
    lock: onRedis(looksThenTakes),
    claim: 'mutual-exclusion',
    faults: [],
    says: [/was handled before/],
    never: BLAMES_STORE,
  },
  {
    title: 'leaves the timer that renews its key running',
    lock: onRedis(renewsForever),
    claim: 'progress',
    clients: '{ count: 2, ttl: 20ms, sections: 1, think: 0ms..3ms }',
    work: SLOW,
    faults: [],
    says: [/renewed [\d,]+ times, last at [\d.]+ m?s/, /section had failed at [\d.]+ ms/],
    never: BLAMES_STORE,
  },
  {
    title: 'takes two locks in opposite orders',
    lock: takesTwo,
    claim: 'progress',
    clients: '{ count: 2, ttl: 20ms, sections: 1, think: 0ms..3ms }',
    faults: [],
    says: [
      /alice has held `lock:a` since .* and waits for `lock:b`/,
      /bob has held `lock:b` since .* and waits for `lock:a`/,
    ],
    never: BLAMES_STORE,
  },
];
