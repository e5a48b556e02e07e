/** Watches the clock and the memory for a check, which can see neither. */

export type Limit = 'time' | 'memory';

export class Limits {
  /** The first limit that was reached. */
  reached: Limit | null = null;
  private readonly endMs: number;
  private readonly mostBytes: number;

  constructor(options: { readonly timeMs: number | null; readonly memoryMb: number | null }) {
    this.endMs = performance.now() + (options.timeMs ?? Number.POSITIVE_INFINITY);
    this.mostBytes = (options.memoryMb ?? Number.POSITIVE_INFINITY) * 1_048_576;
  }

  /** For `CheckOptions`. */
  readonly shouldStop = (): boolean => {
    if (this.reached !== null) return true;
    if (performance.now() > this.endMs) this.reached = 'time';
    else if (process.memoryUsage.rss() > this.mostBytes) {
      this.reached = 'memory';
    }
    return this.reached !== null;
  };
}
