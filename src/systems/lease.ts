/**
 * Functions for lock drivers. They call the lock's server, enter the section under the grant that
 * it returned, and judge by the client's own clock whether the lease has ended.
 */
import type { Answer, Call } from '../core/history/call.ts';
import type { Draft, Json } from '../core/kernel/json.ts';
import { type Name, under } from '../core/kernel/name.ts';
import type { ClientPlan } from '../core/plan/plan.ts';
import type { CallSetting, ServerHost } from '../core/world/calls.ts';
import type { LeaseEnd } from '../core/world/program.ts';
import { mark, type Program, request } from '../core/world/program.ts';
import type { Section } from './protocol.ts';
import { part } from './section-calls.ts';

/**
 * Calls the server of a lock, and waits for the answer up to the client's `lockTimeout`. An acquire
 * is tried once, any other call up to the client's `tries`. Returns the reply, the number of the
 * grant that came with it (0 if none), and the readings of the client's clocks when the request was
 * made, in microseconds. The reply is null if no answer came in time; the request may have been
 * executed.
 */
export function* askLock<Q extends Json, R extends Json>(
  at: Section,
  ask: {
    readonly verb: 'acquire' | 'renew' | 'release';
    /** The attempt or step of the section, from 1, as part of the operation's name. Default 1. */
    readonly id?: number;
    /** The result of `world.addServer`. */
    readonly server: ServerHost<Q, R>;
    readonly request: Q;
    /** Token in the request, for the trace. Default 0: none. */
    readonly token?: number;
    /** Returns the meaning of a reply for the trace: granted, denied, renewed or released. */
    readonly means: (reply: R) => Answer;
  },
): Program<{
  readonly reply: R | null;
  readonly ordinal: number;
  readonly sentUs: number;
  readonly sentWallUs: number;
}> {
  const { self, plan } = at;
  const { verb, id = 1, server: target, request: payload, token = 0, means: describe } = ask;
  const [sentUs, sentWallUs] = [self.monotonicUs(), self.wallUs()];
  const tries = verb === 'acquire' ? 1 : plan.tries;
  const question = { verb, token, target, request: payload, tries, describe };
  const call = yield* request(self, questionOf(at, under(at.name, part(verb, id)), question));
  return { reply: call.reply, ordinal: call.granted, sentUs, sentWallUs };
}

/**
 * Returns the settings of a call to a lock's server, for `request` or `send`, with the timeout and
 * tries of the section's client.
 */
export function questionOf<Q extends Json, R extends Json>(
  { plan, section }: Section,
  operation: Name,
  question: Pick<CallSetting<Q, R>, 'target' | 'request' | 'describe'> & {
    readonly verb: Extract<Call, { lock: string }>['verb'];
    /** Default: the section's lock. */
    readonly lock?: string;
    /** Token in the request, for the trace. Default 0: none. */
    readonly token?: number;
    /** Default: the client's `tries`. */
    readonly tries?: number;
    /** In microseconds; null waits without limit. Default: the client's `lockTimeout`. */
    readonly timeoutUs?: number | null;
    /** The grant that the call is made under. Default: the one that was entered last. */
    readonly under?: number | undefined;
  },
): CallSetting<Q, R> {
  const { verb, lock = section.lock, token = 0, target, request, describe } = question;
  const { tries = plan.tries, timeoutUs = plan.lockTimeoutUs, under: ordinal } = question;
  const call = { verb, lock, token };
  const setting: Draft<CallSetting<Q, R>> = {
    operation,
    call,
    target,
    request,
    timeoutUs,
    tries,
    describe,
  };
  if (ordinal !== undefined) setting.under = ordinal;
  return setting;
}

/**
 * Records that the client holds the lock from now on. By the client's own clock, it holds the lock
 * for `ttlUs` microseconds (default: the client's ttl), counted from the point that its
 * `countsLeaseFrom` selects. The first two arguments are the section and the result of `askLock`.
 * Until the client leaves, `grant-order` judges all its reads and writes as made under this grant.
 * `token` is the token that the server granted, or null if it grants none; accesses carry this
 * token unless the driver has its own `token`. Throws a `TypeError` without a `token`.
 */
export function enterLock(
  at: Section,
  {
    ordinal,
    sentUs,
    sentWallUs,
  }: { readonly ordinal: number; readonly sentUs: number; readonly sentWallUs: number },
  granted: { readonly token: number | null; readonly ttlUs?: number },
): void {
  if (granted?.token === undefined) {
    throw new TypeError('enterLock: its third argument must contain the granted `token`, or null');
  }
  const { ttlUs = at.plan.ttlUs } = granted;
  at.token = granted.token ?? 0;
  at.end = leaseEnd(at, { sentUs, issuedAtUs: sentWallUs, ttlUs });
  const { token, end } = at;
  at.self.enter({ section: at.name, lock: at.section.lock, ordinal, token, end });
}

/**
 * Returns the time at which the client considers its lease to end, which depends on its
 * `countsLeaseFrom`. Times are in microseconds. Only `sent` is safe, since a reply may be
 * arbitrarily late.
 */
export function leaseEnd(
  at: Section,
  lease: { readonly sentUs: number; readonly issuedAtUs: number; readonly ttlUs: number },
): LeaseEnd {
  switch (at.plan.countsLeaseFrom) {
    case 'sent':
      return { clock: 'monotonic', us: lease.sentUs + lease.ttlUs };
    case 'reply':
      return { clock: 'monotonic', us: at.self.monotonicUs() + lease.ttlUs };
    case 'issued':
      return { clock: 'wall', us: lease.issuedAtUs + lease.ttlUs };
  }
}

/** Moves the end of a renewed lease, and tests the lease: the confirmation may be too late. */
export function prolongLease(at: Section, lease: Parameters<typeof leaseEnd>[1]): void {
  at.end = leaseEnd(at, lease);
  testLease(at);
}

/** Tests the lease before a write, as `testLease` does. If it is live, sets the mark `checked`. */
export function* leaseIsLive(at: Section): Program<boolean> {
  const isLive = testLease(at);
  if (isLive) yield* mark(at.name, 'checked');
  return isLive;
}

/** Returns whether the lease is still live by the client's own clock, and records the test. */
export function testLease({ end, self, plan }: Section): boolean {
  const nowUs = end.clock === 'wall' ? self.wallUs() : self.monotonicUs();
  const isLive = isBefore(nowUs, end.us, plan.leaseEnds);
  self.testLease({ isLive, end });
  return isLive;
}

function isBefore(nowUs: number, endUs: number, leaseEnds: ClientPlan['leaseEnds']): boolean {
  switch (leaseEnds) {
    case 'at':
      return nowUs < endUs;
    case 'after':
      return nowUs <= endUs;
    case 'refused':
      // A section stops at the first refusal, so there has been none yet.
      return true;
  }
}
