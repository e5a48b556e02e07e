/**
 * Functions for lock drivers: they call the lock's server, enter a section under a grant, and test
 * the lease by the client's clock.
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
 * Calls the server of a lock with the client's `lockTimeout`. An acquire is tried once, any other
 * call up to the client's `tries`. Returns the reply, its grant number (0 if none), and the
 * client's clocks at the time of the request, in microseconds. The reply is null if no answer came
 * in time; the request may have been executed.
 */
export function* askLock<Q extends Json, R extends Json>(
  at: Section,
  ask: {
    readonly verb: 'acquire' | 'renew' | 'release';
    /** Number of the attempt or step, as part of the operation's name. Default 1. */
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

/** Returns the settings of a call to a lock's server, for `request` or `send`. */
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
    /** In microseconds, or null for no limit. Default: the client's `lockTimeout`. */
    readonly timeoutUs?: number | null;
    /** Number of the grant that the call is made under. Default: the grant entered last. */
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
 * Records that the client holds the lock from now on. Pass the section and the result of `askLock`.
 * By the client's clock, the lease lasts `ttlUs` microseconds (default: the client's ttl) from the
 * point that `countsLeaseFrom` selects. Until the client leaves, `grant-order` judges all its
 * accesses as made under this grant. `token` is the granted token, or null if the lock grants none.
 * Accesses carry this token unless the driver has its own `token`. Throws a `TypeError` without a
 * `token`.
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
 * Returns the end of a lease as the client computes it, by its `countsLeaseFrom`. Times are in
 * microseconds. Only `sent` is safe, since a reply may be arbitrarily late.
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

/** Moves the end of a renewed lease. Then tests the lease: the confirmation may be too late. */
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
