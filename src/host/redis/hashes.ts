/** The commands on hashes that reentrant locks are made of: a field for each holder. */
import { type Command, type Commands, onKey, type Setting } from './command.ts';
import { isInRange, readInteger } from './integers.ts';
import { errorOf, NIL, NOT_AN_INTEGER, type RedisReply, WRONG_TYPE } from './reply.ts';

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
  else keys.set(key, { value: fields, endMs: entry?.endMs ?? null });
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
  if (!isInRange(sum)) return errorOf('ERR increment or decrement would overflow');
  keep(key, new Map([...fields, [name, String(sum)]]), at);
  return Number(sum);
}

export const hashCommands: Commands = [
  ['hset', onKey([2, Number.POSITIVE_INFINITY], setFields)],
  ['hget', reading(1, (fields, [name = '']) => fields.get(name) ?? NIL)],
  ['hexists', reading(1, (fields, [name = '']) => (fields.has(name) ? 1 : 0))],
  ['hlen', reading(0, (fields) => fields.size)],
  ['hgetall', reading(0, (fields) => [...fields].flat())],
  ['hdel', onKey([1, Number.POSITIVE_INFINITY], deleteFields)],
  ['hincrby', onKey(2, addToField)],
];
