/**
 * Redlock as a client runs it (redis.io, "Distributed Locks with Redis", "The Redlock Algorithm"):
 * note the time, ask every node with one random value and a timeout that is short beside the ttl,
 * take the lock if a majority said yes and the ttl is not used up, and else unlock every node, also
 * those that seemed to say no; then try again after a random delay. M. Kleppmann, "How to do
 * distributed locking" (2016), says what the options other than the first are about.
 */

import type { Call } from '../../core/history/trace.ts';
import { assert } from '../../core/kernel/assert.ts';
import { type Name, under } from '../../core/kernel/name.ts';
import type { PendingCall } from '../../core/world/calls.ts';
import type { LeaseEnd } from '../../core/world/client-view.ts';
import { answerOf, type Program, request, send } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import { leaseEnd, testLease } from '../lease.ts';
import type { LockDriver } from '../protocol.ts';
import { randomValue } from '../redis/random-value.ts';
import { describeRedisReply, type RedisReply, type RedisRequest } from '../redis/server.ts';
import { part, type Section } from '../section-calls.ts';
import { type DriftMargin, marginUs, validityUs } from './quorum.ts';
import type { TenureBook } from './tenure-book.ts';

type Node = ServerHost<RedisRequest, RedisReply>;
type NodeCall = PendingCall<RedisRequest, RedisReply>;

export interface RedlockSettings {
  readonly nodes: readonly Node[];
  readonly quorum: number;
  /** All nodes at once, or each when the one before has answered. */
  readonly asks: 'together' | 'in-turn';
  readonly validity: 'checked' | 'unchecked';
  /** What becomes of the keys of an attempt that failed. */
  readonly partial: 'released' | 'kept';
  /** Null counts no drift. */
  readonly margin: DriftMargin | null;
  readonly elapsed: 'monotonic' | 'wall';
}

/** A lock that this client holds, or once held and has not given back. */
interface Held {
  readonly value: number;
  readonly ordinal: number;
}

/** One round of requests: when it began, by each clock, and what came of it. */
interface Round {
  readonly sentUs: number;
  readonly sentWallUs: number;
  readonly calls: readonly NodeCall[];
  /** The first of them: the lease is counted from its departure. */
  readonly since: NodeCall;
}

/** What one lease is given for, and what it is asked of the nodes with. */
interface Term {
  readonly value: number;
  readonly ttlUs: number;
}

export class RedlockDriver implements LockDriver {
  private readonly settings: RedlockSettings;
  private readonly tenures: TenureBook;
  private readonly held: Map<string, Held> = new Map();

  constructor(settings: RedlockSettings, tenures: TenureBook) {
    this.settings = settings;
    this.tenures = tenures;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock } = section;
    const name = under(at.name, part('acquire', attempt));
    const term = { value: randomValue(name), ttlUs: plan.ttlUs };
    const { value, ttlUs } = term;
    const ask = { kind: 'set', key: lock, value, ttlUs } as const;
    const round = yield* this.round(at, { verb: 'acquire', name, ask });
    if (!this.isEnough(at, round, term)) {
      const undo = under(at.name, part('undo', attempt));
      if (this.settings.partial === 'released') yield* this.unlock(at, undo, term.value);
      return false;
    }
    at.end = this.endOf(at, round, term);
    const { end } = at;
    const heldUntilUs = this.tenures.endUs(term.value, this.settings.quorum);
    const given = { lock, token: 0, ttlUs: term.ttlUs, since: round.since, end, heldUntilUs };
    const ordinal = self.quorum.grant(given);
    this.held.set(lock, { value: term.value, ordinal });
    self.enter({ section: at.name, lock, ordinal, token: 0, end });
    return true;
  }

  /** "Extending the lock": like acquiring it, with a script that prolongs what is still ours. */
  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock } = section;
    const held = this.held.get(lock);
    if (held === undefined) return false;
    const term = { value: held.value, ttlUs };
    const name = under(at.name, part('renew', id));
    const ask = { kind: 'expire', key: lock, ifValue: held.value, ttlUs } as const;
    const round = yield* this.round(at, { verb: 'renew', name, ask });
    const { nodes, quorum } = this.settings;
    if (!this.isEnough(at, round, term)) return countOf(round, 'nil') <= nodes.length - quorum;
    at.end = this.endOf(at, round, term);
    const { end } = at;
    const heldUntilUs = this.tenures.endUs(held.value, quorum);
    const { ordinal } = held;
    const { since } = round;
    self.quorum.renew({ lock, token: 0, ttlUs, since, end, heldUntilUs, ordinal });
    testLease(at);
    return true;
  }

  *release(at: Section): Program<void> {
    const { lock } = at.section;
    const held = this.held.get(lock);
    if (held === undefined) return;
    this.held.delete(lock);
    at.self.quorum.release({ lock, ordinal: held.ordinal });
    yield* this.unlock(at, under(at.name, 'release'), held.value);
  }

  token(): number {
    return 0;
  }

  /** "Releasing the lock": on every node, whether or not it seemed to be taken there. */
  private *unlock(at: Section, name: Name, value: number): Program<void> {
    const ask = { kind: 'delete', key: at.section.lock, ifValue: value } as const;
    yield* this.round(at, { verb: 'release', name, ask });
  }

  /** Asks every node, and waits until each has answered or its timeout is over. */
  private *round(
    at: Section,
    asked: { verb: Extract<Call, { lock: string }>['verb']; name: Name; ask: RedisRequest },
  ): Program<Round> {
    const [sentUs, sentWallUs] = [at.self.monotonicUs(), at.self.wallUs()];
    const calls: NodeCall[] = [];
    for (const [index, node] of this.settings.nodes.entries()) {
      const { verb, name, ask } = asked;
      const setting = {
        operation: index === 0 ? name : under(name, node.process.name),
        call: { verb, lock: ask.key, token: 0 },
        target: node,
        request: ask,
        timeoutUs: at.plan.lockTimeoutUs,
        // A second SET NX would be denied because of the first.
        tries: ask.kind === 'set' ? 1 : at.plan.tries,
        describe: describeRedisReply(ask, 0),
      };
      const isTogether = this.settings.asks === 'together';
      calls.push(yield* isTogether ? send(at.self, setting) : request(at.self, setting));
    }
    for (const call of calls) yield* answerOf(call);
    const [since] = calls;
    assert(since !== undefined, 'Redlock has at least one node');
    return { sentUs, sentWallUs, calls, since };
  }

  private isEnough(at: Section, round: Round, { ttlUs }: Term): boolean {
    const { quorum, validity, elapsed } = this.settings;
    if (countOf(round, 'done') < quorum) return false;
    if (validity === 'unchecked') return true;
    const { self } = at;
    const elapsedUs =
      elapsed === 'wall' ? self.wallUs() - round.sentWallUs : self.monotonicUs() - round.sentUs;
    return validityUs({ ttlUs, elapsedUs, marginUs: this.marginUs(ttlUs) }) > 0;
  }

  private endOf(at: Section, { sentUs, sentWallUs }: Round, { ttlUs }: Term): LeaseEnd {
    const validUs = ttlUs - this.marginUs(ttlUs);
    if (this.settings.elapsed === 'wall') return { clock: 'wall', us: sentWallUs + validUs };
    return leaseEnd(at, { sentUs, issuedAtUs: sentWallUs, ttlUs: validUs });
  }

  private marginUs(ttlUs: number): number {
    const { margin } = this.settings;
    return margin === null ? 0 : marginUs(ttlUs, margin);
  }
}

function countOf({ calls }: Round, kind: RedisReply['kind']): number {
  return calls.filter(({ reply }) => reply?.kind === kind).length;
}
