/**
 * What drivers of locks have in common: they ask the lock's server, enter the section under the
 * grant that came back, and know by the client's own clock when the lease is over.
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
 * Asks the server of a lock, and waits for the answer as long as the client's `lockTimeout`. An
 * acquire is tried once, all else as often as the client's `tries`. Returns the reply, null if no
 * answer came in time: it may have happened; the number of the grant that it brought, 0 for none;
 * and the client's clocks as the request was made, in microseconds.
 */
export function* askLock<Q extends Json, R extends Json>(
  at: Section,
  ask: {
    readonly verb: 'acquire' | 'renew' | 'release';
    /** Which try or step of the section it is, from 1, as part of its name. Default 1. */
    readonly id?: number;
    /** What `world.addServer` returned. */
    readonly server: ServerHost<Q, R>;
    readonly request: Q;
    /** The token that it names, for the trace; 0 for none. Default 0. */
    readonly token?: number;
    /** What a reply says in the words of a trace: granted, denied, renewed, released. */
    readonly means: (reply: R) => Answer;
  },
): Program<{
  readonly reply: R | null;
  readonly ordinal: number;
  readonly sentUs: number;
  readonly sentWallUs: number;
}> {
  const { self, plan } = at;
  const { verb, id = 1, server: target, request: what, token = 0, means: describe } = ask;
  const [sentUs, sentWallUs] = [self.monotonicUs(), self.wallUs()];
  const tries = verb === 'acquire' ? 1 : plan.tries;
  const question = { verb, token, target, request: what, tries, describe };
  const call = yield* request(self, questionOf(at, under(at.name, part(verb, id)), question));
  return { reply: call.reply, ordinal: call.granted, sentUs, sentWallUs };
}

/**
 * Returns the call of one of a lock's servers, for `request` or `send`, with the timeout and tries
 * of the section's client.
 */
export function questionOf<Q extends Json, R extends Json>(
  { plan, section }: Section,
  operation: Name,
  question: Pick<CallSetting<Q, R>, 'target' | 'request' | 'describe'> & {
    readonly verb: Extract<Call, { lock: string }>['verb'];
    /** Default: the section's. */
    readonly lock?: string;
    /** The token that it names, for the trace; 0 for none. Default 0. */
    readonly token?: number;
    /** Default: the client's. */
    readonly tries?: number;
    /** In microseconds; null waits for ever. Default: the client's `lockTimeout`. */
    readonly timeoutUs?: number | null;
    /** The grant that it is asked under. Default: the one that was entered last. */
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
 * Records that the client holds the lock from now on, by its own clock until `ttlUs` after what its
 * `countsLeaseFrom` says; `ttlUs` is in microseconds, by default the client's. The first two
 * arguments are the section and what `askLock` returned. What the client reads and writes until it
 * leaves is done under this grant, as `grant-order` judges it. `token` is what the server granted,
 * or null if it grants none; accesses carry it unless the driver has a `token` of its own. Throws a
 * `TypeError` without a `token`.
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
    throw new TypeError(
      'enterLock: its third argument needs the `token` that was granted, or null',
    );
  }
  const { ttlUs = at.plan.ttlUs } = granted;
  at.token = granted.token ?? 0;
  at.end = leaseEnd(at, { sentUs, issuedAtUs: sentWallUs, ttlUs });
  const { token, end } = at;
  at.self.enter({ section: at.name, lock: at.section.lock, ordinal, token, end });
}

/**
 * Returns when the client takes its lease to end, by its `countsLeaseFrom`; all in microseconds.
 * Only `sent` is safe: a reply may be arbitrarily late.
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

/** The lease was prolonged. If that is confirmed too late there is nothing left to count on. */
export function prolongLease(at: Section, lease: Parameters<typeof leaseEnd>[1]): void {
  at.end = leaseEnd(at, lease);
  testLease(at);
}

/** The same before a write: after a passed test it sets the mark `checked`. */
export function* leaseIsLive(at: Section): Program<boolean> {
  const isLive = testLease(at);
  if (isLive) yield* mark(at.name, 'checked');
  return isLive;
}

/** Returns whether the lease still runs by the client's own clock, and records the test. */
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
      // A section stops at the first refusal, so none has come yet.
      return true;
  }
}
