/** A random stream per name and seed. The draws of a client thus depend on no other client. */
import alea from 'seedrandom/lib/alea.js';
import type { RangeUs } from '../core/plan/duration.ts';
import type { Odds } from '../core/plan/plan.ts';

const MILLISECOND_US = 1_000;

export class Draw {
  private readonly stream: ReturnType<typeof alea>;
  private readonly isInMilliseconds: boolean;

  /** Creating a stream takes 1–2 µs; a draw takes nanoseconds. */
  constructor(name: string, isInMilliseconds: boolean) {
    this.stream = alea(name);
    this.isInMilliseconds = isInMilliseconds;
  }

  /** Returns an unsigned 32-bit integer. */
  bits(): number {
    return this.stream.int32() >>> 0;
  }

  /** Returns an integer from 0 to `count - 1`. */
  below(count: number): number {
    return this.bits() % count;
  }

  /** Returns one of `items`. Draws nothing if there is only one. */
  oneOf<Item>(items: readonly Item[]): Item | undefined {
    return items.length < 2 ? items[0] : items[this.below(items.length)];
  }

  /** Returns true with the given odds. If they are null, returns true without a draw. */
  happens(odds: Odds | null): boolean {
    return odds === null || this.wide() % odds.denominator < odds.numerator;
  }

  /** Returns a time in the range. Draws nothing if the range contains only one time. */
  time({ minUs, maxUs }: RangeUs): number {
    if (minUs === maxUs) return minUs;
    if (this.isInMilliseconds) {
      const first = Math.ceil(minUs / MILLISECOND_US);
      const last = Math.floor(maxUs / MILLISECOND_US);
      if (first <= last) return this.within(first, last) * MILLISECOND_US;
    }
    return this.within(minUs, maxUs);
  }

  /** Returns an integer in the range. Draws nothing if the range contains only one. */
  integer({ minUs, maxUs }: RangeUs): number {
    return minUs === maxUs ? minUs : this.within(minUs, maxUs);
  }

  private within(min: number, max: number): number {
    const count = max - min + 1;
    return min + (count <= 0x1_0000_0000 ? this.bits() % count : this.wide() % count);
  }

  /** Returns an unsigned 53-bit integer. */
  private wide(): number {
    return this.bits() * 0x20_0000 + (this.bits() >>> 11);
  }
}
