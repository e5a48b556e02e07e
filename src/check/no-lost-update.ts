/**
 * Judges `no-lost-update` for every key that is updated: each update that its client knows to be
 * accepted is in what the key holds in the end, once. An update is an increment of a workload, or
 * what asynchronous code writes under a guard that had read or written the key. It is what a step
 * wants, however often its client writes for it. A key in several stores is `cross-key`'s.
 *
 * `update-chain.ts` follows which write was computed from which; an update is lost if it is not
 * below the last one. The program of a `guard.write` may compute anything from what it read, a
 * maximum or a text's number as well as a sum. So only that is asked of it: P4, a write that was
 * computed from what another had replaced, loses the other. Of increments the sum is compared too.
 *
 * A write of which it is not known what it was computed from ends the judgement of an updated key:
 * of a probe, that is the end of the run. Of any other client, the claim is unknown there.
 *
 * Two updates overlap if between the read and the write of one the store handled an access of the
 * other's grant, or, without grants, of its section. They were kept apart if the other's acquire
 * was handled in between, and no access of it.
 */
import { stampText, type Write } from '../core/history/events.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { lostInRecovery } from './access-words.ts';
import { type Claim, defineClaim } from './claim.ts';
import { type Acquire, acquiresOf, beginsIn, wasContested } from './contention.ts';
import { contentsBefore, firstValue, isEffective, isShared, repeatsOf } from './contents.ts';
import { type AccessParts, accessBreach } from './evidence.ts';
import type { Contradiction, Sentences } from './explanation.ts';
import { couldOutlast } from './leases.ts';
import {
  type AccessEvent,
  isAcknowledged,
  type KeyLog,
  type LogEntry,
  type OperationLog,
  type PlaceLog,
  placeAt,
  type TraceIndex,
} from './trace-index.ts';
import {
  holderOf,
  isUpdate,
  type Replacement,
  type State,
  statesFrom,
  type UpdateChain,
  updateChain,
} from './update-chain.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

export const noLostUpdate: Claim = defineClaim({
  name: 'no-lost-update',
  about: 'every acknowledged update is in the final value, once',
  source: 'Berenson et al., A Critique of ANSI SQL Isolation Levels (1995), P4',
  hazard: 'updates that overlapped, were kept apart by a lease that could end, or were repeated',
  needsNoLock: true,
  rules: {
    'update-lost': updateLost,
    'update-repeated': updateRepeated,
    'update-invented': updateInvented,
    'lost-in-recovery': lostInRecovery,
  },
  judge: (indexed, { addsItself = false }) => {
    const updated = updatedKeys(indexed);
    return inAll(indexed.places, (place) => {
      const lock = indexed.locks.get(place.resource);
      let acquires: readonly Acquire[] = [];
      if (lock === undefined || lock.grants.length === 0) acquires = beginsIn(indexed);
      else if (couldOutlast(indexed, lock)) acquires = acquiresOf(indexed, lock);
      return inAll(place.keys.values(), (key): Findings<Rule> => {
        const updates = updated.get(key);
        if (isShared(indexed, { resource: place.resource, key: key.key })) return { exercised: 0 };
        if (updates === undefined) return { exercised: 0 };
        const { end } = updates;
        const judged = { place, key, before: end?.index ?? Number.POSITIVE_INFINITY };
        const chain = updateChain(indexed, judged, addsItself);
        const breach = breachOf(indexed, { ...judged, updates, chain });
        if (end !== null && !indexed.probes.has(end.event.client)) {
          const { client, under, value, atUs } = end.event;
          const when = `at ${proseDuration(atUs)}${under === 0 ? ' under no grant' : ''}`;
          const wrote = `${client} wrote ${value ?? 0} to it ${when}`;
          const unknown = `\`${key.key}\` cannot be followed: ${wrote}, which is no update of what it held`;
          return { exercised: 0, breach, unknown };
        }
        const contested = contestedUpdates(indexed, key, acquires);
        return { exercised: contested + updates.repeated, breach };
      });
    });
  },
});

type Rule = 'update-lost' | 'update-repeated' | 'update-invented' | 'lost-in-recovery';

/** The updates of a key, as far as their clients know. */
interface Updates {
  /** The first operations of those that are known to be accepted. */
  readonly accepted: Set<string>;
  /** What the key may hold if all of them are increments. */
  min: number;
  max: number;
  areIncrements: boolean;
  /** How often a client wrote again for an update that it had written for. */
  repeated: number;
  /** The write that ends the judgement; null if none does. */
  readonly end: LogEntry<AccessEvent> | null;
}

function updatedKeys(indexed: TraceIndex): ReadonlyMap<KeyLog, Updates> {
  const updated = new Map<KeyLog, Updates>();
  const repeats = repeatsOf(indexed);
  for (const operation of indexed.operations.values()) {
    const { call, operation: name } = operation.invoke.event;
    if (call.verb !== 'write' || call.repeats !== undefined) continue;
    if (call.adds === null && call.base === undefined) continue;
    const place = placeAt(indexed, call);
    const key = place?.keys.get(call.key);
    if (place === undefined || key === undefined) continue;
    let updates = updated.get(key);
    if (updates === undefined) {
      const min = firstValue(place, call.key);
      const end = blindWrite(indexed, key);
      updates = { accepted: new Set(), min, max: min, areIncrements: true, repeated: 0, end };
      updated.set(key, updates);
    }
    const before = updates.end?.index ?? Number.POSITIVE_INFINITY;
    let fate = fateOf(operation, before);
    for (const repeat of repeats.get(name) ?? []) {
      fate = eitherOf(fate, fateOf(repeat, before));
      updates.repeated += 1;
    }
    if (fate === 'yes') updates.accepted.add(name);
    if (call.adds === null) updates.areIncrements = false;
    if (fate === 'no' || call.adds === null) continue;
    if (fate === 'yes' || call.adds < 0) updates.min += call.adds;
    if (fate === 'yes' || call.adds > 0) updates.max += call.adds;
  }
  return updated;
}

/** The first write that replaces updates, or is a probe's, and was computed from nothing known. */
function blindWrite(indexed: TraceIndex, key: KeyLog): LogEntry<AccessEvent> | null {
  let isUpdated = false;
  for (const access of key.accesses) {
    if (!isEffective(access)) continue;
    if (isUpdate(indexed, access)) isUpdated = true;
    else if (isUpdated || indexed.probes.has(access.event.client)) return access;
  }
  return null;
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

function contestedUpdates(indexed: TraceIndex, key: KeyLog, acquires: readonly Acquire[]): number {
  let contested = 0;
  const readAt = new Map<number | string, number>();
  let latest: { holder: number | string; index: number } = { holder: 0, index: -1 };
  let otherIndex = -1;
  for (const access of key.accesses) {
    const { event, index } = access;
    const holder = holderOf(event);
    if (holder !== latest.holder) {
      otherIndex = latest.index;
      latest = { holder, index };
    } else latest.index = index;
    if (event.kind === 'read') readAt.set(holder, index);
    else if (isUpdate(indexed, access)) {
      const after = readAt.get(holder) ?? index;
      const span = { section: sectionOf(event.operation), after, before: index };
      if (otherIndex > after || wasContested(acquires, span)) contested++;
    }
  }
  return contested;
}

interface Judged {
  readonly place: PlaceLog;
  readonly key: KeyLog;
  readonly before: number;
  readonly updates: Updates;
  readonly chain: UpdateChain;
}

function breachOf(indexed: TraceIndex, judged: Judged): Breach<Rule> | null {
  const { place, key, before, updates, chain } = judged;
  const { min, max, areIncrements } = updates;
  const { value, recovery } = contentsBefore(place, key, before);
  const twice = appliedTwice(chain);
  if (twice !== null) return accessBreach(indexed, 'update-repeated', twice);
  if (areIncrements && value > max) {
    const last = key.accesses.findLast(isEffective);
    return accessBreach(indexed, 'update-invented', { 'last write': last });
  }
  const kept = new Set<string>();
  for (const { intent } of statesFrom(chain.last)) kept.add(intent);
  const isLost = (intent: string): boolean => updates.accepted.has(intent) && !kept.has(intent);
  const lost = new Set([...chain.intents].filter(isLost));
  const replaced = replacedIn(indexed, chain, lost);
  if (replaced !== null || !areIncrements || (lost.size === 0 && value >= min)) return replaced;
  const first = chain.replacements.find((replacement) => replacement.recovery === null);
  if (first !== undefined) return replacedBreach(indexed, first, first.before);
  const gone = { 'lost write': key.accesses.findLast(isEffective) };
  return accessBreach(indexed, 'lost-in-recovery', gone, { others: { recovery } });
}

/** Where the first of these updates was replaced, by a write or a recovery. */
function replacedIn(
  indexed: TraceIndex,
  { replacements }: UpdateChain,
  lost: ReadonlySet<string>,
): Breach<Rule> | null {
  if (lost.size === 0) return null;
  for (const replacement of replacements) {
    const below = new Set(statesFrom(replacement.after));
    for (const state of statesFrom(replacement.before)) {
      if (below.has(state)) break;
      if (lost.has(state.intent)) return replacedBreach(indexed, replacement, state);
    }
  }
  return null;
}

function replacedBreach(
  indexed: TraceIndex,
  { after, recovery }: Replacement,
  { write: lost, read: otherRead }: State,
): Breach<Rule> {
  if (recovery !== null) {
    const others = { recovery };
    return accessBreach(indexed, 'lost-in-recovery', { 'lost write': lost }, { others });
  }
  const { write: over, read } = after;
  // A store in which the last write wins took it for an earlier one, and said nothing.
  const isIgnored = lost !== null && !isEffective(lost);
  const isLate = isIgnored || (lost?.event.under ?? 0) < (over?.event.under ?? 0);
  const accesses = {
    read: isIgnored ? otherRead : read,
    'other read': isIgnored ? read : otherRead,
    'lost write': lost,
    'overwriting write': over,
  };
  return accessBreach(indexed, 'update-lost', accesses, { late: isLate ? lost : over });
}

/** The first two writes that carry out one update, both of which the key holds. */
function appliedTwice({ last }: UpdateChain): AccessParts | null {
  const applied = new Map<string, State>();
  for (const state of [...statesFrom(last)].reverse()) {
    const first = applied.get(state.intent);
    if (first !== undefined && state.intent !== '') {
      return { 'first write': first.write, 'repeated write': state.write };
    }
    applied.set(state.intent, state);
  }
  return null;
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
  const noun = lost?.adds === null ? 'update' : 'increment';
  const missed = lost === undefined ? 'the value had changed' : shown.latePhrase(lost);
  const when = read === undefined ? 'before that write' : 'between that read and that write';
  return {
    headline: `Acknowledged ${noun} lost in ${shown.systemOr(over.process)}`,
    next: `${base}${shown.accessPhrase(over)}`,
    however: `${missed}, ${when}${sameStamp(over)}, so that ${noun} is gone`,
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
