/**
 * The lock service with fencing tokens as a protocol: the baseline, and as it was published. First
 * what may be chosen of it, then what a client of it sends and makes of the answers. The server is
 * in `lock-server.ts`, which runs the rules of `lock-service.ts`, or of `lock-line.ts` where
 * clients wait in line; what a client remembers, `lock-client.ts` keeps.
 */
import type { Draft } from '../../core/kernel/draft.ts';
import { type Name, under } from '../../core/kernel/name.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import type { CallSetting } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import type { World } from '../../core/world/world.ts';
import { leaseEnd, testLease } from '../lease.ts';
import {
  type CheckToken,
  type LockDriver,
  numberOption,
  type OptionInfo,
  type OptionProblem,
  type Options,
  type Protocol,
  type Section,
  wordOption,
} from '../protocol.ts';
import { part } from '../section-calls.ts';
import { LockClient } from './lock-client.ts';
import { describeLockReply, type LockReply, type LockRequest, LockServer } from './lock-server.ts';

const NAME = 'lock';
const SOURCE = 'Kleppmann, Designing Data-Intensive Applications, chapters 8 and 9';

const options: readonly OptionInfo[] = [
  {
    ...wordOption('counter', 'durable', 'volatile'),
    about: 'whether the token counter survives a crash of the lock service',
  },
  {
    ...wordOption('clock', 'monotonic', 'wall'),
    about: 'which clock of the lock service judges expiry',
  },
  {
    ...numberOption('firstToken', 1, [1, Number.MAX_SAFE_INTEGER]),
    about: 'the token of the first grant',
  },
  {
    ...wordOption('tokens', 'exact', 'double', '32-bit', 'random'),
    about: 'the counter is exact, passes through a double, wraps at 2^31, or is no counter at all',
  },
  {
    ...wordOption('attaches', 'own', 'at-times', 'current'),
    about:
      'the token of an access: its client’s own, none in every 2nd section, or the current one',
  },
  {
    ...wordOption('renew', 'keeps', 'raises'),
    about: 'whether a renew keeps the token, or gives a new one',
  },
  {
    ...wordOption('release', 'named', 'by-client'),
    about: 'whether a release names its grant, or frees whatever its client holds by then',
  },
  {
    ...wordOption('waits', 'retry', 'in-line', 'in-line-unverified'),
    about:
      'a busy lock is asked for again, or waited for in line, with or without a look at one’s own entry at the front',
  },
  {
    ...numberOption('lockDelay', 0),
    about: 'for how many ms after the end of a lease that nobody released nobody gets the lock',
  },
];

export const lockService: Protocol = {
  about: 'leases with fencing tokens; its own clock, a renew or release names its grant',
  source: SOURCE,
  options,
  servers: () => [NAME],
  takesSeveral: false,
  problem,
  unpromised: [],
  build: (world, given) => build(world, given, false).driverOf,
  buildAsked: (world, given) => build(world, given, false),
};

/** More grants than any run gives. */
const GRANTS = 1_000_000_000;

/** A line counts its tokens and hands over by itself; exact tokens need room to grow. */
function problem(given: Options): OptionProblem | null {
  const highest = Number.MAX_SAFE_INTEGER - GRANTS;
  if (given.whole('firstToken') > highest && given.word('tokens') === 'exact') {
    const what = `firstToken may be at most ${highest}, but with tokens: double`;
    return { option: 'firstToken', what };
  }
  const waits = given.word('waits');
  if (waits === 'retry') return null;
  const idle = [
    ['lockDelay', given.whole('lockDelay') !== 0],
    ['tokens', given.word('tokens') !== 'exact'],
    ['renew', given.word('renew') !== 'keeps'],
  ] as const;
  const found = idle.find(([, isGiven]) => isGiven);
  if (found === undefined) return null;
  const [option] = found;
  return { option, what: `${option} means nothing with waits: ${waits}` };
}

function publishedProblem(given: Options): OptionProblem | null {
  if (given.word('clock') === 'monotonic') return null;
  const what = 'clock means nothing to lock-service-published: its callers say what time it is';
  return { option: 'clock', what };
}

export const lockServicePublished: Protocol = {
  ...lockService,
  about: 'the same to the letter of the book: expiry by the caller’s clock, release by client id',
  problem: (given) => publishedProblem(given) ?? problem(given),
  build: (world, given) => build(world, given, true).driverOf,
  buildAsked: (world, given) => build(world, given, true),
};

function build(
  world: World,
  given: Options,
  isPublished: boolean,
): { driverOf: (client: ClientPlan) => LockDriver; check: CheckToken } {
  const waits = given.oneOf('waits', ['retry', 'in-line', 'in-line-unverified']);
  const server = new LockServer(NAME, {
    isPublished,
    counter: given.oneOf('counter', ['durable', 'volatile']),
    clock: given.oneOf('clock', ['monotonic', 'wall']),
    firstToken: given.whole('firstToken'),
    rules: {
      numbering: given.oneOf('tokens', ['exact', 'double', '32-bit', 'random']),
      renewRaises: given.word('renew') === 'raises',
      lockDelay: given.whole('lockDelay') * 1000,
    },
    release: isPublished ? 'by-client' : given.oneOf('release', ['named', 'by-client']),
    waits,
  });
  const host = world.addServer({ name: NAME, role: 'lock' }, server);
  const attaches = given.oneOf('attaches', ['own', 'at-times', 'current']);
  const manner: DriverManner = { attaches, waitsInLine: waits !== 'retry' };
  return {
    driverOf: (client) => new LockServiceDriver(client.name, host, manner),
    check: checkWith(host),
  };
}

/** How long a store waits for the lock service before it refuses what it cannot verify. */
const CHECK_TIMEOUT_US = 100_000;

function checkWith(target: ServerHost<LockRequest, LockReply>): CheckToken {
  return (turn, { lock, token }, told) => {
    turn.ask(
      {
        label: 'check',
        call: { verb: 'check', lock, token },
        target,
        request: { kind: 'check', lock, token, nowUs: turn.wallUs },
        timeoutUs: CHECK_TIMEOUT_US,
        tries: 1,
        describe: describeLockReply,
      },
      ({ reply }, atUs) => told(reply === null ? null : reply.kind === 'current', atUs),
    );
  };
}

type AcquireRequest = Extract<LockRequest, { readonly kind: 'acquire' }>;

/** What a client of the lock service may do differently. */
interface DriverManner {
  /**
   * Its own token; or none in sections with an even number; or the lock's current one, whosesoever
   * that is, fetched before each write as with Redisson's `getToken`.
   */
  readonly attaches: 'own' | 'at-times' | 'current';
  /** Whether it names its place in line when it asks again. */
  readonly waitsInLine: boolean;
}

class LockServiceDriver implements LockDriver {
  private readonly client: LockClient;
  private readonly server: ServerHost<LockRequest, LockReply>;
  private readonly manner: DriverManner;
  private isForgetful = false;
  /** The place in line that it was told last in this section; 0 for none. */
  private place = 0;
  /** The token that it fetched for the write at hand; null for its own. */
  private fetched: number | null = null;

  constructor(client: string, server: ServerHost<LockRequest, LockReply>, manner: DriverManner) {
    this.client = new LockClient(client);
    this.server = server;
    this.manner = manner;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock } = section;
    const { ttlUs } = plan;
    const sentUs = self.monotonicUs();
    const operation = under(at.name, part('acquire', attempt));
    const nowUs = self.wallUs();
    const ask: Draft<AcquireRequest> = {
      kind: 'acquire',
      lock,
      client: this.client.id,
      ttlUs,
      nowUs,
    };
    if (attempt === 1) this.place = 0;
    if (this.manner.waitsInLine) ask.place = this.place;
    const call = yield* request(self, this.call(at, operation, ask));
    if (call.reply?.kind === 'denied') this.place = call.reply.place ?? 0;
    if (call.reply?.kind !== 'granted') return false;
    const { token, issuedAtUs } = call.reply;
    this.client.remember({ lock, token });
    this.isForgetful = this.manner.attaches === 'at-times' && section.id % 2 === 0;
    this.fetched = null;
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    self.enter({ section: at.name, lock, ordinal: call.granted, token, end: at.end });
    return true;
  }

  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock } = section;
    const sentUs = self.monotonicUs();
    const ask = {
      kind: 'renew',
      lock,
      client: this.client.id,
      token: this.client.token(lock),
      ttlUs,
      nowUs: self.wallUs(),
    } as const;
    const call = yield* request(self, this.call(at, under(at.name, part('renew', id)), ask));
    if (call.reply?.kind === 'denied') return false;
    if (call.reply?.kind !== 'renewed') return true;
    const { token, issuedAtUs } = call.reply;
    if (token !== undefined) this.client.remember({ lock, token });
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    // A renewal that is confirmed too late has nothing left to count on; the next test will say so.
    testLease(at);
    return true;
  }

  *release(at: Section): Program<void> {
    const { self, section } = at;
    const { lock } = section;
    const ask = {
      kind: 'release',
      lock,
      client: this.client.id,
      token: this.client.token(lock),
      nowUs: self.wallUs(),
    } as const;
    yield* request(self, this.call(at, under(at.name, 'release'), ask));
    this.client.forget(lock);
  }

  token(lock: string): number {
    return this.isForgetful ? 0 : (this.fetched ?? this.client.token(lock));
  }

  *beforeWrite(at: Section, label: string): Program<void> {
    if (this.manner.attaches !== 'current') return;
    const { lock } = at.section;
    const operation = under(at.name, label.replace('write', 'fetch'));
    const call = yield* request(at.self, this.call(at, operation, { kind: 'fetch', lock }));
    this.fetched = call.reply?.kind === 'token' ? call.reply.token : null;
  }

  private call(
    at: Section,
    operation: Name,
    ask: Exclude<LockRequest, { kind: 'check' }>,
  ): CallSetting<LockRequest, LockReply> {
    const token = 'token' in ask ? ask.token : 0;
    return {
      operation,
      call: { verb: ask.kind, lock: ask.lock, token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      tries: at.plan.tries,
      describe: describeLockReply,
    };
  }
}
