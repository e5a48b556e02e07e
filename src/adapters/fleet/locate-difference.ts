/**
 * Looks for the seed that made a chunk come to two results: examines the chunk here again, twice
 * and piece by piece, and in the first piece that differs seed by seed. Where nothing differs here,
 * the difference lies between machines, and what this one comes to is all that can be told.
 */

import type { SeedRange } from '../../search/sweep/shard.ts';
import { EMPTY_TALLY, mergeTallies, type Tally } from '../../search/sweep/tally.ts';
import { areDifferent, digestOfTally, INCOMPARABLE } from './chunk-result.ts';
import type { TwoResults } from './two-results.ts';

export type Located =
  /** One seed, examined twice, came to two tallies. */
  | { readonly kind: 'seed'; readonly system: string; readonly seed: number }
  /** These seeds did together, and no single one of them was seen to. */
  | ({ readonly kind: 'seeds'; readonly system: string } & SeedRange)
  /** Each came twice to the same; as a whole to one of the chunk's two results, or to neither. */
  | { readonly kind: 'equal'; readonly here: 'counted' | 'other' | 'neither' }
  /** It was asked to stop before it knew, or a seed was killed here. */
  | { readonly kind: 'unknown' };

/** The tallies of some seeds by system; null where it was asked to stop. */
export type Repeat = (range: SeedRange) => Promise<ReadonlyMap<string, Tally> | null>;

/** So many pieces at most: the last is to be examined seed by seed. */
const PIECES = 64;

/** Examines the seeds of `alarm` again with `repeat`, until something differs. */
export async function locateDifference(alarm: TwoResults, repeat: Repeat): Promise<Located> {
  const sums = new Map<string, Tally>();
  const pieceSeeds = Math.ceil((alarm.to - alarm.from + 1) / PIECES);
  for (let from = alarm.from; from <= alarm.to; from += pieceSeeds) {
    const piece = { from, to: Math.min(from + pieceSeeds - 1, alarm.to) };
    const twice = await examineTwice(piece, alarm, repeat);
    if (twice === null) return { kind: 'unknown' };
    if (twice.system !== null) return await locateIn(piece, twice.system, { alarm, repeat });
    for (const { system } of alarm.systems) {
      const tally = twice.first.get(system) ?? EMPTY_TALLY;
      sums.set(system, mergeTallies(sums.get(system) ?? EMPTY_TALLY, tally));
    }
  }
  return compare(alarm, sums);
}

async function locateIn(
  piece: SeedRange,
  system: string,
  { alarm, repeat }: { readonly alarm: TwoResults; readonly repeat: Repeat },
): Promise<Located> {
  for (let seed = piece.from; seed <= piece.to; seed += 1) {
    const twice = await examineTwice({ from: seed, to: seed }, alarm, repeat);
    if (twice === null) break;
    if (twice.system !== null) return { kind: 'seed', system: twice.system, seed };
  }
  return { kind: 'seeds', system, ...piece };
}

interface Twice {
  readonly first: ReadonlyMap<string, Tally>;
  /** The first system that came to two tallies; null for none. */
  readonly system: string | null;
}

async function examineTwice(
  range: SeedRange,
  { systems }: TwoResults,
  repeat: Repeat,
): Promise<Twice | null> {
  const first = await repeat(range);
  const second = await repeat(range);
  if (first === null || second === null) return null;
  const digestIn = (tallies: ReadonlyMap<string, Tally>, system: string): number =>
    digestOfTally(tallies.get(system) ?? EMPTY_TALLY);
  const differing = systems.find(({ system }) =>
    areDifferent(digestIn(first, system), digestIn(second, system)),
  );
  return { first, system: differing?.system ?? null };
}

function compare({ systems }: TwoResults, sums: ReadonlyMap<string, Tally>): Located {
  const digests = systems.map(({ system }) => digestOfTally(sums.get(system) ?? EMPTY_TALLY));
  if (digests.includes(INCOMPARABLE)) return { kind: 'unknown' };
  const isOf = (result: 'counted' | 'other'): boolean =>
    systems.every((known, at) => known[result] === digests[at]);
  const here = isOf('counted') ? 'counted' : isOf('other') ? 'other' : 'neither';
  return { kind: 'equal', here };
}
