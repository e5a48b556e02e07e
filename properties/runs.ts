/**
 * How often a law is tried: as often as its test says, and a tenth of that where the command asked
 * for a short answer (`npm test`). At least five times, so that no law goes untried.
 */
const SHARE = process.env['FENCEPOST_LAWS'] === 'short' ? 10 : 1;

/** Of a list that a law goes through: all, and each fifth where the answer is to be short. */
export function some<T>(list: readonly T[]): readonly T[] {
  return SHARE === 1 ? list : list.filter((_, at) => at % 5 === 0);
}

/** What to give as `numRuns`. */
export function runs(count: number): number {
  return Math.max(Math.min(count, 5), Math.ceil(count / SHARE));
}
