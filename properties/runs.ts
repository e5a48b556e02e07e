/**
 * How often a law is tried: as often as its test says (`npm run nightly`, or a file by itself), a
 * third of that in `npm run test:all`, a tenth in `npm test`. At least five times, so that no law
 * goes untried. Of the lists that laws go through, each commit takes another part, so that none of
 * what is in them is left to the night for ever.
 */

/** By how much a tier divides the runs of a law, and what its lists are cut into. */
const DEPTHS: Readonly<Record<string, { readonly runs: number; readonly parts: number }>> = {
  short: { runs: 10, parts: 5 },
  third: { runs: 3, parts: 2 },
};

const { env } = process;
const { runs: share, parts } = DEPTHS[env['FENCEPOST_LAWS'] ?? ''] ?? { runs: 1, parts: 1 };
const turn = Number(env['FENCEPOST_TURN'] ?? 0);

/** Of a list that a law goes through: all, each second in `test:all`, each fifth in `test`. */
export function some<T>(list: readonly T[]): readonly T[] {
  return list.filter((_, at) => at % parts === turn % parts);
}

/** What to give as `numRuns`. */
export function runs(count: number): number {
  return Math.max(Math.min(count, 5), Math.ceil(count / share));
}
