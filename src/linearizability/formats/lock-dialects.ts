/** How logs speak of locks, semaphores and leases: acquire and release, and the like. */
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
  words,
} from './dialect.ts';
import type { RecordedOperation } from './record.ts';

const ACQUIRE = ['lock', 'tryLock', 'try-lock', 'tryAcquire', 'try-acquire'];
const RELEASE = ['unlock'];

const NO = ['denied', 'refused', 'rejected', 'busy'];

/** The first yes is the model's word for it. */
const ANSWERS: ReadonlyMap<string, Answers> = new Map([
  ['acquire', { yes: ['granted', 'acquired', 'locked'], no: NO, mayBeValue: true }],
  ['renew', { yes: ['renewed', 'extended'], no: NO, mayBeValue: true }],
  ['release', { yes: ['released', 'unlocked'], no: NO, mayBeValue: true }],
]);

/** A semaphore's value is a number of permits. */
const SEMAPHORE = {
  model: 'semaphore',
  words: words({ acquire: ACQUIRE, release: RELEASE }),
  keys: ANY_KEY,
  answers: ANSWERS,
  begin: beginSemaphore,
  callOf: permitsOf,
};

const LEASE = {
  model: 'lease',
  words: words({ acquire: ACQUIRE, renew: ['extend'], release: RELEASE, expire: [] }),
  keys: ANY_KEY,
  answers: ANSWERS,
  isNamedByValue: true,
  begin: beginFree,
  callOf: leaseOf,
};

export const lockDialects: readonly Dialect[] = [
  mutexDialect('mutex', lockCallOf),
  mutexDialect('anonymous-mutex', lockCallOf),
  mutexDialect('reentrant-mutex', lockCallOf),
  mutexDialect('fenced-mutex', fencedOf),
  mutexDialect('reentrant-fenced-mutex', fencedOf),
  SEMAPHORE,
  LEASE,
];

function mutexDialect(model: string, callOf: Dialect['callOf']): Dialect {
  return {
    model,
    words: words({ acquire: ACQUIRE, release: RELEASE }),
    keys: ANY_KEY,
    answers: ANSWERS,
    isNamedByValue: true,
    begin: beginFree,
    callOf,
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

function lockCallOf(name: string, operation: RecordedOperation, said: Said): NamedFields {
  const owner = ownerOf(operation);
  return { name, lock: said.key, owner, answer: heard(name, operation, said) };
}

function fencedOf(name: string, operation: RecordedOperation, said: Said): NamedFields | string {
  const call = { ...lockCallOf(name, operation, said), name };
  if (name !== 'acquire') return call;
  const { answered } = operation;
  const token = answered['token'] ?? answered['fence'] ?? said.answered ?? null;
  if (said.isNo || operation.outcome !== 'ok') return { ...call, token: null };
  return typeof token === 'number' && Number.isSafeInteger(token)
    ? { ...call, token }
    : 'expected a token, a whole number below 2^53';
}

function permitsOf(name: string, operation: RecordedOperation, said: Said): NamedFields | string {
  const permits = operation.asked['permits'] ?? said.asked ?? 1;
  if (typeof permits !== 'number' || !Number.isSafeInteger(permits) || permits < 1) {
    return 'expected permits, a whole number';
  }
  return { name, semaphore: said.key, permits, answer: heard(name, operation, said) };
}

function leaseOf(name: string, operation: RecordedOperation, said: Said): NamedFields {
  if (name === 'expire') return { name, lease: said.key };
  const answer = heard(name, operation, said);
  return { name, lease: said.key, owner: ownerOf(operation), answer };
}

function ownerOf({ asked, process }: RecordedOperation): string {
  const owner = asked['owner'] ?? null;
  return owner === null ? process : keyText(owner);
}

function heard(name: string, operation: RecordedOperation, { isNo }: Said): string {
  return knownAnswer(operation, isNo ? 'denied' : (ANSWERS.get(name)?.yes[0] ?? ''));
}
