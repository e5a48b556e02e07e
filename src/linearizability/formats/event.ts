/** Decides whether the fields of a record make an event, and says what is missing. */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import { textOf } from './edn-text.ts';
import {
  EVENT_TYPES,
  type EventType,
  type Fields,
  type Malformed,
  malformed,
  type Place,
  type RecordedEvent,
} from './record.ts';

export type EventRead =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'malformed'; readonly problem: Malformed };

/** `process`, `type` and `f` may be keywords, with their colon or without; a process a number. */
export function eventOf(fields: Fields, place: Place): EventRead {
  const wrong = (what: string): EventRead => {
    return { kind: 'malformed', problem: malformed(place, what) };
  };
  const process = nameOf(fields['process']);
  if (process === null) return wrong(`expected a process, ${found(fields['process'])}`);
  const type = nameOf(fields['type']);
  if (type === null) return wrong(`expected a type, ${found(fields['type'])}`);
  const known = EVENT_TYPES.find((name) => name === type);
  if (known === undefined) return wrong(`unknown type "${type}"${suggest(type, EVENT_TYPES)}`);
  const f = nameOf(fields['f']);
  if (f === null && needsF(fields, known)) {
    return wrong(`expected f, what is called, ${found(fields['f'])}`);
  }
  const event = { process, type: known, f: f ?? '', fields, line: place.line };
  return { kind: 'event', event: { ...event, column: place.column } };
}

/** A completion may leave it out. */
function needsF(fields: Fields, type: EventType): boolean {
  return type === 'invoke' || (fields['f'] ?? null) !== null;
}

/** A name without the colon of a keyword; null when it is none. */
export function nameOf(value: Json | undefined): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  const name = value.startsWith(':') ? value.slice(1) : value;
  return name === '' ? null : name;
}

function found(value: Json | undefined): string {
  return value === undefined ? 'and there is none' : `found ${textOf(value)}`;
}
