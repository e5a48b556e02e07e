/** Repertoires of the models of locks, leases and maps. */

import {
  type FencedHold,
  type FencedMutexCall,
  fencedMutex,
  reentrantFencedMutex,
} from '../../src/linearizability/models/fenced-mutex.ts';
import {
  type KeyValueCall,
  keyValue,
  type Text,
} from '../../src/linearizability/models/key-value.ts';
import { type LeaseCall, lease } from '../../src/linearizability/models/lease.ts';
import {
  anonymousMutex,
  type Hold,
  type MutexCall,
  reentrantMutex,
} from '../../src/linearizability/models/mutex.ts';
import { type SemaphoreCall, semaphore } from '../../src/linearizability/models/semaphore.ts';
import {
  type Versioned,
  type VersionedCall,
  versionedRegister,
} from '../../src/linearizability/models/versioned-register.ts';
import type { Repertoire } from './random-history.ts';
import { mutexes } from './repertoires.ts';

const key = 'x';
const owners = ['alice', 'bob', 'carol'];

export const anonymousMutexes: Repertoire<boolean, MutexCall> = {
  ...mutexes,
  model: anonymousMutex(),
};

export const reentrantMutexes: Repertoire<Hold, MutexCall> = {
  ...mutexes,
  model: reentrantMutex({ maxDepth: 2 }),
};

function fencedCalls(tokens: readonly (number | null)[]): readonly FencedMutexCall[] {
  return owners.flatMap((owner): FencedMutexCall[] => [
    ...tokens.map((token): FencedMutexCall => {
      return { name: 'acquire', lock: 'l', owner, answer: 'granted', token };
    }),
    { name: 'acquire', lock: 'l', owner, answer: 'denied', token: null },
    { name: 'release', lock: 'l', owner, answer: 'released' },
    { name: 'release', lock: 'l', owner, answer: 'denied' },
  ]);
}

function forgetFenced(call: FencedMutexCall): FencedMutexCall {
  return call.name === 'acquire'
    ? { ...call, answer: 'unknown', token: null }
    : { ...call, answer: 'unknown' };
}

export const fencedMutexes: Repertoire<FencedHold, FencedMutexCall> = {
  model: fencedMutex(),
  calls: fencedCalls([0, 1, 2, 3, null]),
  forget: forgetFenced,
};

export const reentrantFencedMutexes: Repertoire<FencedHold, FencedMutexCall> = {
  ...fencedMutexes,
  model: reentrantFencedMutex({ maxDepth: 2 }),
};

export const semaphores: Repertoire<number, SemaphoreCall> = {
  model: semaphore(3),
  calls: [1, 2].flatMap((permits): SemaphoreCall[] => [
    { name: 'acquire', semaphore: 's', permits, answer: 'granted' },
    { name: 'acquire', semaphore: 's', permits, answer: 'denied' },
    { name: 'release', semaphore: 's', permits, answer: 'released' },
    { name: 'release', semaphore: 's', permits, answer: 'denied' },
  ]),
  forget: (call) => ({ ...call, answer: 'unknown' }),
};

export const leases: Repertoire<string | null, LeaseCall> = {
  model: lease(),
  calls: owners.flatMap((owner): LeaseCall[] => [
    { name: 'acquire', lease: 'l', owner, answer: 'granted' },
    { name: 'acquire', lease: 'l', owner, answer: 'denied' },
    { name: 'renew', lease: 'l', owner, answer: 'renewed' },
    { name: 'renew', lease: 'l', owner, answer: 'denied' },
    { name: 'release', lease: 'l', owner, answer: 'released' },
    { name: 'expire', lease: 'l' },
  ]),
  forget: (call) => (call.name === 'expire' ? call : { ...call, answer: 'unknown' }),
};

const texts: readonly Text[] = ['', 'a', 'b', 'ab', 'ba', 'aa', 'abb'];

export const keyValues: Repertoire<Text, KeyValueCall> = {
  model: keyValue(''),
  calls: [
    ...texts.map((value): KeyValueCall => ({ name: 'get', key, value })),
    ...['a', 'b'].flatMap((value): KeyValueCall[] => [
      { name: 'put', key, value },
      { name: 'append', key, value },
      { name: 'append', key, value },
      { name: 'cas', key, expected: value, value: 'ab', answer: 'matched' },
      { name: 'cas', key, expected: 'ab', value, answer: 'missed' },
    ]),
    { name: 'delete', key },
  ],
  forget: (call) => (call.name === 'cas' ? { ...call, answer: 'unknown' } : call),
};

export const versionedRegisters: Repertoire<Versioned, VersionedCall> = {
  model: versionedRegister(),
  calls: [1, 2].flatMap((value) =>
    [1, 2, 3, 4].flatMap((version): VersionedCall[] => [
      { name: 'write', key, value, version },
      { name: 'write', key, value, version, expected: version - 1 },
      { name: 'write', key, value, version, expected: 1 },
      { name: 'write', key, value, version, expected: 2, answer: 'refused' },
      { name: 'read', key, value, version },
    ]),
  ),
  forget: forgetVersion,
};

function forgetVersion(call: VersionedCall): VersionedCall {
  if (call.name === 'read') return call;
  const { answer: _, ...asked } = call;
  return { ...asked, version: null };
}
