/**
 * Judges `holder-order`, for each grant within one resource of one store. An `open` has no effect
 * that could be out of order, so it is left aside. What a recovery lost did not take effect.
 *
 * Exercised: writes, accepted or refused, that the store handled after a write of the same grant
 * that had been issued later, or a second time.
 */
import type { Recovered } from '../core/history/server-events.ts';
import { accessBreach } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import { type EffectiveWrite, isEffective, recoveredValue } from './contents.ts';
import type { Entry, Place, Survey } from './survey.ts';
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
  let applied: Entry<EffectiveWrite>[] = [];
  let newest = newestOf(applied);
  let sinceIndex = -1;
  for (const write of place.accesses) {
    if (!isEffective(write) || write.event.under === 0) continue;
    for (const recovery of place.recoveries) {
      if (recovery.index < sinceIndex || recovery.index > write.index) continue;
      applied = survivorsOf(place, applied, recovery.event);
      newest = newestOf(applied);
    }
    sinceIndex = write.index;
    const { under, operation, issue } = write.event;
    const newer = newest.get(under);
    if (newer === undefined || issue > newer.event.issue) {
      newest.set(under, write);
      applied.push(write);
      continue;
    }
    const first = applied.find(({ event }) => event.operation === operation);
    const isRepeated = first !== undefined;
    return accessBreach(survey, isRepeated ? 'applied-twice' : 'issue-order', {
      accesses: [
        isRepeated ? ['first time', first] : ['newer write', newer],
        [isRepeated ? 'second time' : 'older write', write],
      ],
      late: write,
    });
  }
  return null;
}

/** The writes that a recovery may have kept: of each key those up to the last with its value. */
function survivorsOf(
  place: Place,
  applied: readonly Entry<EffectiveWrite>[],
  recovered: Recovered,
): Entry<EffectiveWrite>[] {
  const lastKept = new Map<string, number>();
  for (const { event, index } of applied) {
    if (event.value === recoveredValue(place, recovered, event.key)) lastKept.set(event.key, index);
  }
  return applied.filter(({ event, index }) => index <= (lastKept.get(event.key) ?? -1));
}

/** Of each grant the write that was issued last; `applied` is in order of issue. */
function newestOf(applied: readonly Entry<EffectiveWrite>[]): Map<number, Entry<EffectiveWrite>> {
  return new Map(applied.map((write) => [write.event.under, write]));
}
