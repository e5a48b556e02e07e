/**
 * What time a process believes it is. The monotonic clock runs at `1 + ratePpm / 10⁶` of true time;
 * the wall clock is the same one plus an offset that steps. All integers: `t + floor(t × ppm /
 * 10⁶)`.
 */

const MILLION = 1_000_000;

/**
 * floor(us × ppm / 10⁶) without leaving the safe integers, for |ppm| < 10⁷ and spans of centuries.
 */
function drift(us: number, ppm: number): number {
  const whole = Math.floor(us / MILLION);
  const rest = us - whole * MILLION;
  return whole * ppm + Math.floor((rest * ppm) / MILLION);
}

export class Clock {
  /** From when on the present rate holds; in the future while the clocks are frozen. */
  private anchorUs = 0;
  private anchorMonotonicUs = 0;
  private ppm = 0;
  private wallOffsetUs: number;

  /** `epochUs` is what the wall clock shows at true time 0; the monotonic one shows 0. */
  constructor(epochUs: number = 0) {
    this.wallOffsetUs = epochUs;
  }

  /** How much faster than true time it runs. */
  get ratePpm(): number {
    return this.ppm;
  }

  monotonicUs(trueUs: number): number {
    if (trueUs <= this.anchorUs) return this.anchorMonotonicUs;
    const elapsedUs = trueUs - this.anchorUs;
    const driftUs = this.ppm === 0 ? 0 : drift(elapsedUs, this.ppm);
    return this.anchorMonotonicUs + elapsedUs + driftUs;
  }

  wallUs(trueUs: number): number {
    return this.monotonicUs(trueUs) + this.wallOffsetUs;
  }

  /**
   * The first true time, from the last change of rate or freeze on, at which the monotonic clock
   * shows `us` or more.
   */
  trueTimeOfMonotonic(us: number): number {
    const spanUs = us - this.anchorMonotonicUs;
    if (spanUs <= 0) return this.anchorUs;
    if (this.ppm === 0) return this.anchorUs + spanUs;
    // The least e with floor(e × rate / 10⁶) >= span is ceil(span × 10⁶ / rate), in two parts.
    const rate = MILLION + this.ppm;
    const whole = Math.floor(spanUs / rate);
    const rest = spanUs - whole * rate;
    return this.anchorUs + whole * MILLION + Math.ceil((rest * MILLION) / rate);
  }

  trueTimeOfWall(us: number): number {
    return this.trueTimeOfMonotonic(us - this.wallOffsetUs);
  }

  /** Both clocks run at another rate from `trueUs` on; -10⁶ < ppm < 10⁷. */
  setRate(trueUs: number, ppm: number): void {
    this.anchor(trueUs);
    this.ppm = ppm;
  }

  /** The wall clock jumps; the monotonic one does not notice. */
  step(us: number): void {
    this.wallOffsetUs += us;
  }

  /** Both clocks stand still until `untilUs`, as they do while a virtual machine is suspended. */
  freeze(trueUs: number, untilUs: number): void {
    this.anchor(trueUs);
    this.anchorUs = Math.max(this.anchorUs, untilUs);
  }

  /** A frozen clock runs again from `trueUs` on. */
  thaw(trueUs: number): void {
    this.anchorUs = Math.min(this.anchorUs, trueUs);
  }

  private anchor(trueUs: number): void {
    this.anchorMonotonicUs = this.monotonicUs(trueUs);
    this.anchorUs = Math.max(this.anchorUs, trueUs);
  }
}
