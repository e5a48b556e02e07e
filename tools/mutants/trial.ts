/** Runs a mutant and its base on the same seeds: was the mistake found, and did the base hold? */
import type { Scenario } from '../../src/scenario/scenario.ts';
import { claimCounts, NO_COUNTS, type SweepCounts } from '../../src/search/sweep/counts.ts';
import { judgeSystem } from '../../src/search/sweep/expectation.ts';
import { sweep } from '../../src/search/sweep/sweep.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { type Share, shareOf } from '../statistics.ts';
import { BASE, MUTANT, type Mutant, scenarioOf } from './mutant.ts';

export interface MutantTrial {
  /** Seeds of the mutant that broke the claim, and the first of them. */
  readonly found: Share;
  readonly firstSeed: number | null;
  /** Reasons why the base does not count as holding; empty if it does. */
  readonly baseFlaws: readonly string[];
  /** Failed runs of either. */
  readonly failed: number;
}

/** Tries seeds from 0. */
export async function tryMutant(mutant: Mutant, seeds: number): Promise<MutantTrial> {
  const scenario = scenarioOf(mutant);
  await prepare(scenario.systems);
  const { countsBySystem } = await sweep(scenario, { from: 0, to: seeds - 1, pool: null });
  const [base = NO_COUNTS, mutated = NO_COUNTS] = [BASE, MUTANT].map((name) =>
    countsBySystem.get(name),
  );
  const { broken, brokenSeeds } = claimCounts(mutated, mutant.caughtBy);
  return {
    found: shareOf(broken, mutated.seeds),
    firstSeed: brokenSeeds[0] ?? null,
    baseFlaws: baseFlaws(mutant, scenario, { base, mutated }),
    failed: base.failed + mutated.failed,
  };
}

/**
 * Returns the reasons why a base does not hold. A base may prevent the hazard of the claim; it
 * counts as tested if the hazard arose with the mutant, from the same plans.
 */
export function baseFlaws(
  { caughtBy }: Pick<Mutant, 'caughtBy'>,
  scenario: Scenario,
  { base, mutated }: { readonly base: SweepCounts; readonly mutated: SweepCounts },
): readonly string[] {
  const { broken, unknown, exercised } = claimCounts(base, caughtBy);
  const system = scenario.systems.find(({ name }) => name === BASE);
  const coverage = { isComplete: true, isSingle: false };
  const untested = `${caughtBy} was never exercised`;
  const vacuous = system === undefined ? [] : judgeSystem(scenario, system, base, coverage).vacuous;
  const isExercised = exercised > 0 || claimCounts(mutated, caughtBy).exercised > 0;
  return [
    ...(broken > 0 ? [`it broke ${caughtBy} on ${broken} seeds`] : []),
    ...vacuous.filter((reason) => reason !== untested),
    ...(isExercised ? [] : [untested]),
    ...(unknown > 0 ? [`${caughtBy} is unknown on ${unknown} seeds`] : []),
  ];
}
