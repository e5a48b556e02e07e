/**
 * Judges `cross-key` for transfers. If a key exists in several stores, and sections only move
 * amounts between these stores, then its sum over the stores never changes. Every section that
 * reads all stores between two of its own writes must see this sum, and the final state must have
 * the same sum. Writes of a probe are not counted.
 */
import { addTo, entryOf } from '../core/kernel/entries.ts';
import { type Claim, defineClaim } from './claim.ts';
import { contentsBefore, firstValue, isEffective, unheardReads } from './contents.ts';
import { accessBreach, causesSince } from './evidence.ts';
import {
  type AccessEvent,
  grantUnder,
  isStale,
  type KeyLog,
  type LogEntry,
  type PlaceLog,
  type TraceIndex,
} from './trace-index.ts';
import { type Breach, inAll } from './verdict.ts';

export const crossKey: Claim = defineClaim({
  name: 'cross-key',
  about: 'a sum over two stores is the same after every section',
  source: 'consistency of a transaction (Gray and Reuter, 1993)',
  hazard: 'sections with an access handled after their lock was granted again',
  needsNoLock: true,
  rules: ['sum-read', 'sum-at-end'],
  judge: (indexed) => {
    const all = sharedKeys(indexed);
    if (all.length === 0) return { exercised: 0 };
    const unheard = unheardReads(indexed);
    return inAll(all, (shared) => {
      const accesses = workOn(indexed, shared).filter(({ event }) => !unheard.has(event));
      if (!isTransferred(indexed, shared, accesses)) return { exercised: 0 };
      const breach = breachIn(indexed, shared, accesses);
      const overlapped = new Set<number>();
      for (const access of accesses) if (isStale(access)) overlapped.add(access.event.under);
      return { exercised: overlapped.size, breach };
    });
  },
});

type Rule = 'sum-read' | 'sum-at-end';

/** One key of one resource, in each of its stores. */
type SharedKey = readonly { readonly place: PlaceLog; readonly log: KeyLog }[];

function sharedKeys(indexed: TraceIndex): readonly SharedKey[] {
  if (indexed.places.length < 2) return [];
  const resources = new Map<string, Map<string, { place: PlaceLog; log: KeyLog }[]>>();
  for (const place of indexed.places) {
    const keys = entryOf(resources, place.resource, () => new Map());
    for (const log of place.keys.values()) addTo(keys, log.key, { place, log });
  }
  return [...resources.values()]
    .flatMap((keys) => [...keys.values()])
    .filter((shared) => shared.length > 1);
}

/** Returns the accesses to all stores in trace order, up to the first write of a probe. */
function workOn(indexed: TraceIndex, shared: SharedKey): readonly LogEntry<AccessEvent>[] {
  const accesses = shared.flatMap(({ log }) => log.accesses);
  accesses.sort((one, other) => one.index - other.index);
  const probed = accesses.findIndex(
    (access) => indexed.probes.has(access.event.client) && isEffective(access),
  );
  return probed < 0 ? accesses : accesses.slice(0, probed);
}

/**
 * Returns true if all writes are transfers: a section adds to one store the amount that it took
 * from another. A section may stop halfway, after taking and before adding.
 */
function isTransferred(
  indexed: TraceIndex,
  [first]: SharedKey,
  accesses: readonly LogEntry<AccessEvent>[],
): boolean {
  if (accesses.some((access) => isEffective(access) && access.event.adds === null)) return false;
  const taken = new Map<string, { readonly store: string; readonly amount: number }>();
  for (const { invoke } of indexed.operations.values()) {
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

function breachIn(
  indexed: TraceIndex,
  shared: SharedKey,
  accesses: readonly LogEntry<AccessEvent>[],
): Breach<Rule> | null {
  const readBy = new Map<number, Map<string, LogEntry<AccessEvent>>>();
  const total = shared.reduce((sum, { place, log }) => sum + firstValue(place, log.key), 0);
  for (const access of accesses) {
    const { event } = access;
    if (event.kind === 'write') {
      if (event.value !== null) readBy.delete(event.under);
      continue;
    }
    if (event.value === null) continue;
    const reads = entryOf(readBy, event.under, () => new Map()).set(event.process, access);
    if (reads.size < shared.length || sumOf(reads.values()) === total) continue;
    return breachShownBy(indexed, shared, { rule: 'sum-read', reads: [...reads.values()] });
  }
  const before = (accesses.at(-1)?.index ?? -1) + 1;
  const end = shared.map(({ place, log }) => contentsBefore(place, log, before).value);
  const sum = end.reduce((total, value) => total + value, 0);
  if (!indexed.isFinished || sum === total) return null;
  return breachShownBy(indexed, shared, { rule: 'sum-at-end', reads: [], before });
}

function sumOf(reads: Iterable<LogEntry<AccessEvent>>): number {
  let sum = 0;
  for (const { event } of reads) sum += event.value ?? 0;
  return sum;
}

function breachShownBy(
  indexed: TraceIndex,
  shared: SharedKey,
  found: {
    readonly rule: Rule;
    readonly reads: readonly LogEntry<AccessEvent>[];
    readonly before?: number;
  },
): Breach<Rule> {
  const last = found.before ?? found.reads.at(-1)?.index ?? 0;
  const writes = shared.flatMap(({ place, log }) => {
    const read = found.reads.find(({ event }) => event.process === place.store);
    return contentsBefore(place, log, read?.index ?? last).write ?? [];
  });
  const causes = writes.flatMap((write) => {
    const grant = grantUnder(indexed, write.event);
    return grant === undefined ? [] : causesSince(indexed, grant, { index: last });
  });
  return accessBreach(indexed, found.rule, { write: writes, read: found.reads }, { causes });
}
