/** Commands on lists, except those that block until a list has an item. */
import type { RedisReply } from '../reply.ts';
import { errorOf, NIL, NIL_LIST, NOT_AN_INTEGER, OK, SYNTAX_ERROR, WRONG_TYPE } from '../reply.ts';
import {
  entryOf,
  held,
  keep,
  type ListData,
  onKey,
  type Row,
  type Run,
  type Setting,
  type Shape,
} from '../setting.ts';
import { readInteger } from './numbers.ts';

const LIST: Shape<ListData> = {
  is: (data): data is ListData => typeof data !== 'string' && data.type === 'list',
  empty: { type: 'list', items: [] },
  isEmpty: ({ items }) => items.length === 0,
};

type Items = readonly string[];

function reading(answer: (items: Items, rest: readonly string[]) => RedisReply): Run {
  return onKey((key, rest, at) => {
    const list = held(LIST, key, at);
    return list === null ? WRONG_TYPE : answer(list.items, rest);
  });
}

function put(key: string, items: Items, at: Setting): void {
  keep(LIST, { key, value: { type: 'list', items } }, at);
}

type End = 'LEFT' | 'RIGHT';

function added(items: Items, newItems: Items, end: End): Items {
  return end === 'LEFT' ? [...newItems.toReversed(), ...items] : [...items, ...newItems];
}

/** With `onlyThere`, the command does not create a list. */
function pushing(end: End, onlyThere: boolean): Run {
  return onKey((key, values, at) => {
    const list = held(LIST, key, at);
    if (list === null) return WRONG_TYPE;
    if (onlyThere && list.items.length === 0) return 0;
    const items = added(list.items, values, end);
    put(key, items, at);
    return items.length;
  });
}

const NOT_POSITIVE = errorOf('ERR value is out of range, must be positive');

function popping(command: string, end: End): Run {
  return onKey((key, rest, at) => {
    if (rest.length > 1) return errorOf(`ERR wrong number of arguments for '${command}' command`);
    const [text] = rest;
    const count = text === undefined ? 1n : readInteger(text);
    if (count === null || count < 0n) return NOT_POSITIVE;
    const list = held(LIST, key, at);
    if (list === null) return WRONG_TYPE;
    if (list.items.length === 0) return text === undefined ? NIL : NIL_LIST;
    if (count === 0n) return [];
    const { taken, left } = takeItems(list.items, end, Number(count));
    put(key, left, at);
    return text === undefined ? (taken[0] ?? NIL) : taken;
  });
}

/** Splits off `count` items at an end, the outermost first. */
function takeItems(items: Items, end: End, count: number): { taken: Items; left: Items } {
  if (end === 'LEFT') return { taken: items.slice(0, count), left: items.slice(count) };
  const at = Math.max(0, items.length - count);
  return { taken: items.slice(at).toReversed(), left: items.slice(0, at) };
}

function move(
  [from = '', to = '']: readonly string[],
  { source, target }: { readonly source: End; readonly target: End },
  at: Setting,
): RedisReply {
  const list = held(LIST, from, at);
  if (list === null) return WRONG_TYPE;
  if (list.items.length === 0) return NIL;
  if (held(LIST, to, at) === null) return WRONG_TYPE;
  const { taken, left } = takeItems(list.items, source, 1);
  put(from, left, at);
  put(to, added(held(LIST, to, at)?.items ?? [], taken, target), at);
  return taken[0] ?? NIL;
}

function lmove([from = '', to = '', ...ends]: readonly string[], at: Setting): RedisReply {
  const [source, target] = ends.map((end) => end.toUpperCase());
  if (!isEnd(source) || !isEnd(target)) return SYNTAX_ERROR;
  return move([from, to], { source, target }, at);
}

function isEnd(word: string | undefined): word is End {
  return word === 'LEFT' || word === 'RIGHT';
}

/**
 * Converts two indexes to a range; negative indexes count from the end. Returns null if an index is
 * invalid.
 */
export function spanOf(
  [from = '', to = '']: readonly string[],
  length: number,
): { from: number; to: number } | null {
  const [first, last] = [readInteger(from), readInteger(to)];
  if (first === null || last === null) return null;
  const [low = 0, high = 0] = [first, last].map((at) => Number(at) + (at < 0n ? length : 0));
  return { from: Math.max(0, low), to: high + 1 < 0 ? 0 : high + 1 };
}

function index(items: Items, [text = '']: readonly string[]): RedisReply {
  if (items.length === 0) return NIL;
  const at = readInteger(text);
  return at === null ? NOT_AN_INTEGER : (items.at(Number(at)) ?? NIL);
}

function set(key: string, [text = '', value = '']: readonly string[], at: Setting): RedisReply {
  if (entryOf(key, at) === null) return errorOf('ERR no such key');
  const list = held(LIST, key, at);
  if (list === null) return WRONG_TYPE;
  const place = readInteger(text);
  if (place === null) return NOT_AN_INTEGER;
  const found = Number(place) + (place < 0n ? list.items.length : 0);
  if (found < 0 || found >= list.items.length) return errorOf('ERR index out of range');
  put(key, list.items.with(found, value), at);
  return OK;
}

function remove(key: string, [text = '', value = '']: readonly string[], at: Setting): RedisReply {
  const count = readInteger(text);
  if (count === null) return NOT_AN_INTEGER;
  const list = held(LIST, key, at);
  if (list === null) return WRONG_TYPE;
  const places = list.items.flatMap((item, place) => (item === value ? [place] : []));
  const most = count === 0n ? places.length : Math.abs(Number(count));
  const gone = new Set(count < 0n ? places.slice(-most) : places.slice(0, most));
  if (gone.size === 0) return 0;
  put(
    key,
    list.items.filter((_, place) => !gone.has(place)),
    at,
  );
  return gone.size;
}

function trim(key: string, rest: readonly string[], at: Setting): RedisReply {
  if (spanOf(rest, 0) === null) return NOT_AN_INTEGER;
  const list = held(LIST, key, at);
  if (list === null) return WRONG_TYPE;
  const span = spanOf(rest, list.items.length);
  if (span !== null && list.items.length > 0) put(key, list.items.slice(span.from, span.to), at);
  return OK;
}

function insert(
  key: string,
  [where = '', pivot = '', value = '']: readonly string[],
  at: Setting,
): RedisReply {
  const word = where.toUpperCase();
  if (word !== 'BEFORE' && word !== 'AFTER') return SYNTAX_ERROR;
  const list = held(LIST, key, at);
  if (list === null) return WRONG_TYPE;
  if (list.items.length === 0) return 0;
  const found = list.items.indexOf(pivot);
  if (found === -1) return -1;
  put(key, list.items.toSpliced(word === 'BEFORE' ? found : found + 1, 0, value), at);
  return list.items.length + 1;
}

export const listRows: readonly Row[] = [
  ['lpush', -3, pushing('LEFT', false)],
  ['rpush', -3, pushing('RIGHT', false)],
  ['lpushx', -3, pushing('LEFT', true)],
  ['rpushx', -3, pushing('RIGHT', true)],
  ['lpop', -2, popping('lpop', 'LEFT')],
  ['rpop', -2, popping('rpop', 'RIGHT')],
  ['llen', 2, reading((items) => items.length)],
  [
    'lrange',
    4,
    (args, at) => {
      if (spanOf(args.slice(1), 0) === null) return NOT_AN_INTEGER;
      return reading((items, rest) => {
        const span = spanOf(rest, items.length);
        return span === null ? NOT_AN_INTEGER : items.slice(span.from, span.to);
      })(args, at);
    },
  ],
  ['lindex', 3, reading(index)],
  ['lset', 4, onKey(set)],
  ['lrem', 4, onKey(remove)],
  ['ltrim', 4, onKey(trim)],
  ['linsert', 5, onKey(insert)],
  ['lmove', 5, lmove],
  ['rpoplpush', 3, (args, at) => move(args, { source: 'RIGHT', target: 'LEFT' }, at)],
];
