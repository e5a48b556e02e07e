/**
 * What keeps a lease, or a session on which locks hang, beside the work: two programs in the
 * background of a client's process. One is its lock's own, the heartbeat. The other watches the end
 * of the lease by the process's own clock, which each answer to a heartbeat moves. Once that is
 * past, or an answer says so, the lease is lost, and its client knows. What its program makes of
 * that is the program's own affair: one that tests its lease stops counting on its lock then, any
 * other goes on without one.
 */
import type { Json } from '../core/kernel/json.ts';
import { type Name, under } from '../core/kernel/name.ts';
import type { LeaseEnd } from '../core/world/client-view.ts';
import {
  type Background,
  inBackground,
  type Program,
  request,
  sleep,
} from '../core/world/program.ts';
import type { ServerHost } from '../core/world/server.ts';
import { enterLock, leaseEnd, prolongLease } from './lease.ts';
import type { Section } from './protocol.ts';
import { part } from './section-calls.ts';

/** What the requests of one client are called: numbered anew in each section. */
export class Names {
  private section = '';
  private readonly counts: Map<string, number> = new Map();

  /** `alice/2/heartbeat`, then `alice/2/heartbeat-2`, … */
  next(at: Section, label: string): Name {
    if (this.section !== at.name.text) this.counts.clear();
    this.section = at.name.text;
    const count = (this.counts.get(label) ?? 0) + 1;
    this.counts.set(label, count);
    return under(at.name, part(label, count));
  }
}

/** When a lease was asked for, by both clocks of the process, and for how long it was given. */
export type LeaseTerm = Parameters<typeof leaseEnd>[1];

/** What a heartbeat asks, a third of the ttl after each answer. */
interface Beat<Q extends Json, R extends Json> {
  readonly target: ServerHost<Q, R>;
  readonly request: Q;
  /** How long the lease lasts from when it asked; null where there is none any more. */
  readonly ttlUsOf: (reply: R) => number | null;
  /** Why the lease is lost then. */
  readonly lost: string;
  /** When it asks again after no answer; by default as after one. */
  readonly retryUs?: number;
}

export class KeepAlive {
  readonly names: Names;
  /** The section that its process is in: what it does in the background is named by that. */
  at: Section;
  /** Whether the section counts on the lease now. */
  holds = false;
  isOver = false;
  /** What was confirmed last. */
  term: LeaseTerm = { sentUs: 0, issuedAtUs: 0, ttlUs: 0 };
  private end: LeaseEnd = { clock: 'monotonic', us: 0 };
  private programs: readonly Background[] = [];

  constructor(at: Section, names: Names) {
    this.at = at;
    this.names = names;
  }

  /** Begins with the first term, which came with the lease. */
  *begin(term: LeaseTerm, heartbeat: Program<void>): Program<void> {
    this.prolong(term);
    const beating = yield* inBackground(heartbeat);
    const watching = yield* inBackground(this.watch());
    this.programs = [beating, watching];
  }

  /** A heartbeat was answered: the lease lasts longer. */
  prolong(term: LeaseTerm): void {
    this.term = term;
    this.end = leaseEnd(this.at, term);
    if (this.holds) prolongLease(this.at, term);
  }

  /** The heartbeat of a lease that is asked for anew, and whole, each time. */
  *beat<Q extends Json, R extends Json>(beat: Beat<Q, R>): Program<void> {
    const { target, ttlUsOf, lost } = beat;
    let wasHeard = true;
    for (;;) {
      const thirdUs = Math.floor(this.term.ttlUs / 3);
      yield* sleep(
        this.names.next(this.at, 'beat'),
        wasHeard ? thirdUs : (beat.retryUs ?? thirdUs),
      );
      const { self, section } = this.at;
      const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
      const { reply } = yield* request<Q, R>(self, {
        operation: this.names.next(this.at, 'heartbeat'),
        call: { verb: 'renew', lock: section.lock, token: 0 },
        target,
        request: beat.request,
        timeoutUs: null,
        tries: 1,
        describe: (answer) =>
          ttlUsOf(answer) === null ? { kind: 'denied', holder: '' } : { kind: 'renewed' },
      });
      wasHeard = reply !== null;
      if (reply === null) continue;
      const ttlUs = ttlUsOf(reply);
      if (ttlUs === null) return this.lose(lost);
      this.prolong({ sentUs, issuedAtUs, ttlUs });
    }
  }

  /** Its client has a lock that hangs on the lease, and counts on it from now on. */
  enter(ordinal: number, token: number): void {
    this.holds = true;
    const { sentUs, issuedAtUs: sentWallUs, ttlUs } = this.term;
    enterLock(this.at, { ordinal, sentUs, sentWallUs }, { ttlUs, token });
  }

  private *watch(): Program<void> {
    for (;;) {
      const { clock, us } = this.end;
      const { self } = this.at;
      const leftUs = us - (clock === 'wall' ? self.wallUs() : self.monotonicUs());
      if (leftUs <= 0) return this.lose('no heartbeat was answered in time');
      yield* sleep(this.names.next(this.at, 'watch'), leftUs);
    }
  }

  /** The lease is lost or given up, and its client knows. */
  lose(why: string): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const program of this.programs) program.stop();
    const { at } = this;
    at.self.log('lease', `over: ${why}`);
    if (!this.holds || !at.plan.checksLease) return;
    at.end = { clock: 'monotonic', us: 0 };
    at.self.leave();
  }
}

/** A session that a server keeps for a process, by its number there. */
export interface KeptSession {
  readonly id: number;
  readonly keeping: KeepAlive;
}

/** How one is had. */
export interface Opening {
  /** Null where no answer came: it may be there, and ends by itself. */
  readonly open: (at: Section) => Program<{ readonly id: number; readonly ttlUs: number } | null>;
  readonly heartbeat: (session: KeptSession) => Program<void>;
}

/** The session of a process, on which all of its locks hang. */
export class OwnSession {
  current: KeptSession | null = null;
  private readonly names: Names;
  private readonly opening: Opening;

  constructor(names: Names, opening: Opening) {
    this.names = names;
    this.opening = opening;
  }

  /** A new one where the last is over; null where none could be had. */
  *during(at: Section): Program<KeptSession | null> {
    if (this.current !== null) this.current.keeping.at = at;
    if (this.current !== null && !this.current.keeping.isOver) return this.current;
    this.current = null;
    const [sentUs, issuedAtUs] = [at.self.monotonicUs(), at.self.wallUs()];
    const opened = yield* this.opening.open(at);
    if (opened === null) return null;
    const { id, ttlUs } = opened;
    const session = { id, keeping: new KeepAlive(at, this.names) };
    this.current = session;
    yield* session.keeping.begin({ sentUs, issuedAtUs, ttlUs }, this.opening.heartbeat(session));
    return session;
  }

  /** Its locks are given back, or will be. */
  letGo(): void {
    if (this.current !== null) this.current.keeping.holds = false;
  }

  /** What a section does not give back is left to the end of the session, which is kept no more. */
  settle(at: Section): void {
    this.letGo();
    if (!at.plan.releases) this.current?.keeping.lose('left to its ttl');
  }
}
