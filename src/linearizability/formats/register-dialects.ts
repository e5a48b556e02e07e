/** How logs speak of registers: read, write, cas; with versions; and behind a fence. */
import type { Json } from '../../kernel/json.ts';
import type { Beginning } from '../models.ts';
import {
  answerOf,
  answerWord,
  type Dialect,
  isAnyPair,
  isPairOfPair,
  type NamedFields,
  scalarOf,
  subjectOf,
  words,
} from './dialect.ts';
import { isArray } from './edn-text.ts';
import type { Fields, RecordedOperation } from './record.ts';

const READ = ['get', 'r'];
const WRITE = ['put', 'set', 'w'];
const CAS = ['compare-and-set', 'compare-and-swap', 'compareAndSet'];

export const registerDialects: readonly Dialect[] = [
  {
    model: 'register',
    about: 'a read returns what the last write wrote',
    words: words({ read: READ, write: WRITE }),
    begin: beginWith,
    callOf: readOrWrite,
  },
  {
    model: 'cas-register',
    about: 'a register that also compares and sets',
    words: words({ read: READ, write: WRITE, cas: CAS }),
    begin: beginWith,
    callOf: (name, operation) => (name === 'cas' ? casOf(operation) : readOrWrite(name, operation)),
  },
  {
    model: 'versioned-register',
    about: 'a register that counts its writes',
    words: words({ read: READ, write: WRITE }),
    begin: beginWith,
    callOf: versionedOf,
  },
  {
    model: 'fenced-register',
    about: 'accepts a write iff its token is at least the highest',
    words: words({ read: READ, write: WRITE, open: [] }),
    begin: beginWith,
    callOf: fencedOf,
  },
  {
    model: 'strict-fenced-register',
    about: 'accepts a write iff its token is above the highest',
    words: words({ read: READ, write: WRITE, open: [] }),
    begin: beginWith,
    callOf: fencedOf,
  },
  {
    model: 'fenced-register-with-reads',
    about: 'a fenced register whose reads register their token too',
    words: words({ read: READ, write: WRITE, open: [] }),
    begin: beginWith,
    callOf: fencedOf,
  },
];

function beginWith(initial: Json | undefined): Beginning {
  return { value: scalarOf(initial ?? null) };
}

function readOrWrite(name: string, operation: RecordedOperation): NamedFields | string {
  const { key, asked, answered } = subjectOf(operation, isAnyPair);
  if (name === 'read') {
    const value = operation.outcome === 'ok' ? answered : null;
    if (value === undefined) return 'expected a value: what was read';
    return { name, key, value: scalarOf(value) };
  }
  if (asked === undefined) return 'expected a value: what is written';
  return { name, key, value: scalarOf(asked) };
}

function casOf(operation: RecordedOperation): NamedFields | string {
  const { key, asked } = subjectOf(operation, isPairOfPair);
  const pair = isArray(asked) ? asked : namedPair(operation.asked);
  const [expected, value] = pair;
  if (pair.length !== 2 || expected === undefined || value === undefined) {
    return 'expected a value of two: [expected new]';
  }
  const isMissed = ['missed', 'denied', 'refused'].includes(answerWord(operation));
  const answer = answerOf(operation, isMissed ? 'missed' : 'matched');
  return { name: 'cas', key, expected: scalarOf(expected), value: scalarOf(value), answer };
}

/** The same as fields: `from` and `to`, `expected` and `new`, `arg1` and `arg2`. */
function namedPair(fields: Fields): readonly (Json | undefined)[] {
  return [
    fields['from'] ?? fields['expected'] ?? fields['arg1'],
    fields['to'] ?? fields['new'] ?? fields['arg2'] ?? fields['value'],
  ];
}

function versionedOf(name: string, operation: RecordedOperation): NamedFields | string {
  const plain = readOrWrite(name, operation);
  if (typeof plain === 'string') return plain;
  const version = operation.answered['version'];
  if (operation.outcome === 'ok' && !Number.isSafeInteger(version)) {
    return 'expected a version, a whole number';
  }
  return { ...plain, version: typeof version === 'number' ? version : null };
}

function fencedOf(name: string, operation: RecordedOperation): NamedFields | string {
  const { asked, answered } = operation;
  const token = asked['token'] ?? answered['token'];
  if (typeof token !== 'number' || !Number.isSafeInteger(token)) {
    return 'expected a token, a whole number';
  }
  const resource = typeof asked['resource'] === 'string' ? asked['resource'] : '';
  const isRefused = ['refused', 'denied', 'rejected'].includes(answerWord(operation));
  const answer = answerOf(operation, isRefused ? 'refused' : 'accepted');
  if (name === 'open') return { name, resource, token, answer };
  const plain = readOrWrite(name, isRefused ? withoutValue(operation) : operation);
  if (typeof plain === 'string') return plain;
  if (name === 'write') return { ...plain, resource, token, answer };
  if (operation.outcome === 'info') return { ...plain, resource, token, value: 'unknown' };
  return isRefused
    ? { ...plain, resource, token, value: 'refused' }
    : { ...plain, resource, token };
}

/** A refused read has no value, and needs none. */
function withoutValue(operation: RecordedOperation): RecordedOperation {
  return { ...operation, answered: { ...operation.answered, value: null } };
}
