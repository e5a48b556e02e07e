/**
 * The alarm that a sweep raises where one chunk came to two results: a run is to be a function of
 * its seed, on every machine. Results are compared by short digests, since of a chunk that is
 * counted nothing else is kept. The alarm is data, so that whoever sees it can look for the seed:
 * the chunk is examined again, twice and piece by piece, and in the first piece that differs seed
 * by seed. Where nothing differs here, the difference lies between machines, and what this one
 * comes to is all that can be said.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { SeedRange } from '../../search/sweep/shards.ts';
import { counts, EMPTY_TALLY, mergeTallies, type Tally } from '../../search/sweep/tally.ts';
import { groupDigits } from '../../text/prose.ts';

/** A system that came to two tallies, by their digests: the one that is counted, and the other. */
export interface DifferingSystem {
  readonly system: string;
  readonly counted: number;
  readonly other: number;
}

/** The chunk, its seeds, and the systems of which the results differ, at least one. */
export interface TwoResults extends SeedRange {
  readonly chunk: number;
  readonly systems: readonly DifferingSystem[];
}

export const twoResultsSchema: z.ZodType<TwoResults> = z.strictObject({
  ...counts('chunk', 'from', 'to'),
  systems: z.array(z.strictObject({ system: z.string(), ...counts('counted', 'other') })).min(1),
});

/** `chunk 3, seeds 24..30 of unfenced, came to two results`. */
export function twoResultsText({ chunk, from, to, systems }: TwoResults): string {
  const names = systems.map(({ system }) => system).join(', ');
  return `chunk ${groupDigits(chunk + 1)}, seeds ${from}..${to} of ${names}, came to two results`;
}

/** In place of a digest: a seed was killed, so that the tally says something of its machine too. */
const INCOMPARABLE = 1;

/**
 * 16 bits of a tally's digest, never 0, or `INCOMPARABLE`. One of 65,534 pairs that differ has one
 * digest: machines that differ do so on more than one chunk. Threads finish in any order, so the
 * order of names does not count.
 */
export function digestOfTally(tally: Tally): number {
  if (tally.killed > 0) return INCOMPARABLE;
  const text = JSON.stringify(inOrder(tally));
  const word = createHash('sha256').update(text).digest().readUInt16BE(0);
  return word > INCOMPARABLE ? word : word + 2;
}

/** Whether two digests are of two results, each of which could only have been the same. */
export function areDifferent(one: number, other: number): boolean {
  return one !== other && one !== INCOMPARABLE && other !== INCOMPARABLE;
}

/** The same value with the names of every object sorted. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries: readonly [string, unknown][] = Object.entries(value);
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, inOrder(inner)]));
}

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
