/**
 * The lock on a single Redis instance as a protocol (redis.io, "Distributed Locks with Redis",
 * "Correct Implementation with a Single Instance"): `SET lock random NX PX ttl`, released by a
 * script that deletes the key only if the value matches. Options offer other ways to release or
 * extend the lock, which that page warns against.
 *
 * The node itself is in `server.ts`; Redlock calls several nodes.
 */
import {
  enterLock,
  GrantRecorder,
  type LockDefinition,
  type LockDriver,
  leaseEnd,
  type Name,
  optionsFor,
  type PendingCall,
  type Program,
  part,
  questionOf,
  randomOf,
  request,
  type Section,
  type ServerHost,
  testLease,
  under,
} from '../../servers.ts';
import type { LockNodeReply, LockNodeRequest, RedisRecorder } from './server.ts';
import { describeRedisReply, RedisServer } from './server.ts';

const NAME = 'lock';

const ofNodes = { persistence: ['none', 'always'], expiry: ['wall', 'monotonic'] } as const;

/** Options of every Redis node, alone or as one of several. */
export const nodeOptions: ReturnType<typeof optionsFor<typeof ofNodes>> = optionsFor(ofNodes, {
  persistence: 'whether the keys of a node survive a crash; always: AOF with fsync=always',
  expiry: 'clock of a node that determines expiry; in Redis, the wall clock',
});

const choices = optionsFor(
  {
    release: ['compare-and-delete', 'get-then-delete', 'delete'],
    renew: ['compare', 'any', 'set'],
    token: ['none', 'value'],
    unanswered: ['kept', 'deleted'],
  },
  {
    release: 'commands of a release: a script that compares, a GET and a DEL, or only a DEL',
    renew: 'renewal: a script that compares the value, a PEXPIRE of any value, or a SET without NX',
    token: 'whether the random value is sent as a fencing token',
    unanswered:
      'client behavior if a SET gets no answer in time: nothing, or a DEL of its own value',
  },
);

export const redis: LockDefinition = {
  about: 'one Redis instance: SET NX PX with a random value, deleted by a script that compares it',
  source: 'redis.io, Distributed Locks with Redis: Correct Implementation with a Single Instance',
  options: [...choices.infos, ...nodeOptions.infos],
  notGuaranteed: ['tokens-unique', 'tokens-increase'],
  build: (world, options) => {
    const chosen = choices.read(options);
    const recorder = grantRecorder(NAME, chosen.token === 'value');
    const { persistence, expiry } = nodeOptions.read(options);
    const node = { persistence, expiry, restart: 'at-once' } as const;
    const host = world.addServer({ name: NAME, role: 'lock' }, new RedisServer(node, recorder));
    return () => new RedisDriver(chosen, host);
  },
};

type Chosen = ReturnType<typeof choices.read>;

class RedisDriver implements LockDriver {
  private readonly options: Chosen;
  private readonly server: ServerHost<LockNodeRequest, LockNodeReply>;
  private readonly values: Map<string, number> = new Map();

  constructor(options: Chosen, server: ServerHost<LockNodeRequest, LockNodeReply>) {
    this.options = options;
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock: key } = section;
    const [sentUs, sentWallUs] = [self.monotonicUs(), self.wallUs()];
    const operation = under(at.name, part('acquire', attempt));
    const value = randomOf(operation, 'value');
    const ask = { kind: 'set', key, value, ttlUs: plan.ttlUs } as const;
    const call = yield* this.ask(at, 'acquire', { operation, ask, value });
    if (call.reply === null && this.options.unanswered === 'deleted') {
      yield* this.withdraw(at, attempt, value);
    }
    if (call.reply?.kind !== 'done') return false;
    this.values.set(key, value);
    enterLock(at, { ordinal: call.granted, sentUs, sentWallUs }, { token: this.token(key) });
    return true;
  }

  /** Deletes a key that the unanswered SET may have stored. */
  private *withdraw(at: Section, attempt: number, value: number): Program<void> {
    const operation = under(at.name, part('withdraw', attempt));
    const ask = { kind: 'delete', key: at.section.lock, ifValue: value } as const;
    // The client knows of no grant.
    yield* this.ask(at, 'release', { value, operation, ask, under: 0 });
  }

  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock: key } = section;
    const value = this.values.get(key) ?? 0;
    const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
    const operation = under(at.name, part('renew', id));
    const ifValue = this.options.renew === 'compare' ? value : null;
    const ask =
      this.options.renew === 'set'
        ? ({ kind: 'store', key, value, ttlUs } as const)
        : ({ kind: 'expire', key, ifValue, ttlUs } as const);
    const { reply } = yield* this.ask(at, 'renew', { operation, ask, value });
    if (reply === null) return true;
    if (reply.kind !== 'done') return false;
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    testLease(at);
    return true;
  }

  *release(at: Section): Program<void> {
    const { lock: key } = at.section;
    const value = this.values.get(key) ?? 0;
    this.values.delete(key);
    const { release } = this.options;
    if (release === 'get-then-delete') {
      const operation = under(at.name, 'release-get');
      const { reply } = yield* this.ask(at, 'release', {
        value,
        operation,
        ask: { kind: 'get', key },
      });
      if (reply?.kind !== 'value' || reply.value !== value) return;
    }
    const operation = under(at.name, 'release');
    const ifValue = release === 'compare-and-delete' ? value : null;
    yield* this.ask(at, 'release', { value, operation, ask: { kind: 'delete', key, ifValue } });
  }

  token(lock: string): number {
    return this.options.token === 'value' ? (this.values.get(lock) ?? 0) : 0;
  }

  private ask(
    at: Section,
    verb: 'acquire' | 'renew' | 'release',
    question: { operation: Name; ask: LockNodeRequest; value: number; under?: number },
  ): Program<PendingCall<LockNodeRequest, LockNodeReply>> {
    const { operation, ask, value, under: ordinal } = question;
    const granted = this.options.token === 'value' ? value : 0;
    const setting = questionOf(at, operation, {
      verb,
      token: verb === 'acquire' ? 0 : granted,
      target: this.server,
      request: ask,
      // A second SET NX would be denied because of the first, or might be executed after the DEL.
      tries: ask.kind === 'set' ? 1 : at.plan.tries,
      describe: describeRedisReply(ask, granted),
      under: ordinal,
    });
    return request(at.self, setting);
  }
}

/** Returns a recorder of grants. With `hasTokens`, the random value is the grant's token. */
export function grantRecorder(process: string, hasTokens: boolean): RedisRecorder {
  const recorder = new GrantRecorder(process);
  const tokenOf = (value: number): number => (hasTokens ? value : 0);
  return {
    taken: (turn, lock, { value, ttlUs, untilUs }) => {
      const { client } = turn;
      recorder.grant(turn, { lock, client, token: tokenOf(value), ttlUs, untilUs });
    },
    denied: (turn, lock) => recorder.deny(turn, { lock, client: turn.client }),
    prolonged: (turn, lock, kept) => {
      const { client } = turn;
      const { value, ttlUs, untilUs } = kept ?? { value: 0, ttlUs: 0, untilUs: null };
      const isEffective = kept !== null;
      recorder.renew(turn, { lock, client, token: tokenOf(value), ttlUs, untilUs, isEffective });
    },
    deleted: (turn, lock, entry) =>
      recorder.release(turn, { lock, client: turn.client, isEffective: entry !== null }),
    // The loss of a key does not end the grant: the client still counts on it.
    lost: () => {},
    snapshot: () => recorder.snapshot(),
  };
}
