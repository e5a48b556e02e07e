/**
 * Records what becomes of the sections of one client, whether it is a generator or asynchronous
 * code, so that a section that never ends is known by more than the events that it did not cause.
 */
import type { SectionEnd, SectionError, SectionRun } from '../history/trace.ts';
import type { Name } from '../kernel/name.ts';
import type { Scheduler } from '../kernel/scheduler.ts';

const OPEN: SectionEnd = { kind: 'open', wait: null };

export class SectionLog {
  /** All that began, in this order. */
  readonly runs: SectionRun[] = [];
  private readonly process: string;
  private readonly scheduler: Pick<Scheduler, 'nowUs'>;

  constructor(process: string, scheduler: Pick<Scheduler, 'nowUs'>) {
    this.process = process;
    this.scheduler = scheduler;
  }

  /** How many began. */
  get begun(): number {
    return this.runs.length;
  }

  begin({ text: section }: Name): void {
    const beganUs = this.scheduler.nowUs;
    this.runs.push({ process: this.process, section, beganUs, end: OPEN });
  }

  end(section: Name, isUnguarded: boolean = false): void {
    this.close(section, { kind: 'returned', atUs: this.scheduler.nowUs, isUnguarded });
  }

  /** An error ended a section; null stands for the one that began last. */
  fail(section: Name | null, error: SectionError): void {
    this.close(section, { kind: 'failed', atUs: this.scheduler.nowUs, error });
  }

  /** A crash ends all that are open. */
  crash(): void {
    const end: SectionEnd = { kind: 'crashed', atUs: this.scheduler.nowUs };
    for (const at of this.runs.keys()) this.closeAt(at, end);
  }

  private close(name: Name | null, end: SectionEnd): void {
    const at = this.runs.findLastIndex(({ section }) => name === null || section === name.text);
    this.closeAt(at, end);
  }

  /** The first end of a section counts. */
  private closeAt(at: number, end: SectionEnd): void {
    const run = this.runs[at];
    if (run?.end.kind !== 'open') return;
    const { process, section, beganUs } = run;
    this.runs[at] = { process, section, beganUs, end };
  }
}
