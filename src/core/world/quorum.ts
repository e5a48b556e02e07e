/**
 * Grants that no single server gives: a client takes them itself, once enough servers said yes. It
 * tells the observer here, in the words that a lock service would use, with itself as the service.
 */
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Process } from './process.ts';
import type { LeaseEnd } from './program.ts';
import type { Recorder } from './recorder.ts';

interface Term {
  readonly lock: string;
  readonly token: number;
  readonly ttlUs: number;
  /** The first of the calls that the answer rests on: the lease is counted from its departure. */
  readonly since: { readonly sentAtUs: number };
  /** When the client takes the lease to end. */
  readonly end: LeaseEnd;
  /**
   * True time from which on too few of its servers hold the lease, as the observer knows; null
   * where it has no end. Without it, the client's own end counts.
   */
  readonly heldUntilUs?: number | null;
}

export class Quorum {
  private readonly process: Process;
  private readonly parts: { readonly scheduler: Scheduler; readonly recorder: Recorder };

  constructor(process: Process, parts: { scheduler: Scheduler; recorder: Recorder }) {
    this.process = process;
    this.parts = parts;
  }

  /** The client takes the lock: returns the grant's ordinal, for `enter`. */
  grant(term: Term): number {
    const { recorder, scheduler } = this.parts;
    const { name } = this.process;
    const ordinal = recorder.nextOrdinal();
    recorder.record({
      kind: 'grant',
      atUs: scheduler.nowUs,
      process: name,
      lock: term.lock,
      client: name,
      message: '',
      ordinal,
      token: term.token,
      ttlUs: term.ttlUs,
      sentAtUs: term.since.sentAtUs,
      untilUs: this.untilUs(term),
    });
    return ordinal;
  }

  /** The client's lease is prolonged, because enough servers said so. */
  renew(term: Term & { readonly ordinal: number }): void {
    const { recorder, scheduler } = this.parts;
    const { name } = this.process;
    recorder.record({
      kind: 'renew',
      atUs: scheduler.nowUs,
      process: name,
      lock: term.lock,
      client: name,
      message: '',
      under: term.ordinal,
      extended: term.ordinal,
      token: term.token,
      ttlUs: term.ttlUs,
      sentAtUs: term.since.sentAtUs,
      untilUs: this.untilUs(term),
    });
  }

  /** The client gives the lock up; said before its servers are told. */
  release({ lock, ordinal }: { readonly lock: string; readonly ordinal: number }): void {
    const { recorder, scheduler } = this.parts;
    const { name } = this.process;
    recorder.record({
      kind: 'release',
      atUs: scheduler.nowUs,
      process: name,
      lock,
      client: name,
      message: '',
      under: ordinal,
      released: ordinal,
    });
  }

  private untilUs({ end, heldUntilUs }: Term): number | null {
    if (heldUntilUs !== undefined) return heldUntilUs;
    const { clock } = this.process;
    return end.clock === 'wall' ? clock.trueTimeOfWall(end.us) : clock.trueTimeOfMonotonic(end.us);
  }
}
