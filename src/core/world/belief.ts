/**
 * What a program counts on, as it says so itself, noted for the observer: its grant and its lease's
 * end.
 */
import type { Job } from '../history/trace.ts';
import type { Name } from '../kernel/name.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Process } from './process.ts';
import type { LeaseEnd } from './program.ts';
import type { Recorder } from './recorder.ts';

/** A grant that reached a program. */
export interface Entry {
  readonly section: Name;
  readonly lock: string;
  readonly ordinal: number;
  readonly token: number;
  readonly end: LeaseEnd;
}

export class Belief {
  private readonly process: Process;
  private readonly parts: { readonly scheduler: Scheduler; readonly recorder: Recorder };
  private entry: Entry | null = null;
  private isHeld = false;

  constructor(process: Process, parts: { scheduler: Scheduler; recorder: Recorder }) {
    this.process = process;
    this.parts = parts;
  }

  /** The grant under which the program acts, even when it counts on it no more; 0 for none. */
  get ordinal(): number {
    return this.entry?.ordinal ?? 0;
  }

  /** A section begins, under no grant yet. */
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
      believedUntilUs: this.trueTimeOf(entry.end),
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

  testLease(test: { isLive: boolean; end: LeaseEnd }): void {
    const { entry } = this;
    if (entry === null) return;
    this.parts.recorder.record({
      kind: 'lease-test',
      atUs: this.parts.scheduler.nowUs,
      process: this.process.name,
      lock: entry.lock,
      ordinal: entry.ordinal,
      isLive: test.isLive,
      believedUntilUs: this.trueTimeOf(test.end),
    });
  }

  /** A guarded job begins or ends. */
  noteJob(phase: Job['phase'], job: { section: Name; lock: string; tick: number }): void {
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

  private trueTimeOf(end: LeaseEnd): number {
    return end.clock === 'wall'
      ? this.process.clock.trueTimeOfWall(end.us)
      : this.process.clock.trueTimeOfMonotonic(end.us);
  }
}
