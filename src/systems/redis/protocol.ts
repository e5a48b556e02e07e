/**
 * The lock on a single Redis instance as a protocol (redis.io, "Distributed Locks with Redis",
 * "Correct Implementation with a Single Instance"): `SET lock random NX PX ttl`, given back by a
 * script that deletes the key only while it holds that value. The other ways to give it back, or to
 * prolong it, are what that page warns of, and options here.
 *
 * First the options, then what a client sends, then what the observer is told of a node that gives
 * its lock alone. The node itself is in `server.ts`, and what it keeps in
 * `keyspace.ts`.
 */
import { type Name, under } from '../../core/kernel/name.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import type { CallSetting } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { ServerHost, Turn } from '../../core/world/server.ts';
import type { World } from '../../core/world/world.ts';
import { GrantBook } from '../grant-book.ts';
import { leaseEnd, testLease } from '../lease.ts';
import {
  type LockDriver,
  type OptionInfo,
  type Options,
  type Protocol,
  type Section,
  wordOption,
} from '../protocol.ts';
import { part } from '../section-calls.ts';
import {
  describeRedisReply,
  type Kept,
  type LockKey,
  type LockNodeReply,
  type LockNodeRequest,
  RedisServer,
  type RedisServerOptions,
  randomValue,
  type Witness,
} from './server.ts';

const NAME = 'lock';

/** Those that every Redis node has, alone or as one of several. */
export const nodeOptions: readonly OptionInfo[] = [
  {
    ...wordOption('persistence', 'none', 'always'),
    about: 'whether a node finds its keys again after a crash: always is AOF with fsync=always',
  },
  {
    ...wordOption('expiry', 'wall', 'monotonic'),
    about: 'which clock of a node judges expiry; in Redis it is the wall clock',
  },
];

const RELEASES = ['compare-and-delete', 'get-then-delete', 'delete'] as const;

const options: readonly OptionInfo[] = [
  {
    ...wordOption('release', ...RELEASES),
    about: 'how the lock is given back: by a script that compares, a GET and a DEL, or just a DEL',
  },
  {
    ...wordOption('renew', 'compare', 'any'),
    about: 'whether a renew compares the value in a script, or is a PEXPIRE of whatever is there',
  },
  {
    ...wordOption('token', 'none', 'value'),
    about: 'whether the random value is sent along as if it were a fencing token',
  },
  ...nodeOptions,
];

export const redis: Protocol = {
  about: 'one Redis instance: SET NX PX with a random value, deleted by a script that compares it',
  source: 'redis.io, Distributed Locks with Redis: Correct Implementation with a Single Instance',
  options,
  servers: () => [NAME],
  takesSeveral: false,
  unpromised: ['tokens-unique', 'tokens-increase'],
  build,
};

function build(world: World, given: Options): (client: ClientPlan) => LockDriver {
  const token = given.oneOf('token', ['none', 'value']);
  const witness = new GrantWitness(NAME, token === 'value');
  const parts = nodeSettings(given, 'at-once');
  const host = world.addServer({ name: NAME, role: 'lock' }, new RedisServer(parts, witness));
  const renew = given.oneOf('renew', ['compare', 'any']);
  const settings = { release: given.oneOf('release', RELEASES), renew, token };
  return () => new RedisDriver(settings, host);
}

/** How a node is run by the values of `nodeOptions`. */
export function nodeSettings(
  given: Options,
  restart: RedisServerOptions['restart'],
): RedisServerOptions {
  return {
    restart,
    persistence: given.oneOf('persistence', ['none', 'always']),
    expiry: given.oneOf('expiry', ['wall', 'monotonic']),
  };
}

interface RedisDriverOptions {
  readonly release: (typeof RELEASES)[number];
  readonly renew: 'compare' | 'any';
  /** Whether the random value is attached to accesses, as if it were a fencing token. */
  readonly token: 'none' | 'value';
}

type Verb = 'acquire' | 'renew' | 'release';

class RedisDriver implements LockDriver {
  private readonly options: RedisDriverOptions;
  private readonly server: ServerHost<LockNodeRequest, LockNodeReply>;
  private readonly values: Map<string, number> = new Map();

  constructor(options: RedisDriverOptions, server: ServerHost<LockNodeRequest, LockNodeReply>) {
    this.options = options;
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock: key } = section;
    const { ttlUs } = plan;
    const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
    const operation = under(at.name, part('acquire', attempt));
    const value = randomValue(operation);
    const ask = { kind: 'set', key, value, ttlUs } as const;
    const call = yield* request(self, this.call(at, { verb: 'acquire', operation, ask, value }));
    if (call.reply?.kind !== 'done') return false;
    this.values.set(key, value);
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    const token = this.token(key);
    self.enter({ section: at.name, lock: key, ordinal: call.granted, token, end: at.end });
    return true;
  }

  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock: key } = section;
    const value = this.values.get(key) ?? 0;
    const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
    const operation = under(at.name, part('renew', id));
    const ifValue = this.options.renew === 'compare' ? value : null;
    const ask = { kind: 'expire', key, ifValue, ttlUs } as const;
    const call = yield* request(self, this.call(at, { verb: 'renew', operation, ask, value }));
    if (call.reply === null) return true;
    if (call.reply.kind !== 'done') return false;
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    // A renewal that is confirmed too late has nothing left to count on; the next test will say so.
    testLease(at);
    return true;
  }

  *release(at: Section): Program<void> {
    const { self, section } = at;
    const { lock: key } = section;
    const value = this.values.get(key) ?? 0;
    this.values.delete(key);
    const { release } = this.options;
    const verb = 'release';
    if (release === 'get-then-delete') {
      const operation = under(at.name, 'release-get');
      const ask = { kind: 'get', key } as const;
      const call = yield* request(self, this.call(at, { verb, value, operation, ask }));
      if (call.reply?.kind !== 'value' || call.reply.value !== value) return;
    }
    const operation = under(at.name, 'release');
    const ifValue = release === 'compare-and-delete' ? value : null;
    const ask = { kind: 'delete', key, ifValue } as const;
    yield* request(self, this.call(at, { verb, value, operation, ask }));
  }

  token(lock: string): number {
    return this.options.token === 'value' ? (this.values.get(lock) ?? 0) : 0;
  }

  private call(
    at: Section,
    sent: { verb: Verb; operation: Name; ask: LockNodeRequest; value: number },
  ): CallSetting<LockNodeRequest, LockNodeReply> {
    const { verb, operation, ask } = sent;
    const token = this.options.token === 'value' ? sent.value : 0;
    return {
      operation,
      call: { verb, lock: ask.key, token: verb === 'acquire' ? 0 : token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      // A second SET NX would be denied because of the first, and might be handled after its DEL.
      tries: ask.kind === 'set' ? 1 : at.plan.tries,
      describe: describeRedisReply(ask, token),
    };
  }
}

export class GrantWitness implements Witness {
  private readonly book: GrantBook;
  private readonly hasTokens: boolean;

  /** `hasTokens`: whether the random value is the grant's token; else it has none, which is 0. */
  constructor(process: string, hasTokens: boolean) {
    this.book = new GrantBook(process);
    this.hasTokens = hasTokens;
  }

  taken(turn: Turn, lock: string, { value, ttlUs, untilUs }: Kept): void {
    const { client } = turn;
    this.book.grant(turn, { lock, client, token: this.token(value), ttlUs, untilUs });
  }

  denied(turn: Turn, lock: string): void {
    this.book.deny(turn, { lock, client: turn.client });
  }

  prolonged(turn: Turn, lock: string, kept: Kept | null): void {
    const { client } = turn;
    const { value, ttlUs, untilUs } = kept ?? { value: 0, ttlUs: 0, untilUs: null };
    const isEffective = kept !== null;
    const token = this.token(value);
    this.book.renew(turn, { lock, client, token, ttlUs, untilUs, isEffective });
  }

  deleted(turn: Turn, lock: string, entry: LockKey | null): void {
    this.book.release(turn, { lock, client: turn.client, isEffective: entry !== null });
  }

  /** What a node forgets ends no grant: its client still counts on it. */
  lost(): void {}

  private token(value: number): number {
    return this.hasTokens ? value : 0;
  }

  snapshot(): () => void {
    return this.book.snapshot();
  }
}
