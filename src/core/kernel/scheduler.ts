/** The one event loop: pop, advance the clock, fire. Virtual time is whole microseconds. */
import { assert } from './assert.ts';
import { type Due, EventQueue } from './queue.ts';

export interface LoopLimits {
  readonly endUs: number;
  readonly maxEvents: number;
}

/** Told of each event just before it fires, together with the one before it. */
export type Watcher = (due: Due, previous: Due | null) => void;

/** `halted`: an event asked for it, and `run` goes on where it stopped. */
export type Stop = 'complete' | 'end' | 'maxEvents' | 'halted';

/**
 * Counts what a thread gets done: simulated events, and pieces of work between two of them. Another
 * thread that reads it can distinguish code that takes long from code that never ends.
 */
export const stepCount: { steps: Int32Array } = { steps: new Int32Array(1) };

/** Counts one more. */
export function countStep(): void {
  const { steps } = stepCount;
  steps[0] = (steps[0] ?? 0) + 1;
}

export class Scheduler {
  private readonly queue: EventQueue = new EventQueue();
  private timeUs = 0;
  private scheduled = 0;
  private fired = 0;
  private previous: Due | null = null;
  private mustHalt = false;

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

  /** Stops the loop after the present event. */
  halt(): void {
    this.mustHalt = true;
  }

  /**
   * Runs until nothing is left, a limit is reached or an event halts it, and says which. What was
   * cancelled counts for nothing. Called again, it goes on, with what is left of `limits`.
   */
  run(limits: LoopLimits, watcher: Watcher | null = null): Stop {
    this.mustHalt = false;
    while (!this.mustHalt) {
      const due = this.queue.pop();
      if (due === undefined) return 'complete';
      if (due.isCancelled) continue;
      if (due.timeUs > limits.endUs) return 'end';
      if (this.fired === limits.maxEvents) return 'maxEvents';
      this.fired += 1;
      countStep();
      this.timeUs = due.timeUs;
      if (watcher !== null) {
        watcher(due, this.previous);
        this.previous = due;
      }
      due.fire();
    }
    return 'halted';
  }
}
