/** Commands on keys with values of any type, and on entire databases. */
import type { RedisError, RedisReply } from '../reply.ts';
import { errorOf, NIL, NOT_AN_INTEGER, OK, SYNTAX_ERROR, WRONG_TYPE } from '../reply.ts';
import {
  DATABASES,
  type Database,
  databaseOf,
  entryOf,
  held,
  onKey,
  type RedisData,
  type Row,
  type Run,
  type Setting,
  type Shape,
} from '../setting.ts';
import { readInteger } from './numbers.ts';

function counting(isCounted: (key: string, at: Setting) => boolean): Run {
  return (keys, at) => keys.filter((key) => isCounted(key, at)).length;
}

const deleting: Run = counting((key, at) => databaseOf(at).delete(key, at.nowMs));
const existing: Run = counting((key, at) => entryOf(key, at) !== null);

function typeAt(key: string, at: Setting): string {
  const value = entryOf(key, at)?.value;
  if (value === undefined) return 'none';
  return typeof value === 'string' ? 'string' : value.type;
}

const NO_SUCH_KEY = errorOf('ERR no such key');

/** RENAME, or RENAMENX, which does not replace an existing key. */
function renaming(isOnlyNew: boolean): Run {
  return ([from = '', to = ''], at) => {
    const entry = entryOf(from, at);
    if (entry === null) return NO_SUCH_KEY;
    const isTaken = entryOf(to, at) !== null;
    if (isOnlyNew && isTaken) return 0;
    if (from !== to) {
      databaseOf(at).delete(from, at.nowMs);
      databaseOf(at).set(to, entry, at.nowMs);
    }
    return isOnlyNew ? 1 : OK;
  };
}

function databaseAt(text: string, at: Setting): Database | RedisError {
  const index = readInteger(text);
  if (index === null) return NOT_AN_INTEGER;
  if (index !== BigInt.asIntN(32, index)) return NOT_AN_INT;
  if (index < 0n || index >= BigInt(DATABASES)) return errorOf('ERR DB index is out of range');
  return at.memory.database(Number(index));
}

const NOT_AN_INT = errorOf(
  'ERR value is out of range, value must between -2147483648 and 2147483647',
);
const SAME_OBJECT = errorOf('ERR source and destination objects are the same');

function copy([from = '', to = '', ...words]: readonly string[], at: Setting): RedisReply {
  let database = databaseOf(at);
  let isReplacing = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]?.toUpperCase();
    const next = words[index + 1];
    if (word === 'REPLACE') isReplacing = true;
    else if (word === 'DB' && next !== undefined) {
      const found = databaseAt(next, at);
      if ('error' in found) return found;
      database = found;
      index += 1;
    } else return SYNTAX_ERROR;
  }
  if (from === to && database === databaseOf(at)) return SAME_OBJECT;
  const entry = entryOf(from, at);
  if (entry === null) return 0;
  if (database.get(to, at.nowMs) !== null && !isReplacing) return 0;
  database.set(to, entry, at.nowMs);
  return 1;
}

function move(key: string, [text = '']: readonly string[], at: Setting): RedisReply {
  const database = databaseAt(text, at);
  if ('error' in database) return database;
  if (database === databaseOf(at)) return SAME_OBJECT;
  const entry = entryOf(key, at);
  if (entry === null || database.get(key, at.nowMs) !== null) return 0;
  database.set(key, entry, at.nowMs);
  databaseOf(at).delete(key, at.nowMs);
  return 1;
}

function select([text = '']: readonly string[], at: Setting): RedisReply {
  const database = databaseAt(text, at);
  if ('error' in database) return database;
  at.session.database = database.index;
  return OK;
}

function flushing(databases: (at: Setting) => readonly Database[]): Run {
  return (words, at) => {
    if (words.length > 0 && !/^a?sync$/i.test(words.join(' '))) return SYNTAX_ERROR;
    for (const database of databases(at)) database.flush(at.nowMs);
    return OK;
  };
}

function randomKey(_: readonly string[], at: Setting): RedisReply {
  const names = databaseOf(at).names(at.nowMs);
  return names[Math.floor(at.memory.chance.draw() * names.length)] ?? NIL;
}

interface ScanOptions {
  readonly matches: (text: string) => boolean;
  readonly type: string | null;
}

/** A cursor may be empty, as in Redis. */
function isCursor(text: string): boolean {
  return /^([+-]?\d+)?$/.test(text);
}

const NO_CURSOR = errorOf('ERR invalid cursor');

function readScan(words: readonly string[]): ScanOptions | RedisError {
  let matches = (_: string): boolean => true;
  let type: string | null = null;
  for (let at = 0; at < words.length; at += 2) {
    const [word, text] = [words[at]?.toUpperCase(), words[at + 1]];
    if (text === undefined) return SYNTAX_ERROR;
    if (word === 'MATCH') matches = globOf(text);
    else if (word === 'TYPE') type = text.toLowerCase();
    else if (word === 'COUNT') {
      const count = readInteger(text);
      if (count === null) return NOT_AN_INTEGER;
      if (count < 1n) return SYNTAX_ERROR;
    } else return SYNTAX_ERROR;
  }
  return { matches, type };
}

/** Returns HSCAN or a similar command. `itemsOf` returns the items in a key's value. */
export function scanning<V extends RedisData>(
  shape: Shape<V>,
  itemsOf: (value: V, matches: ScanOptions['matches']) => readonly string[],
): Run {
  return ([key = '', cursor = '', ...words], at) => {
    if (!isCursor(cursor)) return NO_CURSOR;
    if (entryOf(key, at) === null) return ['0', []];
    const value = held(shape, key, at);
    if (value === null) return WRONG_TYPE;
    const options = readScan(words);
    if ('error' in options) return options;
    return options.type === null ? ['0', itemsOf(value, options.matches)] : SYNTAX_ERROR;
  };
}

/** Returns all keys at once, even if there are more than COUNT, and 0 as the final cursor. */
function scan([cursor = '', ...words]: readonly string[], at: Setting): RedisReply {
  if (!isCursor(cursor)) return NO_CURSOR;
  const options = readScan(words);
  if ('error' in options) return options;
  const isFound = (key: string): boolean =>
    options.matches(key) &&
    (options.type === null || options.type === typeAt(key, at)) &&
    entryOf(key, at) !== null;
  return ['0', databaseOf(at).names().filter(isFound)];
}

/**
 * Compiles a pattern of `KEYS` or `PSUBSCRIBE`: `*`, `?`, `[a-z]`, `[^a]`, and `\` before any of
 * these. The matcher backtracks only to the last `*`, so its steps are at most the product of the
 * two lengths.
 */
export function globOf(pattern: string): (text: string) => boolean {
  const signs = signsOf(pattern);
  // A trailing `*` is not counted.
  if (signs.slice(0, -1).filter((sign) => sign === ANY).length > MOST_STARS) return () => false;
  return (text) => {
    let [sign, at] = [0, 0];
    let last: { readonly sign: number; readonly at: number } | null = null;
    while (at < text.length || sign < signs.length) {
      const matches = signs[sign];
      if (matches === ANY) {
        last = { sign, at };
        sign += 1;
      } else if (at < text.length && matches?.(text.charAt(at)) === true) {
        sign += 1;
        at += 1;
      } else if (last !== null && last.at < text.length) {
        last = { sign: last.sign, at: last.at + 1 };
        sign = last.sign + 1;
        at = last.at;
      } else return false;
    }
    return true;
  };
}

/** A pattern with more `*` than this matches nothing, as in Redis. */
const MOST_STARS = 1000;

type Sign = (sign: string) => boolean;

const ANY: Sign = () => true;

function signsOf(pattern: string): readonly Sign[] {
  const signs: Sign[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const first = pattern.charAt(at);
    if (first === '*' && signs.at(-1) === ANY) continue;
    if (first === '*') signs.push(ANY);
    else if (first === '?') signs.push(() => true);
    else if (first === '[') {
      const { isIn, end } = readClass(pattern.slice(at));
      signs.push(isIn);
      at += end - 1;
    } else {
      if (first === '\\' && at + 1 < pattern.length) at += 1;
      const expected = pattern.charAt(at);
      signs.push((sign) => sign === expected);
    }
  }
  return signs;
}

/** Reads the character class at the start of a pattern. The class may be unclosed. */
function readClass(pattern: string): { isIn: (sign: string) => boolean; end: number } {
  const isNot = pattern.charAt(1) === '^';
  const ranges: (readonly [from: string, to: string])[] = [];
  let at = isNot ? 2 : 1;
  while (at < pattern.length && pattern.charAt(at) !== ']') {
    const isEscaped = pattern.charAt(at) === '\\' && at + 1 < pattern.length;
    if (isEscaped) at += 1;
    const from = pattern.charAt(at);
    const isRange = !isEscaped && pattern.charAt(at + 1) === '-' && at + 2 < pattern.length;
    const to = isRange ? pattern.charAt(at + 2) : from;
    ranges.push(isAfter(from, to) ? [to, from] : [from, to]);
    at += isRange ? 3 : 1;
  }
  const isIn = (sign: string): boolean =>
    ranges.some(([from, to]) => !isAfter(from, sign) && !isAfter(sign, to)) !== isNot;
  return { isIn, end: at + 1 };
}

/** Compares signed bytes, as C does on most machines: bytes from 0x80 up are negative. */
function isAfter(one: string, other: string): boolean {
  return (one.charCodeAt(0) ^ 0x80) > (other.charCodeAt(0) ^ 0x80);
}

export const keyRows: readonly Row[] = [
  ['del', -2, deleting],
  ['unlink', -2, deleting],
  ['exists', -2, existing],
  ['touch', -2, existing],
  ['type', 2, onKey((key, _, at) => ({ status: typeAt(key, at) }))],
  ['rename', 3, renaming(false)],
  ['renamenx', 3, renaming(true)],
  ['copy', -3, copy],
  ['move', 3, onKey(move)],
  ['keys', 2, ([pattern = ''], at) => databaseOf(at).names(at.nowMs).filter(globOf(pattern))],
  ['scan', -2, scan],
  ['randomkey', 1, randomKey],
  ['dbsize', 1, (_, at) => databaseOf(at).names(at.nowMs).length],
  ['flushdb', -1, flushing((at) => [databaseOf(at)])],
  ['flushall', -1, flushing((at) => at.memory.used)],
  ['select', 2, select],
];
