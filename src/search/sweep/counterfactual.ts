/**
 * Counts where a system *avoided* what broke another: by counterfactual, since a lock that keeps
 * two holders apart may never meet the hazard of a claim that it was made for. Of each seed that
 * broke a claim in a sibling which was expected to break it, both are run again, and it counts
 * where the one avoided what broke the other, as `evidence/avoided.ts` has it.
 *
 * It is done once all seeds are examined, from the lowest that broke something, which a tally
 * keeps: so the numbers depend neither on chunks nor on machines, and whoever merges shards gets
 * the same. How many runs it takes is bounded by a share of those of the sweep.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { indexTrace } from '../../check/trace-index.ts';
import { assert } from '../../core/kernel/assert.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Examination } from '../../harness.ts';
import { examineEither } from '../../host/async/run-async.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { isAvoided, type PlanRun } from '../evidence/avoided.ts';
import type { NumberedPlans } from '../exhaust/exhaust.ts';
import { claimTally, EMPTY_TALLY, KEPT_BROKEN, type Tally } from './tally.ts';

/** By system, and then by claim: the seeds on which it avoided what broke a sibling. */
export type AvoidedSeeds = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** None, as of a scenario of one system. */
export const NONE_AVOIDED: AvoidedSeeds = new Map();

/** Runs are taken again at most as one in so many of the sweep, but for a few in a small one. */
const SHARE = 12;
const LEAST_RUNS = 12;

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
  const all = trialsOf(scenario, tallies);
  for (const [seed, trials] of numbered === undefined ? all : bySibling(all)) {
    const runs = new Map<string, Examination>();
    const names = new Set(trials.flatMap(({ cure, sibling }) => [cure, sibling]));
    left -= names.size;
    if (left < 0 || shouldStop()) break;
    for (const name of names) {
      const own = trials.filter(({ cure, sibling }) => name === cure || name === sibling);
      const claims = [...new Set(own.map(({ claim }) => claim))];
      const plan =
        numbered === undefined
          ? expand(scenario, name, seed)
          : planOn(numbered, { name, sibling: trials[0]?.sibling ?? name, number: seed });
      runs.set(name, await examineEither(plan, claims, catalogue));
    }
    for (const [cure, claim] of avoidedIn(trials, runs)) {
      const counts = found.get(cure) ?? new Map<string, number>();
      found.set(cure, counts.set(claim, (counts.get(claim) ?? 0) + 1));
    }
  }
  return found;
}

/** A number means another plan for each system, so that of each sibling is tried by itself. */
function bySibling(
  all: readonly (readonly [number, readonly Trial[]])[],
): readonly (readonly [number, readonly Trial[]])[] {
  return all.flatMap(([number, trials]) => {
    const siblings = [...new Set(trials.map(({ sibling }) => sibling))];
    return siblings.map(
      (name) => [number, trials.filter(({ sibling }) => sibling === name)] as const,
    );
  });
}

/** The faults of a sibling's plan on a system. */
function planOn(
  numbered: ReadonlyMap<string, NumberedPlans>,
  { name, sibling, number }: { name: string; sibling: string; number: number },
): Plan {
  const [own, theirs] = [numbered.get(name), numbered.get(sibling)];
  assert(own !== undefined && theirs !== undefined, `${name} and ${sibling} have plans`);
  const plan = theirs.planOf(number);
  return name === sibling ? plan : own.planWith(plan);
}

/** On how many seeds a system avoided the breach of a claim. */
export function avoidedOn(avoided: AvoidedSeeds, system: string, claim: string): number {
  return avoided.get(system)?.get(claim) ?? 0;
}

/** A claim that one system must hold, and a sibling broke on the seed at hand. */
interface Trial {
  readonly claim: string;
  readonly cure: string;
  readonly sibling: string;
}

/** By seed, the lowest first. A system of which a seed failed is not met, and not run again. */
function trialsOf(
  { systems }: Scenario,
  tallies: ReadonlyMap<string, Tally>,
): readonly (readonly [number, readonly Trial[]])[] {
  const bySeed = new Map<number, Trial[]>();
  for (const { name: cure, expect } of systems) {
    if ((tallies.get(cure) ?? EMPTY_TALLY).failed > 0) continue;
    for (const claim of expect.holds) {
      const siblings = systems.filter((other) => other.expect.breaks.includes(claim));
      const broken = siblings.flatMap(({ name: sibling }) => {
        const { brokenSeeds } = claimTally(tallies.get(sibling) ?? EMPTY_TALLY, claim);
        return brokenSeeds.map((seed) => ({ seed, trial: { claim, cure, sibling } }));
      });
      const seeds = [...new Set(broken.map(({ seed }) => seed))].sort((a, b) => a - b);
      const tried = new Set(seeds.slice(0, KEPT_BROKEN));
      for (const { seed, trial } of broken) {
        if (!tried.has(seed)) continue;
        const trials = bySeed.get(seed);
        if (trials === undefined) bySeed.set(seed, [trial]);
        else trials.push(trial);
      }
    }
  }
  return [...bySeed].sort(([a], [b]) => a - b);
}

/** System and claim of what was avoided on a seed, each once. */
function avoidedIn(
  trials: readonly Trial[],
  runs: ReadonlyMap<string, Examination>,
): readonly (readonly [cure: string, claim: string])[] {
  const indexes = new Map([...runs].map(([name, { trace }]) => [name, indexTrace(trace)]));
  const found = new Map<string, readonly [string, string]>();
  for (const { claim, cure, sibling } of trials) {
    const runOf = (system: string): PlanRun | null => {
      const examination = runs.get(system);
      const indexed = indexes.get(system);
      return examination && indexed ? { plan: examination.plan, indexed } : null;
    };
    const verdictOf = (system: string) =>
      runs.get(system)?.verdicts.find((verdict) => verdict.claim === claim);
    const [broken, cured] = [runOf(sibling), runOf(cure)];
    const breach = verdictOf(sibling);
    if (broken === null || cured === null || breach?.kind !== 'invalid') continue;
    const isHeld = verdictOf(cure)?.kind === 'valid';
    if (isHeld && isAvoided(broken, breach, cured)) found.set(`${cure} ${claim}`, [cure, claim]);
  }
  return [...found.values()];
}
