/** Observes the system from outside: writes the trace and numbers the grants in order. */
import type { TraceEvent } from '../history/events.ts';

export class Recorder {
  readonly events: TraceEvent[] = [];
  private ordinals = 0;

  record(event: TraceEvent): void {
    this.events.push(event);
  }

  /** Returns the next grant number, from 1. */
  nextOrdinal(): number {
    this.ordinals += 1;
    return this.ordinals;
  }
}
