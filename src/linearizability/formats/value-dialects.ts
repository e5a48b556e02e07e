/** How logs speak of key-value maps and of counters. */
import type { Json } from '../../core/kernel/json.ts';
import type { Beginning } from '../models.ts';
import type { Answers } from './answers.ts';
import { ANY_KEY, answerOf, type Dialect, type NamedFields, words } from './dialect.ts';
import { isArray, textOf } from './edn-text.ts';
import type { RecordedOperation } from './record.ts';
import type { Said } from './said.ts';

/** What a cas may answer, of whatever object. */
export const CAS_ANSWERS: Answers = {
  yes: ['matched', 'swapped'],
  no: ['missed', 'denied', 'refused', 'mismatch', 'mismatched'],
  mayBeValue: true,
};

export const valueDialects: readonly Dialect[] = [
  {
    model: 'kv',
    words: words({
      get: ['read'],
      put: ['write', 'set'],
      append: [],
      cas: ['compare-and-set', 'compare-and-swap'],
      delete: ['remove'],
    }),
    keys: ANY_KEY,
    answers: new Map([['cas', CAS_ANSWERS]]),
    begin: (initial) => ({ text: initial === undefined ? '' : plainText(initial) }),
    callOf: keyValueOf,
  },
  {
    model: 'counter',
    words: words({ increment: ['add', 'inc', 'incr'], decrement: ['dec', 'decr'], read: ['get'] }),
    keys: ANY_KEY,
    answers: new Map(),
    begin: beginCounter,
    callOf: counterOf,
  },
];

/** Strings stay as they are, because appends join them; null says that there is none. */
function plainText(value: Json): string | null {
  return value === null || typeof value === 'string' ? value : textOf(value);
}

function keyValueOf(name: string, operation: RecordedOperation, said: Said): NamedFields | string {
  const { key, asked, answered } = said;
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
      return casOf(operation, said);
    default:
      return asked === undefined || asked === null
        ? 'expected a value: what is written'
        : { name, key, value: plainText(asked) };
  }
}

function casOf(operation: RecordedOperation, { key, asked, isNo }: Said): NamedFields | string {
  const { from, to } = { from: operation.asked['from'], to: operation.asked['to'] };
  const [expected, value] = isArray(asked) && asked.length === 2 ? asked : [from, to];
  if (expected === undefined || value === undefined || value === null) {
    return 'expected a value of two: [expected new]';
  }
  const answer = answerOf(operation, isNo ? 'missed' : 'matched');
  return { name: 'cas', key, expected: plainText(expected), value: plainText(value), answer };
}

function beginCounter(initial: Json | undefined): Beginning | string {
  const value = initial ?? 0;
  return typeof value === 'number' ? { value } : 'expected a number';
}

function counterOf(
  name: string,
  operation: RecordedOperation,
  { key, asked, answered }: Said,
): NamedFields | string {
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
