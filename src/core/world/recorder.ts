/** The observer outside the system: writes the trace and numbers the grants as they are given. */
import type { TraceEvent } from '../history/events.ts';

export class Recorder {
  readonly events: TraceEvent[] = [];
  private ordinals = 0;

  record(event: TraceEvent): void {
    this.events.push(event);
  }

  /** The next grant's ordinal, from 1. */
  nextOrdinal(): number {
    this.ordinals += 1;
    return this.ordinals;
  }
}
