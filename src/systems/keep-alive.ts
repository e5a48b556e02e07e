/**
 * What keeps a lease, or a session on which locks hang, beside the work: two programs in the
 * background of a client's process. One is its lock's own, the heartbeat. The other watches the end
 * of the lease by the process's own clock, which each answer to a heartbeat moves. Once that is
 * past, or an answer says so, the lease is lost, and its client knows. What its program makes of
 * that is the program's own affair: one that tests its lease stops counting on its lock then, any
 * other goes on without one.
 */
import type { Json } from '../core/kernel/json.ts';
import type { ServerHost } from '../core/world/calls.ts';
import type { LeaseEnd } from '../core/world/program.ts';
import { inBackground, type Program, request, sleep } from '../core/world/program.ts';
import { enterLock, leaseEnd, prolongLease } from './lease.ts';
import type { Section } from './protocol.ts';

/**
 * A lease that a client keeps beside its work, and that several sections may count on: until its
 * heartbeat is no longer answered in time, by the client's own clock.
 */
export class KeepAlive {
  /** The session's number at its server; 0 for a lease without one. */
  readonly id: number;
  /** The section that its process is in: what it does in the background is named by that. */
  at: Section;
  /** Whether the section counts on the lease now. */
  holds = false;
  isOver = false;
  /** What was confirmed last: when it was asked for by both clocks, and how long it was given. */
  term: { readonly sentUs: number; readonly issuedAtUs: number; readonly ttlUs: number } = {
    sentUs: 0,
    issuedAtUs: 0,
    ttlUs: 0,
  };
  private end: LeaseEnd = { clock: 'monotonic', us: 0 };
  private programs: readonly { stop(): void }[] = [];

  constructor(at: Section, id: number = 0) {
    this.at = at;
    this.id = id;
  }

  /**
   * Begins with the first term, which came with the lease, and runs `heartbeat` beside the work.
   */
  *begin(term: KeepAlive['term'], heartbeat: Program<void>): Program<void> {
    this.prolong(term);
    const beating = yield* inBackground(heartbeat);
    const watching = yield* inBackground(this.watch());
    this.programs = [beating, watching];
  }

  /** A heartbeat was answered: the lease lasts longer. */
  prolong(term: KeepAlive['term']): void {
    this.term = term;
    this.end = leaseEnd(this.at, term);
    if (this.holds) prolongLease(this.at, term);
  }

  /**
   * Returns a heartbeat that asks for the whole lease again, a third of it after each answer, until
   * the lease is lost.
   */
  *beat<Q extends Json, R extends Json>(beat: {
    readonly target: ServerHost<Q, R>;
    readonly request: Q;
    /** How long the lease lasts from when it asked; null if there is none any more. */
    readonly ttlUsOf: (reply: R) => number | null;
    /** Why the lease is lost then. */
    readonly lost: string;
    /** When it asks again if there was no answer. Default: as after one. */
    readonly retryUs?: number;
  }): Program<void> {
    const { target, ttlUsOf, lost } = beat;
    let wasHeard = true;
    for (;;) {
      const thirdUs = Math.floor(this.term.ttlUs / 3);
      yield* sleep(this.at.nextName('beat'), wasHeard ? thirdUs : (beat.retryUs ?? thirdUs));
      const { self, section } = this.at;
      const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
      const { reply } = yield* request<Q, R>(self, {
        operation: this.at.nextName('heartbeat'),
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

  /**
   * Its client has a lock that hangs on the lease, and counts on it from now on, as `enterLock`.
   */
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
      yield* sleep(this.at.nextName('watch'), leftUs);
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

/** The session of a process at a server, on which all of its locks hang. */
export class OwnSession {
  /** The last one, which may be over; null before the first. */
  current: KeepAlive | null = null;
  private readonly opening: ConstructorParameters<typeof OwnSession>[0];

  constructor(opening: {
    /** Asks for a session; null if no answer came: it may be there, and ends by itself. */
    open(at: Section): Program<{ readonly id: number; readonly ttlUs: number } | null>;
    /** Keeps it alive, as by `session.beat`. */
    heartbeat(session: KeepAlive): Program<void>;
  }) {
    this.opening = opening;
  }

  /** Returns the current session, or a new one if that is over; null if none could be had. */
  *during(at: Section): Program<KeepAlive | null> {
    if (this.current !== null) this.current.at = at;
    if (this.current !== null && !this.current.isOver) return this.current;
    this.current = null;
    const [sentUs, issuedAtUs] = [at.self.monotonicUs(), at.self.wallUs()];
    const opened = yield* this.opening.open(at);
    if (opened === null) return null;
    const session = new KeepAlive(at, opened.id);
    this.current = session;
    const term = { sentUs, issuedAtUs, ttlUs: opened.ttlUs };
    yield* session.begin(term, this.opening.heartbeat(session));
    return session;
  }

  /** Its locks are given back, or will be. */
  letGo(): void {
    if (this.current !== null) this.current.holds = false;
  }

  /** What a section does not give back is left to the end of the session, which is kept no more. */
  settle(at: Section): void {
    this.letGo();
    if (!at.plan.releases) this.current?.lose('left to its ttl');
  }
}
