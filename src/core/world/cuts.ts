/** Which links carry nothing because of a partition, and what waits until they carry again. */

/** A set of links that carry nothing, until it heals. */
export interface Cut {
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly isBothWays: boolean;
  readonly untilUs: number;
}

/** From one process to another; a message is on such a way. */
export interface Way {
  readonly from: { readonly name: string };
  readonly to: { readonly name: string };
}

interface Held {
  readonly way: Way;
  readonly leave: () => void;
}

export class Cuts {
  private cuts: Cut[] = [];
  private held: readonly Held[] = [];

  begin(cut: Cut): void {
    this.cuts.push(cut);
  }

  /** What no other partition holds leaves now, in the order in which it came. */
  end(cut: Cut, nowUs: number): void {
    this.cuts = this.cuts.filter((other) => other !== cut);
    const { held } = this;
    this.held = held.filter(({ way }) => this.isCut(way, nowUs));
    for (const { way, leave } of held) if (!this.isCut(way, nowUs)) leave();
  }

  /** Calls `leave` now, or at the first instant at which no partition separates the two. */
  whenOpen(way: Way, nowUs: number, leave: () => void): void {
    if (this.isCut(way, nowUs)) this.held = [...this.held, { way, leave }];
    else leave();
  }

  isCut(way: Way, nowUs: number): boolean {
    return this.cuts.length > 0 && this.untilUs(way, nowUs) > nowUs;
  }

  /** When the last partition ends that now separates the two; the present when none does. */
  untilUs({ from, to }: Way, nowUs: number): number {
    let untilUs = nowUs;
    for (const cut of this.cuts) {
      const isHit = cut.from.has(from.name) && cut.to.has(to.name);
      const isHitBack = cut.isBothWays && cut.from.has(to.name) && cut.to.has(from.name);
      if (isHit || isHitBack) untilUs = Math.max(untilUs, cut.untilUs);
    }
    return untilUs;
  }
}
