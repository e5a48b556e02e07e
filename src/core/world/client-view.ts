/**
 * Records a client's own view, as its program reports it: the grant that the client relies on, and
 * the end of the lease. Also records grants from a quorum of servers, which no single server can
 * report.
 */
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Process } from './process.ts';
import type { LeaseEnd, Self } from './program.ts';
import type { Recorder } from './recorder.ts';

type Entry = Parameters<Self['enter']>[0];

export class ClientView {
  private readonly process: Process;
  private readonly parts: { readonly scheduler: Scheduler; readonly recorder: Recorder };
  private entry: Entry | null = null;
  private isHeld = false;

  constructor(process: Process, parts: { scheduler: Scheduler; recorder: Recorder }) {
    this.process = process;
    this.parts = parts;
  }

  /** Number of the grant under which the program acts, even after `leave`; 0 if there is none. */
  get ordinal(): number {
    return this.entry?.ordinal ?? 0;
  }

  /** Begins a section, which has no grant yet. */
  begin(): void {
    this.entry = null;
    this.isHeld = false;
  }

  enter(entry: Entry): void {
    this.entry = entry;
    this.isHeld = true;
    this.parts.recorder.record({
      kind: 'enter',
      atUs: this.parts.scheduler.nowUs,
      process: this.process.name,
      section: entry.section.text,
      lock: entry.lock,
      ordinal: entry.ordinal,
      token: entry.token,
      believedUntilUs: trueTimeOf(this.process, entry.end),
    });
  }

  leave(): void {
    const { entry } = this;
    if (entry === null || !this.isHeld) return;
    this.isHeld = false;
    this.parts.recorder.record({
      kind: 'leave',
      atUs: this.parts.scheduler.nowUs,
      process: this.process.name,
      section: entry.section.text,
      lock: entry.lock,
      ordinal: entry.ordinal,
    });
  }

  testLease(test: Parameters<Self['testLease']>[0]): void {
    const { entry } = this;
    if (entry === null) return;
    this.parts.recorder.record({
      kind: 'lease-test',
      atUs: this.parts.scheduler.nowUs,
      process: this.process.name,
      lock: entry.lock,
      ordinal: entry.ordinal,
      isLive: test.isLive,
      believedUntilUs: trueTimeOf(this.process, test.end),
    });
  }

  noteJob(...[phase, job]: Parameters<Self['job']>): void {
    this.parts.recorder.record({
      kind: 'job',
      atUs: this.parts.scheduler.nowUs,
      process: this.process.name,
      phase,
      section: job.section.text,
      lock: job.lock,
      tick: job.tick,
      ordinal: this.ordinal,
    });
  }
}

type QuorumView = Self['quorum'];
type Term = Parameters<QuorumView['grant']>[0];

export class Quorum implements QuorumView {
  private readonly process: Process;
  private readonly parts: { readonly scheduler: Scheduler; readonly recorder: Recorder };

  constructor(process: Process, parts: { scheduler: Scheduler; recorder: Recorder }) {
    this.process = process;
    this.parts = parts;
  }

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

  serve(read: Parameters<QuorumView['serve']>[0]): void {
    const { scheduler, recorder } = this.parts;
    recorder.record(Object.assign({ atUs: scheduler.nowUs }, read));
  }

  private untilUs({ end, heldUntilUs }: Term): number | null {
    return heldUntilUs === undefined ? trueTimeOf(this.process, end) : heldUntilUs;
  }
}

/** Returns the true time at which the process's clock shows `end`, at its current rate. */
export function trueTimeOf({ clock }: Process, end: LeaseEnd): number {
  return end.clock === 'wall' ? clock.trueTimeOfWall(end.us) : clock.trueTimeOfMonotonic(end.us);
}
