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
    const ordinal = this.parts.recorder.nextOrdinal();
    const { token, ttlUs } = term;
    this.parts.recorder.record({
      kind: 'grant',
      ...this.named(term.lock),
      ...{ ordinal, token, ttlUs },
      ...this.span(term),
    });
    return ordinal;
  }

  /** The client's lease is prolonged, because enough servers said so. */
  renew(term: Term & { readonly ordinal: number }): void {
    const { ordinal, token, ttlUs } = term;
    this.parts.recorder.record({
      kind: 'renew',
      ...this.named(term.lock),
      ...{ under: ordinal, extended: ordinal, token, ttlUs },
      ...this.span(term),
    });
  }

  /** The client gives the lock up; said before its servers are told. */
  release({ lock, ordinal }: { readonly lock: string; readonly ordinal: number }): void {
    const named = this.named(lock);
    this.parts.recorder.record({ kind: 'release', ...named, under: ordinal, released: ordinal });
  }

  private named(lock: string): {
    atUs: number;
    process: string;
    lock: string;
    client: string;
    message: string;
  } {
    const { name } = this.process;
    return { atUs: this.parts.scheduler.nowUs, process: name, lock, client: name, message: '' };
  }

  private span({ since, end, heldUntilUs }: Term): { sentAtUs: number; untilUs: number | null } {
    const { clock } = this.process;
    const ownUs =
      end.clock === 'wall' ? clock.trueTimeOfWall(end.us) : clock.trueTimeOfMonotonic(end.us);
    return { sentAtUs: since.sentAtUs, untilUs: heldUntilUs === undefined ? ownUs : heldUntilUs };
  }
}
