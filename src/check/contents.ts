/**
 * Determines the contents of each key of a store: the last accepted write, unless the store has
 * recovered since. Also classifies accesses: reads whose value reached a program, keys that exist
 * in several stores, and writes that repeat an earlier intent.
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

/** The value of a key and its origin: a write, a recovery, or neither for the initial value. */
export interface KeyContents {
  readonly value: number;
  readonly write: LogEntry<EffectiveWrite> | null;
  readonly recovery: Numbered<Recovered> | null;
}

/** An accepted write that changes a value, unlike an `open`. */
export interface EffectiveWrite extends Write {
  readonly value: number;
}

/** Returns true if an access changed the contents of the store. */
export function isEffective(access: LogEntry<AccessEvent>): access is LogEntry<EffectiveWrite> {
  const { event } = access;
  return event.kind === 'write' && event.isAccepted && event.value !== null;
}

/** Returns the contents of `key` just before event `before`. */
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

export function firstValue({ firsts }: PlaceLog, key: string): number {
  return firsts.get(key)?.value ?? INITIAL_VALUE;
}

/** Returns the value of a key after a recovery. A key that was lost has its initial value again. */
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

/** Returns true if several stores have this key, so that its value may move between them. */
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
 * Returns the reads whose value reached no program. A client discards the answer to a duplicate of
 * its request, and any answer that arrives after it stopped waiting or asked again.
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
    // The first execution of each attempt is the requested one; later ones are copies.
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

function answeredRequests({ events }: Trace): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'receive' && event.message.endsWith('/reply')
      ? [event.message.replace(/reply$/, 'request')]
      : [],
  );
}

/**
 * Maps each operation to the operations that repeat it. A client that retries a step writes under a
 * new name and states which operation it repeats.
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

/** Returns true if the client learned that an operation, or a repetition of it, was accepted. */
export function isCarriedOut(indexed: TraceIndex, operation: OperationLog): boolean {
  if (isAcknowledged(operation)) return true;
  return repeatsOf(indexed).get(operation.invoke.event.operation)?.some(isAcknowledged) ?? false;
}

/** Returns the name of the first operation with the same intent as this one. */
export function intentOf(indexed: TraceIndex, operation: string): string {
  const call = indexed.operations.get(operation)?.invoke.event.call;
  return call !== undefined && 'repeats' in call ? (call.repeats ?? operation) : operation;
}
