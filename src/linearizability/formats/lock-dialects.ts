/** How logs speak of locks, semaphores and leases: acquire and release, and the like. */
import type { Json } from '../../kernel/json.ts';
import type { Beginning } from '../models.ts';
import {
  answerOf,
  answerWord,
  type Dialect,
  isAnyPair,
  type NamedFields,
  subjectOf,
  words,
} from './dialect.ts';
import type { RecordedOperation } from './record.ts';

const ACQUIRE = ['lock', 'tryLock', 'try-lock', 'tryAcquire', 'try-acquire'];
const RELEASE = ['unlock'];

const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['acquire', 'granted'],
  ['renew', 'renewed'],
  ['release', 'released'],
]);

export const lockDialects: readonly Dialect[] = [
  mutexDialect('mutex', 'granted when free, released by its owner'),
  mutexDialect('anonymous-mutex', 'granted when free, released by anybody'),
  mutexDialect('reentrant-mutex', 'its owner may take it again'),
  {
    ...mutexDialect('fenced-mutex', 'a mutex whose grants have rising tokens'),
    callOf: fencedOf,
  },
  {
    ...mutexDialect('reentrant-fenced-mutex', 'the same, reentrant'),
    callOf: fencedOf,
  },
  {
    model: 'semaphore',
    about: 'so many permits; --init says how many',
    words: words({ acquire: ACQUIRE, release: RELEASE }),
    begin: beginSemaphore,
    callOf: permitsOf,
  },
  {
    model: 'lease',
    about: 'a lock that may expire at any time, unseen',
    words: words({ acquire: ACQUIRE, renew: ['extend'], release: RELEASE, expire: [] }),
    begin: beginFree,
    callOf: leaseOf,
  },
];

function mutexDialect(model: string, about: string): Dialect {
  return {
    model,
    about,
    words: words({ acquire: ACQUIRE, release: RELEASE }),
    begin: beginFree,
    callOf: lockCallOf,
  };
}

function beginFree(initial: Json | undefined): Beginning | string {
  return initial === undefined ? {} : 'it always begins free';
}

function beginSemaphore(initial: Json | undefined): Beginning | string {
  const permits = initial ?? 1;
  const isCount = typeof permits === 'number' && Number.isSafeInteger(permits) && permits > 0;
  return isCount ? { permits } : 'expected a whole number of permits';
}

function lockCallOf(name: string, operation: RecordedOperation): NamedFields {
  return {
    name,
    lock: lockOf(operation),
    owner: ownerOf(operation),
    answer: heard(name, operation),
  };
}

function fencedOf(name: string, operation: RecordedOperation): NamedFields | string {
  const call = { ...lockCallOf(name, operation), name };
  if (name !== 'acquire') return call;
  const { answered } = operation;
  const token = answered['token'] ?? answered['fence'] ?? answered['value'] ?? null;
  const isGranted = heard(name, operation) === 'granted' && operation.outcome === 'ok';
  if (!isGranted) return { ...call, token: null };
  return typeof token === 'number' && Number.isSafeInteger(token)
    ? { ...call, token }
    : 'expected a token, a whole number';
}

function permitsOf(name: string, operation: RecordedOperation): NamedFields | string {
  const { key, asked } = subjectOf(operation, isAnyPair, ['semaphore', 'resource']);
  const permits = operation.asked['permits'] ?? asked ?? 1;
  if (typeof permits !== 'number' || !Number.isSafeInteger(permits) || permits < 1) {
    return 'expected permits, a whole number';
  }
  return { name, semaphore: key, permits, answer: heard(name, operation) };
}

function leaseOf(name: string, operation: RecordedOperation): NamedFields {
  const { key } = subjectOf(operation, isAnyPair, ['lease', 'lock', 'resource']);
  if (name === 'expire') return { name, lease: key };
  return { name, lease: key, owner: ownerOf(operation), answer: heard(name, operation) };
}

function lockOf(operation: RecordedOperation): string {
  return subjectOf(operation, isAnyPair, ['lock', 'resource']).key;
}

function ownerOf({ asked, process }: RecordedOperation): string {
  const owner = asked['owner'];
  return typeof owner === 'string' ? owner : process;
}

function heard(name: string, operation: RecordedOperation): string {
  const isDenied = ['denied', 'refused', 'busy'].includes(answerWord(operation));
  return answerOf(operation, isDenied ? 'denied' : (ANSWERS.get(name) ?? ''));
}
