/**
 * Judges `holder-order`, for each grant within one resource of one store. An `open` has no effect
 * that could be out of order, so it is left aside.
 *
 * Exercised: writes, accepted or refused, that the store handled after a write of the same grant
 * that had been issued later, or a second time.
 */
import type { Write } from '../history/server-events.ts';
import { accessBreach } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import { type EffectiveWrite, isEffective } from './contents.ts';
import type { Entry, Numbered, Place, Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "The writes of one grant take effect in the order they were issued, each at most once." */
export function holderOrder(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const place of survey.places) {
    exercised += outOfOrder(place);
    breach ??= breachAt(survey, place);
  }
  return conclude('holder-order', { exercised, breach });
}

function outOfOrder(place: Place): number {
  let disordered = 0;
  const lastIssue = new Map<number, number>();
  for (const { event } of place.accesses) {
    if (event.kind !== 'write' || event.value === null || event.under === 0) continue;
    if (event.issue <= (lastIssue.get(event.under) ?? 0)) disordered++;
    else lastIssue.set(event.under, event.issue);
  }
  return disordered;
}

function breachAt(survey: Survey, place: Place): Breach | null {
  const newest = new Map<number, Entry<EffectiveWrite>>();
  for (const write of place.accesses) {
    if (!isEffective(write) || write.event.under === 0) continue;
    const newer = newest.get(write.event.under);
    if (newer === undefined || write.event.issue > newer.event.issue) {
      newest.set(write.event.under, write);
      continue;
    }
    const first = firstOf(place, write.event);
    const isRepeated = first.index < write.index;
    return accessBreach(survey, isRepeated ? 'applied-twice' : 'issue-order', {
      accesses: isRepeated
        ? [
            ['first time', first],
            ['second time', write],
          ]
        : [
            ['newer write', newer],
            ['older write', write],
          ],
      late: write,
    });
  }
  return null;
}

/** The first time that the operation of `write` was accepted. */
function firstOf(place: Place, write: Write): Numbered<Write> {
  for (const access of place.accesses) {
    if (isEffective(access) && access.event.operation === write.operation) return access;
  }
  return { event: write, index: Number.POSITIVE_INFINITY };
}
