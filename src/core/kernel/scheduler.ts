/** The only event loop: pop, advance the clock, fire. Virtual time is in whole microseconds. */
import { assert } from './assert.ts';
import { type Due, EventQueue } from './queue.ts';

export interface LoopLimits {
  readonly endUs: number;
  readonly maxEvents: number;
}

/** Called just before each event fires, with the previous event. */
export type Watcher = (due: Due, previous: Due | null) => void;

/** `halted`: an event requested the stop, and the next `run` continues from there. */
export type Stop = 'complete' | 'end' | 'maxEvents' | 'halted';

/**
 * Counts the work of a thread: simulated events, and pieces of work between two events. Another
 * thread that reads the count can distinguish slow code from code that never ends.
 */
export const stepCount: { steps: Int32Array } = { steps: new Int32Array(1) };

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

  /** Current true time. */
  get nowUs(): number {
    return this.timeUs;
  }

  /** Schedules `due` at its time, which must not be in the past. */
  schedule(due: Due): void {
    assert(due.timeUs >= this.timeUs, 'an event was scheduled in the past');
    due.seq = this.scheduled;
    this.scheduled += 1;
    this.queue.push(due);
  }

  /** Stops the loop after the current event. */
  halt(): void {
    this.mustHalt = true;
  }

  /**
   * Runs until no event is left, a limit is reached or an event halts the loop, and returns the
   * reason. Canceled events do not count toward the limits. Another call continues from there;
   * events of earlier calls count toward `maxEvents`.
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
