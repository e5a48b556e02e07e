/**
 * Counts the seeds on which a system *avoided* a breach that occurred in a twin, that is, any other
 * system of the scenario. A lock that prevents two simultaneous holders may never meet the hazard
 * of its claim. A twin that breaks the claim on the same seed shows that the hazard was there. Both
 * systems are run again on each of the lowest seeds on which a twin broke the claim. The seed
 * counts if the system withstood what broke the twin (`evidence/avoided.ts`).
 *
 * The counts of the sweep list the lowest seeds with a breach. Therefore, chunks, machines and
 * shards do not affect the results. The number of runs is limited to a fraction of the sweep's
 * runs.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { Verdict } from '../../check/verdict.ts';
import { assert } from '../../core/kernel/assert.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { SeedResult } from '../../harness.ts';
import { examineEither } from '../../host/async/run-async.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { standsBeside } from '../evidence/avoided.ts';
import type { NumberedPlans } from '../exhaust/exhaust.ts';
import { claimCounts, KEPT_BROKEN, NO_COUNTS, type SweepCounts } from './counts.ts';

/** The number of seeds on which each system avoided what broke a twin, by system, then by claim. */
export type AvoidedSeeds = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The value for a scenario with one system. */
export const NONE_AVOIDED: AvoidedSeeds = new Map();

/** One run is allowed per this many runs of the sweep, but at least `LEAST_RUNS` in total. */
const SHARE = 12;
const LEAST_RUNS = 12;
/** Number of seeds to try per system and claim, regardless of the limit. */
const LEAST_SEEDS = 3;

export interface CounterfactualOptions {
  readonly catalogue?: Catalogue;
  /** Called before each seed. If it returns true, the counts so far are returned. */
  readonly shouldStop?: () => boolean;
  /** The plans of each system in an exhaustive search. Absent if seeds are examined. */
  readonly numbered?: ReadonlyMap<string, NumberedPlans>;
}

/** Counts the avoided seeds. The stores of all systems must be prepared. */
export async function countAvoided(
  scenario: Scenario,
  countsBySystem: ReadonlyMap<string, SweepCounts>,
  { catalogue = builtIn, shouldStop = () => false, numbered }: CounterfactualOptions = {},
): Promise<AvoidedSeeds> {
  const found = new Map<string, Map<string, number>>();
  let examined = 0;
  for (const { seeds } of countsBySystem.values()) examined += seeds;
  let left = Math.max(LEAST_RUNS, Math.floor(examined / SHARE));
  for (const { seed, rank, trials } of trialsOf(scenario, countsBySystem, numbered !== undefined)) {
    const runs = new Map<string, SeedResult>();
    const names = new Set(trials.flatMap(({ cure, twin }) => [cure, twin]));
    left -= names.size;
    if ((left < 0 && rank >= LEAST_SEEDS) || shouldStop()) break;
    for (const name of names) {
      const pair = trials.filter(({ cure, twin }) => name === cure || name === twin);
      const claims = [...new Set(pair.map(({ claim }) => claim))];
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

function planOn(
  numbered: ReadonlyMap<string, NumberedPlans>,
  { name, twin, number }: { name: string; twin: string; number: number },
): Plan {
  const [cureNumber, theirs] = [numbered.get(name), numbered.get(twin)];
  assert(cureNumber !== undefined && theirs !== undefined, `${name} and ${twin} have plans`);
  const plan = theirs.planOf(number);
  return name === twin ? plan : cureNumber.planWith(plan);
}

/** Returns the number of seeds on which a system avoided the breach of a claim. */
export function avoidedOn(avoided: AvoidedSeeds, system: string, claim: string): number {
  return avoided.get(system)?.get(claim) ?? 0;
}

/** A claim that should hold for `cure`, and that `twin` broke on the current seed. */
interface Trial {
  readonly claim: string;
  readonly cure: string;
  readonly twin: string;
}

interface SeedTrials {
  readonly seed: number;
  /** The seed's lowest position in the seed lists of its claims. */
  readonly rank: number;
  readonly trials: readonly Trial[];
}

/**
 * Returns the trials by seed, starting with the lowest seeds of each claim of each system. Skips
 * systems with a failed seed. In an exhaustive search (`areNumbers`), a number means a different
 * plan in each system, so each twin is tried separately.
 */
function trialsOf(
  { systems }: Scenario,
  countsBySystem: ReadonlyMap<string, SweepCounts>,
  areNumbers: boolean,
): readonly SeedTrials[] {
  const bySeed = new Map<string, SeedTrials>();
  for (const { name: cure, expect } of systems) {
    if ((countsBySystem.get(cure) ?? NO_COUNTS).failed > 0) continue;
    for (const claim of expect.holds) {
      const broken = systems.flatMap(({ name: twin }) => {
        if (twin === cure) return [];
        const { brokenSeeds } = claimCounts(countsBySystem.get(twin) ?? NO_COUNTS, claim);
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

/** Returns each system and claim whose breach it avoided on a seed, without duplicates. */
function avoidedIn(
  trials: readonly Trial[],
  runs: ReadonlyMap<string, SeedResult>,
): readonly (readonly [cure: string, claim: string])[] {
  const found = new Map<string, readonly [string, string]>();
  for (const { claim, cure, twin } of trials) {
    const verdictOf = (run: SeedResult | undefined): Verdict | undefined =>
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
