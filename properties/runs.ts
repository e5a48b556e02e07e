/**
 * How often a law is tried: as often as its test says, and a tenth of that where the command asked
 * for a short answer (`npm test`). At least five times, so that no law goes untried.
 */
const SHARE = process.env['FENCEPOST_LAWS'] === 'short' ? 10 : 1;

/** What to give as `numRuns`. */
export function runs(count: number): number {
  return Math.max(Math.min(count, 5), Math.ceil(count / SHARE));
}
