/**
 * Judges `no-write-after-release`: being told "released" is the end of all that was done under a
 * grant.
 *
 * Exercised: writes that a store handled, accepted or refused, after their client had been told
 * that their grant was released.
 */
import { accessBreach } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import { type LockLog, type Numbered, operationOf, type Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "After a holder was told 'released', none of its earlier writes applies." */
export function noWriteAfterRelease(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const place of survey.places) {
    const lock = survey.locks.get(place.resource);
    const told = lock === undefined ? null : toldReleased(survey, lock);
    if (told === null || told.size === 0) continue;
    for (const access of place.accesses) {
      const { event } = access;
      if (event.kind !== 'write' || event.value === null) continue;
      const answer = told.get(event.under);
      if (answer === undefined || access.index < answer.index) continue;
      exercised++;
      if (!event.isAccepted) continue;
      breach ??= accessBreach(survey, 'write-after-release', {
        accesses: [['late write', access]],
        late: access,
        others: [['released', answer]],
      });
    }
  }
  return conclude('no-write-after-release', { exercised, breach });
}

/** For each grant, by ordinal, the event at which its client was told that it is released. */
function toldReleased(survey: Survey, lock: LockLog): ReadonlyMap<number, Numbered<object>> {
  const told = new Map<number, Numbered<object>>();
  for (const { event } of lock.entries) {
    if (event.kind !== 'release' || event.under === 0 || told.has(event.under)) continue;
    const answer = survey.operations.get(operationOf(event.message))?.return;
    if (answer?.event.outcome !== 'ok' || answer.event.answer?.kind !== 'released') continue;
    told.set(event.under, answer);
  }
  return told;
}
