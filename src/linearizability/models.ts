/** Lists all models by their names on the command line. */
import type { Json } from '../core/kernel/json.ts';
import type { CallData, Model } from './model.ts';
import { type CounterCall, counter } from './models/counter.ts';
import { type FencedMutexCall, fencedMutex, reentrantFencedMutex } from './models/fenced-mutex.ts';
import {
  type FencedCall,
  fencedRegister,
  fencedRegisterWithReads,
} from './models/fenced-register.ts';
import { type KeyValueCall, keyValue } from './models/key-value.ts';
import { type LeaseCall, lease } from './models/lease.ts';
import { anonymousMutex, type MutexCall, mutex, reentrantMutex } from './models/mutex.ts';
import {
  type CasRegisterCall,
  casRegister,
  type RegisterCall,
  register,
  type Value,
} from './models/register.ts';
import { type SemaphoreCall, semaphore } from './models/semaphore.ts';
import { type VersionedCall, versionedRegister } from './models/versioned-register.ts';

/** Initial contents and bounds of an object. Each model uses the fields that apply to it. */
export interface Beginning {
  /** Initial contents of a register, or the initial number of a counter. */
  readonly value?: Value;
  /** Version of a versioned register's initial value; 0 by default. */
  readonly version?: number;
  /** Contents of a key of `kv` that was never put. */
  readonly text?: string | null;
  /** Number of permits of a semaphore; 1 by default. */
  readonly permits?: number;
  /** Maximum number of holds of a reentrant mutex by its owner; no limit by default. */
  readonly maxDepth?: number;
}

/** Creates a model of an object with this beginning. */
export type MakeModel<Call extends CallData> = (beginning?: Beginning) => Model<Json, Call>;

/**
 * The models by their names on the command line; `fencepost check --help` describes each.
 *
 * ```ts
 * const lock = models['fenced-mutex']();
 * const register = models.register({ value: 0 });
 * ```
 */
export const models: {
  readonly register: MakeModel<RegisterCall>;
  readonly 'cas-register': MakeModel<CasRegisterCall>;
  readonly 'versioned-register': MakeModel<VersionedCall>;
  readonly kv: MakeModel<KeyValueCall>;
  readonly counter: MakeModel<CounterCall>;
  readonly mutex: MakeModel<MutexCall>;
  readonly 'anonymous-mutex': MakeModel<MutexCall>;
  readonly 'reentrant-mutex': MakeModel<MutexCall>;
  readonly 'fenced-mutex': MakeModel<FencedMutexCall>;
  readonly 'reentrant-fenced-mutex': MakeModel<FencedMutexCall>;
  readonly semaphore: MakeModel<SemaphoreCall>;
  readonly lease: MakeModel<LeaseCall>;
  readonly 'fenced-register': MakeModel<FencedCall>;
  readonly 'fenced-register-strict': MakeModel<FencedCall>;
  readonly 'fenced-register-with-reads': MakeModel<FencedCall>;
} = {
  register: ({ value = null } = {}) => register(value),
  'cas-register': ({ value = null } = {}) => casRegister(value),
  'versioned-register': ({ value = null, version } = {}) => versionedRegister(value, version),
  kv: ({ text = '' } = {}) => keyValue(text),
  counter: ({ value = 0 } = {}) => counter(typeof value === 'number' ? value : 0),
  mutex,
  'anonymous-mutex': anonymousMutex,
  'reentrant-mutex': reentrantMutex,
  'fenced-mutex': fencedMutex,
  'reentrant-fenced-mutex': reentrantFencedMutex,
  semaphore: ({ permits } = {}) => semaphore(permits),
  lease,
  'fenced-register': ({ value = null } = {}) => fencedRegister({ initial: value }),
  'fenced-register-strict': ({ value = null } = {}) =>
    fencedRegister({ initial: value, isStrict: true }),
  'fenced-register-with-reads': ({ value = null } = {}) => fencedRegisterWithReads(value),
};

export type ModelName = keyof typeof models;

/** A description of each model, for people who choose one by name; weaker models first. */
export const aboutModels: ReadonlyMap<string, string> = new Map([
  ['register', 'a read returns what the last write wrote'],
  ['cas-register', 'a register with compare-and-set'],
  ['versioned-register', 'a register that counts its writes'],
  ['kv', 'a map from keys to text: get, put, append, cas, delete'],
  ['counter', 'an increment adds, a read returns the sum'],
  ['semaphore', 'the number of permits is --init; default 1'],
  ['lease', 'a lock that may expire at any time without an event'],
  ['mutex', 'granted if free, released by its owner'],
  ['anonymous-mutex', 'granted if free, released by any process'],
  ['reentrant-mutex', 'a mutex that its owner may acquire again'],
  ['fenced-mutex', 'a mutex whose grants have increasing tokens'],
  ['reentrant-fenced-mutex', 'a fenced mutex that its owner may acquire again'],
  ['fenced-register', 'accepts a write unless its token is below the highest'],
  ['fenced-register-strict', 'accepts a write iff its token is above the highest'],
  ['fenced-register-with-reads', 'a fenced register whose reads also register tokens'],
]);
