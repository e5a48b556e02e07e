/** How a sweep examines a seed of a scenario that is built of fencepost's own systems. */
import { claims } from '../check/claims.ts';
import { examineSeed } from '../harness.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { prepare as prepareSystems } from '../systems/store/store-kinds.ts';
import type { Examiner } from './chunk.ts';

/** Examines with all claims that cost little, and with those that the scenario lists. */
export function examinerOf(scenario: Scenario): Examiner {
  const bySystem = new Map(
    scenario.systems.map((system) => [
      system.name,
      claimsJudged([...system.expect.holds, ...system.expect.breaks]),
    ]),
  );
  return (system, seed) =>
    examineSeed(scenario, system, seed, bySystem.get(system) ?? claimsJudged([]));
}

/** Loads what the stores of the scenario's systems need. */
export async function prepare(scenario: Scenario): Promise<void> {
  await prepareSystems(scenario.systems);
}

/** The claims that are judged on every run: those listed, and all that have no parameter. */
export function claimsJudged(listed: readonly string[]): readonly string[] {
  const plain = [...claims.keys()].filter(
    (name) => !name.includes('(') && name !== 'holder-overlap',
  );
  return [...new Set([...listed, ...plain])];
}
