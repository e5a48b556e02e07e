/**
 * Keeps a lease or a session alive while the client works. Two background programs run in the
 * client's process. The lock supplies the heartbeat; each answer moves the end of the lease. The
 * watch ends the lease at that time, by the process's clock. A client that tests its lease then
 * stops relying on its lock; any other client continues without a lease.
 */
import type { Json } from '../core/kernel/json.ts';
import type { ServerHost } from '../core/world/calls.ts';
import type { LeaseEnd } from '../core/world/program.ts';
import { inBackground, type Program, request, sleep } from '../core/world/program.ts';
import { enterLock, leaseEnd, prolongLease } from './lease.ts';
import type { Section } from './protocol.ts';

/**
 * A lease that a client keeps alive while it works. Successive sections may share the lease. It
 * ends if, by the client's clock, no heartbeat was answered in time.
 */
export class KeepAlive {
  /** The session's number at its server; 0 for a lease without a session. */
  readonly id: number;
  /** The process's current section. Background operations are named after it. */
  at: Section;
  /** True while the section relies on the lease. */
  holds = false;
  isOver = false;
  /** The last confirmed term: its request time on both clocks, and its length. */
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

  /** Starts the first term and runs `heartbeat` in the background. */
  *begin(term: KeepAlive['term'], heartbeat: Program<void>): Program<void> {
    this.prolong(term);
    const beating = yield* inBackground(heartbeat);
    const watching = yield* inBackground(this.watch());
    this.programs = [beating, watching];
  }

  /** Records a confirmed term and extends the lease by it. */
  prolong(term: KeepAlive['term']): void {
    this.term = term;
    this.end = leaseEnd(this.at, term);
    if (this.holds) prolongLease(this.at, term);
  }

  /** Renews the lease a third of a term after each answer, until the lease is lost. */
  *beat<Q extends Json, R extends Json>(beat: {
    readonly target: ServerHost<Q, R>;
    readonly request: Q;
    /** Returns the length of the term, counted from the request, or null if the lease is gone. */
    readonly ttlUsOf: (reply: R) => number | null;
    /** The reason to record if the lease no longer exists. */
    readonly lost: string;
    /** Time to wait before the next heartbeat if no answer came. Default: a third of the term. */
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

  /** Enters a section as `enterLock` does, with the last confirmed term. */
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

  /** Ends a lease that is lost or given up. The client knows of the end. */
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

/** The session of a process at a server. All locks of the process are bound to it. */
export class ClientSession {
  /** The latest session, which may be over; null before the first. */
  current: KeepAlive | null = null;
  private readonly opening: ConstructorParameters<typeof ClientSession>[0];

  constructor(opening: {
    /**
     * Requests a session. Returns null if no answer came; the server may still have created one.
     */
    open(at: Section): Program<{ readonly id: number; readonly ttlUs: number } | null>;
    /** Keeps the session alive, for example by `session.beat`. */
    heartbeat(session: KeepAlive): Program<void>;
  }) {
    this.opening = opening;
  }

  /** Returns the current session, or opens a new one. Returns null if that failed. */
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

  /** Stops relying on the session, before or after its locks are released. */
  letGo(): void {
    if (this.current !== null) this.current.holds = false;
  }

  /**
   * Stops relying on the session. If the section does not release its locks, also stops the
   * heartbeat, so that the locks end with the session.
   */
  settle(at: Section): void {
    this.letGo();
    if (!at.plan.releases) this.current?.lose('left to its ttl');
  }
}
