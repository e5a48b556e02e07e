/**
 * What keeps a lease beside the work: two programs in the background of a client's process. One is
 * its lock's own, the heartbeat. The other watches the end of the lease by the process's own clock,
 * which each answer to a heartbeat moves. Once that is past, or an answer says so, the lease is
 * lost, and its client knows. What its program makes of that is the program's own affair: one that
 * tests its lease stops counting on its lock then, any other goes on without one.
 */
import { type Name, under } from '../core/kernel/name.ts';
import type { LeaseEnd } from '../core/world/client-view.ts';
import { type Background, inBackground, type Program, sleep } from '../core/world/program.ts';
import { leaseEnd, prolongLease } from './lease.ts';
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
