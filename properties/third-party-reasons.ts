/**
 * Locks and programs that are not built into fencepost and that break without a fault. As in
 * `third-party-locks.ts`, each row states, before any run, the reason that its story must name.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Port } from '../src/core/world/port.ts';
import type { Server, Turn } from '../src/core/world/server.ts';
import { GrantRecorder } from '../src/systems/grant-recorder.ts';
import type { LockDefinition } from '../src/systems/protocol.ts';
import {
  BLAMES_STORE,
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
];
