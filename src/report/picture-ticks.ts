/** Round numbers for a time axis. */

/** Instants from `fromUs` to `untilUs`, at most `most` and at least two, a round number apart. */
export function ticksOf(fromUs: number, untilUs: number, most: number): readonly number[] {
  const step = roundStep((untilUs - fromUs) / most);
  const ticks: number[] = [];
  for (let at = Math.ceil(fromUs / step) * step; at <= untilUs; at += step) ticks.push(at);
  return ticks;
}

/** The smallest of 1, 2, 5, 10, 20, 50, … that is not below `us`. */
function roundStep(us: number): number {
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power >= us) return digit * power;
    }
  }
}
