/**
 * What drivers of locks have in common: they ask the lock's server, enter the section under the
 * grant that came back, and know by the client's own clock when the lease is over.
 */
import type { Answer } from '../core/history/trace.ts';
import type { Json } from '../core/kernel/json.ts';
import { under } from '../core/kernel/name.ts';
import type { ClientPlan } from '../core/plan/plan.ts';
import type { LeaseEnd } from '../core/world/client-view.ts';
import { mark, type Program, request } from '../core/world/program.ts';
import type { ServerHost } from '../core/world/server.ts';
import type { Section } from './protocol.ts';
import { part } from './section-calls.ts';

/** What a driver asks a server of its lock. */
export interface LockAsk<Q extends Json, R extends Json> {
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
}

/** What became of it. */
export interface LockOutcome<R extends Json> {
  /** Null when no answer came in time: it may have happened. */
  readonly reply: R | null;
  /** The grant that the reply brought, by its number; 0 for none. */
  readonly ordinal: number;
  /** The client's clocks as the request was made. */
  readonly sentUs: number;
  readonly sentWallUs: number;
}

/**
 * Asks, and waits for the answer as long as the client's `lockTimeout`. An acquire is tried once,
 * all else as often as the client's `tries`.
 */
export function* askLock<Q extends Json, R extends Json>(
  at: Section,
  ask: LockAsk<Q, R>,
): Program<LockOutcome<R>> {
  const { self, plan, section } = at;
  const { verb, id = 1, server, token = 0 } = ask;
  const [sentUs, sentWallUs] = [self.monotonicUs(), self.wallUs()];
  const call = yield* request(self, {
    operation: under(at.name, part(verb, id)),
    call: { verb, lock: section.lock, token },
    target: server,
    request: ask.request,
    timeoutUs: plan.lockTimeoutUs,
    tries: verb === 'acquire' ? 1 : plan.tries,
    describe: ask.means,
  });
  return { reply: call.reply, ordinal: call.granted, sentUs, sentWallUs };
}

/**
 * The client holds the lock from now on, by its own clock until `ttlUs` after what its
 * `countsLeaseFrom` says. What it reads and writes until it leaves is done under this grant, with
 * or without a token: that is how `grant-order` knows whose turn it was.
 */
export function enterLock<R extends Json>(
  at: Section,
  { ordinal, sentUs, sentWallUs }: LockOutcome<R>,
  { ttlUs = at.plan.ttlUs, token = 0 }: { readonly ttlUs?: number; readonly token?: number } = {},
): void {
  at.end = leaseEnd(at, { sentUs, issuedAtUs: sentWallUs, ttlUs });
  const { lock } = at.section;
  at.self.enter({ section: at.name, lock, ordinal, token, end: at.end });
}

/** When the client takes its lease to end. Only `sent` is safe: a reply may be arbitrarily late. */
export function leaseEnd(
  at: Section,
  lease: { sentUs: number; issuedAtUs: number; ttlUs: number },
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

/** The same before a write: after a passed test it sets the mark `checked`. */
export function* leaseIsLive(at: Section): Program<boolean> {
  const isLive = testLease(at);
  if (isLive) yield* mark(at.name, 'checked');
  return isLive;
}

/** Tests the lease by the client's own clock. */
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
