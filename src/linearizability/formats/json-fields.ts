/** Reads one JSON object into fields, and says where it goes wrong. */
import type { Json } from '../../kernel/json.ts';
import type { Fields } from './record.ts';

export type FieldsRead =
  | { readonly kind: 'fields'; readonly fields: Fields }
  /** `offset` is where the mistake stands in the text. */
  | { readonly kind: 'malformed'; readonly offset: number; readonly what: string };

export function readJsonFields(text: string): FieldsRead {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return explain(text, error instanceof Error ? error.message : '');
  }
  return isFields(value)
    ? { kind: 'fields', fields: value }
    : { kind: 'malformed', offset: 0, what: 'expected an object, {"process": …}' };
}

export function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Engines say where in their own words, if they say it; else it is the end. */
function explain(text: string, message: string): FieldsRead {
  const position = /at position (\d+)/.exec(message)?.[1];
  const offset = position === undefined ? text.length : Number(position);
  if (offset >= text.length) {
    return { kind: 'malformed', offset: text.length, what: 'this JSON ends too early; it was cut' };
  }
  const near = JSON.stringify(text.charAt(offset));
  return { kind: 'malformed', offset, what: `this is no JSON: unexpected ${near}` };
}
