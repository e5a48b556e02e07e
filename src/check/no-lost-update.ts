/**
 * Judges `no-lost-update` for every key that is updated: each update that its client knows to be
 * accepted must be in the final value of the key exactly once. An update is an increment of a
 * workload, or a write of asynchronous code under a guard that had read or written the key. A step
 * counts as one update, even if its client writes several times for it. `cross-key` judges keys
 * that exist in several stores.
 *
 * `update-chain.ts` tracks from which write each write was computed. An update is lost if the last
 * write was not computed from it, directly or indirectly. A write other than an increment may be
 * any function of the value that was read, such as a maximum. Such a write is judged by P4 alone:
 * if it was computed from a replaced value, the replacing write is lost. Increments are also
 * compared by their sum.
 *
 * A write with an unknown basis ends the judgment of an updated key. If a probe made the write, it
 * counts as the end of the run. If any other client made it, the claim is unknown.
 *
 * Two updates overlap if the store handled an access of one section between the read and the write
 * of the other. If only an acquire was handled in between, the lock kept the updates apart.
 */

import { sectionOf } from '../core/kernel/name.ts';
import { type Claim, defineClaim } from './claim.ts';
import { type Acquire, acquiresOf, beginsIn, wasContested } from './contention.ts';
import { contentsBefore, firstValue, isEffective, isShared, repeatsOf } from './contents.ts';
import { type AccessParts, accessBreach } from './evidence.ts';
import { couldOutlast } from './leases.ts';
import { strayPhrase } from './phrases.ts';
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
  about: 'the final value contains each acknowledged update exactly once',
  source: 'Berenson et al., A Critique of ANSI SQL Isolation Levels (1995), P4',
  hazard: 'repeated updates; updates while another section used the value or requested the lock',
  needsNoLock: true,
  rules: ['update-lost', 'update-repeated', 'update-invented', 'lost-in-recovery'],
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
          return { exercised: 0, breach, unknown: strayPhrase(end.event) };
        }
        const contested = contestedUpdates(indexed, key, acquires);
        return { exercised: contested + updates.repeated, breach };
      });
    });
  },
});

type Rule = 'update-lost' | 'update-repeated' | 'update-invented' | 'lost-in-recovery';

interface Updates {
  /** The first operation of each update that is known to be accepted. */
  readonly accepted: Set<string>;
  /** The bounds of the key's value if all updates are increments. */
  min: number;
  max: number;
  areIncrements: boolean;
  /** Number of repeated writes for the same update. */
  repeated: number;
  /** The write that ends the judgment, or null if there is none. */
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

/**
 * Returns the first write with an unknown basis that follows an update or is a probe's, or null.
 */
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

/** Combines the outcomes of two attempts at one update, either of which is enough. */
function eitherOf(one: Fate, other: Fate): Fate {
  if (one === 'yes' || other === 'yes') return 'yes';
  return one === 'unknown' || other === 'unknown' ? 'unknown' : 'no';
}

/** Returns the outcome of a write. A refusal has `info` if an earlier attempt may have worked. */
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

/** Returns the breach at the first write or recovery that replaced a lost update. */
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
  // A last-write-wins store took the lost write for an earlier one and silently ignored it.
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
