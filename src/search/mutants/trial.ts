/**
 * What became of a mutant and its base on the same seeds. The seeds are cut into blocks, each of
 * which is a search of its own: how many seeds it takes to find the mutant is their median.
 */
import type { Scenario } from '../../scenario/scenario.ts';
import { type Share, wilson } from '../compare/statistics.ts';
import { judgeSystem } from '../sweep/expectation.ts';
import type { SeedRange } from '../sweep/shards.ts';
import { claimTally, EMPTY_TALLY, KEPT_SEEDS, mergeTallies, type Tally } from '../sweep/tally.ts';
import { BASE, MUTANT, type Mutant } from './mutant.ts';

/** Seeds `from` to `to`, both included, of both systems. */
export interface Block extends SeedRange {
  readonly base: Tally;
  readonly mutant: Tally;
}

/**
 * `held`: on every seed, and it was put to the test. `broke` on some seed. `untested`: nothing
 * went wrong, but that proves nothing; `why` says what was missing.
 */
interface BaseOutcome {
  readonly verdict: 'held' | 'broke' | 'untested';
  readonly broken: number;
  readonly why: readonly string[];
}

/** The size of a shrunk plan: clients, faults that fire, steps that a person would number. */
export interface PlanSize {
  readonly clients: number;
  readonly faults: number;
  readonly events: number;
}

export interface MutantTrial {
  readonly mutant: Mutant;
  readonly seeds: number;
  readonly base: BaseOutcome;
  /** Seeds on which the claim broke that has to find it. */
  readonly found: Share;
  /** Seeds until it was found, the median over the blocks; null where that is not reached. */
  readonly seedsToFind: number | null;
  /** The first seeds that found it. */
  readonly foundOn: readonly number[];
  /** Other claims that the mutant breaks and the base does not, in the order of their names. */
  readonly alsoBreaks: readonly string[];
  /** Seeds that could not be run, and why the first of them could not. */
  readonly failed: number;
  readonly failure: string | null;
}

/** What a trial says of its mutant; that a single seed misses it says nothing. */
export function fateOf({
  found,
  seeds,
}: Pick<MutantTrial, 'found' | 'seeds'>): 'found' | 'survived' | 'untested' {
  if (found.hits > 0) return 'found';
  return seeds > 1 ? 'survived' : 'untested';
}

/** In how many blocks seeds are cut. */
const BLOCKS = 5;

/** Cuts seeds `from` to `to` into blocks of nearly one size, as many as there are seeds for. */
export function cutIntoBlocks({ from, to }: SeedRange): readonly SeedRange[] {
  const seeds = to - from + 1;
  const blocks = Math.min(BLOCKS, seeds);
  const start = (block: number): number => from + Math.floor((block * seeds) / blocks);
  return Array.from({ length: blocks }, (_, at) => ({ from: start(at), to: start(at + 1) - 1 }));
}

/** What the blocks of one mutant add up to; `isWhole` when none of its seeds was left out. */
export function judgeTrial(
  mutant: Mutant,
  scenario: Scenario,
  { blocks, isWhole }: { readonly blocks: readonly Block[]; readonly isWhole: boolean },
): MutantTrial {
  const base = blocks.map((block) => block.base).reduce(mergeTallies, EMPTY_TALLY);
  const mutated = blocks.map((block) => block.mutant).reduce(mergeTallies, EMPTY_TALLY);
  const claim = claimTally(mutated, mutant.caughtBy);
  const failure = [...base.failures, ...mutated.failures][0];
  return {
    mutant,
    seeds: mutated.seeds,
    base: judgeBase(mutant, scenario, { base, mutated, isWhole }),
    found: wilson(claim.broken, mutated.seeds),
    seedsToFind: medianOf(blocks.map((block) => seedsToFind(block, mutant.caughtBy))),
    foundOn: claim.brokenSeeds.slice(0, KEPT_SEEDS),
    alsoBreaks: Object.keys(mutated.claims)
      .filter((other) => other !== mutant.caughtBy)
      .filter((other) => claimTally(mutated, other).broken > 0)
      .filter((other) => claimTally(base, other).broken === 0)
      .sort(),
    failed: base.failed + mutated.failed,
    failure: failure === undefined ? null : `seed ${failure.seed}: ${failure.error}`,
  };
}

/**
 * A base may hold because it prevents what the claim is about from arising at all. It is put to the
 * test then, if the hazard arose with the mutant, from the same plans.
 */
function judgeBase(
  { caughtBy }: Mutant,
  scenario: Scenario,
  tallies: { readonly base: Tally; readonly mutated: Tally; readonly isWhole: boolean },
): BaseOutcome {
  const { base, mutated, isWhole } = tallies;
  const { broken, unknown, exercised } = claimTally(base, caughtBy);
  if (broken > 0) return { verdict: 'broke', broken, why: [] };
  const system = scenario.systems.find(({ name }) => name === BASE);
  const judged =
    system === undefined ? null : judgeSystem(scenario, system, base, { isWhole, isSingle: false });
  const isExercised = exercised > 0 || claimTally(mutated, caughtBy).exercised > 0;
  const untested = `${caughtBy} was never exercised`;
  const why = [
    ...(judged?.vacuous ?? []).filter((reason) => reason !== untested),
    ...(isExercised ? [] : [untested]),
    ...(unknown > 0 ? [`${caughtBy} is unknown on ${unknown} seeds`] : []),
  ];
  return { verdict: why.length === 0 ? 'held' : 'untested', broken, why };
}

function seedsToFind({ from, mutant }: Block, claim: string): number | null {
  const [first] = claimTally(mutant, claim).brokenSeeds;
  return first === undefined ? null : first - from + 1;
}

/** The middle one, the higher of two; null stands for more than was searched. */
export function medianOf(searches: readonly (number | null)[]): number | null {
  const sorted = searches.map((seeds) => seeds ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(middle) ? middle : null;
}

/** A block, from what a sweep of it came to. */
export function blockOf(range: SeedRange, tallies: ReadonlyMap<string, Tally>): Block {
  const base = tallies.get(BASE) ?? EMPTY_TALLY;
  return { ...range, base, mutant: tallies.get(MUTANT) ?? EMPTY_TALLY };
}
