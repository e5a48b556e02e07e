/**
 * Judges `fence-durable`: after a crash or a failover the store still knows the highest token that
 * it had accepted for a resource. A store that is not meant to compare tokens has no fence to
 * forget.
 *
 * Exercised: recoveries of a resource for which a token above 0 had been accepted.
 */
import { accessBreach } from './access-breach.ts';
import { causesIn } from './causes.ts';
import { type Breach, conclude } from './conclude.ts';
import type { Access, Numbered, Place, Survey } from './survey.ts';
import type { Terms } from './terms.ts';
import type { Verdict } from './verdict.ts';

/** "The store's highest token never decreases: not across restart, failover or a move." */
export function fenceDurable(survey: Survey, terms: Terms): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const place of terms.isFenced ? survey.places : []) {
    for (const recovery of place.recoveries) {
      const highest = highestBefore(place, recovery.index);
      if (highest === null) continue;
      exercised++;
      if (recovery.event.highest >= highest.event.token) continue;
      const span = { processes: [place.store], message: '', fromUs: highest.event.atUs };
      breach ??= accessBreach(survey, 'fence-forgotten', {
        accesses: [['highest write', highest]],
        late: null,
        others: [...causesIn(survey, { ...span, before: recovery.index }), ['recovery', recovery]],
      });
    }
  }
  return conclude('fence-durable', { exercised, breach });
}

/** The accepted write (or open) with the highest token above 0 that came before an event. */
function highestBefore(place: Place, before: number): Numbered<Access> | null {
  let highest: Numbered<Access> | null = null;
  for (const access of place.accesses) {
    if (access.index >= before) break;
    const { event } = access;
    if (event.kind !== 'write' || !event.isAccepted) continue;
    if (event.token > (highest?.event.token ?? 0)) highest = access;
  }
  return highest;
}
