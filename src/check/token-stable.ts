/**
 * Judges `token-stable`: what a holder wrote before a renew and after it carries one token.
 *
 * Exercised: renews that extended a grant.
 */
import { type Breach, conclude, evidenceOf } from './conclude.ts';
import type { Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "A renew keeps the token." */
export function tokenStable(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const { grants } of survey.locks.values()) {
    for (const grant of grants) {
      for (const { event, index } of grant.changes) {
        if (event.kind !== 'renew') continue;
        exercised++;
        if (event.token === grant.event.token || breach !== null) continue;
        const evidence = evidenceOf([
          ['grant', grant],
          ['renewal', { index }],
        ]);
        breach = { rule: 'token-changed', evidence };
      }
    }
  }
  return conclude('token-stable', { exercised, breach });
}
