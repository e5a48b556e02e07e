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

const anyLock = {
  words: words({ acquire: ACQUIRE, release: RELEASE }),
  keys: ANY_KEY,
  answers: ANSWERS,
  isNamedByValue: true,
  begin: beginFree,
};

export const lockDialects: readonly Dialect[] = [
  { ...anyLock, model: 'mutex', callOf: lockCallOf },
  { ...anyLock, model: 'anonymous-mutex', callOf: lockCallOf },
  { ...anyLock, model: 'reentrant-mutex', callOf: lockCallOf },
  { ...anyLock, model: 'fenced-mutex', callOf: fencedOf },
  { ...anyLock, model: 'reentrant-fenced-mutex', callOf: fencedOf },
  {
    ...anyLock,
    model: 'semaphore',
    // Its value is a number of permits.
    isNamedByValue: false,
    begin: beginSemaphore,
    callOf: permitsOf,
  },
  {
    ...anyLock,
    model: 'lease',
    words: words({ acquire: ACQUIRE, renew: ['extend'], release: RELEASE, expire: [] }),
    callOf: leaseOf,
  },
];

function beginFree(initial: Json | undefined): Beginning | string {
  return initial === undefined ? {} : 'it always begins free';
}

function beginSemaphore(initial: Json | undefined): Beginning | string {
  const permits = initial ?? 1;
  const isCount = typeof permits === 'number' && Number.isSafeInteger(permits) && permits > 0;
  return isCount ? { permits } : 'expected a whole number of permits';
}

function lockCallOf(said: Said): NamedFields {
  return { name: said.name, lock: said.key, owner: ownerOf(said.operation), answer: heard(said) };
}

function fencedOf(said: Said): NamedFields | string {
  const call = lockCallOf(said);
  if (said.name !== 'acquire') return call;
  const { answered, outcome } = said.operation;
  const token = answered['token'] ?? answered['fence'] ?? said.answered ?? null;
  if (said.isNo || outcome !== 'ok') return { ...call, token: null };
  return typeof token === 'number' && Number.isSafeInteger(token)
    ? { ...call, token }
    : 'expected a token, a whole number below 2^53';
}

function permitsOf(said: Said): NamedFields | string {
  const permits = said.operation.asked['permits'] ?? said.asked ?? 1;
  if (typeof permits !== 'number' || !Number.isSafeInteger(permits) || permits < 1) {
    return 'expected permits, a whole number';
  }
  return { name: said.name, semaphore: said.key, permits, answer: heard(said) };
}

function leaseOf(said: Said): NamedFields {
  const { name, key: lease, operation } = said;
  if (name === 'expire') return { name, lease };
  return { name, lease, owner: ownerOf(operation), answer: heard(said) };
}

function ownerOf({ asked, process }: RecordedOperation): string {
  const owner = asked['owner'] ?? null;
  return owner === null ? process : keyText(owner);
}

function heard(said: Said): string {
  return knownAnswer(said, said.isNo ? 'denied' : (ANSWERS.get(said.name)?.yes[0] ?? ''));
}
