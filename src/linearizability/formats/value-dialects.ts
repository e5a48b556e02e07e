/** How logs speak of key-value maps and of counters. */
import type { Json } from '../../kernel/json.ts';
import type { Beginning } from '../models.ts';
import {
  answerOf,
  answerWord,
  type Dialect,
  isAnyPair,
  isPairOfPair,
  type NamedFields,
  subjectOf,
  words,
} from './dialect.ts';
import { isArray, textOf } from './edn-text.ts';
import type { RecordedOperation } from './record.ts';

export const valueDialects: readonly Dialect[] = [
  {
    model: 'kv',
    about: 'a map from keys to texts: get, put, append, cas, delete',
    words: words({
      get: ['read'],
      put: ['write', 'set'],
      append: [],
      cas: ['compare-and-set', 'compare-and-swap'],
      delete: ['remove'],
    }),
    begin: (initial) => ({ text: initial === undefined ? '' : plainText(initial) }),
    callOf: keyValueOf,
  },
  {
    model: 'counter',
    about: 'an increment adds, a read returns the sum',
    words: words({ increment: ['add', 'inc', 'incr'], decrement: ['dec', 'decr'], read: ['get'] }),
    begin: beginCounter,
    callOf: counterOf,
  },
];

/** Strings stay as they are, because appends join them; null says that there is none. */
function plainText(value: Json): string | null {
  return value === null || typeof value === 'string' ? value : textOf(value);
}

function keyValueOf(name: string, operation: RecordedOperation): NamedFields | string {
  const { key, asked, answered } = subjectOf(operation, name === 'cas' ? isPairOfPair : isAnyPair);
  switch (name) {
    case 'get': {
      const value = operation.outcome === 'ok' ? answered : null;
      return value === undefined
        ? 'expected a value: what was read'
        : { name, key, value: plainText(value) };
    }
    case 'delete':
      return { name, key };
    case 'cas':
      return casOf(key, asked, operation);
    default:
      return asked === undefined || asked === null
        ? 'expected a value: what is written'
        : { name, key, value: plainText(asked) };
  }
}

function casOf(
  key: string,
  asked: Json | undefined,
  operation: RecordedOperation,
): NamedFields | string {
  const { from, to } = { from: operation.asked['from'], to: operation.asked['to'] };
  const [expected, value] = isArray(asked) && asked.length === 2 ? asked : [from, to];
  if (expected === undefined || value === undefined || value === null) {
    return 'expected a value of two: [expected new]';
  }
  const isMissed = ['missed', 'denied', 'refused'].includes(answerWord(operation));
  const answer = answerOf(operation, isMissed ? 'missed' : 'matched');
  return { name: 'cas', key, expected: plainText(expected), value: plainText(value), answer };
}

function beginCounter(initial: Json | undefined): Beginning | string {
  const value = initial ?? 0;
  return typeof value === 'number' ? { value } : 'expected a number';
}

function counterOf(name: string, operation: RecordedOperation): NamedFields | string {
  const { key, asked, answered } = subjectOf(operation, isAnyPair);
  if (name === 'read') {
    if (operation.outcome !== 'ok') return { name, key, value: 'unknown' };
    return typeof answered === 'number'
      ? { name, key, value: answered }
      : 'expected a value: the number that was read';
  }
  const by = asked ?? 1;
  if (typeof by !== 'number') return 'expected a value: the number that is added';
  return { name: 'increment', key, by: name === 'decrement' ? -by : by };
}
