/**
 * Decides whether a result can be one of its chunk: no more seeds of any kind than the chunk has,
 * no seed that is not in it, and no number so large that all chunks could not be added up.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { claimsJudged } from '../../search/sweep/examiner.ts';
import type { SeedRange } from '../../search/sweep/shard.ts';
import { type ClaimTally, KEPT_SEEDS, type Tally } from '../../search/sweep/tally.ts';
import type { ChunkResult } from './chunk-result.ts';

/** What chunks are judged by. */
export interface Bounds {
  /** By system the claims that may be judged. */
  readonly claims: ReadonlyMap<string, ReadonlySet<string>>;
  /** The largest number that each seed may add to a sum. */
  readonly mostASeed: number;
}

/** The bounds of a sweep; the scenario's words are looked up in the catalogue. */
export function boundsOf(
  { systems }: Scenario,
  { from, to }: SeedRange,
  catalogue: Catalogue = builtIn,
): Bounds {
  const claims = systems.map(({ name, expect }): [string, ReadonlySet<string>] => [
    name,
    new Set(claimsJudged([...expect.holds, ...expect.breaks], catalogue)),
  ]);
  const mostASeed = Math.floor(Number.MAX_SAFE_INTEGER / (to - from + 1));
  return { claims: new Map(claims), mostASeed };
}

/** Whether every tally of a result can be one of its seeds. */
export function isPlausible({ from, to, tallies }: ChunkResult, bounds: Bounds): boolean {
  return Object.entries(tallies).every(([system, tally]) => {
    const judged = bounds.claims.get(system);
    const place = { from, to, mostASeed: bounds.mostASeed };
    return (
      judged !== undefined &&
      areCountsPlausible(tally, place) &&
      areFailuresPlausible(tally, place) &&
      Object.entries(tally.claims).every(
        ([name, claim]) => judged.has(name) && isClaimPlausible(claim, place),
      )
    );
  });
}

interface Place extends SeedRange {
  readonly mostASeed: number;
}

function areCountsPlausible(tally: Tally, place: Place): boolean {
  const { broken, unknown, overlap, stampede, faults } = tally;
  const struck = Object.values(faults);
  return (
    areSeeds([broken, unknown, overlap.seeds, stampede.seeds], place) &&
    areSeeds(
      struck.map(({ fired }) => fired),
      place,
    ) &&
    struck.every(({ fired, overlapped }) => overlapped <= fired) &&
    areSums([tally.events, stampede.computations], place)
  );
}

function areFailuresPlausible({ failures, failed, killed }: Tally, place: Place): boolean {
  const seeds = failures.map(({ seed }) => seed);
  return areSeeds([failed], place) && killed <= failed && areFirst(seeds, failed, place);
}

function isClaimPlausible(claim: ClaimTally, place: Place): boolean {
  const { broken, brokenSeeds, unknown, firstUnknown, exercised, times } = claim;
  return (
    areSeeds([broken, unknown, exercised], place) &&
    areFirst(brokenSeeds, broken, place) &&
    areSums([times], place) &&
    (firstUnknown === null ? unknown === 0 : unknown > 0 && isIn(firstUnknown.seed, place))
  );
}

/** Whether these may be numbers of seeds. */
function areSeeds(counts: readonly number[], { from, to }: SeedRange): boolean {
  return counts.every((count) => count <= to - from + 1);
}

/** Whether as much from every seed of the sweep can still be added up exactly. */
function areSums(sums: readonly number[], { from, to, mostASeed }: Place): boolean {
  return sums.every((sum) => sum <= (to - from + 1) * mostASeed);
}

/** Whether these may be the lowest of so many seeds. */
function areFirst(seeds: readonly number[], count: number, place: Place): boolean {
  const isAscending = seeds.every((seed, at) => at === 0 || seed > (seeds[at - 1] ?? seed));
  const isComplete = seeds.length === Math.min(count, KEPT_SEEDS);
  return isComplete && isAscending && seeds.every((seed) => isIn(seed, place));
}

function isIn(seed: number, { from, to }: SeedRange): boolean {
  return seed >= from && seed <= to;
}
