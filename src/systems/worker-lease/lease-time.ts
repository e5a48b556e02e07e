/** How leases count time: whole seconds, as published, or exactly. Clocks are in microseconds. */
import { unreachable } from '../../core/kernel/assert.ts';

const SECOND_US = 1_000_000;

/**
 * `whole`: seconds of a clock that is rounded down; a ttl that is no whole number of seconds is
 * rounded up. `truncated` rounds the ttl down too, `exact` counts microseconds.
 */
export type Counting = 'whole' | 'truncated' | 'exact';

export class LeaseTime {
  private readonly counting: Counting;

  constructor(counting: Counting) {
    this.counting = counting;
  }

  /** What a clock that shows `us` is taken for. */
  timeOf(us: number): number {
    return this.counting === 'exact' ? us : Math.floor(us / SECOND_US);
  }

  timeoutOf(ttlUs: number): number {
    switch (this.counting) {
      case 'exact':
        return ttlUs;
      case 'whole':
        return Math.ceil(ttlUs / SECOND_US);
      case 'truncated':
        return Math.floor(ttlUs / SECOND_US);
      default:
        return unreachable(this.counting);
    }
  }

  /** What a clock shows when a lease has timed out that is held until `expires`, inclusive. */
  endUsOf(expires: number): number {
    return this.counting === 'exact' ? expires + 1 : (expires + 1) * SECOND_US;
  }
}
