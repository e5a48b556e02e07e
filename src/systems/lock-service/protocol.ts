/**
 * The lock service with fencing tokens as a protocol: the baseline and the published variant, their
 * options and their driver. Their server is `lock-server.ts`. It applies the rules of
 * `lock-service.ts`, or of `lock-line.ts` if clients wait in a queue.
 */
import type { Draft } from '../../core/kernel/json.ts';
import { under } from '../../core/kernel/name.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import type { PendingCall, ServerHost } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { World } from '../../core/world/world.ts';
import { enterLock, prolongLease, questionOf } from '../lease.ts';
import { type Options, optionsFor } from '../options.ts';
import type { CheckToken, LockDefinition, LockDriver, Section } from '../protocol.ts';
import { part } from '../section-calls.ts';
import { LockClient } from './lock-client.ts';
import { describeLockReply, type LockReply, type LockRequest, LockServer } from './lock-server.ts';

const NAME = 'lock';
/** A limit in milliseconds that is a safe integer in microseconds. */
const LONGEST_MS = 1_000_000_000_000;
const SOURCE = 'Kleppmann, Designing Data-Intensive Applications, chapters 8 and 9';

const choices = optionsFor(
  {
    counter: ['durable', 'volatile'],
    clock: ['monotonic', 'wall'],
    firstToken: { range: [1, Number.MAX_SAFE_INTEGER], fallback: 1 },
    tokens: ['exact', 'double', '32-bit', 'random'],
    attaches: ['own', 'at-times', 'current'],
    renew: ['keeps', 'raises'],
    release: ['named', 'by-client'],
    waits: ['retry', 'in-line', 'in-line-unverified'],
    lockDelay: { range: [0, LONGEST_MS], fallback: 0 },
    serves: ['all', 'nobody', 'one'],
  },
  {
    counter: 'whether the token counter survives a crash of the lock service',
    clock: 'clock of the lock service that determines expiry',
    firstToken: 'token of the first grant',
    tokens:
      'token counter: exact, converted to a double, wrapping at 2^31, or random numbers instead',
    attaches: 'token of an access: the client’s own, none in every 2nd section, or the current one',
    renew: 'whether a renew keeps the token, or issues a new one',
    release: 'whether a release names its grant, or ends any grant that its client then holds',
    waits:
      'client behavior if the lock is busy: retry, or queue, with or without verifying its queue entry',
    lockDelay: 'minimum milliseconds from the expiry of an unreleased lease to the next grant',
    serves: 'clients that get the lock: all, none, or only the first to request it',
  },
);

export const lockService: LockDefinition = {
  about: 'leases with fencing tokens, timed by the service; a renew or release names its grant',
  source: SOURCE,
  options: choices.infos,
  problem,
  buildAsked: (world, options) => build(world, options, false),
};

/** More grants than any run makes. */
const GRANTS = 1_000_000_000;

/**
 * Returns an option with an unsuitable value, or null if there is none. A first token may be too
 * high for exact tokens to grow. Some options have no effect with a queue.
 */
function problem(options: Options): { option: string; what: string } | null {
  const { firstToken, tokens, waits, lockDelay, renew, serves } = choices.read(options);
  const highest = Number.MAX_SAFE_INTEGER - GRANTS;
  if (firstToken > highest && tokens === 'exact') {
    const what = `firstToken may exceed ${highest} only with tokens: double`;
    return { option: 'firstToken', what };
  }
  if (waits === 'retry') return null;
  const idle = {
    lockDelay: lockDelay !== 0,
    tokens: tokens !== 'exact',
    renew: renew !== 'keeps',
    serves: serves !== 'all',
  };
  const found = Object.entries(idle).find(([, isGiven]) => isGiven);
  if (found === undefined) return null;
  const [option] = found;
  return { option, what: `${option} has no effect with waits: ${waits}` };
}

export const lockServicePublished: LockDefinition = {
  ...lockService,
  about: 'lock-service as published: expiry by the caller’s clock, release by client id',
  problem: (options) => {
    if (options.word('clock') === 'monotonic') return problem(options);
    const what = 'clock has no effect on lock-service-published: its callers pass the time';
    return { option: 'clock', what };
  },
  buildAsked: (world, options) => build(world, options, true),
};

function build(
  world: World,
  options: Options,
  isPublished: boolean,
): { driverOf: (client: ClientPlan) => LockDriver; check: CheckToken } {
  const chosen = choices.read(options);
  const { counter, clock, firstToken, attaches, waits } = chosen;
  const rules = {
    numbering: chosen.tokens,
    renewRaises: chosen.renew === 'raises',
    lockDelay: chosen.lockDelay * 1000,
    serves: chosen.serves,
  };
  const release = isPublished ? 'by-client' : chosen.release;
  const setting = { isPublished, counter, clock, firstToken, rules, release, waits };
  const host = world.addServer({ name: NAME, role: 'lock' }, new LockServer(NAME, setting));
  const manner: DriverManner = { attaches, waitsInLine: waits !== 'retry' };
  return {
    driverOf: (client) => new LockServiceDriver(client.name, host, manner),
    check: checkWith(host),
  };
}

/** Timeout of a check, after which a store refuses the token as unverified. */
const CHECK_TIMEOUT_US = 100_000;

function checkWith(target: ServerHost<LockRequest, LockReply>): CheckToken {
  return (turn, { lock, token }, onChecked) => {
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
      ({ reply }, atUs) => onChecked(reply === null ? null : reply.kind === 'current', atUs),
    );
  };
}

type AcquireRequest = Extract<LockRequest, { readonly kind: 'acquire' }>;

interface DriverManner {
  /**
   * `own`: the client's own token; `at-times`: none in even-numbered sections; `current`: the
   * lock's current token, fetched before each write as with Redisson's `getToken`.
   */
  readonly attaches: 'own' | 'at-times' | 'current';
  /** True if a repeated acquire names the client's place in the queue. */
  readonly waitsInLine: boolean;
}

class LockServiceDriver implements LockDriver {
  private readonly client: LockClient;
  private readonly server: ServerHost<LockRequest, LockReply>;
  private readonly manner: DriverManner;
  private isForgetful = false;
  /** Place in the queue from the section's last reply; 0 if there is none. */
  private place = 0;
  /** The token fetched for the next write; null to use the client's own. */
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
    const [sentUs, nowUs] = [self.monotonicUs(), self.wallUs()];
    const { id: client } = this.client;
    const ask: Draft<AcquireRequest> = { kind: 'acquire', lock, client, ttlUs, nowUs };
    if (attempt === 1) this.place = 0;
    if (this.manner.waitsInLine) ask.place = this.place;
    const { reply, granted: ordinal } = yield* this.ask(at, part('acquire', attempt), ask);
    if (reply?.kind === 'denied') this.place = reply.place ?? 0;
    if (reply?.kind !== 'granted') return false;
    const { token, issuedAtUs } = reply;
    this.client.remember({ lock, token });
    this.isForgetful = this.manner.attaches === 'at-times' && section.id % 2 === 0;
    this.fetched = null;
    enterLock(at, { ordinal, sentUs, sentWallUs: issuedAtUs }, { token });
    return true;
  }

  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const sentUs = at.self.monotonicUs();
    const { lock, client, token: held, nowUs } = this.holding(at);
    const ask = { kind: 'renew', lock, client, token: held, ttlUs, nowUs } as const;
    const { reply } = yield* this.ask(at, part('renew', id), ask);
    if (reply?.kind === 'denied') return false;
    if (reply?.kind !== 'renewed') return true;
    const { token, issuedAtUs } = reply;
    if (token !== undefined) this.client.remember({ lock, token });
    prolongLease(at, { sentUs, issuedAtUs, ttlUs });
    return true;
  }

  *release(at: Section): Program<void> {
    const { lock, client, token, nowUs } = this.holding(at);
    yield* this.ask(at, 'release', { kind: 'release', lock, client, token, nowUs });
    this.client.forget(lock);
  }

  private holding({ self, section: { lock } }: Section) {
    return { lock, client: this.client.id, token: this.client.token(lock), nowUs: self.wallUs() };
  }

  token(lock: string): number {
    return this.isForgetful ? 0 : (this.fetched ?? this.client.token(lock));
  }

  *beforeWrite(at: Section, label: string): Program<void> {
    if (this.manner.attaches !== 'current') return;
    const { lock } = at.section;
    const { reply } = yield* this.ask(at, label.replace('write', 'fetch'), { kind: 'fetch', lock });
    this.fetched = reply?.kind === 'token' ? reply.token : null;
  }

  private ask(
    at: Section,
    label: string,
    ask: Exclude<LockRequest, { kind: 'check' }>,
  ): Program<PendingCall<LockRequest, LockReply>> {
    const { kind: verb } = ask;
    const token = 'token' in ask ? ask.token : 0;
    const { server: target } = this;
    const question = { verb, token, target, request: ask, describe: describeLockReply };
    return request(at.self, questionOf(at, under(at.name, label), question));
  }
}
