/**
 * The results of a sweep, keyed by chunk: each is counted once, however often it arrives. Of a
 * chunk that is counted only digests are kept, so that a million chunks take two megabytes a
 * system. A result counts only where it can be one of its chunk: no more seeds of any kind than the
 * chunk has, no seed that is not in it, and no number so large that all chunks could not be added
 * up.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { assert } from '../../core/kernel/assert.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type CauseTally, KEPT_OF_CAUSE } from '../../search/sweep/causes.ts';
import { claimsJudged } from '../../search/sweep/examiner.ts';
import { failedSections, type SectionCounts } from '../../search/sweep/sections.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import {
  type ClaimTally,
  EMPTY_TALLY,
  KEPT_BROKEN,
  KEPT_SEEDS,
  mergeTallies,
  type Tally,
} from '../../search/sweep/tally.ts';
import { chunksIn, MOST_CHUNKS, rangeOfChunk } from './chunks.ts';
import type { ChunkResult } from './sweep-queue.ts';
import type { SweepRecord } from './sweep-record.ts';
import { areDifferent, type DifferingSystem, digestOfTally } from './two-results.ts';

/** `foreign` is of other seeds or systems than the chunk of this number has. */
type Offer =
  | { readonly kind: 'counted' | 'equal' | 'foreign' }
  | { readonly kind: 'different'; readonly systems: readonly DifferingSystem[] };

/** All that is known of them, to go on from later. */
export interface CountsState {
  /** Of each chunk a digest a system, in the scenario's order; 0 where there is no result yet. */
  readonly digests: Uint16Array;
  readonly tallies: Readonly<Record<string, Tally>>;
}

export class ChunkCounts {
  readonly chunks: number;
  private readonly sweep: SweepRecord;
  private readonly digests: Uint16Array;
  private readonly sums: Map<string, Tally>;
  private counted = 0;

  /** Goes on from `state`, which is of the same sweep cut the same way. */
  constructor(sweep: SweepRecord, systems: readonly string[], state: CountsState | null = null) {
    this.sweep = sweep;
    this.chunks = chunksIn(sweep);
    assert(this.chunks <= MOST_CHUNKS, 'a sweep is cut into more chunks than one may have');
    const tallies = new Map(Object.entries(state?.tallies ?? {}));
    this.sums = new Map(systems.map((name) => [name, tallies.get(name) ?? EMPTY_TALLY]));
    this.digests = state?.digests.slice() ?? new Uint16Array(this.chunks * systems.length);
    for (let chunk = 0; chunk < this.chunks; chunk += 1) if (this.has(chunk)) this.counted += 1;
  }

  /** How many chunks are counted. */
  get done(): number {
    return this.counted;
  }

  has(chunk: number): boolean {
    return this.digests[chunk * this.sums.size] !== 0;
  }

  /** By system, in the scenario's order. */
  get tallies(): ReadonlyMap<string, Tally> {
    return this.sums;
  }

  /**
   * Counts the first result of a chunk, and compares every other with it, system by system. A
   * system of which either result had a seed that was killed is not compared: on a busy machine a
   * seed takes longer. Here too the first stays, so that each seed counts exactly once.
   */
  offer(result: ChunkResult): Offer {
    const { chunk, tallies } = result;
    if (!this.isOurs(result)) return { kind: 'foreign' };
    if (this.has(chunk)) return this.compare(result);
    // All of it, and only then counted: half of a chunk would never be noticed.
    const merged = [...this.sums].map(([system, sum]): [string, Tally, number] => {
      const tally = tallies[system] ?? EMPTY_TALLY;
      return [system, mergeTallies(sum, tally), digestOfTally(tally)];
    });
    for (const [index, [system, sum, digest]] of merged.entries()) {
      this.sums.set(system, sum);
      this.digests[chunk * this.sums.size + index] = digest;
    }
    this.counted += 1;
    return { kind: 'counted' };
  }

  state(): CountsState {
    return { digests: this.digests.slice(), tallies: Object.fromEntries(this.sums) };
  }

  private compare({ chunk, tallies }: ChunkResult): Offer {
    const at = chunk * this.sums.size;
    const systems = [...this.sums.keys()].flatMap((system, index): readonly DifferingSystem[] => {
      const counted = this.digests[at + index] ?? 0;
      const other = digestOfTally(tallies[system] ?? EMPTY_TALLY);
      return areDifferent(counted, other) ? [{ system, counted, other }] : [];
    });
    return systems.length === 0 ? { kind: 'equal' } : { kind: 'different', systems };
  }

  /** Whether a result is of this chunk's seeds, and has every one of them once a system. */
  private isOurs({ chunk, from, to, tallies }: ChunkResult): boolean {
    if (chunk >= this.chunks) return false;
    const range = rangeOfChunk(this.sweep, chunk);
    if (range.from !== from || range.to !== to) return false;
    const seeds = to - from + 1;
    const names = Object.keys(tallies);
    return (
      names.length === this.sums.size &&
      names.every((name) => this.sums.has(name) && tallies[name]?.seeds === seeds)
    );
  }
}

/** What chunks are judged by. */
export interface ResultBounds {
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
): ResultBounds {
  const claims = systems.map(({ name, expect }): [string, ReadonlySet<string>] => [
    name,
    new Set(claimsJudged([...expect.holds, ...expect.breaks, ...(expect.may ?? [])], catalogue)),
  ]);
  const mostASeed = Math.floor(Number.MAX_SAFE_INTEGER / (to - from + 1));
  return { claims: new Map(claims), mostASeed };
}

/** Whether every tally of a result can be one of its seeds. */
export function isPlausible({ from, to, tallies }: ChunkResult, bounds: ResultBounds): boolean {
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
  const { broken, unknown, overlap, losses, stampede, faults, sections, stakes } = tally;
  const kinds = Object.values(faults);
  return (
    areSeeds([broken, unknown, overlap.seeds, losses.seeds, stampede.seeds], place) &&
    areSeeds(Object.values(stakes), place) &&
    kinds.every(({ fired, overlapped }) => overlapped <= fired && areSeeds([fired], place)) &&
    kinds.every((kind) => areSums(Object.values(kind.strikes), place)) &&
    areSums([tally.events, stampede.computations], place) &&
    areSectionsPlausible(sections, place)
  );
}

/** There may be any number of them, but none of a kind without one that began. */
function areSectionsPlausible(sections: SectionCounts, place: Place): boolean {
  const { began, entered, gaveUp, refused, crashed, unguarded, failed } = sections;
  const ofAKind = [entered, gaveUp, refused, crashed, unguarded, failedSections(sections)];
  return (
    areSums([began], place) &&
    ofAKind.every((count) => count <= began) &&
    failed.every(({ count, firstSeed }) => count > 0 && isIn(firstSeed, place))
  );
}

function areFailuresPlausible({ failures, failed, killed }: Tally, place: Place): boolean {
  const seeds = failures.map(({ seed }) => seed);
  return (
    areSeeds([failed], place) &&
    killed <= failed &&
    areFirst(seeds, Math.min(failed, KEPT_SEEDS), place)
  );
}

function isClaimPlausible(claim: ClaimTally, place: Place): boolean {
  const { broken, brokenSeeds, causes = [], unknown, firstUnknown, exercised, times } = claim;
  const ofCauses = causes.reduce((sum, cause) => sum + cause.broken, 0);
  return (
    ofCauses <= broken &&
    causes.every((cause) => areLowest(cause, place)) &&
    areSeeds([broken, unknown, exercised], place) &&
    areFirst(brokenSeeds, Math.min(broken, KEPT_BROKEN), place) &&
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

function areLowest({ broken, brokenSeeds }: CauseTally, place: Place): boolean {
  return areFirst(brokenSeeds, Math.min(broken, KEPT_OF_CAUSE), place);
}

/** Whether these may be the so many lowest of some seeds. */
function areFirst(seeds: readonly number[], count: number, place: Place): boolean {
  const isAscending = seeds.every((seed, at) => at === 0 || seed > (seeds[at - 1] ?? seed));
  const isComplete = seeds.length === count;
  return isComplete && isAscending && seeds.every((seed) => isIn(seed, place));
}

function isIn(seed: number, { from, to }: SeedRange): boolean {
  return seed >= from && seed <= to;
}
