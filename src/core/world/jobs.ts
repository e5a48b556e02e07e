/**
 * After a piece of real asynchronous code, runs all of its promise jobs before anything else
 * happens. Jobs of different processes never mix.
 */
import { assert } from '../kernel/assert.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Process } from './process.ts';

/** The process whose jobs run. */
export interface JobOwner {
  /** Called before its jobs run. */
  begin(): void;
  /** Called when no job is left. Throws the error of a failed job. */
  end(): void;
}

export class Jobs {
  private readonly scheduler: Scheduler;
  private owner: JobOwner | null = null;
  private readonly waiting: Set<Process> = new Set();

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
  }

  /** Makes the jobs of `owner` run next, because its code has just run. */
  take(owner: JobOwner): void {
    assert(this.owner === null || this.owner === owner, 'two processes had jobs at once');
    this.owner = owner;
    this.scheduler.halt();
  }

  /**
   * Returns true if jobs, other than those of `owner`, must run before `process` may continue. The
   * process is then resumed after the jobs.
   */
  mustWait(process: Process, owner?: JobOwner): boolean {
    if (this.owner === null || this.owner === owner) return false;
    this.waiting.add(process);
    return true;
  }

  /** At each yield, the caller must run the pending jobs. Returns when no process has jobs. */
  *run(): Generator<void, void, void> {
    for (let { owner } = this; owner !== null; { owner } = this) {
      owner.begin();
      yield;
      owner.end();
      this.owner = null;
      this.wake();
    }
  }

  /** Resumes the waiting processes, until one of them has jobs. */
  private wake(): void {
    for (const process of this.waiting) {
      if (this.owner !== null) return;
      this.waiting.delete(process);
      process.goOn();
    }
  }
}
