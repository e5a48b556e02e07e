/** How a sweep examines a seed of a scenario whose words are in a catalogue. */

import { builtIn, type Catalogue } from '../../catalogue.ts';
import { examineEither } from '../../host/async/run-async.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { prepare as prepareSystems } from '../../systems/store/store-kinds.ts';
import type { Examiner } from './chunk.ts';

/** Examines with all claims that cost little, and with those that the scenario lists. */
export function examinerOf(scenario: Scenario, catalogue: Catalogue = builtIn): Examiner {
  const bySystem = new Map(
    scenario.systems.map((system) => [
      system.name,
      claimsJudged([...system.expect.holds, ...system.expect.breaks], catalogue),
    ]),
  );
  return (system, seed) => {
    const claims = bySystem.get(system) ?? claimsJudged([], catalogue);
    return examineEither(expand(scenario, system, seed), claims, catalogue);
  };
}

/** Loads what the stores of the scenario's systems need. */
export async function prepare(scenario: Scenario, catalogue: Catalogue = builtIn): Promise<void> {
  await prepareSystems(scenario.systems, catalogue);
}

/** The claims that are judged on every run: those listed, and all that have no parameter. */
export function claimsJudged(
  listed: readonly string[],
  { claims }: Pick<Catalogue, 'claims'> = builtIn,
): readonly string[] {
  const plain = [...claims.keys()].filter(
    (name) => !name.includes('(') && name !== 'holder-overlap',
  );
  return [...new Set([...listed, ...plain])];
}
