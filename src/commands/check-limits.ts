/** Watches the clock and the memory for a check, which can see neither. */
import { UserError } from './exit.ts';

/** So much is allowed in any case, so that something begins. */
export const LEAST_BYTES: number = 1 << 24;

export type Limit = 'time' | 'memory';

export class Limits {
  /** The first limit that was reached. */
  reached: Limit | null = null;
  private readonly endMs: number;
  private readonly mostBytes: number;
  private readonly memoryMb: number | null;
  private readonly startBytes: number = process.memoryUsage.rss();

  constructor(options: { readonly timeMs: number | null; readonly memoryMb: number | null }) {
    this.endMs = performance.now() + (options.timeMs ?? Number.POSITIVE_INFINITY);
    this.memoryMb = options.memoryMb;
    this.mostBytes = (options.memoryMb ?? Number.POSITIVE_INFINITY) * 1_048_576;
  }

  /** Asked while a file is read, of which nothing can be said before all of it is known. */
  refuseMore(file: string): void {
    const least = this.startBytes + LEAST_BYTES;
    if (process.memoryUsage.rss() <= Math.max(this.mostBytes, least)) return;
    const what = `the history alone takes more than the ${this.memoryMb ?? 0} MB of --memory`;
    throw new UserError([`${file}:1:1: ${what}`]);
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
