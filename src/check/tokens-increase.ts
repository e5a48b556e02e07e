/**
 * Judges `tokens-increase` within a lock, which is the fence scope.
 *
 * Exercised: grants, of a lock with tokens, that had been granted before.
 */
import { type Breach, conclude } from './conclude.ts';
import type { GrantLog, Survey } from './survey.ts';
import { breachBetween, grantsWithTokens } from './tokens-unique.ts';
import type { Verdict } from './verdict.ts';

/** "Within a fence scope tokens strictly increase in grant order." */
export function tokensIncrease(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const grants of grantsWithTokens(survey)) {
    let highest: GrantLog | null = null;
    for (const grant of grants) {
      if (highest !== null && grant.event.token <= highest.event.token) {
        breach ??= breachBetween(survey, 'token-not-higher', { earlier: highest, later: grant });
      } else highest = grant;
    }
    exercised += Math.max(0, grants.length - 1);
  }
  return conclude('tokens-increase', { exercised, breach });
}
