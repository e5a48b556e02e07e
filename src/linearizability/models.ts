/** The models by the names that a command line gives them, each beginning as its object does. */
import type { Json } from '../core/kernel/json.ts';
import type { CallData, Model } from './model.ts';
import { counter } from './models/counter.ts';
import { fencedMutex, reentrantFencedMutex } from './models/fenced-mutex.ts';
import { fencedRegister, fencedRegisterWithReads } from './models/fenced-register.ts';
import { keyValue } from './models/key-value.ts';
import { lease } from './models/lease.ts';
import { anonymousMutex, mutex, reentrantMutex } from './models/mutex.ts';
import { casRegister, register, type Value } from './models/register.ts';
import { semaphore } from './models/semaphore.ts';
import { versionedRegister } from './models/versioned-register.ts';

/** What may be told of an object's beginning; a model takes what it knows. */
export interface Beginning {
  /** What a register holds, or a counter, which takes a number only. */
  readonly value?: Value;
  /** What a key holds that was never put. */
  readonly text?: string | null;
  /** How many permits a semaphore has. */
  readonly permits?: number;
}

/** A map from names to what makes the model. */
export const models: ReadonlyMap<string, (beginning?: Beginning) => Model<Json, CallData>> =
  new Map<string, (beginning?: Beginning) => Model<Json, CallData>>([
    ['register', ({ value = null } = {}) => register(value)],
    ['cas-register', ({ value = null } = {}) => casRegister(value)],
    ['versioned-register', ({ value = null } = {}) => versionedRegister(value)],
    ['kv', ({ text = '' } = {}) => keyValue(text)],
    ['counter', ({ value = 0 } = {}) => counter(typeof value === 'number' ? value : 0)],
    ['mutex', () => mutex()],
    ['anonymous-mutex', () => anonymousMutex()],
    ['reentrant-mutex', () => reentrantMutex()],
    ['fenced-mutex', () => fencedMutex()],
    ['reentrant-fenced-mutex', () => reentrantFencedMutex()],
    ['semaphore', ({ permits = 1 } = {}) => semaphore(permits)],
    ['lease', () => lease()],
    ['fenced-register', ({ value = null } = {}) => fencedRegister({ initial: value })],
    [
      'strict-fenced-register',
      ({ value = null } = {}) => fencedRegister({ initial: value, isStrict: true }),
    ],
    ['fenced-register-with-reads', ({ value = null } = {}) => fencedRegisterWithReads(value)],
  ]);
