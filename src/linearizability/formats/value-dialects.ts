/**
 * How logs speak of what holds values: registers (read, write, cas; with versions; behind a fence),
 * key-value maps and counters.
 */
import type { Json } from '../../core/kernel/json.ts';
import type { Beginning } from '../models.ts';
import {
  ANY_KEY,
  type Answers,
  type Dialect,
  keyText,
  knownAnswer,
  type NamedFields,
  type Said,
  scalarOf,
  words,
} from './dialect.ts';
import { ednText, isArray } from './edn.ts';
import type { Fields } from './record.ts';

const READ = ['get', 'r'];
const WRITE = ['put', 'set', 'w'];
const CAS = ['compare-and-set', 'compare-and-swap', 'compareAndSet'];

/** What a cas may answer, of whatever object. */
const CAS_ANSWERS: Answers = {
  yes: ['matched', 'swapped'],
  no: ['missed', 'denied', 'refused', 'mismatch', 'mismatched'],
  mayBeValue: true,
};

const FENCE: Answers = { yes: ['accepted'], no: ['refused', 'denied', 'rejected'] };

const anyRegister = { words: words({ read: READ, write: WRITE }), keys: ANY_KEY, begin: beginWith };

/** Its keys lie in a resource, and the resource has the fence. */
const anyFenced = {
  ...anyRegister,
  words: words({ read: READ, write: WRITE, open: [] }),
  keys: ['key'],
  answers: new Map(['read', 'write', 'open'].map((name) => [name, FENCE])),
  callOf: fencedOf,
};

export const valueDialects: readonly Dialect[] = [
  { ...anyRegister, model: 'register', callOf: readOrWrite },
  {
    ...anyRegister,
    model: 'cas-register',
    words: words({ read: READ, write: WRITE, cas: CAS }),
    answers: new Map([['cas', CAS_ANSWERS]]),
    callOf: readWriteOrCas,
  },
  {
    ...anyRegister,
    model: 'versioned-register',
    answers: new Map([['write', FENCE]]),
    callOf: versionedOf,
  },
  { ...anyFenced, model: 'fenced-register' },
  { ...anyFenced, model: 'fenced-register-strict' },
  { ...anyFenced, model: 'fenced-register-with-reads' },
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
    begin: beginCounter,
    callOf: counterOf,
  },
];

function beginWith(initial: Json | undefined): Beginning {
  return { value: scalarOf(initial ?? null) };
}

function readOrWrite({ name, operation, key, asked, answered }: Said): NamedFields | string {
  if (name === 'read') {
    const value = operation.outcome === 'ok' ? answered : null;
    if (value === undefined) return 'expected a value: what was read';
    return { name, key, value: scalarOf(value) };
  }
  if (asked === undefined) return 'expected a value: what is written';
  return { name, key, value: scalarOf(asked) };
}

function readWriteOrCas(said: Said): NamedFields | string {
  const { name, operation, key, asked, isNo } = said;
  if (name !== 'cas') return readOrWrite(said);
  const pair = isArray(asked) ? asked : namedPair(operation.asked);
  const [expected, value] = pair;
  if (pair.length !== 2 || expected === undefined || value === undefined) {
    return 'expected a value of two: [expected new]';
  }
  const answer = knownAnswer(said, isNo ? 'missed' : 'matched');
  return { name, key, expected: scalarOf(expected), value: scalarOf(value), answer };
}

/** The same as fields: `from` and `to`, `expected` and `new`, `arg1` and `arg2`. */
function namedPair(fields: Fields): readonly (Json | undefined)[] {
  return [
    fields['from'] ?? fields['expected'] ?? fields['arg1'],
    fields['to'] ?? fields['new'] ?? fields['arg2'] ?? fields['value'],
  ];
}

function versionedOf(said: Said): NamedFields | string {
  const { name, operation } = said;
  const plain = readOrWrite(said);
  if (typeof plain === 'string') return plain;
  const version = operation.answered['version'];
  const isTold = Number.isSafeInteger(version);
  if (operation.outcome === 'ok' && !isTold && !said.isNo) {
    return 'expected a version, a whole number below 2^53';
  }
  const call = { ...plain, version: typeof version === 'number' ? version : null };
  const expected = operation.asked['expected'] ?? null;
  if (name === 'read' || (expected === null && !said.isNo)) return call;
  if (typeof expected !== 'number' || !Number.isSafeInteger(expected)) {
    return 'expected a version in "expected", a whole number below 2^53';
  }
  return { ...call, expected, ...(said.isNo ? { answer: 'refused' } : {}) };
}

function fencedOf(said: Said): NamedFields | string {
  const { name, operation } = said;
  const { asked, answered } = operation;
  const token = asked['token'] ?? answered['token'];
  if (typeof token !== 'number' || !Number.isSafeInteger(token)) {
    return 'expected a token, a whole number below 2^53';
  }
  const resource = keyText(asked['resource'] ?? '');
  const answer = knownAnswer(said, said.isNo ? 'refused' : 'accepted');
  if (name === 'open') return { name, resource, token, answer };
  // A refused read has no value, and needs none.
  const plain = readOrWrite(said.isNo ? { ...said, answered: null } : said);
  if (typeof plain === 'string') return plain;
  if (name === 'write') return { ...plain, resource, token, answer };
  if (operation.outcome === 'info') return { ...plain, resource, token, value: 'unknown' };
  return said.isNo
    ? { ...plain, resource, token, value: 'refused' }
    : { ...plain, resource, token };
}

/** Strings stay as they are, because appends join them; null says that there is none. */
function plainText(value: Json): string | null {
  return value === null || typeof value === 'string' ? value : ednText(value);
}

function keyValueOf(said: Said): NamedFields | string {
  const { name, operation, key, asked, answered } = said;
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
      return casOf(said);
    default:
      return asked === undefined || asked === null
        ? 'expected a value: what is written'
        : { name, key, value: plainText(asked) };
  }
}

function casOf(said: Said): NamedFields | string {
  const { key, asked, isNo } = said;
  const { from, to } = said.operation.asked;
  const [expected, value] = isArray(asked) && asked.length === 2 ? asked : [from, to];
  if (expected === undefined || value === undefined || value === null) {
    return 'expected a value of two: [expected new]';
  }
  const answer = knownAnswer(said, isNo ? 'missed' : 'matched');
  return { name: 'cas', key, expected: plainText(expected), value: plainText(value), answer };
}

function beginCounter(initial: Json | undefined): Beginning | string {
  const value = initial ?? 0;
  return typeof value === 'number' ? { value } : 'expected a number';
}

function counterOf({ name, operation, key, asked, answered }: Said): NamedFields | string {
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
