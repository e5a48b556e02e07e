/**
 * Defines the expectations of a system. These are the claims in its scenario. User code must also
 * hold `progress`, unless the scenario lists that claim: code that never ends would otherwise pass
 * every claim.
 */
import { builtIn } from '../../catalogue.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';
import { claimCounts, type SweepCounts } from './counts.ts';

type Expected = Pick<SystemScenario['expect'], 'holds' | 'breaks'>;

/** Returns the claims that should hold and break. Both lists are empty if `system` is undefined. */
export function expectedOf(system: SystemScenario | undefined): Expected {
  if (system === undefined) return { holds: [], breaks: [] };
  const { lock, store, expect } = system;
  const { holds, breaks, may = [] } = expect;
  const isUserDefined = !builtIn.locks.has(lock) || !builtIn.stores.has(store);
  const isListed = [holds, breaks, may].some((side) => side.includes('progress'));
  return isUserDefined && !isListed ? { holds: [...holds, 'progress'], breaks } : expect;
}

/** Returns the claims that should hold but broke. */
export function unexpectedIn(system: SystemScenario, counts: SweepCounts): readonly string[] {
  return expectedOf(system).holds.filter((claim) => claimCounts(counts, claim).broken > 0);
}

/** The number of seeds on which a claim was due, and the number with a verdict and no failure. */
export interface Judged {
  readonly due: number;
  readonly judged: number;
}

export function judgedOn(counts: SweepCounts, claim: string): Judged {
  const { seeds, failed } = counts;
  return { due: seeds, judged: seeds - failed - claimCounts(counts, claim).unknown };
}

/** Returns true if a claim was judged on at least nine of ten seeds on which it was due. */
export function isJudged({ due, judged }: Judged): boolean {
  return due > 0 && 10 * judged >= 9 * due;
}
