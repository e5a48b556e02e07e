/** The commands on strings, and those on keys whatever they hold. */
import { type Command, type Commands, onKey, type Setting } from './command.ts';
import { readEnd } from './expiry.ts';
import { isInRange, readInteger } from './integers.ts';
import type { Entry } from './keyspace.ts';
import {
  errorOf,
  NIL,
  NOT_AN_INTEGER,
  OK,
  type RedisError,
  type RedisReply,
  SYNTAX_ERROR,
  WRONG_TYPE,
} from './reply.ts';

interface SetOptions {
  readonly condition: 'NX' | 'XX' | null;
  readonly returnsFormer: boolean;
  readonly keepsEnd: boolean;
  readonly endMs: number | null;
}

/** How each word for an end is to be read. */
const ENDS: ReadonlyMap<string, { unit: 's' | 'ms'; isAbsolute: boolean }> = new Map([
  ['EX', { unit: 's', isAbsolute: false }],
  ['PX', { unit: 'ms', isAbsolute: false }],
  ['EXAT', { unit: 's', isAbsolute: true }],
  ['PXAT', { unit: 'ms', isAbsolute: true }],
]);

function readSetOptions(words: readonly string[], nowMs: number): SetOptions | RedisError {
  let options: SetOptions = {
    ...{ condition: null, returnsFormer: false, keepsEnd: false, endMs: null },
  };
  let end: { word: string; text: string } | null = null;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]?.toUpperCase() ?? '';
    const next = words[at + 1];
    // The same word may come twice: the later time counts.
    const hasEnd = options.keepsEnd || (end !== null && end.word !== word);
    if (word === 'GET') options = { ...options, returnsFormer: true };
    else if ((word === 'NX' || word === 'XX') && (options.condition ?? word) === word) {
      options = { ...options, condition: word };
    } else if (word === 'KEEPTTL' && end === null) options = { ...options, keepsEnd: true };
    else if (ENDS.has(word) && !hasEnd && next !== undefined) {
      end = { word, text: next };
      at += 1;
    } else return SYNTAX_ERROR;
  }
  if (end === null) return options;
  const endMs = readSetEnd(end, nowMs);
  return typeof endMs === 'number' ? { ...options, endMs } : endMs;
}

function readSetEnd(
  { word, text }: { word: string; text: string },
  nowMs: number,
): number | RedisError {
  const { unit, isAbsolute } = ENDS.get(word) ?? { unit: 's', isAbsolute: false };
  const endMs = readEnd(text, { unit, fromMs: isAbsolute ? 0 : nowMs, command: 'set' });
  if (typeof endMs === 'object') return endMs;
  const isPositive = readInteger(text) ?? 0n;
  return isPositive > 0n ? Number(endMs) : errorOf("ERR invalid expire time in 'set' command");
}

function set(key: string, [value = '', ...words]: readonly string[], at: Setting): RedisReply {
  const options = readSetOptions(words, at.nowMs);
  if ('error' in options) return options;
  const former = at.keys.get(key, at.nowMs);
  if (options.returnsFormer && former !== null && typeof former.value !== 'string') {
    return WRONG_TYPE;
  }
  const isDone = options.condition === null || (options.condition === 'XX') === (former !== null);
  if (isDone) store(key, { value, endMs: options.keepsEnd ? endOf(former) : options.endMs }, at);
  if (options.returnsFormer) return typeof former?.value === 'string' ? former.value : NIL;
  return isDone ? OK : NIL;
}

/** What ends in the past is not there any more. */
function store(key: string, entry: Entry, { keys, nowMs }: Setting): void {
  if (entry.endMs !== null && entry.endMs < nowMs) keys.delete(key, nowMs);
  else keys.set(key, entry);
}

function endOf(entry: Entry | null): number | null {
  return entry?.endMs ?? null;
}

function get(key: string, _: readonly string[], { keys, nowMs }: Setting): RedisReply {
  const entry = keys.get(key, nowMs);
  if (entry === null) return NIL;
  return typeof entry.value === 'string' ? entry.value : WRONG_TYPE;
}

/** Adds to the integer that a key holds, 0 where there is none; its end stays. */
function add(sign: 1n | -1n, fixed: string | null): Command {
  return onKey(fixed === null ? 1 : 0, (key, [text = fixed ?? ''], { keys, nowMs }) => {
    const count = readInteger(text);
    if (count === null) return NOT_AN_INTEGER;
    const entry = keys.get(key, nowMs);
    const held = entry?.value ?? '0';
    if (typeof held !== 'string') return WRONG_TYPE;
    const former = readInteger(held);
    if (former === null) return NOT_AN_INTEGER;
    if (sign === -1n && !isInRange(-count)) return errorOf('ERR decrement would overflow');
    const sum = former + sign * count;
    if (!isInRange(sum)) return errorOf('ERR increment or decrement would overflow');
    keys.set(key, { value: String(sum), endMs: endOf(entry) });
    return Number(sum);
  });
}

/** Counts the keys for which `isCounted` is true. */
function counting(isCounted: (key: string, setting: Setting) => boolean): Command {
  const run: Command['run'] = (keys, setting) =>
    keys.filter((key) => isCounted(key, setting)).length;
  return { least: 1, most: Number.POSITIVE_INFINITY, run };
}

export const stringCommands: Commands = [
  ['set', onKey([1, Number.POSITIVE_INFINITY], set)],
  ['get', onKey(0, get)],
  ['setnx', onKey(1, (key, [value = ''], at) => (set(key, [value, 'NX'], at) === NIL ? 0 : 1))],
  ['incr', add(1n, '1')],
  ['incrby', add(1n, null)],
  ['decr', add(-1n, '1')],
  ['decrby', add(-1n, null)],
  ['del', counting((key, { keys, nowMs }) => keys.delete(key, nowMs))],
  ['exists', counting((key, { keys, nowMs }) => keys.get(key, nowMs) !== null)],
];
