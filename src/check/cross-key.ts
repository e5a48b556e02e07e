/**
 * Judges `cross-key` for transfers: a key that is kept in several stores, and written only by
 * sections that add to it in one what they take from it in another, adds up to what it began with.
 * So it must in every section that read all stores, between its own writes, and at the end. What a
 * probe writes afterwards is left aside.
 *
 * Exercised: sections of which an access was handled when their lock had been granted anew.
 */
import { type AccessPart, accessBreach } from './access-breach.ts';
import { causesSince } from './causes.ts';
import { type Breach, conclude } from './conclude.ts';
import { contentsBefore, firstValue, isEffective } from './contents.ts';
import { unheardReads } from './heard-reads.ts';
import {
  type Access,
  type Entry,
  grantUnder,
  isStale,
  type KeyLog,
  type Place,
  type Survey,
} from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "A relation over several keys or stores holds after every section (a sum is conserved)." */
export function crossKey(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  const unheard = unheardReads(survey);
  for (const shared of sharedKeys(survey)) {
    const accesses = workOn(survey, shared).filter(({ event }) => !unheard.has(event));
    if (!isTransferred(survey, shared, accesses)) continue;
    exercised += overlappedSections(accesses);
    breach ??= breachIn(survey, shared, accesses);
  }
  return conclude('cross-key', { exercised, breach });
}

/** One key of one resource, as it lies in several stores. */
type SharedKey = readonly { readonly place: Place; readonly log: KeyLog }[];

function sharedKeys(survey: Survey): readonly SharedKey[] {
  if (survey.places.length < 2) return [];
  const resources = new Map<string, Map<string, { place: Place; log: KeyLog }[]>>();
  for (const place of survey.places) {
    const keys = resources.get(place.resource) ?? new Map();
    resources.set(place.resource, keys);
    for (const log of place.keys.values()) {
      const shared = keys.get(log.key);
      if (shared === undefined) keys.set(log.key, [{ place, log }]);
      else shared.push({ place, log });
    }
  }
  return [...resources.values()]
    .flatMap((keys) => [...keys.values()])
    .filter((shared) => shared.length > 1);
}

/** The accesses to all stores in the order of the trace, up to a probe's first write. */
function workOn(survey: Survey, shared: SharedKey): readonly Entry<Access>[] {
  const accesses = shared.flatMap(({ log }) => log.accesses);
  accesses.sort((one, other) => one.index - other.index);
  const probed = accesses.findIndex(
    (access) => survey.probes.has(access.event.client) && isEffective(access),
  );
  return probed < 0 ? accesses : accesses.slice(0, probed);
}

/**
 * Whether all that was written is transfers: what a section takes from one store it means to add to
 * another. A section may stop half way, after it took and before it gave.
 */
function isTransferred(
  survey: Survey,
  [first]: SharedKey,
  accesses: readonly Entry<Access>[],
): boolean {
  if (accesses.some((access) => isEffective(access) && access.event.adds === null)) return false;
  const taken = new Map<string, { readonly store: string; readonly amount: number }>();
  for (const { invoke } of survey.operations.values()) {
    const { call, operation } = invoke.event;
    if (call.verb !== 'write' || call.adds === null) continue;
    if (call.resource !== first?.place.resource || call.key !== first.log.key) continue;
    const section = operation.slice(0, operation.lastIndexOf('/'));
    const half = taken.get(section);
    if (half === undefined) taken.set(section, { store: call.store, amount: -call.adds });
    else if (half.store !== call.store && half.amount === call.adds) taken.delete(section);
    else return false;
  }
  return [...taken.values()].every(({ amount }) => amount >= 0);
}

function overlappedSections(accesses: readonly Entry<Access>[]): number {
  const overlapped = new Set<number>();
  for (const access of accesses) if (isStale(access)) overlapped.add(access.event.under);
  return overlapped.size;
}

function breachIn(
  survey: Survey,
  shared: SharedKey,
  accesses: readonly Entry<Access>[],
): Breach | null {
  const readBy = new Map<number, Map<string, Entry<Access>>>();
  const whole = shared.reduce((sum, { place, log }) => sum + firstValue(place, log.key), 0);
  for (const access of accesses) {
    const { event } = access;
    if (event.kind === 'write') {
      if (event.value !== null) readBy.delete(event.under);
      continue;
    }
    if (event.value === null) continue;
    const reads = readBy.get(event.under) ?? new Map<string, Entry<Access>>();
    readBy.set(event.under, reads.set(event.process, access));
    if (reads.size < shared.length || sumOf(reads.values()) === whole) continue;
    return breachShownBy(survey, shared, { rule: 'sum-read', reads: [...reads.values()] });
  }
  const before = (accesses.at(-1)?.index ?? -1) + 1;
  const end = shared.map(({ place, log }) => contentsBefore(place, log, before).value);
  const sum = end.reduce((total, value) => total + value, 0);
  if (!survey.isComplete || sum === whole) return null;
  return breachShownBy(survey, shared, { rule: 'sum-at-end', reads: [], before });
}

function sumOf(reads: Iterable<Entry<Access>>): number {
  let sum = 0;
  for (const { event } of reads) sum += event.value ?? 0;
  return sum;
}

/** Shows, in each store, the write whose value was found there, and what kept its section apart. */
function breachShownBy(
  survey: Survey,
  shared: SharedKey,
  found: {
    readonly rule: string;
    readonly reads: readonly Entry<Access>[];
    readonly before?: number;
  },
): Breach {
  const last = found.before ?? found.reads.at(-1)?.index ?? 0;
  const writes = shared.map(({ place, log }) => {
    const read = found.reads.find(({ event }) => event.process === place.store);
    return contentsBefore(place, log, read?.index ?? last).write;
  });
  const accesses: AccessPart[] = [
    ...writes.map((write): AccessPart => ['write', write]),
    ...found.reads.map((read): AccessPart => ['read', read]),
  ];
  const others = writes.flatMap((write) => {
    const grant = write === null ? undefined : grantUnder(survey, write.event);
    return grant === undefined ? [] : causesSince(survey, grant, { index: last });
  });
  return accessBreach(survey, found.rule, { accesses, late: null, others });
}
