/**
 * Judges `holder-order` for each grant within one resource of one store. Ignores `open`, since it
 * changes no value. A write lost in a recovery did not take effect.
 */
import type { Recovered } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { type EffectiveWrite, isEffective, recoveredValue } from './contents.ts';
import { accessBreach } from './evidence.ts';
import type { LogEntry, PlaceLog, TraceIndex } from './trace-index.ts';
import { type Breach, inAll } from './verdict.ts';

export const holderOrder: Claim = defineClaim({
  name: 'holder-order',
  about: 'the writes of one grant take effect in order, each at most once',
  source: 'program order within one session (Terry et al., 1994)',
  hazard: 'writes handled a second time, or after a later-issued write of the same grant',
  rules: ['issue-order', 'applied-twice'],
  judge: (indexed) =>
    inAll(indexed.places, (place) => {
      return { exercised: outOfOrder(place), breach: breachAt(indexed, place) };
    }),
});

type Rule = 'issue-order' | 'applied-twice';

function outOfOrder(place: PlaceLog): number {
  let disordered = 0;
  const lastIssue = new Map<number, number>();
  for (const { event } of place.accesses) {
    if (event.kind !== 'write' || event.value === null || event.under === 0) continue;
    if (event.issue <= (lastIssue.get(event.under) ?? 0)) disordered++;
    else lastIssue.set(event.under, event.issue);
  }
  return disordered;
}

function breachAt(indexed: TraceIndex, place: PlaceLog): Breach<Rule> | null {
  let applied: LogEntry<EffectiveWrite>[] = [];
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
    const accesses =
      first === undefined
        ? { 'newer write': newer, 'older write': write }
        : { 'first time': first, 'second time': write };
    const rule = first === undefined ? 'issue-order' : 'applied-twice';
    return accessBreach(indexed, rule, accesses, { late: write });
  }
  return null;
}

/**
 * Returns the writes that a recovery may have kept: each key's writes up to the last one with the
 * recovered value.
 */
function survivorsOf(
  place: PlaceLog,
  applied: readonly LogEntry<EffectiveWrite>[],
  recovered: Recovered,
): LogEntry<EffectiveWrite>[] {
  const lastKept = new Map<string, number>();
  for (const { event, index } of applied) {
    if (event.value === recoveredValue(place, recovered, event.key)) lastKept.set(event.key, index);
  }
  return applied.filter(({ event, index }) => index <= (lastKept.get(event.key) ?? -1));
}

/** Returns the last issued write of each grant. `applied` is in order of issue. */
function newestOf(
  applied: readonly LogEntry<EffectiveWrite>[],
): Map<number, LogEntry<EffectiveWrite>> {
  return new Map(applied.map((write) => [write.event.under, write]));
}
