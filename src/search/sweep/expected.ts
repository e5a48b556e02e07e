/**
 * Decides what is expected of a system: what its scenario lists, and of users' own code `progress`
 * as well, unless that is listed in any way. Code that never ends passes every other claim.
 */
import { builtIn } from '../../catalogue.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';
import { claimTally, type Tally } from './tally.ts';

type Expected = Pick<SystemScenario['expect'], 'holds' | 'breaks'>;

/** Returns what is to hold and to break; nothing of a system that is not there. */
export function expectedOf(system: SystemScenario | undefined): Expected {
  if (system === undefined) return { holds: [], breaks: [] };
  const { lock, store, expect } = system;
  const { holds, breaks, may = [] } = expect;
  const isOwn = !builtIn.locks.has(lock) || !builtIn.stores.has(store);
  const isListed = [holds, breaks, may].some((side) => side.includes('progress'));
  return isOwn && !isListed ? { holds: [...holds, 'progress'], breaks } : expect;
}

/** Returns what should hold and broke. */
export function unexpectedIn(system: SystemScenario, tally: Tally): readonly string[] {
  return expectedOf(system).holds.filter((claim) => claimTally(tally, claim).broken > 0);
}

/** Seeds on which a claim was due, and those on which it was neither unknown nor did code fail. */
export interface Judged {
  readonly due: number;
  readonly judged: number;
}

export function judgedOn(tally: Tally, claim: string): Judged {
  const { seeds, failed } = tally;
  return { due: seeds, judged: seeds - failed - claimTally(tally, claim).unknown };
}

/** Whether a claim was judged on enough seeds: nine of ten on which it was due. */
export function isJudged({ due, judged }: Judged): boolean {
  return due > 0 && 10 * judged >= 9 * due;
}
