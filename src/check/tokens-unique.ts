/**
 * Judges `tokens-unique` within a lock, which is the fence scope.
 *
 * A lock all of whose grants have token 0 has no tokens, and nothing to judge.
 *
 * Exercised: grants, of a lock with tokens, that had been granted before.
 */

import { causesSince } from './causes.ts';
import { causesOfTaking } from './causes-of-taking.ts';
import { type Breach, conclude, evidenceOf } from './conclude.ts';
import type { GrantLog, Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "No two grants share a token." */
export function tokensUnique(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const grants of grantsWithTokens(survey)) {
    const byToken = new Map<number, GrantLog>();
    for (const grant of grants) {
      const earlier = byToken.get(grant.event.token);
      if (earlier === undefined) byToken.set(grant.event.token, grant);
      else breach ??= breachBetween(survey, 'token-shared', { earlier, later: grant });
    }
    exercised += Math.max(0, grants.length - 1);
  }
  return conclude('tokens-unique', { exercised, breach });
}

/** The grants of each lock that has tokens. */
export function grantsWithTokens(survey: Survey): readonly (readonly GrantLog[])[] {
  return [...survey.locks.values()]
    .map(({ grants }) => grants)
    .filter((grants) => grants.some(({ event }) => event.token !== 0));
}

/** A contradiction between the tokens of two grants, with the faults that struck in between. */
export function breachBetween(
  survey: Survey,
  rule: string,
  { earlier, later }: { readonly earlier: GrantLog; readonly later: GrantLog },
): Breach {
  return {
    rule,
    evidence: evidenceOf([
      ['earlier grant', earlier],
      ['later grant', later],
      ...causesSince(survey, earlier, later),
      ...causesOfTaking(survey, { earlier, later }),
    ]),
  };
}
