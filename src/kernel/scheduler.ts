/**
 * The one event loop: pop, advance the clock, fire. Virtual time is an integer number of
 * microseconds.
 */
import { assert } from './assert.ts';
import { type Due, EventQueue } from './queue.ts';

export interface LoopLimits {
  readonly endUs: number;
  readonly maxEvents: number;
}

/** Told of each event just before it fires, together with the one before it. */
export type Watcher = (due: Due, previous: Due | null) => void;

export class Scheduler {
  private readonly queue: EventQueue = new EventQueue();
  private timeUs = 0;
  private scheduled = 0;

  /** The present, true time. */
  get nowUs(): number {
    return this.timeUs;
  }

  /** Makes `due` happen at its time, which must not have passed. */
  schedule(due: Due): void {
    assert(due.timeUs >= this.timeUs, 'an event was scheduled in the past');
    due.seq = this.scheduled;
    this.scheduled += 1;
    this.queue.push(due);
  }

  /**
   * Runs until nothing is left or a limit is reached, and says which. What was cancelled counts for
   * nothing.
   */
  run(limits: LoopLimits, watcher: Watcher | null = null): 'complete' | 'end' | 'maxEvents' {
    let left = limits.maxEvents;
    let previous: Due | null = null;
    for (;;) {
      const due = this.queue.pop();
      if (due === undefined) return 'complete';
      if (due.isCancelled) continue;
      if (due.timeUs > limits.endUs) return 'end';
      if (left === 0) return 'maxEvents';
      left -= 1;
      this.timeUs = due.timeUs;
      if (watcher !== null) {
        watcher(due, previous);
        previous = due;
      }
      due.fire();
    }
  }
}
