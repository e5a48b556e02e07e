/** Lists for each model the calls of its random histories: few, so that they collide. */
import type { Model } from '../../src/linearizability/model.ts';
import { type CounterCall, counter } from '../../src/linearizability/models/counter.ts';
import {
  type FencedHold,
  type FencedMutexCall,
  fencedMutex,
  reentrantFencedMutex,
} from '../../src/linearizability/models/fenced-mutex.ts';
import {
  type FencedCall,
  type FencedState,
  fencedRegister,
  fencedRegisterWithReads,
} from '../../src/linearizability/models/fenced-register.ts';
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
  mutex,
  reentrantMutex,
} from '../../src/linearizability/models/mutex.ts';
import {
  type CasRegisterCall,
  casRegister,
  type RegisterCall,
  register,
  type Value,
} from '../../src/linearizability/models/register.ts';
import { type SemaphoreCall, semaphore } from '../../src/linearizability/models/semaphore.ts';
import {
  type Versioned,
  type VersionedCall,
  versionedRegister,
} from '../../src/linearizability/models/versioned-register.ts';
import type { Repertoire } from './random-history.ts';

const key = 'x';
const resource = 'db';
const values = [1, 2, 3];
const readable: readonly Value[] = [null, ...values];

const registerCalls: readonly RegisterCall[] = [
  ...readable.map((value): RegisterCall => ({ name: 'read', key, value })),
  ...values.map((value): RegisterCall => ({ name: 'write', key, value })),
];

function forgetRead(call: RegisterCall): RegisterCall {
  return call.name === 'read' ? { ...call, value: 'unknown' } : call;
}

export const registers: Repertoire<Value, RegisterCall> = {
  model: register(),
  calls: registerCalls,
  forget: forgetRead,
};

export const casRegisters: Repertoire<Value, CasRegisterCall> = {
  model: casRegister(),
  calls: [
    ...registerCalls,
    ...values.flatMap((expected) =>
      values.flatMap((value): CasRegisterCall[] => [
        { name: 'cas', key, expected, value, answer: 'matched' },
        { name: 'cas', key, expected, value, answer: 'missed' },
        { name: 'cas', key, expected, value, answer: 'unknown' },
      ]),
    ),
  ],
  forget: (call) => (call.name === 'cas' ? { ...call, answer: 'unknown' } : forgetRead(call)),
};

/**
 * A call that is legal in every state but changes only one: it replaces `expected` by `value`, and
 * its answer does not show whether it did.
 */
type SwapCall =
  | RegisterCall
  | {
      readonly name: 'swap';
      readonly key: string;
      readonly expected: Value;
      readonly value: Value;
    };

const plain = register();

const swapRegister: Model<Value, SwapCall> = {
  name: 'swap-register',
  init: null,
  step(state, call): readonly Value[] {
    if (call.name !== 'swap') return plain.step(state, call);
    return [state === call.expected ? call.value : state];
  },
  isPure: (call) => call.name === 'read',
  awaits: (call) => (call.name === 'swap' ? call.expected : plain.awaits?.(call)),
  provides: (call) => (call.name === 'swap' ? call.value : plain.provides?.(call)),
};

/** Mostly reads, since only reads can be wrong. */
export const swapRegisters: Repertoire<Value, SwapCall> = {
  model: swapRegister,
  calls: [
    ...registerCalls,
    ...registerCalls.filter(({ name }) => name === 'read'),
    ...[null, 1, 2].map((expected): SwapCall => {
      return { name: 'swap', key, expected, value: (expected ?? 0) + 1 };
    }),
  ],
  forget: (call) => (call.name === 'swap' ? call : forgetRead(call)),
};

export const counters: Repertoire<number, CounterCall> = {
  model: counter(),
  calls: [
    ...[1, 2, -1].map((by): CounterCall => ({ name: 'increment', key, by })),
    ...[0, 1, 2, 3].map((value): CounterCall => ({ name: 'read', key, value })),
  ],
  forget: (call) => (call.name === 'read' ? { ...call, value: 'unknown' } : call),
};

export const mutexes: Repertoire<string | null, MutexCall> = {
  model: mutex(),
  calls: ['alice', 'bob', 'carol'].flatMap((owner): MutexCall[] => [
    { name: 'acquire', lock: 'l', owner, answer: 'granted' },
    { name: 'acquire', lock: 'l', owner, answer: 'denied' },
    { name: 'release', lock: 'l', owner, answer: 'released' },
    { name: 'release', lock: 'l', owner, answer: 'denied' },
  ]),
  forget: (call) => ({ ...call, answer: 'unknown' }),
};

const tokens = [1, 2, 3];
const answers = ['accepted', 'refused'] as const;
const twoKeys = ['x', 'y'];

const fencedWrites: readonly FencedCall[] = tokens.flatMap((token) =>
  answers.flatMap((answer) => [
    { name: 'open' as const, resource, token, answer },
    ...twoKeys.flatMap((twoKey) =>
      [1, 2].map((value) => {
        return { name: 'write' as const, resource, key: twoKey, value, token, answer };
      }),
    ),
  ]),
);

function fencedReads(results: readonly (Value | 'refused')[]): readonly FencedCall[] {
  return tokens.flatMap((token) =>
    twoKeys.flatMap((twoKey) =>
      results.map((value) => ({ name: 'read' as const, resource, key: twoKey, token, value })),
    ),
  );
}

function forgetFenced(call: FencedCall): FencedCall {
  return call.name === 'read' ? { ...call, value: 'unknown' } : { ...call, answer: 'unknown' };
}

export const fencedRegisters: Repertoire<FencedState, FencedCall> = {
  model: fencedRegister(),
  calls: [...fencedWrites, ...fencedReads([null, 1, 2])],
  forget: forgetFenced,
};

export const strictFencedRegisters: Repertoire<FencedState, FencedCall> = {
  ...fencedRegisters,
  model: fencedRegister({ isStrict: true }),
};

export const fencedRegistersWithReads: Repertoire<FencedState, FencedCall> = {
  model: fencedRegisterWithReads(),
  calls: [...fencedWrites, ...fencedReads([null, 1, 2, 'refused'])],
  forget: forgetFenced,
};

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

function forgetFencedLock(call: FencedMutexCall): FencedMutexCall {
  return call.name === 'acquire'
    ? { ...call, answer: 'unknown', token: null }
    : { ...call, answer: 'unknown' };
}

export const fencedMutexes: Repertoire<FencedHold, FencedMutexCall> = {
  model: fencedMutex(),
  calls: fencedCalls([0, 1, 2, 3, null]),
  forget: forgetFencedLock,
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
    { name: 'release', lease: 'l', owner, answer: 'denied' },
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
      { name: 'cas', key, expected: value, value: 'ab', answer: 'missed' },
      { name: 'cas', key, expected: 'ab', value, answer: 'matched' },
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
