/** Records how each section of one client ends, so that sections that never end can be reported. */
import type { SectionEnd, SectionError, SectionRun } from '../history/trace.ts';
import type { Name } from '../kernel/name.ts';
import type { Scheduler } from '../kernel/scheduler.ts';

const OPEN: SectionEnd = { kind: 'open', wait: null };

export class SectionLog {
  /** All sections that began, in order. */
  readonly runs: SectionRun[] = [];
  private readonly process: string;
  private readonly scheduler: Pick<Scheduler, 'nowUs'>;

  constructor(process: string, scheduler: Pick<Scheduler, 'nowUs'>) {
    this.process = process;
    this.scheduler = scheduler;
  }

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

  /** Ends a section with an error. Null means the section that began last. */
  fail(section: Name | null, error: SectionError): void {
    this.close(section, { kind: 'failed', atUs: this.scheduler.nowUs, error });
  }

  crash(): void {
    const end: SectionEnd = { kind: 'crashed', atUs: this.scheduler.nowUs };
    for (const at of this.runs.keys()) this.closeAt(at, end);
  }

  private close(name: Name | null, end: SectionEnd): void {
    const at = this.runs.findLastIndex(({ section }) => name === null || section === name.text);
    this.closeAt(at, end);
  }

  private closeAt(at: number, end: SectionEnd): void {
    const run = this.runs[at];
    if (run?.end.kind !== 'open') return;
    const { process, section, beganUs } = run;
    this.runs[at] = { process, section, beganUs, end };
  }
}
