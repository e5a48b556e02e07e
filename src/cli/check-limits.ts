/** Watches the clock and the memory for the check of one history, which can see neither. */
import { UserError } from './exit.ts';

const MEGABYTE = 1_048_576;
/** So much is allowed in any case, so that something begins. */
const LEAST_BYTES = 1 << 24;

export type Limit = 'time' | 'memory';

export interface LimitOptions {
  /** From the first decision on; null: for ever. */
  readonly timeMs: number | null;
  /** What the process may take; null: all that there is. */
  readonly memoryMb: number | null;
  /** What the process takes already for histories before this one, in bytes. */
  readonly leftBehind: number;
}

export class Limits {
  /** The limit that `shouldStop` met last. */
  reached: Limit | null = null;
  private readonly timeMs: number;
  private readonly memoryMb: number | null;
  private readonly mostBytes: number;
  private endMs: number = Number.POSITIVE_INFINITY;

  constructor({ timeMs, memoryMb, leftBehind }: LimitOptions) {
    this.timeMs = timeMs ?? Number.POSITIVE_INFINITY;
    this.memoryMb = memoryMb;
    const most = (memoryMb ?? Number.POSITIVE_INFINITY) * MEGABYTE + leftBehind;
    this.mostBytes = Math.max(most, process.memoryUsage.rss() + LEAST_BYTES);
  }

  /** The history has been read: from now on the time counts. */
  startClock(): void {
    this.endMs = performance.now() + this.timeMs;
  }

  /** Asked while a file is read, of which nothing can be said before all of it is known. */
  refuseMore(file: string): void {
    if (process.memoryUsage.rss() <= this.mostBytes) return;
    const what = `the history alone takes more than the ${this.memoryMb ?? 0} MB of --memory`;
    throw new UserError([`${file}:1:1: ${what}`]);
  }

  /** What a search may fill, in bytes; undefined: as much as it likes. */
  bytesLeft(): number | undefined {
    if (this.memoryMb === null) return undefined;
    return Math.max(LEAST_BYTES, this.mostBytes - process.memoryUsage.rss());
  }

  /** For `CheckOptions`. */
  readonly shouldStop = (): boolean => {
    if (performance.now() > this.endMs) this.reached = 'time';
    else if (process.memoryUsage.rss() > this.mostBytes) this.reached = 'memory';
    else return false;
    return true;
  };
}
