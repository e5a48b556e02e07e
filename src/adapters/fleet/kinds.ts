/**
 * The kinds of failure of a sweep: a claim of a system. Of each that a run on one machine would
 * shrink, one seed is shrunk while the sweep goes on, so that nobody waits for its end to see it.
 */
import { createHash } from 'node:crypto';
import type { Scenario } from '../../scenario/scenario.ts';
import { claimsToShrink } from '../../search/sweep/expectation.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../../search/sweep/tally.ts';

export interface Kind {
  readonly system: string;
  readonly claim: string;
  /** The lowest seed that is known to break the claim. */
  readonly seed: number;
}

type Tallies = ReadonlyMap<string, Tally>;

/** What a run on one machine would shrink, each by its lowest seed. */
export function kindsToShrink({ systems }: Scenario, tallies: Tallies): readonly Kind[] {
  return systems.flatMap((system) => {
    const tally = tallies.get(system.name) ?? EMPTY_TALLY;
    return claimsToShrink(system, tally).flatMap((claim): Kind[] => {
      const [seed] = claimTally(tally, claim).brokenSeeds;
      return seed === undefined ? [] : [{ system: system.name, claim, seed }];
    });
  });
}

/** How many seeds broke each claim that the scenario lists, by `system claim`. */
export function brokenByKind({ systems }: Scenario, tallies: Tallies): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { name, expect } of systems) {
    const tally = tallies.get(name) ?? EMPTY_TALLY;
    for (const claim of new Set([...expect.holds, ...expect.breaks])) {
      const { broken } = claimTally(tally, claim);
      if (broken > 0) kinds[kindName({ system: name, claim })] = broken;
    }
  }
  return kinds;
}

/** `unfenced grant-order`. */
export function kindName({ system, claim }: Pick<Kind, 'system' | 'claim'>): string {
  return `${system} ${claim}`;
}

/** The jobs that a sweep may have to shrink what broke: their ids, and what each is about. */
export function shrinkJobsOf(
  sweep: string,
  { systems }: Scenario,
): ReadonlyMap<string, Pick<Kind, 'system' | 'claim'>> {
  const kinds = systems.flatMap(({ name: system, expect }) =>
    [...expect.holds, ...expect.breaks].map((claim) => ({ system, claim })),
  );
  return new Map(kinds.map((kind) => [shrinkJobIdOf(sweep, kind), kind]));
}

/** The id of the job that shrinks a kind: there is one a sweep. */
export function shrinkJobIdOf(sweep: string, kind: Pick<Kind, 'system' | 'claim'>): string {
  const digest = createHash('sha256').update(JSON.stringify([kind.system, kind.claim]));
  return `${sweep}-k${digest.digest('hex').slice(0, 12)}`;
}
