/** The models by the names that a command line gives them, each beginning as its object does. */
import type { Model } from './model.ts';
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

type MakeModel = (beginning?: Beginning) => Model;

/** A map from names to what makes the model. */
export const models: ReadonlyMap<string, MakeModel> = new Map<string, MakeModel>([
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
  ['fenced-register-strict', strictFencedRegister],
  ['fenced-register-with-reads', ({ value = null } = {}) => fencedRegisterWithReads(value)],
]);

function strictFencedRegister({ value = null }: Beginning = {}): Model {
  return fencedRegister({ initial: value, isStrict: true });
}

/** What each model is, for people who choose one by its name: the weaker first. */
export const aboutModels: ReadonlyMap<string, string> = new Map([
  ['register', 'a read returns what the last write wrote'],
  ['cas-register', 'a register that also compares and sets'],
  ['versioned-register', 'a register that counts its writes'],
  ['kv', 'a map from keys to texts: get, put, append, cas, delete'],
  ['counter', 'an increment adds, a read returns the sum'],
  ['semaphore', 'so many permits; --init says how many'],
  ['lease', 'a lock that may expire at any time, unseen'],
  ['mutex', 'granted when free, released by its owner'],
  ['anonymous-mutex', 'granted when free, released by anybody'],
  ['reentrant-mutex', 'its owner may take it again'],
  ['fenced-mutex', 'a mutex whose grants have rising tokens'],
  ['reentrant-fenced-mutex', 'the same, reentrant'],
  ['fenced-register', 'accepts a write iff its token is at least the highest'],
  ['fenced-register-strict', 'accepts a write iff its token is above the highest'],
  ['fenced-register-with-reads', 'a fenced register whose reads register their token too'],
]);
