/**
 * Commands that set, change, report and remove the expiry of keys, and their options.
 */
import type { RedisError, RedisReply } from '../reply.ts';
import { errorOf, NOT_AN_INTEGER, repeated } from '../reply.ts';
import {
  databaseOf,
  endOf,
  entryOf,
  onKey,
  type RedisData,
  type Row,
  type Run,
  type Setting,
} from '../setting.ts';
import { isInRange, readInteger } from './numbers.ts';

/** The unit of an expiry, which is absolute (since 1970) or relative. */
export interface EndUnit {
  readonly unit: 's' | 'ms';
  readonly isAbsolute: boolean;
}

/** Units of expiry by option of SET. */
export const END_WORDS: ReadonlyMap<string, EndUnit> = new Map([
  ['EX', { unit: 's', isAbsolute: false }],
  ['PX', { unit: 'ms', isAbsolute: false }],
  ['EXAT', { unit: 's', isAbsolute: true }],
  ['PXAT', { unit: 'ms', isAbsolute: true }],
]);

interface Asked extends EndUnit {
  readonly nowMs: number;
  readonly command: string;
}

/** Returns the expiry in milliseconds since 1970. */
function readEnd(text: string, { unit, isAbsolute, nowMs, command }: Asked): bigint | RedisError {
  const count = readInteger(text);
  if (count === null) return NOT_AN_INTEGER;
  const ms = unit === 's' ? count * 1000n : count;
  const endMs = isAbsolute ? ms : ms + BigInt(nowMs);
  return isInRange(ms) && isInRange(endMs) ? endMs : invalidEnd(command);
}

/** Like `readEnd`, for a command that accepts only positive times. */
export function readPositiveEnd(text: string, asked: Asked): number | RedisError {
  const endMs = readEnd(text, asked);
  if (typeof endMs === 'object') return endMs;
  return (readInteger(text) ?? 0n) > 0n ? Number(endMs) : invalidEnd(asked.command);
}

function invalidEnd(command: string): RedisError {
  return errorOf(`ERR invalid expire time in '${command}' command`);
}

/** Sets a key. A key whose expiry has already passed exists until a command accesses it. */
export function store(
  key: string,
  { value, end }: { readonly value: RedisData; readonly end: number | null },
  at: Setting,
): void {
  databaseOf(at).set(key, { value, end }, at.nowMs);
}

type Condition = 'NX' | 'XX' | 'GT' | 'LT';

function readConditions(words: readonly string[]): ReadonlySet<Condition> | RedisError {
  const found = new Set<Condition>();
  for (const word of words) {
    const upper = word.toUpperCase();
    if (upper !== 'NX' && upper !== 'XX' && upper !== 'GT' && upper !== 'LT') {
      return errorOf(`ERR Unsupported option ${repeated(word)}`);
    }
    found.add(upper);
  }
  const isCompared = found.has('GT') || found.has('LT');
  if (found.has('NX') && (found.has('XX') || isCompared)) {
    return errorOf('ERR NX and XX, GT or LT options at the same time are not compatible');
  }
  if (found.has('GT') && found.has('LT')) {
    return errorOf('ERR GT and LT options at the same time are not compatible');
  }
  return found;
}

/** For GT and LT, a key without expiry has an infinite expiry. */
function isMet(condition: Condition, formerMs: number | null, endMs: bigint): boolean {
  switch (condition) {
    case 'NX':
      return formerMs === null;
    case 'XX':
      return formerMs !== null;
    case 'GT':
      return formerMs !== null && endMs > BigInt(formerMs);
    case 'LT':
      return formerMs === null || endMs < BigInt(formerMs);
  }
}

function expire(command: string, { unit, isAbsolute }: EndUnit): Run {
  return onKey((key, [text = '', ...words], at) => {
    const conditions = readConditions(words);
    if ('error' in conditions) return conditions;
    const { nowMs } = at;
    const endMs = readEnd(text, { unit, isAbsolute, nowMs, command });
    if (typeof endMs === 'object') return endMs;
    const entry = entryOf(key, at);
    if (entry === null) return 0;
    for (const condition of conditions) {
      if (!isMet(condition, entry.end, endMs)) return 0;
    }
    // An expiry that is not in the future deletes the key at once.
    if (endMs <= BigInt(nowMs)) databaseOf(at).delete(key, nowMs);
    else databaseOf(at).set(key, { value: entry.value, end: Number(endMs) }, nowMs);
    return 1;
  });
}

/** Returns -1 if the key has no expiry, and -2 if there is no such key. */
function endReader(convert: (endMs: number, nowMs: number) => number): Run {
  return onKey((key, _, at) => {
    const entry = entryOf(key, at);
    if (entry === null) return -2;
    return entry.end === null ? -1 : convert(entry.end, at.nowMs);
  });
}

function rounded(ms: number): number {
  return Math.floor((ms + 500) / 1000);
}

function persist(key: string, _: readonly string[], at: Setting): RedisReply {
  const entry = entryOf(key, at);
  if (entry === null || endOf(entry) === null) return 0;
  databaseOf(at).set(key, { value: entry.value, end: null }, at.nowMs);
  return 1;
}

export const endRows: readonly Row[] = [
  ['expire', -3, expire('expire', { unit: 's', isAbsolute: false })],
  ['pexpire', -3, expire('pexpire', { unit: 'ms', isAbsolute: false })],
  ['expireat', -3, expire('expireat', { unit: 's', isAbsolute: true })],
  ['pexpireat', -3, expire('pexpireat', { unit: 'ms', isAbsolute: true })],
  ['ttl', 2, endReader((endMs, nowMs) => rounded(Math.max(0, endMs - nowMs)))],
  ['pttl', 2, endReader((endMs, nowMs) => Math.max(0, endMs - nowMs))],
  ['expiretime', 2, endReader(rounded)],
  ['pexpiretime', 2, endReader((endMs) => endMs)],
  ['persist', 2, onKey(persist)],
];
