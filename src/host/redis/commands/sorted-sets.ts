/** Commands on sorted sets, the basis of semaphores and fair queues. */
import type { RedisError, RedisReply } from '../reply.ts';
import { errorOf, NIL, NOT_A_FLOAT, NOT_AN_INTEGER, SYNTAX_ERROR, WRONG_TYPE } from '../reply.ts';
import {
  held,
  keep,
  onKey,
  type Row,
  type Run,
  type Setting,
  type Shape,
  type SortedData,
} from '../setting.ts';
import { scanning } from './keys.ts';
import { spanOf } from './lists.ts';
import { readFloat, readInteger, scoreReply, scoreText } from './numbers.ts';

const SORTED: Shape<SortedData> = {
  is: (data): data is SortedData => typeof data !== 'string' && data.type === 'zset',
  empty: { type: 'zset', scores: new Map() },
  isEmpty: ({ scores }) => scores.size === 0,
};

type Scores = ReadonlyMap<string, number>;
type Scored = readonly [member: string, score: number];

function reading(answer: (scores: Scores, rest: readonly string[]) => RedisReply): Run {
  return onKey((key, rest, at) => {
    const sorted = held(SORTED, key, at);
    return sorted === null ? WRONG_TYPE : answer(sorted.scores, rest);
  });
}

function put(key: string, scores: Scores, at: Setting): void {
  keep(SORTED, { key, value: { type: 'zset', scores } }, at);
}

/** Sorts by score, and members with the same score by their bytes. */
function inOrder(scores: Scores): readonly Scored[] {
  return [...scores].sort(([one, low], [other, high]) =>
    low === high ? (one < other ? -1 : 1) : low - high,
  );
}

interface AddOptions {
  readonly words: ReadonlySet<string>;
  readonly members: readonly Scored[];
}

const ADD_WORDS: ReadonlySet<string> = new Set(['NX', 'XX', 'GT', 'LT', 'CH', 'INCR']);

function readAdd(args: readonly string[]): AddOptions | RedisError {
  const words = new Set<string>();
  let from = 0;
  while (ADD_WORDS.has(args[from]?.toUpperCase() ?? '')) {
    words.add(args[from]?.toUpperCase() ?? '');
    from += 1;
  }
  const rest = args.slice(from);
  if (rest.length === 0 || rest.length % 2 === 1) return SYNTAX_ERROR;
  if (words.has('NX') && words.has('XX')) {
    return errorOf('ERR XX and NX options at the same time are not compatible');
  }
  if (['GT', 'LT', 'NX'].filter((word) => words.has(word)).length > 1) {
    return errorOf('ERR GT, LT, and/or NX options at the same time are not compatible');
  }
  if (words.has('INCR') && rest.length > 2) {
    return errorOf('ERR INCR option supports a single increment-element pair');
  }
  const members: Scored[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    const score = readFloat(rest[at] ?? '');
    if (score === null) return NOT_A_FLOAT;
    members.push([rest[at + 1] ?? '', score]);
  }
  return { words, members };
}

function nextScore(
  former: number | undefined,
  operand: number,
  words: ReadonlySet<string>,
): number | null {
  if (former === undefined) return words.has('XX') ? null : operand;
  if (words.has('NX')) return null;
  const score = words.has('INCR') ? former + operand : operand;
  if (words.has('GT') && score <= former) return null;
  return words.has('LT') && score >= former ? null : score;
}

function add(key: string, args: readonly string[], at: Setting): RedisReply {
  const options = readAdd(args);
  if ('error' in options) return options;
  const sorted = held(SORTED, key, at);
  if (sorted === null) return WRONG_TYPE;
  const { words, members } = options;
  const scores = new Map(sorted.scores);
  let changed = 0;
  let last: number | null = null;
  for (const [member, score] of members) {
    const former = scores.get(member);
    last = nextScore(former, score, words);
    if (last === null) continue;
    if (Number.isNaN(last)) return errorOf('ERR resulting score is not a number (NaN)');
    if (former !== last) changed += 1;
    scores.set(member, last);
  }
  const grown = scores.size - sorted.scores.size;
  if (changed > 0) put(key, scores, at);
  if (words.has('INCR')) return last === null ? NIL : scoreReply(last);
  return words.has('CH') ? changed : grown;
}

function removeWhere(
  key: string,
  find: (scores: Scores) => readonly string[] | RedisError,
  at: Setting,
): RedisReply {
  const sorted = held(SORTED, key, at);
  if (sorted === null) return WRONG_TYPE;
  const found = find(sorted.scores);
  if ('error' in found) return found;
  const left = new Map(sorted.scores);
  for (const member of found) left.delete(member);
  if (left.size < sorted.scores.size) put(key, left, at);
  return sorted.scores.size - left.size;
}

function rank(isReversed: boolean): Run {
  return reading((scores, [member = '']) => {
    if (!scores.has(member)) return NIL;
    const place = inOrder(scores).findIndex(([candidate]) => candidate === member);
    return isReversed ? scores.size - 1 - place : place;
  });
}

type IsIn = (scored: Scored) => boolean;

/** Reads the bound of a score range. `(` excludes the bound. An empty text means 0, as in Redis. */
function readScore(text: string): { score: number; isOpen: boolean } | null {
  const isOpen = text.startsWith('(');
  const score = readFloat(text.slice(isOpen ? 1 : 0).trimStart() || '0');
  return score === null ? null : { score, isOpen };
}

const NO_SCORES = errorOf('ERR min or max is not a float');

function scoresIn([min = '', max = '']: readonly string[]): IsIn | RedisError {
  const [low, high] = [readScore(min), readScore(max)];
  if (low === null || high === null) return NO_SCORES;
  return ([, score]) =>
    (low.isOpen ? score > low.score : score >= low.score) &&
    (high.isOpen ? score < high.score : score <= high.score);
}

const NO_TEXTS = errorOf('ERR min or max not valid string range item');

function textsIn([min = '', max = '']: readonly string[]): IsIn | RedisError {
  const [low, high] = [min, max].map((text) => /^(?:([[(])([\s\S]*)|([-+]))$/.exec(text));
  if (!low || !high) return NO_TEXTS;
  const isAbove = (member: string, [, sign, text = '', end]: RegExpExecArray): boolean =>
    end === undefined ? (sign === '(' ? member > text : member >= text) : end === '-';
  const isBelow = (member: string, [, sign, text = '', end]: RegExpExecArray): boolean =>
    end === undefined ? (sign === '(' ? member < text : member <= text) : end === '+';
  return ([member]) => isAbove(member, low) && isBelow(member, high);
}

type By = 'rank' | 'score' | 'text';

interface RangeOptions {
  readonly by: By;
  readonly isReversed: boolean;
  readonly withScores: boolean;
  readonly limit: { readonly offset: number; readonly count: number } | null;
}

interface Bounds {
  by: By;
  isReversed: boolean;
  withScores: boolean;
  limit: { readonly offset: number; readonly count: number } | null;
}

/** `fixed` contains the options that the command's name implies. */
function readRange(
  words: readonly string[],
  fixed: Partial<Pick<RangeOptions, 'by' | 'isReversed'>>,
): RangeOptions | RedisError {
  const { by = 'rank', isReversed = false } = fixed;
  const options: Bounds = { by, isReversed, withScores: false, limit: null };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]?.toUpperCase();
    if (word === 'WITHSCORES') options.withScores = true;
    else if (word === 'LIMIT' && at + 2 < words.length) {
      const [offset, count] = words.slice(at + 1, at + 3).map(readInteger);
      if (typeof offset !== 'bigint' || typeof count !== 'bigint') return NOT_AN_INTEGER;
      options.limit = { offset: Number(offset), count: Number(count) };
      at += 2;
    } else if (word === 'BYSCORE' && fixed.by === undefined) options.by = 'score';
    else if (word === 'BYLEX' && fixed.by === undefined) options.by = 'text';
    else if (word === 'REV' && fixed.isReversed === undefined) options.isReversed = true;
    else return SYNTAX_ERROR;
  }
  return wrongTogether(options) ?? options;
}

function wrongTogether({ by, limit, withScores }: RangeOptions): RedisError | null {
  // A LIMIT with a count of -1 is accepted and ignored.
  if (limit !== null && limit.count !== -1 && by === 'rank') {
    return errorOf(
      'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX',
    );
  }
  if (!withScores || by !== 'text') return null;
  return errorOf('ERR syntax error, WITHSCORES not supported in combination with BYLEX');
}

function finderOf(
  bounds: readonly string[],
  { by, isReversed, limit }: Omit<RangeOptions, 'withScores'>,
): ((scores: Scores) => readonly Scored[]) | RedisError {
  if (by === 'rank') {
    if (spanOf(bounds, 0) === null) return NOT_AN_INTEGER;
    return (scores) => {
      const span = spanOf(bounds, scores.size) ?? { from: 0, to: 0 };
      return directed(inOrder(scores), isReversed).slice(span.from, span.to);
    };
  }
  const ends = isReversed ? bounds.toReversed() : bounds;
  const isIn = by === 'score' ? scoresIn(ends) : textsIn(ends);
  if ('error' in isIn) return isIn;
  return (scores) => {
    const found = directed(inOrder(scores).filter(isIn), isReversed);
    if (limit === null) return found;
    const { offset, count } = limit;
    if (offset < 0) return [];
    return found.slice(offset, count < 0 ? undefined : offset + count);
  };
}

function directed(scored: readonly Scored[], isReversed: boolean): readonly Scored[] {
  return isReversed ? scored.toReversed() : scored;
}

function ranging(fixed: Partial<Pick<RangeOptions, 'by' | 'isReversed'>>): Run {
  return onKey((key, [min = '', max = '', ...words], at) => {
    const options = readRange(words, fixed);
    if ('error' in options) return options;
    const find = finderOf([min, max], options);
    if ('error' in find) return find;
    const sorted = held(SORTED, key, at);
    if (sorted === null) return WRONG_TYPE;
    return written(find(sorted.scores), options.withScores);
  });
}

function written(found: readonly Scored[], withScores: boolean): RedisReply {
  if (!withScores) return found.map(([member]) => member);
  return { pairs: found.flatMap(([member, score]) => [member, scoreReply(score)]) };
}

function counting(by: 'score' | 'text'): Run {
  return onKey((key, bounds, at) => {
    const find = finderOf(bounds, { by, isReversed: false, limit: null });
    if ('error' in find) return find;
    return reading((scores) => find(scores).length)([key], at);
  });
}

function removing(by: By): Run {
  return onKey((key, bounds, at) => {
    const find = finderOf(bounds, { by, isReversed: false, limit: null });
    if ('error' in find) return find;
    return removeWhere(key, (scores) => find(scores).map(([member]) => member), at);
  });
}

function popping(isReversed: boolean): Run {
  return onKey((key, rest, at) => {
    if (rest.length > 1) return SYNTAX_ERROR;
    const [text] = rest;
    const count = text === undefined ? 1n : readInteger(text);
    if (count === null || count < 0n) {
      return errorOf('ERR value is out of range, must be positive');
    }
    const sorted = held(SORTED, key, at);
    if (sorted === null) return WRONG_TYPE;
    const found = directed(inOrder(sorted.scores), isReversed).slice(0, Number(count));
    removeWhere(key, () => found.map(([member]) => member), at);
    if (text !== undefined) return written(found, true);
    return found.flatMap(([member, score]) => [member, scoreReply(score)]);
  });
}

function scoreOf(scores: Scores, member: string): RedisReply {
  const score = scores.get(member);
  return score === undefined ? NIL : scoreReply(score);
}

export const sortedSetRows: readonly Row[] = [
  ['zadd', -4, onKey(add)],
  ['zincrby', 4, ([key = '', by = '', member = ''], at) => add(key, ['INCR', by, member], at)],
  [
    'zrem',
    -3,
    onKey((key, members, at) =>
      removeWhere(key, (scores) => members.filter((member) => scores.has(member)), at),
    ),
  ],
  ['zcard', 2, reading((scores) => scores.size)],
  ['zscore', 3, reading((scores, [member = '']) => scoreOf(scores, member))],
  ['zmscore', -3, reading((scores, members) => members.map((member) => scoreOf(scores, member)))],
  ['zrank', 3, rank(false)],
  ['zrevrank', 3, rank(true)],
  ['zcount', 4, counting('score')],
  ['zlexcount', 4, counting('text')],
  ['zrange', -4, ranging({})],
  ['zrevrange', -4, ranging({ by: 'rank', isReversed: true })],
  ['zrangebyscore', -4, ranging({ by: 'score', isReversed: false })],
  ['zrevrangebyscore', -4, ranging({ by: 'score', isReversed: true })],
  ['zrangebylex', -4, ranging({ by: 'text', isReversed: false })],
  ['zrevrangebylex', -4, ranging({ by: 'text', isReversed: true })],
  ['zremrangebyrank', 4, removing('rank')],
  ['zremrangebyscore', 4, removing('score')],
  ['zremrangebylex', 4, removing('text')],
  ['zpopmin', -2, popping(false)],
  ['zpopmax', -2, popping(true)],
  [
    'zscan',
    -3,
    scanning(SORTED, ({ scores }, matches) =>
      inOrder(scores)
        .filter(([member]) => matches(member))
        .flatMap(([member, score]) => [member, scoreText(score)]),
    ),
  ],
];
