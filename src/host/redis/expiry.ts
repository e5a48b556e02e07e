/**
 * The commands that say when a key ends, and the reading of such times. An end is kept in whole
 * milliseconds by the node's wall clock, as in Redis: a step of that clock moves every end.
 */
import { type Command, type Commands, onKey, type Setting } from './command.ts';
import { isInRange, readInteger } from './integers.ts';
import { errorOf, NOT_AN_INTEGER, type RedisError, type RedisReply } from './reply.ts';

type Unit = 's' | 'ms';

/** When a key is to end, in milliseconds since 1970; 64 bits wide. */
export function readEnd(
  text: string,
  { unit, fromMs, command }: { unit: Unit; fromMs: number; command: string },
): bigint | RedisError {
  const count = readInteger(text);
  if (count === null) return NOT_AN_INTEGER;
  const ms = unit === 's' ? count * 1000n : count;
  const endMs = ms + BigInt(fromMs);
  if (!isInRange(ms) || !isInRange(endMs)) {
    return errorOf(`ERR invalid expire time in '${command}' command`);
  }
  return endMs;
}

type Condition = 'NX' | 'XX' | 'GT' | 'LT';

function readConditions(words: readonly string[]): ReadonlySet<Condition> | RedisError {
  const found = new Set<Condition>();
  for (const word of words) {
    const upper = word.toUpperCase();
    if (upper !== 'NX' && upper !== 'XX' && upper !== 'GT' && upper !== 'LT') {
      return errorOf(`ERR Unsupported option ${word}`);
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

/** No end counts as an infinite one. */
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

function expire(name: string, unit: Unit): Command {
  return onKey([1, Number.POSITIVE_INFINITY], (key, [text = '', ...words], setting) => {
    const { keys, nowMs } = setting;
    const conditions = readConditions(words);
    if ('error' in conditions) return conditions;
    const endMs = readEnd(text, { unit, fromMs: nowMs, command: name });
    if (typeof endMs === 'object') return endMs;
    const entry = keys.get(key, nowMs);
    if (entry === null) return 0;
    for (const condition of conditions) {
      if (!isMet(condition, entry.endMs, endMs)) return 0;
    }
    // An end that is not ahead deletes the key at once.
    if (endMs <= BigInt(nowMs)) keys.delete(key, nowMs);
    else keys.set(key, { ...entry, endMs: Number(endMs) });
    return 1;
  });
}

/** How long a key still has; -1: it has no end; -2: there is none. */
function remainingMs(key: string, { keys, nowMs }: Setting): number {
  const entry = keys.get(key, nowMs);
  if (entry === null) return -2;
  return entry.endMs === null ? -1 : Math.max(0, entry.endMs - nowMs);
}

export const expiryCommands: Commands = [
  ['expire', expire('expire', 's')],
  ['pexpire', expire('pexpire', 'ms')],
  ['pttl', onKey(0, (key, _, setting) => remainingMs(key, setting))],
  [
    'ttl',
    onKey(0, (key, _, setting) => {
      const ms = remainingMs(key, setting);
      return ms < 0 ? ms : Math.floor((ms + 500) / 1000);
    }),
  ],
  ['persist', onKey(0, (key, _, setting) => persist(key, setting))],
];

function persist(key: string, { keys, nowMs }: Setting): RedisReply {
  const entry = keys.get(key, nowMs);
  if (entry === null || entry.endMs === null) return 0;
  keys.set(key, { ...entry, endMs: null });
  return 1;
}
