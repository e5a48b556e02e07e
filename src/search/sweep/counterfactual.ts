/**
 * Counts the seeds on which a system *avoided* what broke a twin, that is, any other system of its
 * scenario: a lock that keeps two holders apart may never meet the hazard of a claim that it was
 * made for, and what broke beside it on the same seed shows that the hazard was there. Of each of
 * the lowest seeds that broke a claim in a twin, listed there or not, both are run again, and it
 * counts if the one stood up to what broke the other, as `evidence/avoided.ts` has it.
 *
 * It is done once all seeds are examined, from the lowest that broke something, which a tally
 * keeps: so the numbers depend neither on chunks nor on machines, and whoever merges shards gets
 * the same. How many runs it takes is bounded by a share of those of the sweep.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { Verdict } from '../../check/verdict.ts';
import { assert } from '../../core/kernel/assert.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Examination } from '../../harness.ts';
import { examineEither } from '../../host/async/run-async.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { standsBeside } from '../evidence/avoided.ts';
import type { NumberedPlans } from '../exhaust/exhaust.ts';
import { claimTally, EMPTY_TALLY, KEPT_BROKEN, type Tally } from './tally.ts';

/** By system, and then by claim: the seeds on which it avoided what broke a twin. */
export type AvoidedSeeds = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** None, as of a scenario of one system. */
export const NONE_AVOIDED: AvoidedSeeds = new Map();

/** Runs are taken again at most as one in so many of the sweep, but for a few in a small one. */
const SHARE = 12;
const LEAST_RUNS = 12;
/** Seeds of each claim of each system that are tried whatever that takes. */
const LEAST_SEEDS = 3;

export interface CounterfactualOptions {
  readonly catalogue?: Catalogue;
  /** Asked before each seed; true leaves it at what is known so far. */
  readonly shouldStop?: () => boolean;
  /** Where plans are examined and no seeds, by system; absent where seeds are. */
  readonly numbered?: ReadonlyMap<string, NumberedPlans>;
}

/** The stores of the scenario's systems must be prepared. */
export async function countAvoided(
  scenario: Scenario,
  tallies: ReadonlyMap<string, Tally>,
  { catalogue = builtIn, shouldStop = () => false, numbered }: CounterfactualOptions = {},
): Promise<AvoidedSeeds> {
  const found = new Map<string, Map<string, number>>();
  let examined = 0;
  for (const { seeds } of tallies.values()) examined += seeds;
  let left = Math.max(LEAST_RUNS, Math.floor(examined / SHARE));
  for (const { seed, rank, trials } of trialsOf(scenario, tallies, numbered !== undefined)) {
    const runs = new Map<string, Examination>();
    const names = new Set(trials.flatMap(({ cure, twin }) => [cure, twin]));
    left -= names.size;
    if ((left < 0 && rank >= LEAST_SEEDS) || shouldStop()) break;
    for (const name of names) {
      const own = trials.filter(({ cure, twin }) => name === cure || name === twin);
      const claims = [...new Set(own.map(({ claim }) => claim))];
      const plan =
        numbered === undefined
          ? expand(scenario, name, seed)
          : planOn(numbered, { name, twin: trials[0]?.twin ?? name, number: seed });
      runs.set(name, await examineEither(plan, claims, catalogue));
    }
    for (const [cure, claim] of avoidedIn(trials, runs)) {
      const counts = entryOf(found, cure, () => new Map<string, number>());
      counts.set(claim, (counts.get(claim) ?? 0) + 1);
    }
  }
  return found;
}

/** The faults of a twin's plan on a system. */
function planOn(
  numbered: ReadonlyMap<string, NumberedPlans>,
  { name, twin, number }: { name: string; twin: string; number: number },
): Plan {
  const [own, theirs] = [numbered.get(name), numbered.get(twin)];
  assert(own !== undefined && theirs !== undefined, `${name} and ${twin} have plans`);
  const plan = theirs.planOf(number);
  return name === twin ? plan : own.planWith(plan);
}

/** On how many seeds a system avoided the breach of a claim. */
export function avoidedOn(avoided: AvoidedSeeds, system: string, claim: string): number {
  return avoided.get(system)?.get(claim) ?? 0;
}

/** A claim that one system must hold, and a twin broke on the seed at hand. */
interface Trial {
  readonly claim: string;
  readonly cure: string;
  readonly twin: string;
}

interface SeedTrials {
  readonly seed: number;
  /** Its place among the seeds of one of its claims, the least of these. */
  readonly rank: number;
  readonly trials: readonly Trial[];
}

/**
 * The lowest seeds of each claim of each system first. A system of which a seed failed is not met,
 * and not run again. The number of a plan means another one for each system, so each twin is tried
 * separately then (`areNumbers`).
 */
function trialsOf(
  { systems }: Scenario,
  tallies: ReadonlyMap<string, Tally>,
  areNumbers: boolean,
): readonly SeedTrials[] {
  const bySeed = new Map<string, SeedTrials>();
  for (const { name: cure, expect } of systems) {
    if ((tallies.get(cure) ?? EMPTY_TALLY).failed > 0) continue;
    for (const claim of expect.holds) {
      const broken = systems.flatMap(({ name: twin }) => {
        if (twin === cure) return [];
        const { brokenSeeds } = claimTally(tallies.get(twin) ?? EMPTY_TALLY, claim);
        return brokenSeeds.map((seed) => ({ seed, trial: { claim, cure, twin } }));
      });
      const seeds = [...new Set(broken.map(({ seed }) => seed))].sort((a, b) => a - b);
      const ranks = new Map(seeds.slice(0, KEPT_BROKEN).map((seed, rank) => [seed, rank]));
      for (const { seed, trial } of broken) {
        const rank = ranks.get(seed);
        if (rank === undefined) continue;
        const name = areNumbers ? `${seed} ${trial.twin}` : `${seed}`;
        const known = bySeed.get(name) ?? { seed, rank, trials: [] };
        const trials = [...known.trials, trial];
        bySeed.set(name, { seed, rank: Math.min(rank, known.rank), trials });
      }
    }
  }
  return [...bySeed.values()].sort((a, b) => a.rank - b.rank || a.seed - b.seed);
}

/** System and claim of what was avoided on a seed, each once. */
function avoidedIn(
  trials: readonly Trial[],
  runs: ReadonlyMap<string, Examination>,
): readonly (readonly [cure: string, claim: string])[] {
  const found = new Map<string, readonly [string, string]>();
  for (const { claim, cure, twin } of trials) {
    const verdictOf = (run: Examination | undefined): Verdict | undefined =>
      run?.verdicts.find((verdict) => verdict.claim === claim);
    const [broken, cured] = [runs.get(twin), runs.get(cure)];
    const breach = verdictOf(broken);
    if (broken === undefined || cured === undefined || breach?.kind !== 'invalid') continue;
    if (verdictOf(cured)?.kind !== 'valid') continue;
    const isBeside = standsBeside(indexTrace(broken.trace), breach, indexTrace(cured.trace));
    if (isBeside) found.set(`${cure} ${claim}`, [cure, claim]);
  }
  return [...found.values()];
}
