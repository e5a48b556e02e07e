/** How fast a sweep is of late: chunks end seldom, so a minute, or the last two that ended. */

/** What happened longer ago does not count, unless nothing else is known. */
const RECENT_MS = 60_000;

interface Moment {
  readonly atMs: number;
  readonly runs: number;
}

export class Pace {
  /** When runs were added, oldest first; before the first nothing is known. */
  private readonly moments: [Moment, ...Moment[]];

  /** Begins with the runs that were done before. */
  constructor(runs: number, atMs: number) {
    this.moments = [{ atMs, runs }];
  }

  /** Runs a second, of about the last minute; 0 before the first result. */
  at(nowMs: number, runs: number): number {
    const { moments } = this;
    if (runs !== this.last.runs) moments.push({ atMs: nowMs, runs });
    for (let second = moments[1]; second !== undefined; second = moments[1]) {
      if (moments.length < 3 || nowMs - second.atMs < RECENT_MS) break;
      moments.splice(0, 1);
    }
    const [first] = moments;
    return (runs - first.runs) / Math.max((nowMs - first.atMs) / 1000, 0.001);
  }

  /** How long ago the last result came, or all began. */
  quietMs(nowMs: number): number {
    return nowMs - this.last.atMs;
  }

  private get last(): Moment {
    return this.moments.at(-1) ?? this.moments[0];
  }
}
