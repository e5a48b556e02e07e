/**
 * Judges `no-lost-update` for every key that is only ever incremented: the sum of the increments
 * that clients know to have succeeded is in the final value, and nothing but what they tried. An
 * increment is what a step wants, however often its client writes for it: it counts once. A probe
 * that overwrites a key ends its judgement there; a key in several stores is `cross-key`'s.
 *
 * It judges the sum: a loss is unseen where an increment that its client never heard of makes up
 * for it, and so is a repetition within what is unknown.
 *
 * Two increments overlap where between the read and the write of one the store handled an access of
 * the other's grant, or, without grants, of its section. They were kept apart where the other's
 * acquire was handled in between, and no access of it.
 */
import { stampText, type Write } from '../core/history/server-events.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { lostInRecovery } from './access-words.ts';
import { type Claim, defineClaim } from './claim.ts';
import { type Acquire, acquiresOf, wasContested } from './contention.ts';
import {
  contentsBefore,
  type EffectiveWrite,
  firstValue,
  intentOf,
  isEffective,
  isShared,
  repeatsOf,
} from './contents.ts';
import { type AccessParts, accessBreach } from './evidence.ts';
import type { Contradiction, Sentences } from './explanation.ts';
import {
  type AccessEvent,
  isAcknowledged,
  type KeyLog,
  type LogEntry,
  type Numbered,
  type OperationLog,
  type PlaceLog,
  placeAt,
  type TraceIndex,
} from './trace-index.ts';
import { type Breach, inAll } from './verdict.ts';

export const noLostUpdate: Claim = defineClaim({
  name: 'no-lost-update',
  about: 'every acknowledged increment is in the final counter',
  source: 'Berenson et al., A Critique of ANSI SQL Isolation Levels (1995), P4',
  hazard: 'increments that overlapped another’s or were kept apart by the lock, or were repeated',
  rules: {
    'update-lost': updateLost,
    'update-repeated': updateRepeated,
    'update-invented': updateInvented,
    'lost-in-recovery': lostInRecovery,
  },
  judge: (indexed) => {
    const ranges = finalRanges(indexed);
    return inAll(indexed.places, (place) => {
      const lock = indexed.locks.get(place.resource);
      const acquires = lock === undefined ? [] : acquiresOf(indexed, lock);
      return inAll(place.keys.values(), (key) => {
        const range = ranges.get(key);
        if (isShared(indexed, { resource: place.resource, key: key.key })) return { exercised: 0 };
        if (range === undefined || !isOnlyIncremented(key, range.before)) return { exercised: 0 };
        const breach = breachOf(indexed, { place, key, range });
        return { exercised: contestedIncrements(key, acquires) + range.repeated, breach };
      });
    });
  },
});

type Rule = 'update-lost' | 'update-repeated' | 'update-invented' | 'lost-in-recovery';

/** What a counter may hold just before event `before`, the end of its judgement. */
interface Range {
  min: number;
  max: number;
  /** How often a client wrote again for an increment that it had written for. */
  repeated: number;
  readonly before: number;
}

function finalRanges(indexed: TraceIndex): ReadonlyMap<KeyLog, Range> {
  const ranges = new Map<KeyLog, Range>();
  const repeats = repeatsOf(indexed);
  for (const operation of indexed.operations.values()) {
    const { call, operation: name } = operation.invoke.event;
    if (call.verb !== 'write' || call.adds === null || call.repeats !== undefined) continue;
    const place = placeAt(indexed, call);
    const key = place?.keys.get(call.key);
    if (place === undefined || key === undefined) continue;
    let range = ranges.get(key);
    if (range === undefined) {
      const before = probedAt(indexed, key);
      const first = firstValue(place, call.key);
      range = { min: first, max: first, repeated: 0, before };
      ranges.set(key, range);
    }
    let fate = fateOf(operation, range.before);
    for (const repeat of repeats.get(name) ?? []) {
      fate = eitherOf(fate, fateOf(repeat, range.before));
      range.repeated += 1;
    }
    if (fate === 'no') continue;
    if (fate === 'yes' || call.adds < 0) range.min += call.adds;
    if (fate === 'yes' || call.adds > 0) range.max += call.adds;
  }
  return ranges;
}

/** The number of the event at which a probe overwrites a key. */
function probedAt(indexed: TraceIndex, key: KeyLog): number {
  const overwritten = key.accesses.find(
    (access) =>
      isEffective(access) && access.event.adds === null && indexed.probes.has(access.event.client),
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

function isOnlyIncremented(key: KeyLog, before: number): boolean {
  for (const access of key.accesses) {
    if (access.index >= before) return true;
    if (isEffective(access) && access.event.adds === null) return false;
  }
  return true;
}

function contestedIncrements(key: KeyLog, acquires: readonly Acquire[]): number {
  let contested = 0;
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
    else if (event.adds !== null) {
      const after = readAt.get(holder) ?? index;
      const span = { section: sectionOf(event.operation), after, before: index };
      if (otherIndex > after || wasContested(acquires, span)) contested++;
    }
  }
  return contested;
}

/** The grant under which an access was made; where there are none, its section: `alice/1`. */
function holderOf({ under, operation }: AccessEvent): number | string {
  return under > 0 ? under : operation.slice(0, operation.lastIndexOf('/'));
}

function breachOf(
  indexed: TraceIndex,
  { place, key, range }: { readonly place: PlaceLog; readonly key: KeyLog; readonly range: Range },
): Breach<Rule> | null {
  const { value, recovery } = contentsBefore(place, key, range.before);
  if (value >= range.min && value <= range.max) return null;
  if (value > range.max) {
    const twice = appliedTwice(indexed, key);
    if (twice !== null) return accessBreach(indexed, 'update-repeated', twice);
    const last = key.accesses.findLast(isEffective);
    return accessBreach(indexed, 'update-invented', { 'last write': last });
  }
  const overwriting = key.accesses.find((access) => overwrites(place, key, access));
  if (overwriting === undefined) {
    // A store in which the last write wins took it for an earlier one, and said nothing.
    const ignored = key.accesses.find(({ event }) => {
      if (event.kind !== 'write' || event.isAccepted || event.stamp === undefined) return false;
      const operation = indexed.operations.get(event.operation);
      return operation !== undefined && isAcknowledged(operation);
    });
    if (ignored !== undefined) return breachByIgnoring(indexed, { place, key, ignored });
    const gone = { 'lost write': key.accesses.findLast(isEffective) };
    return accessBreach(indexed, 'lost-in-recovery', gone, { others: { recovery } });
  }
  const { write: lost } = contentsBefore(place, key, overwriting.index);
  const read = readOf(key, overwriting);
  const otherRead = lost === null ? undefined : readOf(key, lost);
  const accesses = {
    read,
    'other read': otherRead,
    'lost write': lost,
    'overwriting write': overwriting,
  };
  const isOlder = lost !== null && lost.event.under < overwriting.event.under;
  return accessBreach(indexed, 'update-lost', accesses, { late: isOlder ? lost : overwriting });
}

function breachByIgnoring(
  indexed: TraceIndex,
  shown: {
    readonly place: PlaceLog;
    readonly key: KeyLog;
    readonly ignored: LogEntry<AccessEvent>;
  },
): Breach<Rule> {
  const { place, key, ignored } = shown;
  const { write: later } = contentsBefore(place, key, ignored.index);
  const accesses = {
    read: readOf(key, ignored),
    'other read': later === null ? undefined : readOf(key, later),
    'overwriting write': later,
    'lost write': ignored,
  };
  return accessBreach(indexed, 'update-lost', accesses, { late: ignored });
}

/** Two writes for one intent that both took effect, if there are such. */
function appliedTwice(indexed: TraceIndex, key: KeyLog): AccessParts | null {
  const applied = new Map<string, LogEntry<AccessEvent>>();
  for (const access of key.accesses) {
    if (!isEffective(access)) continue;
    const intent = intentOf(indexed, access.event.operation);
    const first = applied.get(intent);
    if (first !== undefined) return { 'first write': first, 'repeated write': access };
    applied.set(intent, access);
  }
  return null;
}

/** Whether an increment wrote something else than what stood there plus what it adds. */
function overwrites(
  place: PlaceLog,
  key: KeyLog,
  access: LogEntry<AccessEvent>,
): access is LogEntry<EffectiveWrite> {
  if (!isEffective(access)) return false;
  const before = contentsBefore(place, key, access.index).value;
  return access.event.value !== before + (access.event.adds ?? 0);
}

/** The read that an increment was computed from. */
function readOf(key: KeyLog, write: Numbered<AccessEvent>): LogEntry<AccessEvent> | undefined {
  const holder = holderOf(write.event);
  return key.accesses.findLast(
    ({ event, index }) =>
      event.kind === 'read' && index < write.index && holderOf(event) === holder,
  );
}

function updateLost(shown: Contradiction): Sentences {
  const read = shown.find('read', 'read');
  const lost = shown.find('lost write', 'write');
  const over = shown.need('overwriting write', 'write');
  const base = read === undefined ? '' : `${shown.accessPhrase(read)}, and `;
  if (lost?.refusal?.kind === 'stamp') {
    const told = `, and was told that it was accepted: its increment is gone`;
    return {
      headline: `Acknowledged increment ignored by ${shown.systemOr(over.store ?? over.process)}`,
      next: `${base}${shown.accessPhrase(over)}`,
      however: `${shown.latePhrase(lost)}, where a later one stood${told}`,
    };
  }
  const missed = lost === undefined ? 'the value had changed' : shown.latePhrase(lost);
  return {
    headline: `Acknowledged increment lost in ${shown.systemOr(over.process)}`,
    next: `${base}${shown.accessPhrase(over)}`,
    however:
      `${missed}, between that read and that write${sameStamp(over)}, ` +
      'so one of the two increments is gone',
  };
}

/** Why a store that compares timestamps saw no change: ` and left the timestamp of before, …`. */
function sameStamp({ version, client }: Write): string {
  if (version?.by !== 'timestamp' || typeof version.expected !== 'number') return '';
  const stamp = stampText(version, version.expected);
  return (
    `: it left the timestamp that ${client} had read, ${stamp} in whole milliseconds, and the ` +
    `store, which found ${stamp} where ${client} expected ${stamp}, took both`
  );
}

function updateRepeated(shown: Contradiction): Sentences {
  const first = shown.need('first write', 'write');
  const again = shown.need('repeated write', 'write');
  return {
    headline: `One increment applied twice in ${shown.systemOr(first.process)}`,
    next: shown.accessPhrase(first),
    however: `${again.client} did not learn of it and did it again: ${shown.accessPhrase(again)}`,
  };
}

function updateInvented(shown: Contradiction): Sentences {
  const last = shown.need('last write', 'write');
  return {
    headline: `More in ${shown.systemOr(last.process)} than was ever added`,
    next: shown.accessPhrase(last),
    however: `no set of the increments that were tried adds up to ${last.value ?? 0}`,
  };
}
