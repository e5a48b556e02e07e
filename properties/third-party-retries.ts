/**
 * More locks that are not built into fencepost, as found in real code: locks that renew, retry, or
 * acquire and release in two steps. As in `third-party-locks.ts`, each row states, before any run,
 * the cause of its failure.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Port } from '../src/core/world/port.ts';
import type { Server, Turn } from '../src/core/world/server.ts';
import type { AsyncSection, LockDefinition } from '../src/systems/protocol.ts';
import {
  BLAMES_STORE,
  delay,
  giveBack,
  LONG,
  onRedis,
  pause,
  type Section,
  type ThirdPartyLock,
  take,
} from './third-party-locks.ts';

/** Wait for an answer, in ms, before a lock retries. */
const PATIENCE_MS = 8;

/** Releases in two steps: reads the owner of the key, then deletes the key. */
const looksThenRemoves: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard({ untilMs: lease.untilMs });
  await guard.work();
  guard.leave();
  if ((await redis.get(section.lock)) === lease.value) await redis.del(section.lock);
};

/** Releases by a DEL, and by a second one if the first is not answered. */
const removesAgain: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard({ untilMs: lease.untilMs });
  await guard.work();
  guard.leave();
  if (Date.now() >= lease.untilMs) return;
  await redis.del(section.lock).catch(() => redis.del(section.lock));
};

/** Avoids `SET NX`, so the node records no grant for the key. */
const TAKE = `
  if redis.call("exists", KEYS[1]) == 1 then return 0 end
  redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2])
  return redis.call("incr", KEYS[2])`;

/** Takes the key by a script, which records no grant, and works however late the answer is. */
const takesByScript =
  (tries: number): Section =>
  async (redis, section) => {
    const { lock, ttlMs } = section;
    const value = randomUUID();
    let token = 0;
    for (let tried = 0; token === 0 && tried < tries; tried += 1) {
      if (tried > 0) await wait(2 + Math.random() * 4);
      token = Number(await redis.eval(TAKE, 2, lock, `${lock}:token`, value, ttlMs));
    }
    if (token === 0) return;
    const guard = section.guard({ token });
    await guard.work();
    guard.leave();
    await giveBack(redis, lock, { value, untilMs: 0 });
  };

/** Checks that it still owns the key, and writes once the answer has arrived. */
const asksFirst: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard();
  const before = await guard.read('x');
  const isMine = (await redis.get(section.lock)) === lease.value;
  if (isMine) await guard.write('x', before + 1);
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** Extends its lease once in the middle, and assumes that this succeeded. */
const renewsBlindly: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard();
  const before = await guard.read('x');
  await wait(12);
  await redis.pexpire(section.lock, section.ttlMs).catch(() => 0);
  await wait(12);
  await guard.write('x', before + 1);
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/**
 * Checks that the key is free, then takes it in a second step, even if another client was faster.
 */
const looksThenTakes: Section = async (redis, section) => {
  const { lock, ttlMs } = section;
  const value = randomUUID();
  for (let tries = 0; ; tries += 1) {
    if (tries === 40) return;
    if ((await redis.get(lock)) === null) break;
    await wait(2 + Math.random() * 4);
  }
  await redis.set(lock, value, 'PX', ttlMs);
  const guard = section.guard();
  await guard.work();
  guard.leave();
  await giveBack(redis, lock, { value, untilMs: 0 });
};

/** Sets the key first and its expiry afterwards; without the second step the key never expires. */
const endsLater: Section = async (redis, section) => {
  const { lock, ttlMs } = section;
  for (let tries = 0; ; tries += 1) {
    if (tries === 40) return;
    if ((await redis.setnx(lock, 'held')) === 1) break;
    await wait(2 + Math.random() * 4);
  }
  await redis.pexpire(lock, ttlMs);
  const guard = section.guard();
  await guard.work();
  guard.leave();
  await redis.del(lock);
};

/** Checks the lease right before the write, by its own clock, which a fault sets back. */
const trustsItsClock: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard({ untilMs: lease.untilMs });
  const before = await guard.read('x');
  await wait(5 + Math.random() * 40);
  if (Date.now() < lease.untilMs) await guard.write('x', before + 1);
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** Takes the lock, and enters however late the answer arrives. */
const entersOnAnyAnswer: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const guard = section.guard();
  await guard.work();
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** Computes the end of its lease from the node's clock, and compares it with its own clock. */
const mixesClocks: Section = async (redis, section) => {
  const lease = await take(redis, section);
  if (lease === null) return;
  const [seconds = '', micros = ''] = z.array(z.string()).parse(await redis.call('TIME'));
  const untilMs = Number(seconds) * 1000 + Math.trunc(Number(micros) / 1000) + section.ttlMs;
  const guard = section.guard({ untilMs });
  const before = await guard.read('x');
  await wait(5 + Math.random() * 40);
  if (Date.now() < untilMs) await guard.write('x', before + 1);
  guard.leave();
  await giveBack(redis, section.lock, lease);
};

/** A type, not an interface, since messages must be JSON. */
type Beat = Readonly<{ verb: 'open' | 'beat' | 'close'; lock: string; owner: string }>;
const SESSION_US = 20_000;

/** Grants the lock to a session, which lasts as long as its owner sends heartbeats. */
class SessionServer implements Server<Beat, boolean> {
  private readonly sessions: Map<string, { owner: string; heardUs: number }> = new Map();

  handle({ verb, lock, owner }: Beat, { monotonicUs }: Turn): boolean {
    const session = this.sessions.get(lock);
    const isOver = session === undefined || monotonicUs - session.heardUs > SESSION_US;
    const isMine = !isOver && session.owner === owner;
    if (verb === 'close' && isMine) this.sessions.delete(lock);
    if ((verb === 'open' && isOver) || (verb === 'beat' && isMine)) {
      this.sessions.set(lock, { owner, heardUs: monotonicUs });
    }
    return isMine || (verb === 'open' && isOver);
  }
}

/** Continues to work even if its heartbeats do not arrive. */
const sessionLock: LockDefinition = {
  about: 'a lock that is held by a session with heartbeats',
  operations: ['open', 'beat', 'close'],
  buildAsync(world) {
    const host = world.addServer({ name: 'lock', role: 'lock' }, new SessionServer());
    const port: Port<Beat, boolean> = {
      host,
      describeRequest: ({ verb, lock }) => {
        return { verb: verb === 'close' ? 'release' : 'acquire', lock, token: 0 };
      },
      describeReply: (isGiven, { verb }) => {
        if (verb === 'close') return { kind: 'released' };
        return isGiven ? { kind: 'granted', token: 0 } : { kind: 'denied', holder: '' };
      },
    };
    return () => async (section) => {
      const owner = randomUUID();
      const ask = async (verb: Beat['verb']): Promise<boolean> => {
        const answer = await section.call(port, {
          label: verb,
          request: { verb, ...of(section, owner) },
        });
        return answer.kind === 'answered' && answer.reply;
      };
      for (let tries = 0; ; tries += 1) {
        if (tries === 40) return;
        if (await ask('open')) break;
        await wait(3);
      }
      const guard = section.guard();
      const before = await guard.read('x');
      for (let beats = 0; beats < 4; beats += 1) {
        await wait(5);
        await ask('beat');
      }
      await guard.write('x', before + 1);
      guard.leave();
      await ask('close');
    };
  },
};

function of({ lock }: AsyncSection, owner: string): Pick<Beat, 'lock' | 'owner'> {
  return { lock, owner };
}

const drop = (message: string, leg: string): string =>
  `drop: { message: ${message}, leg: ${leg}, chance: 1/2 }`;

export const retriedLocks: readonly ThirdPartyLock[] = [
  {
    title: 'checks the owner of the key, then removes it separately',
    lock: onRedis(looksThenRemoves),
    claim: 'mutual-exclusion',
    faults: [pause('before: del')],
    says: [/paused from .*, before its `del`/, /`del`.* removed \w+'s key/],
    never: BLAMES_STORE,
    shows: ['foreign release'],
  },
  {
    title: 'releases again if it got no reply',
    lock: onRedis(removesAgain, PATIENCE_MS),
    claim: 'mutual-exclusion',
    faults: [drop('del', 'reply')],
    says: [/the reply to \w+'s `del`.* was lost/, /`del`.* removed \w+'s key/],
    never: BLAMES_STORE,
    shows: ['foreign release'],
  },
  {
    title: 'checks that it still holds the lock, and gets the reply late',
    lock: onRedis(asksFirst),
    claim: 'grant-order',
    faults: [delay('get', 'reply')],
    says: [/the reply to \w+'s `get`.* came [\d.]+ ms late/, /its key until [\d.]+ ms/],
    never: [...BLAMES_STORE, /its clock/],
    shows: ['key'],
  },
  {
    title: 'renews its lease, and does not check the reply',
    lock: onRedis(renewsBlindly, PATIENCE_MS),
    claim: 'grant-order',
    faults: [drop('pexpire', 'request')],
    says: [/`pexpire`.* was lost/, /its key until [\d.]+ ms/],
    never: BLAMES_STORE,
    shows: ['key'],
  },
  {
    // Noted before the first run: a late `set`. It needs no fault.
    title: 'checks that the key is free, then sets it unconditionally',
    lock: onRedis(looksThenTakes),
    claim: 'grant-order',
    faults: [delay('set', 'request')],
    says: [/the lock let \w+ in while \w+ was inside, and no fault was needed/],
    never: BLAMES_STORE,
  },
  {
    title: 'crashes between setting a key and its expiry',
    lock: onRedis(endsLater),
    claim: 'progress',
    faults: ['crash: { process: clients, before: pexpire, restart: 1ms..5ms, chance: 1/3 }'],
    says: [/\w+ crashed at [\d.]+ ms, and its key `db` has no end/],
    never: BLAMES_STORE,
  },
  {
    title: 'tests its lease by a clock that steps back',
    lock: onRedis(trustsItsClock),
    claim: 'grant-order',
    faults: ['clock: { process: clients, at: 0ms..60ms, step: -40ms..-10ms, chance: 1/2 }'],
    says: [/'s clock was set [\d.]+ ms back/],
    never: BLAMES_STORE,
  },
  {
    title: 'tests its lease by its own clock, and the clock of its node steps ahead',
    lock: onRedis(trustsItsClock),
    claim: 'grant-order',
    faults: ['clock: { process: locks, at: 0ms..60ms, step: 10ms..40ms, chance: 1/2 }'],
    says: [/`lock`'s clock was set [\d.]+ ms ahead/],
    never: [...BLAMES_STORE, /its lease was over|paused/],
  },
  {
    title: 'takes the end from the clock of a node that steps ahead, and tests it by its own',
    lock: onRedis(mixesClocks),
    claim: 'grant-order',
    faults: ['clock: { process: locks, at: 0ms..60ms, step: 10ms..40ms, chance: 1/2 }'],
    says: [/`lock`'s clock was set [\d.]+ ms ahead/],
    never: BLAMES_STORE,
  },
  {
    title: 'gets its grant just after it expired',
    lock: onRedis(entersOnAnyAnswer),
    claim: 'grant-order',
    faults: ['delay: { message: set, leg: reply, by: 19ms..23ms, chance: 1/2 }'],
    says: [/the reply to \w+'s `set`.* came [\d.]+ ms late/, /entered when that key was gone/],
    never: BLAMES_STORE,
    shows: ['key'],
  },
  {
    title: 'acquires by a script whose request was late, and could still write',
    lock: onRedis(takesByScript(1)),
    claim: 'grant-order',
    clients: '{ count: 2, ttl: 20ms, sections: 1, think: 0ms..10ms }',
    faults: [
      'delay: { message: eval, leg: request, by: 18ms..40ms, chance: 1/2 }',
      'pause: { process: clients, before: write, for: 20ms..60ms, chance: 1/2 }',
    ],
    says: [/paused from .* to/],
    never: [/lease that was over/, /although it had ended/],
  },
  {
    title: 'acquires by a script, and gets the reply after another client acquired the key',
    lock: onRedis(takesByScript(40)),
    claim: 'grant-order',
    faults: ['delay: { message: eval, leg: reply, by: 30ms..60ms, chance: 1/3 }'],
    says: [/the reply to \w+'s `eval`.* came [\d.]+ ms late/, /entered when that key was gone/],
    never: [/never compares/, /rightly/],
  },
  {
    title: 'continues without its session, which no client notices',
    lock: sessionLock,
    claim: 'grant-order',
    work: LONG,
    faults: ['partition: { from: clients, to: locks, for: 15ms..60ms, chance: 1/2 }'],
    says: [/cut off/],
    never: BLAMES_STORE,
  },
];
