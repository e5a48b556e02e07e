/** Reads one JSON object into fields, and locates errors. */
import type { Json } from '../../core/kernel/json.ts';
import { type Fields, MOST_DEPTH } from './record.ts';

/** The fields of one map, or the first error in its text. */
export type FieldsRead =
  | { readonly kind: 'fields'; readonly fields: Fields }
  | { readonly kind: 'malformed'; readonly offset: number; readonly what: string };

/**
 * Returns the fields of a JSON object. A number that is not an exact double becomes its text, so
 * that different data stays different.
 */
export function readJsonFields(text: string): FieldsRead {
  const deep = whereTooDeep(text);
  if (deep !== null) {
    return malformedAt(deep, `brackets nested more than ${MOST_DEPTH} levels deep`);
  }
  let value: Json;
  try {
    value = JSON.parse(quoteInexact(text));
  } catch {
    return explain(text);
  }
  if (!isFields(value)) return malformedAt(0, 'expected an object, {"process": …}');
  // `keysInText` is too high if a string contains text that looks like a key.
  const keysInText = text.match(/"\s*:/g)?.length ?? 0;
  const twice = keysInText > countKeys(value) ? firstTwice(text) : null;
  if (twice !== null) return malformedAt(twice.offset, `duplicate key ${twice.key} in this object`);
  return { kind: 'fields', fields: value };
}

export function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformedAt(offset: number, message: string): FieldsRead {
  return { kind: 'malformed', offset, what: message };
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

function whereTooDeep(text: string): number | null {
  if (text.length <= MOST_DEPTH) return null;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MOST_DEPTH) return index;
  }
  return null;
}

function countKeys(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, child) => sum + countKeys(child), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

/** Returns the first key that occurs twice in one object. The text must be valid JSON. */
function firstTwice(text: string): { readonly key: string; readonly offset: number } | null {
  const open: Set<string>[] = [];
  let string = { key: '', offset: 0 };
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const keys = open.at(-1);
      if (keys?.has(string.key)) return string;
      keys?.add(string.key);
    } else if (token !== ',') string = { key: JSON.stringify(JSON.parse(token)), offset: index };
  }
  return null;
}

/** Describes a syntax error. Engines report its position in different words, or only the token. */
function explain(text: string): FieldsRead {
  const offset = whereWrong(text);
  if (offset === null) return malformedAt(0, 'not JSON');
  if (offset >= text.length)
    return malformedAt(offset, 'this JSON ends too early: it is truncated');
  const near = JSON.stringify(text.charAt(offset));
  return malformedAt(offset, `not JSON: unexpected ${near}`);
}

/** Returns the offset of a syntax error, or null if the engine does not report it. */
function whereWrong(text: string): number | null {
  let message = '';
  try {
    JSON.parse(text);
  } catch (error) {
    message = error instanceof Error ? error.message : '';
  }
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  if (/end of JSON|end of data|Unterminated/.test(message)) return text.length;
  const token = /token '?(.)'?,? /u.exec(message)?.[1];
  if (token === undefined) return null;
  const at = text.indexOf(token);
  return at === text.lastIndexOf(token) && at >= 0 ? at : null;
}

/** The number `digits` / 10^`places`. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const MOST_EXPONENT = 400;

/** Returns the exact number in a text. Returns null for other text and for extreme exponents. */
export function decimalOf(text: string): Decimal | null {
  const [, sign, integer = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (sign === undefined || Math.abs(Number(exponent)) > MOST_EXPONENT) return null;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(`${sign}${integer}${fraction}`);
  if (places < 0) return { digits: scaleUp(digits, -places), places: 0 };
  return { digits, places };
}

/** Returns `digits` × 10^`places`. */
export function scaleUp(digits: bigint, places: number): bigint {
  return digits * BigInt(`1${'0'.repeat(places)}`);
}

const STRINGS_AND_NUMBERS = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Numbers that do not match survive reading and printing unchanged. */
const MAY_BE_ROUNDED = /[\d.]{16}|[eE][+-]?\d{3}/;

/** Returns the JSON text with each inexact number in quotes. */
function quoteInexact(text: string): string {
  if (!MAY_BE_ROUNDED.test(text)) return text;
  return text.replace(STRINGS_AND_NUMBERS, (token) =>
    token.startsWith('"') || isExact(token) ? token : `"${token}"`,
  );
}

function isExact(token: string): boolean {
  if (!MAY_BE_ROUNDED.test(token)) return true;
  const number = Number(token);
  if (!Number.isFinite(number)) return false;
  const isInteger = /^-?\d+$/.test(token);
  if (isInteger) return Number.isSafeInteger(number);
  const [written, read] = [decimalOf(token), decimalOf(String(number))];
  if (written === null || read === null) return false;
  const most = Math.max(written.places, read.places);
  const scaled = ({ digits, places }: Decimal): bigint => scaleUp(digits, most - places);
  return scaled(written) === scaled(read);
}
