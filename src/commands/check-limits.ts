/** Watches the clock and the memory for a check, which can see neither. */

export type Limit = 'time' | 'memory';

export class Limits {
  /** The first limit that was reached. */
  reached: Limit | null = null;
  private readonly endMs: number;
  private readonly mostBytes: number;
  private asked = 0;

  constructor(options: { readonly timeMs: number | null; readonly memoryMb: number | null }) {
    this.endMs = performance.now() + (options.timeMs ?? Number.POSITIVE_INFINITY);
    this.mostBytes = (options.memoryMb ?? Number.POSITIVE_INFINITY) * 1_048_576;
  }

  /** For `CheckOptions`. The memory, which costs more to ask for, is looked at now and then. */
  readonly shouldStop = (): boolean => {
    if (this.reached !== null) return true;
    this.asked += 1;
    if (performance.now() > this.endMs) this.reached = 'time';
    else if (this.asked % 8 === 1 && process.memoryUsage.rss() > this.mostBytes) {
      this.reached = 'memory';
    }
    return this.reached !== null;
  };
}
