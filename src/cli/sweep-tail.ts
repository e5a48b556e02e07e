/** Which lines `sweep tail` prints of one sweep: what changed, and where it is kept, not often. */
import type { ListedSweep } from '../adapters/fleet/sweep-queue.ts';
import { farLine } from './sweep-status.ts';

/** Where lines are not looked at as they come, there is one in that time. */
const KEPT_EVERY_MS = 10_000;

export class TailLines {
  private readonly isLive: boolean;
  private known: string | null = null;
  private kinds = '{}';
  private printedAtMs = -Infinity;

  constructor(isLive: boolean = process.stdout.isTTY === true) {
    this.isLive = isLive;
  }

  /** The line to print now; null where nothing changed, or the last one is not old enough. */
  next(listed: ListedSweep, nowMs: number): string | null {
    if (!this.isLive && nowMs - this.printedAtMs < KEPT_EVERY_MS) return null;
    if (!this.hasChanged(listed)) return null;
    this.printedAtMs = nowMs;
    const kinds = JSON.stringify(listed.progress?.kinds ?? {});
    const line = farLine(listed, { isShort: kinds === this.kinds });
    this.kinds = kinds;
    return line;
  }

  /** Whether it is further than at the last call. */
  hasChanged({ entry, progress }: ListedSweep): boolean {
    const { runs = 0, broken = 0, done = 0 } = progress ?? {};
    const now = JSON.stringify([entry.state, progress === null, done, runs, broken]);
    const isOther = now !== this.known;
    this.known = now;
    return isOther;
  }
}
