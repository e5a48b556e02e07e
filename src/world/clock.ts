/**
 * What time a process believes it is. The monotonic clock runs at `1 + ratePpm / 10⁶` of true time; the
 * wall clock is the same one plus an offset that steps. All integers: `t + floor(t × ppm / 10⁶)`.
 */

const MILLION = 1_000_000;

/** floor(us × ppm / 10⁶) without leaving the safe integers, for |ppm| ≤ 10⁶ and any safe `us`. */
function drift(us: number, ppm: number): number {
  const whole = Math.floor(us / MILLION);
  const rest = us - whole * MILLION;
  return whole * ppm + Math.floor((rest * ppm) / MILLION);
}

export class Clock {
  private anchorUs = 0;
  private anchorMonotonicUs = 0;
  private ratePpm = 0;
  private wallOffsetUs = 0;

  monotonicUs(trueUs: number): number {
    const elapsedUs = trueUs - this.anchorUs;
    const driftUs = this.ratePpm === 0 ? 0 : drift(elapsedUs, this.ratePpm);
    return this.anchorMonotonicUs + elapsedUs + driftUs;
  }

  wallUs(trueUs: number): number {
    return this.monotonicUs(trueUs) + this.wallOffsetUs;
  }

  /** The first true time, from the last change of rate on, at which the monotonic clock shows `us`. */
  trueTimeOfMonotonic(us: number): number {
    const spanUs = us - this.anchorMonotonicUs;
    if (this.ratePpm === 0 || spanUs <= 0) return this.anchorUs + Math.max(spanUs, 0);
    let elapsedUs = Math.floor(spanUs / (1 + this.ratePpm / MILLION));
    while (elapsedUs + drift(elapsedUs, this.ratePpm) >= spanUs) elapsedUs -= 1;
    while (elapsedUs + drift(elapsedUs, this.ratePpm) < spanUs) elapsedUs += 1;
    return this.anchorUs + elapsedUs;
  }

  trueTimeOfWall(us: number): number {
    return this.trueTimeOfMonotonic(us - this.wallOffsetUs);
  }

  /** Both clocks run at another rate from `trueUs` on; -10⁶ < ppm. */
  setRate(trueUs: number, ppm: number): void {
    this.anchorMonotonicUs = this.monotonicUs(trueUs);
    this.anchorUs = trueUs;
    this.ratePpm = ppm;
  }

  /** The wall clock jumps; the monotonic one does not notice. */
  step(us: number): void {
    this.wallOffsetUs += us;
  }

  /** Both clocks lose `forUs`, as they do while a virtual machine is suspended. */
  freeze(forUs: number): void {
    this.anchorMonotonicUs -= forUs;
  }
}
