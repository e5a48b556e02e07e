/**
 * Decides whose jobs run: after a piece of real asynchronous code its promises' jobs run to their
 * end before anything else happens, and those of one process never among another's. What comes
 * meanwhile waits.
 */
import { assert } from '../kernel/assert.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Process } from './process.ts';

/** Whose jobs are to run. */
export interface JobOwner {
  /** They run from here on. */
  begin(): void;
  /** None is left. Throws what went wrong in them. */
  end(): void;
}

export class Jobs {
  private readonly scheduler: Scheduler;
  private owner: JobOwner | null = null;
  private readonly waiting: Set<Process> = new Set();

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
  }

  /** The code of `owner` ran: its jobs come next. */
  take(owner: JobOwner): void {
    assert(this.owner === null || this.owner === owner, 'two processes had jobs at once');
    this.owner = owner;
    this.scheduler.halt();
  }

  /** Whether jobs are to run before a piece of `process` does; it goes on after them. */
  mustWait(process: Process): boolean {
    if (this.owner === null) return false;
    this.waiting.add(process);
    return true;
  }

  /** Runs all jobs, also those that they cause: at each yield the caller runs what is there. */
  *run(): Generator<void, void, void> {
    for (let { owner } = this; owner !== null; { owner } = this) {
      owner.begin();
      yield;
      owner.end();
      this.owner = null;
      this.wake();
    }
  }

  /** Those that waited go on, until one of them has jobs. */
  private wake(): void {
    for (const process of this.waiting) {
      if (this.owner !== null) return;
      this.waiting.delete(process);
      process.goOn();
    }
  }
}
