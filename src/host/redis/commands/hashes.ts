/** Commands on hashes. */
import type { RedisReply } from '../reply.ts';
import { errorOf, NIL, NOT_A_FLOAT, NOT_AN_INTEGER, OK, WRONG_TYPE } from '../reply.ts';
import {
  type HashData,
  held,
  keep,
  onKey,
  type Row,
  type Run,
  type Setting,
  type Shape,
} from '../setting.ts';
import { scanning } from './keys.ts';
import { integerReply, isInRange, readFloat, readInteger, sumOfDecimals } from './numbers.ts';

const HASH: Shape<HashData> = {
  is: (data): data is HashData => typeof data !== 'string' && data.type === 'hash',
  empty: { type: 'hash', fields: new Map() },
  isEmpty: ({ fields }) => fields.size === 0,
};

type Fields = ReadonlyMap<string, string>;

function reading(answer: (fields: Fields, rest: readonly string[]) => RedisReply): Run {
  return onKey((key, rest, at) => {
    const hash = held(HASH, key, at);
    return hash === null ? WRONG_TYPE : answer(hash.fields, rest);
  });
}

/** `change` gets a copy of the fields. It returns `isChanged: false` if it changed nothing. */
function changing(
  change: (
    fields: Map<string, string>,
    rest: readonly string[],
  ) => { readonly reply: RedisReply; readonly isChanged?: boolean },
): Run {
  return onKey((key, rest, at) => {
    const hash = held(HASH, key, at);
    if (hash === null) return WRONG_TYPE;
    const fields = new Map(hash.fields);
    const { reply, isChanged = true } = change(fields, rest);
    if (isChanged) keep(HASH, { key, value: { type: 'hash', fields } }, at);
    return reply;
  });
}

function setting(command: 'hset' | 'hmset'): Run {
  const run = changing((fields, rest) => {
    const before = fields.size;
    for (let at = 0; at < rest.length; at += 2) fields.set(rest[at] ?? '', rest[at + 1] ?? '');
    return { reply: command === 'hset' ? fields.size - before : OK };
  });
  return (args, at) => {
    if (args.length % 2 === 1) return run(args, at);
    return errorOf(`ERR wrong number of arguments for '${command}' command`);
  };
}

const setNew: Run = changing((fields, [name = '', value = '']) => {
  if (fields.has(name)) return { reply: 0, isChanged: false };
  fields.set(name, value);
  return { reply: 1 };
});

const deleteFields: Run = changing((fields, names) => {
  const gone = names.filter((name) => fields.delete(name)).length;
  return { reply: gone, isChanged: gone > 0 };
});

function addInteger(args: readonly string[], at: Setting): RedisReply {
  const count = readInteger(args[2] ?? '');
  if (count === null) return NOT_AN_INTEGER;
  return addTo(count)(args, at);
}

function addTo(count: bigint): Run {
  return changing((fields, [name = '']) => {
    const former = readInteger(fields.get(name) ?? '0');
    if (former === null) return failed('ERR hash value is not an integer');
    const sum = former + count;
    if (!isInRange(sum)) return failed('ERR increment or decrement would overflow');
    fields.set(name, String(sum));
    return { reply: integerReply(sum) };
  });
}

function failed(problem: string): { reply: RedisReply; isChanged: false } {
  return { reply: errorOf(problem), isChanged: false };
}

function addFloat(args: readonly string[], at: Setting): RedisReply {
  const [, , text = ''] = args;
  const number = readFloat(text);
  if (number === null) return NOT_A_FLOAT;
  if (!Number.isFinite(number)) return errorOf('ERR value is NaN or Infinity');
  return changing((fields, [name = '']) => {
    const former = fields.get(name) ?? '0';
    if (readFloat(former) === null) return failed('ERR hash value is not a float');
    const sum = sumOfDecimals(former, text);
    if (sum === null) return failed('ERR increment would produce NaN or Infinity');
    fields.set(name, sum);
    return { reply: sum };
  })(args, at);
}

export const hashRows: readonly Row[] = [
  ['hset', -4, setting('hset')],
  ['hmset', -4, setting('hmset')],
  ['hsetnx', 4, setNew],
  ['hget', 3, reading((fields, [name = '']) => fields.get(name) ?? NIL)],
  ['hmget', -3, reading((fields, names) => names.map((name) => fields.get(name) ?? NIL))],
  ['hgetall', 2, reading((fields) => ({ mapping: [...fields].flat() }))],
  ['hkeys', 2, reading((fields) => [...fields.keys()])],
  ['hvals', 2, reading((fields) => [...fields.values()])],
  ['hexists', 3, reading((fields, [name = '']) => (fields.has(name) ? 1 : 0))],
  ['hlen', 2, reading((fields) => fields.size)],
  ['hstrlen', 3, reading((fields, [name = '']) => fields.get(name)?.length ?? 0)],
  ['hdel', -3, deleteFields],
  ['hincrby', 4, addInteger],
  ['hincrbyfloat', 4, addFloat],
  [
    'hscan',
    -3,
    scanning(HASH, ({ fields }, matches) => [...fields].filter(([name]) => matches(name)).flat()),
  ],
];
