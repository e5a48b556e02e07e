/**
 * Decides what a store really holds of one key: its last accepted write, unless it recovered since.
 * And what else of a store's accesses counts: reads whose value a program heard, keys that lie in
 * several stores, and writes that carry out one intent again.
 */
import type { Read, Recovered, Write } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { addTo } from '../core/kernel/entries.ts';
import {
  type AccessEvent,
  INITIAL_VALUE,
  isAcknowledged,
  type KeyLog,
  type LogEntry,
  type Numbered,
  type OperationLog,
  type PlaceLog,
  type TraceIndex,
} from './trace-index.ts';

/** What a key holds, and what put it there: at most one of the two, none for the initial value. */
export interface KeyContents {
  readonly value: number;
  readonly write: LogEntry<EffectiveWrite> | null;
  readonly recovery: Numbered<Recovered> | null;
}

/** An accepted write; not an `open`, which changes no value. */
export interface EffectiveWrite extends Write {
  readonly value: number;
}

/** Whether an access changed what the store holds. */
export function isEffective(access: LogEntry<AccessEvent>): access is LogEntry<EffectiveWrite> {
  const { event } = access;
  return event.kind === 'write' && event.isAccepted && event.value !== null;
}

/** What `key` holds in its store just before event `before`. */
export function contentsBefore(place: PlaceLog, key: KeyLog, before: number): KeyContents {
  const recovery = place.recoveries.findLast(({ index }) => index < before) ?? null;
  const write = lastEffective(key, before);
  if (write !== null && write.index > (recovery?.index ?? -1)) {
    return { value: write.event.value, write, recovery: null };
  }
  const value =
    recovery === null ? firstValue(place, key.key) : recoveredValue(place, recovery.event, key.key);
  return { value, write: null, recovery };
}

/** What a key holds before anybody writes it. */
export function firstValue({ firsts }: PlaceLog, key: string): number {
  return firsts.get(key)?.value ?? INITIAL_VALUE;
}

/** What a store holds of a key as it comes back; a key that it forgot begins anew. */
export function recoveredValue(place: PlaceLog, { values }: Recovered, key: string): number {
  const first = firstValue(place, key);
  return Object.hasOwn(values, key) ? (values[key] ?? first) : first;
}

function lastEffective(key: KeyLog, before: number): LogEntry<EffectiveWrite> | null {
  for (let at = key.accesses.length - 1; at >= 0; at--) {
    const access = key.accesses[at];
    if (access !== undefined && access.index < before && isEffective(access)) return access;
  }
  return null;
}

/** Whether several stores hold this key; what is moved between them is no counter. */
export function isShared(
  indexed: TraceIndex,
  { resource, key }: { readonly resource: string; readonly key: string },
): boolean {
  if (indexed.places.length < 2) return false;
  let holding = 0;
  for (const place of indexed.places) {
    if (place.resource === resource && place.keys.has(key)) holding += 1;
  }
  return holding > 1;
}

/**
 * The reads of the trace that served a value which no program got. The answer to a copy is
 * discarded, and so is one that comes after its client stopped waiting or asked again: what such an
 * execution served, nobody has read.
 */
export function unheardReads(indexed: TraceIndex): ReadonlySet<AccessEvent> {
  const unheard = new Set<AccessEvent>();
  const heard = new Map<string, Read>();
  for (const [operation, executions] of executionsOf(indexed)) {
    const known = indexed.operations.get(operation);
    const isAnswered = known === undefined || known.return?.event.outcome === 'ok';
    const [first, ...others] = executions;
    if (isAnswered && first !== undefined && others.length === 0) continue;
    for (const read of executions) unheard.add(read);
    if (!isAnswered) continue;
    // Of each try the first execution is the one that was asked for; later ones are copies.
    for (const read of executions) {
      if (!heard.has(read.message)) heard.set(read.message, read);
    }
  }
  if (heard.size > 0) {
    for (const request of answeredRequests(indexed.trace)) {
      const read = heard.get(request);
      if (read !== undefined) unheard.delete(read);
    }
  }
  return unheard;
}

function executionsOf(indexed: TraceIndex): ReadonlyMap<string, readonly Read[]> {
  const executions = new Map<string, Read[]>();
  for (const place of indexed.places) {
    for (const { event } of place.accesses) {
      if (event.kind !== 'read') continue;
      addTo(executions, event.operation, event);
    }
  }
  return executions;
}

/** The names of the requests whose reply was handled by the program that had sent them. */
function answeredRequests({ events }: Trace): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'receive' && event.message.endsWith('/reply')
      ? [event.message.replace(/reply$/, 'request')]
      : [],
  );
}

/**
 * By the name of the first operation, those that carry it out again: a client that tries a step
 * again writes under another name, and says which operation it means. Most runs have none.
 */
export function repeatsOf(indexed: TraceIndex): ReadonlyMap<string, readonly OperationLog[]> {
  const repeats = new Map<string, OperationLog[]>();
  for (const operation of indexed.operations.values()) {
    const { call } = operation.invoke.event;
    if (!('repeats' in call) || call.repeats === undefined) continue;
    addTo(repeats, call.repeats, operation);
  }
  return repeats;
}

/** Whether the client learnt that an operation, or one that carries it out again, was accepted. */
export function isCarriedOut(indexed: TraceIndex, operation: OperationLog): boolean {
  if (isAcknowledged(operation)) return true;
  return repeatsOf(indexed).get(operation.invoke.event.operation)?.some(isAcknowledged) ?? false;
}

/** The name of the first operation that was to do what this one does. */
export function intentOf(indexed: TraceIndex, operation: string): string {
  const call = indexed.operations.get(operation)?.invoke.event.call;
  return call !== undefined && 'repeats' in call ? (call.repeats ?? operation) : operation;
}
