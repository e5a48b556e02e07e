/**
 * Commands on sets. Sets of integers are returned in numerical order, as in Redis. Redis returns
 * other sets in arbitrary order; here their members keep the order in which they were added.
 */
import type { RedisError, RedisReply } from '../reply.ts';
import { errorOf, NIL, NOT_AN_INTEGER, SYNTAX_ERROR, WRONG_TYPE } from '../reply.ts';
import {
  databaseOf,
  held,
  keep,
  onKey,
  type Row,
  type Run,
  type SetData,
  type Setting,
  type Shape,
} from '../setting.ts';
import { scanning } from './keys.ts';
import { readInteger } from './numbers.ts';

const SET: Shape<SetData> = {
  is: (data): data is SetData => typeof data !== 'string' && data.type === 'set',
  empty: { type: 'set', members: new Set() },
  isEmpty: ({ members }) => members.size === 0,
};

type Members = ReadonlySet<string>;

function reading(answer: (members: Members, rest: readonly string[]) => RedisReply): Run {
  return onKey((key, rest, at) => {
    const set = held(SET, key, at);
    return set === null ? WRONG_TYPE : answer(set.members, rest);
  });
}

function put(key: string, members: Members, at: Setting): void {
  keep(SET, { key, value: { type: 'set', members } }, at);
}

function ordered(members: Members): readonly string[] {
  const list = [...members];
  const numbers = list.map(readInteger);
  if (numbers.includes(null)) return list;
  return list.sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1));
}

function add(key: string, newMembers: readonly string[], at: Setting): RedisReply {
  const set = held(SET, key, at);
  if (set === null) return WRONG_TYPE;
  const members = new Set([...set.members, ...newMembers]);
  const count = members.size - set.members.size;
  if (count > 0) put(key, members, at);
  return count;
}

function remove(key: string, candidates: readonly string[], at: Setting): RedisReply {
  const set = held(SET, key, at);
  if (set === null) return WRONG_TYPE;
  const members = new Set(set.members);
  const count = candidates.filter((member) => members.delete(member)).length;
  if (count > 0) put(key, members, at);
  return count;
}

function move(args: readonly string[], at: Setting): RedisReply {
  const [from = '', to = '', member = ''] = args;
  const source = held(SET, from, at);
  const target = held(SET, to, at);
  if (source?.members.size === 0) return 0;
  if (source === null || target === null) return WRONG_TYPE;
  if (from === to) return source.members.has(member) ? 1 : 0;
  if (!source.members.has(member)) return 0;
  const left = new Set(source.members);
  left.delete(member);
  put(from, left, at);
  put(to, new Set([...target.members, member]), at);
  return 1;
}

/** Draws `count` members at random, or all if there are fewer. */
function drawn(members: Members, count: number, at: Setting): readonly string[] {
  const left = [...ordered(members)];
  const found: string[] = [];
  while (found.length < count && left.length > 0) {
    const place = Math.floor(at.memory.chance.draw() * left.length);
    found.push(...left.splice(place, 1));
  }
  return found;
}

function pop(key: string, rest: readonly string[], at: Setting): RedisReply {
  const [text] = rest;
  if (rest.length > 1) return SYNTAX_ERROR;
  const count = text === undefined ? 1n : readInteger(text);
  if (count === null || count < 0n) {
    return errorOf('ERR value is out of range, must be positive');
  }
  const set = held(SET, key, at);
  if (set === null) return WRONG_TYPE;
  const taken = drawn(set.members, Number(count), at);
  if (taken.length > 0) {
    const left = new Set(set.members);
    for (const member of taken) left.delete(member);
    put(key, left, at);
  }
  return text === undefined ? (taken[0] ?? NIL) : { set: taken };
}

/** With a negative count, a member may be returned several times. */
function randomMember(key: string, rest: readonly string[], at: Setting): RedisReply {
  const [text] = rest;
  if (rest.length > 1) return SYNTAX_ERROR;
  const count = text === undefined ? 1n : readInteger(text);
  if (count === null) return NOT_AN_INTEGER;
  const set = held(SET, key, at);
  if (set === null) return WRONG_TYPE;
  if (text === undefined) return drawn(set.members, 1, at)[0] ?? NIL;
  if (count >= 0n) return drawn(set.members, Number(count), at);
  return Array.from({ length: Number(-count) }).flatMap(() => drawn(set.members, 1, at));
}

type Combine = (sets: readonly Members[]) => Members;

const combinations: ReadonlyMap<string, Combine> = new Map([
  [
    'inter',
    ([first = new Set(), ...rest]) => kept(first, (member) => rest.every((set) => set.has(member))),
  ],
  ['union', (sets) => new Set(sets.flatMap((set) => [...set]))],
  [
    'diff',
    ([first = new Set(), ...rest]) => kept(first, (member) => !rest.some((set) => set.has(member))),
  ],
]);

function kept(members: Members, isKept: (member: string) => boolean): Members {
  return new Set([...members].filter(isKept));
}

function combined(name: string, keys: readonly string[], at: Setting): Members | RedisError {
  const sets: Members[] = [];
  for (const key of keys) {
    const set = held(SET, key, at);
    if (set === null) return WRONG_TYPE;
    sets.push(set.members);
  }
  return combinations.get(name)?.(sets) ?? new Set();
}

function combining(name: string): Run {
  return (keys, at) => {
    const found = combined(name, keys, at);
    return 'error' in found ? found : { set: ordered(found) };
  };
}

function storing(name: string): Run {
  return ([target = '', ...keys], at) => {
    const found = combined(name, keys, at);
    if ('error' in found) return found;
    databaseOf(at).delete(target, at.nowMs);
    if (found.size > 0) put(target, found, at);
    return found.size;
  };
}

export const setRows: readonly Row[] = [
  ['sadd', -3, onKey(add)],
  ['srem', -3, onKey(remove)],
  ['smembers', 2, reading((members) => ({ set: ordered(members) }))],
  ['sismember', 3, reading((members, [member = '']) => (members.has(member) ? 1 : 0))],
  ['smismember', -3, reading((members, asked) => asked.map((item) => (members.has(item) ? 1 : 0)))],
  ['scard', 2, reading((members) => members.size)],
  ['smove', 4, move],
  ['spop', -2, onKey(pop)],
  ['srandmember', -2, onKey(randomMember)],
  ['sinter', -2, combining('inter')],
  ['sunion', -2, combining('union')],
  ['sdiff', -2, combining('diff')],
  ['sinterstore', -3, storing('inter')],
  ['sunionstore', -3, storing('union')],
  ['sdiffstore', -3, storing('diff')],
  ['sscan', -3, scanning(SET, ({ members }, matches) => ordered(members).filter(matches))],
];
