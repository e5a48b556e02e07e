/**
 * Judges `no-lost-update` for every key that is only ever incremented: the sum of the increments
 * that clients know to have succeeded is in the final value, and nothing but what they tried. An
 * increment is what a step wants, however often its client writes for it: it counts once. A probe
 * that overwrites a key ends its judgement there; a key in several stores is `cross-key`'s.
 *
 * It judges the sum: a loss is unseen where an increment that its client never heard of makes up
 * for it, and so is a repetition within what is unknown.
 *
 * Exercised: increments between whose read and write the store handled an access of another grant,
 * or, without grants, of another section; and what was written for again.
 */
import { type AccessPart, accessBreach } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import { contentsBefore, type EffectiveWrite, firstValue, isEffective } from './contents.ts';
import { intentOf, repeatsOf } from './repeats.ts';
import { isShared } from './several-stores.ts';
import {
  type Access,
  type Entry,
  isAcknowledged,
  type KeyLog,
  type OperationLog,
  type Place,
  type Survey,
} from './survey.ts';
import { INITIAL_VALUE } from './terms.ts';
import type { Verdict } from './verdict.ts';

/** "Acknowledged increments ≤ final counter ≤ acknowledged + unknown." */
export function noLostUpdate(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  const ranges = finalRanges(survey);
  for (const place of survey.places) {
    for (const key of place.keys.values()) {
      const range = ranges.get(key);
      if (isShared(survey, { resource: place.resource, key: key.key })) continue;
      if (range === undefined || !isOnlyIncremented(key, range.before)) continue;
      exercised += overlappedIncrements(key) + range.repeated;
      breach ??= breachOf(survey, { place, key, range });
    }
  }
  return conclude('no-lost-update', { exercised, breach });
}

/** What a counter may hold just before event `before`, the end of its judgement. */
interface Range {
  min: number;
  max: number;
  /** How often a client wrote again for an increment that it had written for. */
  repeated: number;
  readonly before: number;
}

function finalRanges(survey: Survey): ReadonlyMap<KeyLog, Range> {
  const keys = keysByName(survey);
  const ranges = new Map<KeyLog, Range>();
  const repeats = repeatsOf(survey);
  for (const operation of survey.operations.values()) {
    const { call, operation: name } = operation.invoke.event;
    if (call.verb !== 'write' || call.adds === null || call.repeats !== undefined) continue;
    const key = keys.get(call.store)?.get(call.resource)?.get(call.key);
    if (key === undefined) continue;
    let range = ranges.get(key);
    if (range === undefined) {
      const before = probedAt(survey, key);
      const place = survey.places.find(({ keys: own }) => own.get(call.key) === key);
      const first = place === undefined ? INITIAL_VALUE : firstValue(place, call.key);
      range = { min: first, max: first, repeated: 0, before };
      ranges.set(key, range);
    }
    let fate = fateOf(operation, range.before);
    for (const repeat of repeats.get(name) ?? []) {
      fate = eitherOf(fate, fateOf(repeat, range.before));
      range.repeated += 1;
    }
    widen(range, call.adds, fate);
  }
  return ranges;
}

function keysByName(
  survey: Survey,
): ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, KeyLog>>> {
  const stores = new Map<string, Map<string, ReadonlyMap<string, KeyLog>>>();
  for (const { store, resource, keys } of survey.places) {
    const resources = stores.get(store);
    if (resources === undefined) stores.set(store, new Map([[resource, keys]]));
    else resources.set(resource, keys);
  }
  return stores;
}

/** The number of the event at which a probe overwrites a key. */
function probedAt(survey: Survey, key: KeyLog): number {
  if (survey.probes.size === 0) return Number.POSITIVE_INFINITY;
  const overwritten = key.accesses.find(
    (access) =>
      isEffective(access) && access.event.adds === null && survey.probes.has(access.event.client),
  );
  return overwritten?.index ?? Number.POSITIVE_INFINITY;
}

type Fate = 'yes' | 'no' | 'unknown';

/** Whether an increment happened that was tried in two ways, either of which counts. */
function eitherOf(one: Fate, other: Fate): Fate {
  if (one === 'yes' || other === 'yes') return 'yes';
  return one === 'unknown' || other === 'unknown' ? 'unknown' : 'no';
}

/** Whether a write happened; a refusal after a try that may have is an `info`. */
function fateOf(operation: OperationLog, before: number): Fate {
  const answer = operation.return;
  if (answer === null || answer.event.outcome === 'info') return 'unknown';
  if (isAcknowledged(operation)) return answer.index < before ? 'yes' : 'unknown';
  return 'no';
}

function widen(range: Range, adds: number, fate: Fate): void {
  if (fate === 'no') return;
  if (fate === 'yes' || adds < 0) range.min += adds;
  if (fate === 'yes' || adds > 0) range.max += adds;
}

function isOnlyIncremented(key: KeyLog, before: number): boolean {
  for (const access of key.accesses) {
    if (access.index >= before) return true;
    if (isEffective(access) && access.event.adds === null) return false;
  }
  return true;
}

function overlappedIncrements(key: KeyLog): number {
  let overlapped = 0;
  const readAt = new Map<number | string, number>();
  let latest: { holder: number | string; index: number } = { holder: 0, index: -1 };
  let otherIndex = -1;
  for (const { event, index } of key.accesses) {
    const holder = holderOf(event);
    if (holder !== latest.holder) {
      otherIndex = latest.index;
      latest = { holder, index };
    } else latest.index = index;
    if (event.kind === 'read') readAt.set(holder, index);
    else if (event.adds !== null && otherIndex > (readAt.get(holder) ?? index)) overlapped++;
  }
  return overlapped;
}

/** The grant under which an access was made; where there are none, its section: `alice/1`. */
function holderOf({ under, operation }: Access): number | string {
  return under > 0 ? under : operation.slice(0, operation.lastIndexOf('/'));
}

function breachOf(
  survey: Survey,
  { place, key, range }: { readonly place: Place; readonly key: KeyLog; readonly range: Range },
): Breach | null {
  const { value, recovery } = contentsBefore(place, key, range.before);
  if (value >= range.min && value <= range.max) return null;
  if (value > range.max) {
    const twice = appliedTwice(survey, key);
    if (twice !== null) {
      return accessBreach(survey, 'update-repeated', { accesses: twice, late: null });
    }
    const last = key.accesses.findLast(isEffective);
    return accessBreach(survey, 'update-invented', {
      accesses: [['last write', last]],
      late: null,
    });
  }
  const overwriting = key.accesses.find((access) => overwrites(place, key, access));
  if (overwriting === undefined) {
    return accessBreach(survey, 'lost-in-recovery', {
      accesses: [['lost write', key.accesses.findLast(isEffective)]],
      late: null,
      others: [['recovery', recovery]],
    });
  }
  const { write: lost } = contentsBefore(place, key, overwriting.index);
  return accessBreach(survey, 'update-lost', {
    accesses: [
      ['read', readOf(key, overwriting)],
      ['lost write', lost],
      ['overwriting write', overwriting],
    ],
    late: lost !== null && lost.event.under < overwriting.event.under ? lost : overwriting,
  });
}

/** Two writes for one intent that both took effect, if there are such. */
function appliedTwice(survey: Survey, key: KeyLog): readonly AccessPart[] | null {
  const applied = new Map<string, Entry<Access>>();
  for (const access of key.accesses) {
    if (!isEffective(access)) continue;
    const intent = intentOf(survey, access.event.operation);
    const first = applied.get(intent);
    if (first !== undefined) {
      return [
        ['first write', first],
        ['repeated write', access],
      ];
    }
    applied.set(intent, access);
  }
  return null;
}

/** Whether an increment wrote something else than what stood there plus what it adds. */
function overwrites(
  place: Place,
  key: KeyLog,
  access: Entry<Access>,
): access is Entry<EffectiveWrite> {
  if (!isEffective(access)) return false;
  const before = contentsBefore(place, key, access.index).value;
  return access.event.value !== before + (access.event.adds ?? 0);
}

/** The read that an increment was computed from. */
function readOf(key: KeyLog, write: Entry<EffectiveWrite>): Entry<Access> | undefined {
  const holder = holderOf(write.event);
  return key.accesses.findLast(
    ({ event, index }) =>
      event.kind === 'read' && index < write.index && holderOf(event) === holder,
  );
}
