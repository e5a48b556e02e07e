/** Sweeps a system of a row until its expectations are decided, and returns the objections. */
import { examineSeed } from '../../src/harness.ts';
import type { Scenario, SystemScenario } from '../../src/scenario/scenario.ts';
import { examineChunk } from '../../src/search/sweep/chunk.ts';
import {
  claimCounts,
  mergeCounts,
  NO_COUNTS,
  type SweepCounts,
} from '../../src/search/sweep/counts.ts';
import { judgeSystem } from '../../src/search/sweep/expectation.ts';

const CHUNK = 50;

/** Numbers of seeds: `holding` for claims to hold, and at most `breaking` until claims break. */
export interface Budget {
  readonly holding: number;
  readonly breaking: number;
}

/** Sweeps seeds of one system until its expectations are decided, and returns the counts. */
export async function countsOf(
  scenario: Scenario,
  system: SystemScenario,
  budget: Budget,
): Promise<SweepCounts> {
  const { holds, breaks } = system.expect;
  const claims = [...holds, ...breaks];
  const least = holds.length === 0 ? 0 : budget.holding;
  let counts = NO_COUNTS;
  const isOpen = (): boolean => breaks.some((claim) => claimCounts(counts, claim).broken === 0);
  for (let from = 0; from < least || (from < budget.breaking && isOpen()); from += CHUNK) {
    const chunk = { system: system.name, from, to: from + CHUNK - 1, skip: [] };
    const examiner = (name: string, seed: number): ReturnType<typeof examineSeed> =>
      examineSeed(scenario, name, seed, claims);
    const part = await examineChunk(chunk, system.expect, examiner, () => {});
    counts = mergeCounts(counts, part);
  }
  return counts;
}

/** Returns the objections to a system's expectations. Without faults, claims may be unexercised. */
export function objections(
  scenario: Scenario,
  system: SystemScenario,
  counts: SweepCounts,
): string[] {
  const complete = { isComplete: true, isSingle: false, isCalm: scenario.faults.length === 0 };
  const { unexpected, missing, vacuous } = judgeSystem(scenario, system, counts, complete);
  const seedOf = (claim: string): number | undefined => claimCounts(counts, claim).brokenSeeds[0];
  return [
    ...unexpected.map((claim) => `${claim} broke on seed ${seedOf(claim)}`),
    ...missing.map((claim) => `${claim} never broke on ${counts.seeds} seeds`),
    ...(system.expect.holds.length > 0 ? vacuous : []),
    ...system.expect.holds.flatMap((claim) => unknownIn(counts, claim)),
    ...counts.failures.map(({ seed, error }) => `seed ${seed} failed: ${error}`),
  ];
}

function unknownIn(counts: SweepCounts, claim: string): string[] {
  const { firstUnknown } = claimCounts(counts, claim);
  return firstUnknown === null
    ? []
    : [`${claim} is unknown on seed ${firstUnknown.seed}: ${firstUnknown.reason}`];
}
