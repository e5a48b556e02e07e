/**
 * How often a law is tried: as often as its test says (`npm run nightly`, or a file by itself), a
 * third of that in `npm run test:all`, a tenth in `npm test`. At least five times, so that no law
 * goes untried.
 */
const DEPTH = process.env['FENCEPOST_LAWS'];
const SHARE = DEPTH === 'short' ? 10 : DEPTH === 'third' ? 3 : 1;

/** Of a list that a law goes through: all, each second in `test:all`, each fifth in `test`. */
export function some<T>(list: readonly T[]): readonly T[] {
  const step = Math.ceil(SHARE / 2);
  return list.filter((_, at) => at % step === 0);
}

/** What to give as `numRuns`. */
export function runs(count: number): number {
  return Math.max(Math.min(count, 5), Math.ceil(count / SHARE));
}
