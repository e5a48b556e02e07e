/** Commands on strings, including strings that contain numbers. */
import type { Draft } from '../../../core/kernel/json.ts';
import type { RedisError, RedisReply } from '../reply.ts';
import {
  errorOf,
  NIL,
  NOT_A_FLOAT,
  NOT_AN_INTEGER,
  OK,
  SYNTAX_ERROR,
  WRONG_TYPE,
} from '../reply.ts';
import { databaseOf, endOf, entryOf, onKey, type Row, type Run, type Setting } from '../setting.ts';
import { END_WORDS, readPositiveEnd, store } from './ends.ts';
import { integerReply, isInRange, readFloat, readInteger, sumOfDecimals } from './numbers.ts';

interface SetOptions {
  readonly condition: 'NX' | 'XX' | null;
  readonly returnsFormer: boolean;
  /** `KEEPTTL` for SET, or `PERSIST` for GETEX. */
  readonly word: string | null;
  readonly end: { readonly word: string; readonly text: string } | null;
}

/** Reads the options of SET or GETEX. GETEX has no conditions. */
function readSetOptions(
  words: readonly string[],
  command: 'set' | 'getex',
): SetOptions | RedisError {
  const options: Draft<SetOptions> = {
    condition: null,
    returnsFormer: false,
    word: null,
    end: null,
  };
  const [isSet, keepsTtl] = command === 'set' ? [true, 'KEEPTTL'] : [false, 'PERSIST'];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]?.toUpperCase() ?? '';
    const next = words[at + 1];
    // The same time option may occur twice; the last one applies.
    const isAnother = options.end !== null && options.end.word !== word;
    if (isSet && word === 'GET') options.returnsFormer = true;
    else if (isSet && (word === 'NX' || word === 'XX') && (options.condition ?? word) === word) {
      options.condition = word;
    } else if (word === keepsTtl && options.end === null) options.word = word;
    else if (END_WORDS.has(word) && options.word === null && !isAnother && next !== undefined) {
      options.end = { word, text: next };
      at += 1;
    } else return SYNTAX_ERROR;
  }
  return options;
}

function endIn(
  { end }: SetOptions,
  { nowMs, command }: { readonly nowMs: number; readonly command: 'set' | 'getex' },
): number | null | RedisError {
  if (end === null) return null;
  const { unit, isAbsolute } = END_WORDS.get(end.word) ?? { unit: 's', isAbsolute: false };
  return readPositiveEnd(end.text, { unit, isAbsolute, nowMs, command });
}

function set(key: string, [value = '', ...words]: readonly string[], at: Setting): RedisReply {
  const options = readSetOptions(words, 'set');
  if ('error' in options) return options;
  const endMs = endIn(options, { nowMs: at.nowMs, command: 'set' });
  if (endMs !== null && typeof endMs === 'object') return endMs;
  const former = entryOf(key, at);
  if (options.returnsFormer && former !== null && typeof former.value !== 'string') {
    return WRONG_TYPE;
  }
  const isDone = options.condition === null || (options.condition === 'XX') === (former !== null);
  const end = options.word === null ? endMs : endOf(former);
  if (isDone) store(key, { value, end }, at);
  if (options.returnsFormer) return typeof former?.value === 'string' ? former.value : NIL;
  return isDone ? OK : NIL;
}

/** Returns null if there is no such key, or an error for a value of another type. */
function stringAt(key: string, at: Setting): string | null | RedisError {
  const entry = entryOf(key, at);
  if (entry === null) return null;
  return typeof entry.value === 'string' ? entry.value : WRONG_TYPE;
}

/** A key that does not exist counts as ''. */
function reading(answer: (text: string, rest: readonly string[]) => RedisReply): Run {
  return onKey((key, rest, at) => {
    const text = stringAt(key, at);
    return typeof text === 'object' && text !== null ? text : answer(text ?? '', rest);
  });
}

function getDel(key: string, _: readonly string[], at: Setting): RedisReply {
  const text = stringAt(key, at);
  if (typeof text === 'string') databaseOf(at).delete(key, at.nowMs);
  return text ?? NIL;
}

function getEx(key: string, words: readonly string[], at: Setting): RedisReply {
  const options = readSetOptions(words, 'getex');
  if ('error' in options) return options;
  const text = stringAt(key, at);
  if (typeof text !== 'string') return text ?? NIL;
  const end = endIn(options, { nowMs: at.nowMs, command: 'getex' });
  if (end !== null && typeof end === 'object') return end;
  // As with EXPIRE, an expiry that is not in the future deletes the key at once.
  if (end !== null && end <= at.nowMs) databaseOf(at).delete(key, at.nowMs);
  else if (end !== null || options.word !== null) store(key, { value: text, end }, at);
  return text;
}

function setFor(command: string, unit: 's' | 'ms'): Run {
  return onKey((key, [time = '', value = ''], at) => {
    const { nowMs } = at;
    const end = readPositiveEnd(time, { unit, isAbsolute: false, nowMs, command });
    if (typeof end === 'object') return end;
    store(key, { value, end }, at);
    return OK;
  });
}

function setNx(key: string, [value = '']: readonly string[], at: Setting): RedisReply {
  if (entryOf(key, at) !== null) return 0;
  store(key, { value, end: null }, at);
  return 1;
}

function getAll(keys: readonly string[], at: Setting): RedisReply {
  return keys.map((key) => {
    const text = stringAt(key, at);
    return typeof text === 'string' ? text : NIL;
  });
}

/** MSET, or MSETNX, which sets either all keys or none. */
function setAll(command: 'mset' | 'msetnx'): Run {
  return (args, at) => {
    if (args.length % 2 === 1) {
      return errorOf(`ERR wrong number of arguments for '${command}' command`);
    }
    const keys = args.filter((_, index) => index % 2 === 0);
    if (command === 'msetnx' && keys.some((key) => entryOf(key, at) !== null)) return 0;
    keys.forEach((key, index) => {
      store(key, { value: args[2 * index + 1] ?? '', end: null }, at);
    });
    return command === 'mset' ? OK : 1;
  };
}

/** Keeps the key's expiry. */
function change(key: string, value: string, at: Setting): void {
  databaseOf(at).set(key, { value, end: endOf(entryOf(key, at)) }, at.nowMs);
}

const OVERFLOW = errorOf('ERR increment or decrement would overflow');

/** Returns a command that adds to an integer, by default 0, and keeps the key's expiry. */
function add(sign: 1n | -1n, fixed: string | null): Run {
  return onKey((key, [text = fixed ?? ''], at) => {
    const count = readInteger(text);
    if (count === null) return NOT_AN_INTEGER;
    if (sign === -1n && !isInRange(-count)) return errorOf('ERR decrement would overflow');
    const former = stringAt(key, at) ?? '0';
    if (typeof former !== 'string') return former;
    const number = readInteger(former);
    if (number === null) return NOT_AN_INTEGER;
    const sum = number + sign * count;
    if (!isInRange(sum)) return OVERFLOW;
    change(key, String(sum), at);
    return integerReply(sum);
  });
}

function addFloat(key: string, [text = '']: readonly string[], at: Setting): RedisReply {
  const former = stringAt(key, at) ?? '0';
  if (typeof former !== 'string') return former;
  if (readFloat(former) === null || readFloat(text) === null) return NOT_A_FLOAT;
  const sum = sumOfDecimals(former, text);
  if (sum === null) return errorOf('ERR increment would produce NaN or Infinity');
  change(key, sum, at);
  return sum;
}

function append(key: string, [text = '']: readonly string[], at: Setting): RedisReply {
  const former = stringAt(key, at) ?? '';
  if (typeof former !== 'string') return former;
  change(key, former + text, at);
  return former.length + text.length;
}

function range(args: readonly string[], at: Setting): RedisReply {
  const ends = args.slice(1).map(readInteger);
  if (ends.includes(null)) return NOT_AN_INTEGER;
  return reading((text) => {
    const [first = 0, last = 0] = ends.map(Number);
    if (first < 0 && last < 0 && first > last) return '';
    const [low, high] = [first, last].map((end) => Math.max(0, end < 0 ? end + text.length : end));
    return text.slice(low, (high ?? 0) + 1);
  })(args, at);
}

/** Redis' maximum length of a string. */
const MOST_BYTES = 512 * 1024 * 1024;

function setRange(key: string, [from = '', text = '']: readonly string[], at: Setting): RedisReply {
  const offset = readInteger(from);
  if (offset === null) return NOT_AN_INTEGER;
  if (offset < 0n) return errorOf('ERR offset is out of range');
  const former = stringAt(key, at) ?? '';
  if (typeof former !== 'string') return former;
  if (text === '') return former.length;
  if (offset + BigInt(text.length) > MOST_BYTES) {
    return errorOf('ERR string exceeds maximum allowed size (proto-max-bulk-len)');
  }
  const start = Number(offset);
  const before = former.slice(0, start).padEnd(start, '\0');
  const combined = before + text + former.slice(start + text.length);
  change(key, combined, at);
  return combined.length;
}

function getSet(key: string, [value = '']: readonly string[], at: Setting): RedisReply {
  const former = stringAt(key, at);
  if (former !== null && typeof former === 'object') return former;
  store(key, { value, end: null }, at);
  return former ?? NIL;
}

export const stringRows: readonly Row[] = [
  ['set', -3, onKey(set)],
  ['get', 2, onKey((key, _, at) => stringAt(key, at) ?? NIL)],
  ['setnx', 3, onKey(setNx)],
  ['setex', 4, setFor('setex', 's')],
  ['psetex', 4, setFor('psetex', 'ms')],
  ['getset', 3, onKey(getSet)],
  ['getdel', 2, onKey(getDel)],
  ['getex', -2, onKey(getEx)],
  ['mget', -2, getAll],
  ['mset', -3, setAll('mset')],
  ['msetnx', -3, setAll('msetnx')],
  ['incr', 2, add(1n, '1')],
  ['incrby', 3, add(1n, null)],
  ['decr', 2, add(-1n, '1')],
  ['decrby', 3, add(-1n, null)],
  ['incrbyfloat', 3, onKey(addFloat)],
  ['append', 3, onKey(append)],
  ['strlen', 2, reading((text) => text.length)],
  ['getrange', 4, range],
  ['substr', 4, range],
  ['setrange', 4, onKey(setRange)],
];
