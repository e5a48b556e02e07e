/**
 * Decides what a store really holds of one key: its last accepted write, unless it recovered since.
 */
import type { Recovered, Write } from '../core/history/server-events.ts';
import type { Access, Entry, KeyLog, Numbered, Place } from './survey.ts';
import { INITIAL_VALUE } from './terms.ts';

/** What a key holds, and what put it there: at most one of the two, none for the initial value. */
export interface Contents {
  readonly value: number;
  readonly write: Entry<EffectiveWrite> | null;
  readonly recovery: Numbered<Recovered> | null;
}

/** An accepted write; not an `open`, which changes no value. */
export interface EffectiveWrite extends Write {
  readonly value: number;
}

/** Whether an access changed what the store holds. */
export function isEffective(access: Entry<Access>): access is Entry<EffectiveWrite> {
  const { event } = access;
  return event.kind === 'write' && event.isAccepted && event.value !== null;
}

/** What `key` holds in its store just before event `before`. */
export function contentsBefore(place: Place, key: KeyLog, before: number): Contents {
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
export function firstValue({ firsts }: Place, key: string): number {
  return firsts.get(key)?.value ?? INITIAL_VALUE;
}

/** What a store holds of a key as it comes back; a key that it forgot begins anew. */
export function recoveredValue(place: Place, { values }: Recovered, key: string): number {
  const first = firstValue(place, key);
  return Object.hasOwn(values, key) ? (values[key] ?? first) : first;
}

/** What `key` holds at the end of the trace. */
export function finalContents(place: Place, key: KeyLog): Contents {
  return contentsBefore(place, key, Number.POSITIVE_INFINITY);
}

function lastEffective(key: KeyLog, before: number): Entry<EffectiveWrite> | null {
  for (let at = key.accesses.length - 1; at >= 0; at--) {
    const access = key.accesses[at];
    if (access !== undefined && access.index < before && isEffective(access)) return access;
  }
  return null;
}
