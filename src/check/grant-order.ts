/**
 * Judges `grant-order`: the result is the same as if the holders had taken turns. Replays the
 * accepted writes in grant order, and within a section in the order of issue. Every value that a
 * program read, and every final value, must match the replay. A late blind write is therefore legal
 * if it arrives before the successor's first access. A key that is written both under grants and
 * without a grant is not judged.
 *
 * A grant that never expires cannot become stale. For such a grant, the hazard is an acquire that
 * was handled while the grant was held.
 */

import { type Claim, defineClaim } from './claim.ts';
import { sectionUnder, unnotedAcquires } from './contention.ts';
import {
  contentsBefore,
  type EffectiveWrite,
  firstValue,
  isEffective,
  unheardReads,
} from './contents.ts';
import { accessBreach } from './evidence.ts';
import type { AcquisitionOrder } from './holders.ts';
import { inEveryOrder, isReleasedBefore, serviceEndUs } from './leases.ts';
import { outsidePhrase } from './phrases.ts';
import {
  type AccessEvent,
  isStale,
  type KeyLog,
  type LockLog,
  type LogEntry,
  type PlaceLog,
  type TraceIndex,
} from './trace-index.ts';
import { allOf, type Breach, type Findings, inAll } from './verdict.ts';

export const grantOrder: Claim = defineClaim({
  name: 'grant-order',
  about: 'replaying the applied accesses, one holder after another, reproduces every read',
  source: 'sequential turns, as a critical section promises (Lamport, 1974)',
  hazard: 'accesses under a superseded grant; acquires while a grant that never expires was held',
  rules: [
    'stale-write',
    'write-after-read',
    'read-of-later',
    'issue-order',
    'read-before-own-write',
    'read-of-own-later',
    'wrong-value',
    'lost-in-recovery',
  ],
  judge: (indexed) => {
    const unheard = unheardReads(indexed);
    return allOf(
      inEveryOrder(indexed, (place, order) => {
        for (const key of place.keys.values()) {
          const breach = breachOf(indexed, place, { key, unheard, order });
          if (breach !== null) return breach;
        }
        return null;
      }),
      inAll(indexed.places, judgeable),
      inAll(indexed.locks.values(), (lock) => ({ exercised: contestedForEver(indexed, lock) })),
    );
  },
});

type WriteEntry = LogEntry<EffectiveWrite>;

type Rule =
  | 'stale-write'
  | 'write-after-read'
  | 'read-of-later'
  | 'issue-order'
  | 'read-before-own-write'
  | 'read-of-own-later'
  | 'wrong-value'
  | 'lost-in-recovery';

interface Replayed {
  readonly key: KeyLog;
  readonly order: AcquisitionOrder;
  readonly unheard: ReadonlySet<AccessEvent>;
}

/** Counts the hazards. A key that is written both under grants and without a grant is unknown. */
function judgeable({ keys }: PlaceLog): Findings<never> {
  return inAll(keys.values(), ({ accesses }) => {
    const writes = accesses.filter(isEffective);
    const outside = writes.find(({ event }) => event.under === 0);
    if (outside === undefined) return { exercised: accesses.filter(isStale).length };
    if (writes.every(({ event }) => event.under === 0)) return { exercised: 0 };
    return { exercised: 0, unknown: outsidePhrase(outside.event) };
  });
}

/** Counts the acquires that were handled while a grant that never expires was held. */
function contestedForEver(indexed: TraceIndex, lock: LockLog): number {
  let contested = 0;
  for (const { event, latest, index } of lock.entries) {
    if (event.kind !== 'deny' && event.kind !== 'grant') continue;
    if (latest === null || serviceEndUs(latest, index) !== Number.POSITIVE_INFINITY) continue;
    if (event.kind === 'deny' || !isReleasedBefore(latest, index)) contested++;
  }
  for (const { section, index } of unnotedAcquires(indexed, lock)) {
    const held = lock.grants.findLast((grant) => grant.between[1] < index);
    if (held === undefined || sectionUnder(indexed, held) === section) continue;
    if (serviceEndUs(held, index) !== Number.POSITIVE_INFINITY) continue;
    if (!isReleasedBefore(held, index)) contested++;
  }
  return contested;
}

function breachOf(
  indexed: TraceIndex,
  place: PlaceLog,
  { key, unheard, order }: Replayed,
): Breach<Rule> | null {
  const replay = replayOf(key, order);
  if (replay === null) return null;
  for (const access of key.accesses) {
    const { event } = access;
    if (event.kind !== 'read' || event.value === null || event.under === 0) continue;
    if (unheard.has(event)) continue;
    const expected = lastBefore(replay, event, order);
    if (event.value === (expected?.event.value ?? firstValue(place, key.key))) continue;
    return breachAtRead(indexed, { place, key, expected, order, read: access });
  }
  if (!indexed.isFinished) return null;
  const expected = replay.at(-1);
  const { value } = contentsBefore(place, key, Number.POSITIVE_INFINITY);
  if (value === (expected?.event.value ?? firstValue(place, key.key))) return null;
  return breachByOverwriting(indexed, { place, key, expected, order }, null);
}

/** Returns the key's effective writes in the order of turns, or null if a write had no grant. */
function replayOf(key: KeyLog, order: AcquisitionOrder): readonly WriteEntry[] | null {
  const replay: WriteEntry[] = [];
  let last: WriteEntry | null = null;
  let isInOrder = true;
  for (const access of key.accesses) {
    if (!isEffective(access)) continue;
    if (access.event.under === 0) return null;
    if (last !== null && comesBefore(access.event, last.event, order)) isInOrder = false;
    replay.push(access);
    last = access;
  }
  return isInOrder
    ? replay
    : replay.sort(
        ({ event: a, index: i }, { event: b, index: j }) =>
          order(a.under) - order(b.under) || a.issue - b.issue || i - j,
      );
}

function comesBefore(one: AccessEvent, other: AccessEvent, order: AcquisitionOrder): boolean {
  return one.under === other.under
    ? one.issue < other.issue
    : order(one.under) < order(other.under);
}

function lastBefore(
  replay: readonly WriteEntry[],
  read: AccessEvent,
  order: AcquisitionOrder,
): WriteEntry | undefined {
  let from = 0;
  let to = replay.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const write = replay[middle];
    if (write !== undefined && comesBefore(write.event, read, order)) from = middle + 1;
    else to = middle;
  }
  return replay[from - 1];
}

interface Mismatch extends Pick<Replayed, 'key' | 'order'> {
  readonly place: PlaceLog;
  /** The last write in the replay before the mismatch, or undefined if there is none. */
  readonly expected: WriteEntry | undefined;
}

function breachAtRead(
  indexed: TraceIndex,
  { place, key, expected, order, read }: Mismatch & { readonly read: LogEntry<AccessEvent> },
): Breach<Rule> {
  if (expected !== undefined && expected.index > read.index) {
    if (expected.event.under === read.event.under) {
      const accesses = { 'early read': read, 'late write': expected };
      return accessBreach(indexed, 'read-before-own-write', accesses, { late: expected });
    }
    const accesses = { 'later read': read, 'stale write': expected };
    return accessBreach(indexed, 'write-after-read', accesses, { late: expected });
  }
  const { write, value } = contentsBefore(place, key, read.index);
  if (value !== read.event.value) return accessBreach(indexed, 'wrong-value', { write, read });
  if (write !== null && comesBefore(read.event, write.event, order)) {
    const isSameSection = write.event.under === read.event.under;
    const accesses = { 'later write': write, [isSameSection ? 'late read' : 'stale read']: read };
    const rule = isSameSection ? 'read-of-own-later' : 'read-of-later';
    return accessBreach(indexed, rule, accesses, { late: read });
  }
  return breachByOverwriting(indexed, { place, key, expected, order }, read);
}

/** `read` is null if the expected value was missing at the end of the run. */
function breachByOverwriting(
  indexed: TraceIndex,
  { place, key, expected }: Mismatch,
  read: LogEntry<AccessEvent> | null,
): Breach<Rule> {
  const { write, recovery } = contentsBefore(place, key, read?.index ?? Number.POSITIVE_INFINITY);
  if (write === null) {
    const lost = { 'lost write': expected, read };
    return accessBreach(indexed, 'lost-in-recovery', lost, { others: { recovery } });
  }
  const isSameSection = write.event.under === (expected ?? write).event.under;
  const accesses = isSameSection
    ? { 'newer write': expected, 'older write': write, read }
    : { 'later write': expected, 'stale write': write, read };
  const rule = isSameSection ? 'issue-order' : 'stale-write';
  return accessBreach(indexed, rule, accesses, { late: write });
}
