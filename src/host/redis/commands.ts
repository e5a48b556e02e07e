/**
 * All commands that a node carries out by itself, without its scripts, family by family: on strings
 * and on keys whatever they hold, on the ends of keys, on hashes, and the calling of them. A new
 * command is one row of its family. An end is kept in whole milliseconds by the node's wall clock,
 * as in Redis: a step of that clock moves every end.
 */
import type { Draft } from '../../core/kernel/draft.ts';
import type { KeyEntry, Keyspace } from '../../systems/redis/keyspace.ts';
import type { RedisCommand, RedisError, RedisReply } from './reply.ts';
import { errorOf, NIL, NOT_AN_INTEGER, OK, SYNTAX_ERROR, WRONG_TYPE } from './reply.ts';

/** What a key holds: a string, or the fields of a hash. */
export type RedisData = string | ReadonlyMap<string, string>;

type Entry = KeyEntry<RedisData>;

/** What a command may touch, and the time at which it does. */
export interface Setting {
  readonly keys: Keyspace<RedisData>;
  /** By the node's wall clock, microseconds since 1970; the same all through a script. */
  readonly nowUs: number;
  readonly nowMs: number;
}

interface Command {
  /** How many arguments it takes, its name not counted. */
  readonly least: number;
  readonly most: number;
  /** `given` are its arguments, without its name. */
  readonly run: (given: readonly string[], setting: Setting) => RedisReply;
}

type Commands = readonly (readonly [name: string, command: Command])[];

/** A key with as many further arguments as `rest` says. */
function onKey(
  rest: number | readonly [least: number, most: number],
  run: (key: string, rest: readonly string[], setting: Setting) => RedisReply,
): Command {
  const [least, most] = typeof rest === 'number' ? [rest, rest] : rest;
  return {
    least: least + 1,
    most: most + 1,
    run: ([key = '', ...others], setting) => run(key, others, setting),
  };
}

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
  const options: Draft<SetOptions> = {
    condition: null,
    returnsFormer: false,
    keepsEnd: false,
    endMs: null,
  };
  let end: { word: string; text: string } | null = null;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]?.toUpperCase() ?? '';
    const next = words[at + 1];
    // The same word may come twice: the later time counts.
    const hasEnd = options.keepsEnd || (end !== null && end.word !== word);
    if (word === 'GET') options.returnsFormer = true;
    else if ((word === 'NX' || word === 'XX') && (options.condition ?? word) === word) {
      options.condition = word;
    } else if (word === 'KEEPTTL' && end === null) options.keepsEnd = true;
    else if (ENDS.has(word) && !hasEnd && next !== undefined) {
      end = { word, text: next };
      at += 1;
    } else return SYNTAX_ERROR;
  }
  if (end === null) return options;
  const endMs = readSetEnd(end, nowMs);
  if (typeof endMs !== 'number') return endMs;
  options.endMs = endMs;
  return options;
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
  if (isDone) store(key, { value, end: options.keepsEnd ? endOf(former) : options.endMs }, at);
  if (options.returnsFormer) return typeof former?.value === 'string' ? former.value : NIL;
  return isDone ? OK : NIL;
}

/** What ends in the past is not there any more. */
function store(key: string, entry: Entry, { keys, nowMs }: Setting): void {
  if (entry.end !== null && entry.end < nowMs) keys.delete(key, nowMs);
  else keys.set(key, entry.value, entry.end);
}

function endOf(entry: Entry | null): number | null {
  return entry?.end ?? null;
}

function get(key: string, _: readonly string[], { keys, nowMs }: Setting): RedisReply {
  const entry = keys.get(key, nowMs);
  if (entry === null) return NIL;
  return typeof entry.value === 'string' ? entry.value : WRONG_TYPE;
}

const OVERFLOW = errorOf('ERR increment or decrement would overflow');

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
    if (!isInRange(sum)) return OVERFLOW;
    keys.set(key, String(sum), endOf(entry));
    return Number(sum);
  });
}

function counting(isCounted: (key: string, setting: Setting) => boolean): Command {
  const run: Command['run'] = (keys, setting) =>
    keys.filter((key) => isCounted(key, setting)).length;
  return { least: 1, most: Number.POSITIVE_INFINITY, run };
}

const stringCommands: Commands = [
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

type Unit = 's' | 'ms';

/** When a key is to end, in milliseconds since 1970; 64 bits wide. */
function readEnd(
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
      if (!isMet(condition, entry.end, endMs)) return 0;
    }
    // An end that is not ahead deletes the key at once.
    if (endMs <= BigInt(nowMs)) keys.delete(key, nowMs);
    else keys.set(key, entry.value, Number(endMs));
    return 1;
  });
}

/** How long a key still has; -1: it has no end; -2: there is none. */
function remainingMs(key: string, { keys, nowMs }: Setting): number {
  const entry = keys.get(key, nowMs);
  if (entry === null) return -2;
  return entry.end === null ? -1 : Math.max(0, entry.end - nowMs);
}

const expiryCommands: Commands = [
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
  if (entry === null || entry.end === null) return 0;
  keys.set(key, entry.value, null);
  return 1;
}

type Fields = ReadonlyMap<string, string>;

/** The fields of a key, none where it is absent; null where it holds something else. */
function fieldsOf(key: string, { keys, nowMs }: Setting): Fields | null {
  const entry = keys.get(key, nowMs);
  if (entry === null) return new Map();
  return typeof entry.value === 'string' ? null : entry.value;
}

/** Keeps what a hash now holds; one without fields is no more. */
function keep(key: string, fields: Fields, { keys, nowMs }: Setting): void {
  const entry = keys.get(key, nowMs);
  if (fields.size === 0) keys.delete(key, nowMs);
  else keys.set(key, fields, endOf(entry));
}

function reading(
  rest: number,
  answer: (fields: Fields, rest: readonly string[]) => RedisReply,
): Command {
  return onKey(rest, (key, given, setting) => {
    const fields = fieldsOf(key, setting);
    return fields === null ? WRONG_TYPE : answer(fields, given);
  });
}

function setFields(key: string, given: readonly string[], setting: Setting): RedisReply {
  if (given.length % 2 === 1) return errorOf("ERR wrong number of arguments for 'hset' command");
  const fields = fieldsOf(key, setting);
  if (fields === null) return WRONG_TYPE;
  const changed = new Map(fields);
  for (let at = 0; at < given.length; at += 2) changed.set(given[at] ?? '', given[at + 1] ?? '');
  keep(key, changed, setting);
  return changed.size - fields.size;
}

function deleteFields(key: string, given: readonly string[], setting: Setting): RedisReply {
  const fields = fieldsOf(key, setting);
  if (fields === null) return WRONG_TYPE;
  const left = new Map(fields);
  for (const name of given) left.delete(name);
  if (left.size < fields.size) keep(key, left, setting);
  return fields.size - left.size;
}

function addToField(
  key: string,
  [name = '', text = '']: readonly string[],
  at: Setting,
): RedisReply {
  const count = readInteger(text);
  if (count === null) return NOT_AN_INTEGER;
  const fields = fieldsOf(key, at);
  if (fields === null) return WRONG_TYPE;
  const former = readInteger(fields.get(name) ?? '0');
  if (former === null) return errorOf('ERR hash value is not an integer');
  const sum = former + count;
  if (!isInRange(sum)) return OVERFLOW;
  keep(key, new Map([...fields, [name, String(sum)]]), at);
  return Number(sum);
}

const hashCommands: Commands = [
  ['hset', onKey([2, Number.POSITIVE_INFINITY], setFields)],
  ['hget', reading(1, (fields, [name = '']) => fields.get(name) ?? NIL)],
  ['hexists', reading(1, (fields, [name = '']) => (fields.has(name) ? 1 : 0))],
  ['hlen', reading(0, (fields) => fields.size)],
  ['hgetall', reading(0, (fields) => [...fields].flat())],
  ['hdel', onKey([1, Number.POSITIVE_INFINITY], deleteFields)],
  ['hincrby', onKey(2, addToField)],
];

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** Null for whatever is not written as Redis itself would write it, or is out of range. */
export function readInteger(text: string): bigint | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return isInRange(value) ? value : null;
}

function isInRange(value: bigint): boolean {
  return value >= LEAST && value <= MOST;
}

const serverCommands: Commands = [
  ['ping', { least: 0, most: 1, run: ([text]) => text ?? { status: 'PONG' } }],
  [
    'time',
    {
      least: 0,
      most: 0,
      run: (_, { nowUs }) => [String(Math.floor(nowUs / 1e6)), String(nowUs % 1e6)],
    },
  ],
];

const commands: ReadonlyMap<string, Command> = new Map([
  ...stringCommands,
  ...expiryCommands,
  ...hashCommands,
  ...serverCommands,
]);

const NOT_IN_SCRIPTS: ReadonlySet<string> = new Set(['eval', 'evalsha', 'script']);

/** How many characters of arguments an error repeats. */
const MOST_REPEATED = 128;

/** Carries out a command that a client sent. */
export function callCommand([name = '', ...given]: RedisCommand, setting: Setting): RedisReply {
  const command = commands.get(name.toLowerCase());
  if (command === undefined) return unknownCommand(name, given);
  if (!takes(command, given)) return wrongCount(name.toLowerCase());
  return command.run(given, setting);
}

/** Carries out a command that a script gave. */
export function callFromScript([name = '', ...given]: RedisCommand, setting: Setting): RedisReply {
  const lower = name.toLowerCase();
  if (NOT_IN_SCRIPTS.has(lower)) {
    return errorOf('ERR This Redis command is not allowed from script');
  }
  const command = commands.get(lower);
  if (command === undefined) return errorOf('ERR Unknown Redis command called from script');
  if (!takes(command, given)) {
    return errorOf('ERR Wrong number of args calling Redis command from script');
  }
  return command.run(given, setting);
}

function takes({ least, most }: Command, given: readonly string[]): boolean {
  return given.length >= least && given.length <= most;
}

export function wrongCount(name: string): RedisReply {
  return errorOf(`ERR wrong number of arguments for '${name}' command`);
}

function unknownCommand(name: string, given: readonly string[]): RedisReply {
  let repeated = '';
  for (const argument of given) {
    if (repeated.length >= MOST_REPEATED) break;
    repeated += `'${argument.slice(0, MOST_REPEATED - repeated.length)}' `;
  }
  const shown = name.slice(0, MOST_REPEATED);
  return errorOf(`ERR unknown command '${shown}', with args beginning with: ${repeated}`);
}
