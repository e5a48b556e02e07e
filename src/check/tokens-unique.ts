/**
 * Judges `tokens-unique` within a lock, which is the fence scope.
 *
 * Exercised: grants of a lock that had been granted before.
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
  for (const { grants } of survey.locks.values()) {
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
