/** Tests one step of each model: the next states of a call, or that it is illegal. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import type { CallData, Model } from '../model.ts';
import { counter } from './counter.ts';
import { fencedMutex, reentrantFencedMutex } from './fenced-mutex.ts';
import { fencedRegister, fencedRegisterWithReads } from './fenced-register.ts';
import { keyValue } from './key-value.ts';
import { lease } from './lease.ts';
import { anonymousMutex, type Hold, mutex, reentrantMutex } from './mutex.ts';
import { casRegister, register } from './register.ts';
import { semaphore } from './semaphore.ts';
import { versionedRegister } from './versioned-register.ts';

const illegal = [] as const;

function stepsOf<State extends Json, Call extends CallData>(
  title: string,
  model: Model<State, Call>,
  steps: readonly (readonly [state: State, call: Call, next: readonly State[]])[],
): void {
  describe(title, () => {
    it.each(steps)('in %j: %j leads to %j', (state, call, next) => {
      expect(model.step(state, call)).toEqual(next);
    });
  });
}

const key = 'x';
stepsOf('a register', register(), [
  [1, { name: 'read', key, value: 1 }, [1]],
  [1, { name: 'read', key, value: 2 }, illegal],
  [1, { name: 'read', key, value: 'unknown' }, [1]],
  [1, { name: 'write', key, value: 2 }, [2]],
]);

const cas = { name: 'cas', key, expected: 1, value: 2 } as const;
stepsOf('a CAS register', casRegister(), [
  [1, { name: 'read', key, value: 1 }, [1]],
  [1, { ...cas, answer: 'matched' }, [2]],
  [3, { ...cas, answer: 'matched' }, illegal],
  [1, { ...cas, answer: 'missed' }, illegal],
  [3, { ...cas, answer: 'missed' }, [3]],
  [1, { ...cas, answer: 'unknown' }, [2]],
  [3, { ...cas, answer: 'unknown' }, [3]],
]);

stepsOf('a counter', counter(), [
  [1, { name: 'increment', key, by: 2 }, [3]],
  [1, { name: 'read', key, value: 1 }, [1]],
  [1, { name: 'read', key, value: 2 }, illegal],
  [1, { name: 'read', key, value: 'unknown' }, [1]],
]);

const edit = { name: 'cas', key, expected: 'a', value: 'b' } as const;
stepsOf('a map whose keys hold a text at first', keyValue('?'), [
  ['a', { name: 'get', key, value: 'a' }, ['a']],
  ['a', { name: 'get', key, value: 'b' }, illegal],
  ['a', { name: 'append', key, value: 'b' }, ['ab']],
  [null, { name: 'append', key, value: 'b' }, ['b']],
  ['a', { name: 'delete', key }, ['']],
  ['', { name: 'get', key, value: '' }, ['']],
  ['', { name: 'get', key, value: null }, ['']],
  ['', { name: 'get', key, value: '?' }, illegal],
  ['', { ...edit, expected: null, answer: 'matched' }, ['b']],
  ['a', { ...edit, answer: 'missed' }, illegal],
  ['a', { ...edit, answer: 'unknown' }, ['b']],
  ['c', { ...edit, answer: 'unknown' }, ['c']],
  ['c', { ...edit, answer: 'missed' }, ['c']],
]);

stepsOf('a map', keyValue(), [
  ['a', { name: 'delete', key }, ['']],
  ['', { name: 'get', key, value: '' }, ['']],
  ['', { name: 'get', key, value: null }, illegal],
]);
stepsOf('a map that tells a key without a text from one with an empty text', keyValue(null), [
  ['a', { name: 'delete', key }, [null]],
  [null, { name: 'get', key, value: null }, [null]],
  [null, { name: 'get', key, value: '' }, illegal],
  ['', { name: 'get', key, value: null }, illegal],
]);

const versioned = { name: 'write', key, value: 9 } as const;
stepsOf('a versioned register', versionedRegister(), [
  [{ value: 7, version: 3 }, { ...versioned, version: 4 }, [{ value: 9, version: 4 }]],
  [{ value: 7, version: 3 }, { ...versioned, version: null }, [{ value: 9, version: 4 }]],
  [{ value: 7, version: 3 }, { ...versioned, version: 3 }, illegal],
  [
    { value: 7, version: 3 },
    { name: 'read', key, value: 'unknown', version: null },
    [{ value: 7, version: 3 }],
  ],
  [
    { value: 7, version: 3 },
    { name: 'read', key, value: 7, version: null },
    [{ value: 7, version: 3 }],
  ],
  [{ value: 7, version: 3 }, { name: 'read', key, value: 8, version: null }, illegal],
]);

const acquire = { name: 'acquire', lock: 'l', owner: 'a' } as const;
const release = { name: 'release', lock: 'l', owner: 'a' } as const;
stepsOf('a mutex', mutex(), [
  [null, { ...acquire, answer: 'granted' }, ['a']],
  ['b', { ...acquire, answer: 'granted' }, illegal],
  [null, { ...acquire, answer: 'denied' }, illegal],
  ['b', { ...acquire, answer: 'denied' }, ['b']],
  [null, { ...acquire, answer: 'unknown' }, ['a']],
  ['b', { ...acquire, answer: 'unknown' }, ['b']],
  ['a', { ...release, answer: 'released' }, [null]],
  ['b', { ...release, answer: 'released' }, illegal],
  [null, { ...release, answer: 'released' }, illegal],
  ['a', { ...release, answer: 'denied' }, illegal],
  ['b', { ...release, answer: 'denied' }, ['b']],
  ['b', { ...release, answer: 'unknown' }, ['b']],
]);

stepsOf('an anonymous mutex', anonymousMutex(), [
  [false, { ...acquire, answer: 'granted' }, [true]],
  [true, { ...acquire, answer: 'granted' }, illegal],
  [false, { ...acquire, answer: 'denied' }, illegal],
  [true, { ...acquire, answer: 'denied' }, [true]],
  [true, { ...acquire, answer: 'unknown' }, [true]],
  [true, { ...release, answer: 'released' }, [false]],
  [false, { ...release, answer: 'released' }, illegal],
  [true, { ...release, answer: 'denied' }, illegal],
  [false, { ...release, answer: 'denied' }, [false]],
  [false, { ...release, answer: 'unknown' }, [false]],
]);

const held = (owner: string, depth: number): Hold => ({ owner, depth });
stepsOf('a reentrant mutex', reentrantMutex({ maxDepth: 2 }), [
  [null, { ...acquire, answer: 'granted' }, [held('a', 1)]],
  [held('a', 1), { ...acquire, answer: 'granted' }, [held('a', 2)]],
  [held('a', 2), { ...acquire, answer: 'granted' }, illegal],
  [held('a', 2), { ...acquire, answer: 'denied' }, [held('a', 2)]],
  [held('a', 1), { ...acquire, answer: 'denied' }, illegal],
  [held('b', 1), { ...acquire, answer: 'granted' }, illegal],
  [held('b', 1), { ...acquire, answer: 'unknown' }, [held('b', 1)]],
  [held('a', 2), { ...release, answer: 'released' }, [held('a', 1)]],
  [held('a', 1), { ...release, answer: 'released' }, [null]],
  [held('b', 1), { ...release, answer: 'released' }, illegal],
  [held('b', 1), { ...release, answer: 'denied' }, [held('b', 1)]],
  [held('a', 1), { ...release, answer: 'denied' }, illegal],
  [null, { ...release, answer: 'released' }, illegal],
  [null, { ...release, answer: 'denied' }, [null]],
]);

const free = { hold: null, highest: 4, isSeen: true };
const mine = { hold: held('a', 1), highest: 4, isSeen: true };
const unseen = { ...mine, isSeen: false };
const others = { ...mine, hold: held('b', 1) };
stepsOf('a fenced mutex', fencedMutex(), [
  [free, { ...acquire, answer: 'granted', token: 5 }, [{ ...mine, highest: 5 }]],
  [free, { ...acquire, answer: 'granted', token: 4 }, illegal],
  [free, { ...acquire, answer: 'granted', token: null }, [{ ...unseen, highest: 5 }]],
  [free, { ...acquire, answer: 'unknown', token: null }, [{ ...unseen, highest: 5 }]],
  [free, { ...acquire, answer: 'denied', token: null }, illegal],
  [mine, { ...acquire, answer: 'granted', token: 5 }, illegal],
  [others, { ...acquire, answer: 'denied', token: null }, [others]],
  [others, { ...acquire, answer: 'unknown', token: null }, [others]],
  [others, { ...acquire, answer: 'granted', token: 5 }, illegal],
  [mine, { ...release, answer: 'released' }, [free]],
  [unseen, { ...release, answer: 'released' }, [free]],
  [mine, { ...release, answer: 'denied' }, illegal],
  [others, { ...release, answer: 'released' }, illegal],
  [others, { ...release, answer: 'unknown' }, [others]],
]);

const [twice, unseenTwice] = [mine, unseen].map((one) => ({ ...one, hold: held('a', 2) }));
if (twice === undefined || unseenTwice === undefined) expect.fail('both are there');
const unknown = { hold: held('a', 1), highest: null, isSeen: false };
stepsOf('a reentrant fenced mutex', reentrantFencedMutex({ maxDepth: 2 }), [
  [mine, { ...acquire, answer: 'granted', token: 4 }, [twice]],
  [mine, { ...acquire, answer: 'granted', token: 5 }, illegal],
  [mine, { ...acquire, answer: 'granted', token: 3 }, illegal],
  [mine, { ...acquire, answer: 'granted', token: null }, [twice]],
  [unseen, { ...acquire, answer: 'granted', token: null }, [unseenTwice]],
  [unseen, { ...acquire, answer: 'granted', token: 4 }, [twice]],
  [unseen, { ...acquire, answer: 'granted', token: 5 }, [{ ...twice, highest: 5 }]],
  [unseen, { ...acquire, answer: 'granted', token: 3 }, illegal],
  [unknown, { ...acquire, answer: 'granted', token: 5 }, [{ ...twice, highest: 5 }]],
  [twice, { ...acquire, answer: 'granted', token: 4 }, illegal],
  [twice, { ...release, answer: 'released' }, [mine]],
  [unseenTwice, { ...release, answer: 'released' }, [unseen]],
  [unseen, { ...release, answer: 'released' }, [free]],
]);

const permits = { semaphore: 's', permits: 2 } as const;
stepsOf('a semaphore', semaphore(3), [
  [2, { name: 'acquire', ...permits, answer: 'granted' }, [0]],
  [1, { name: 'acquire', ...permits, answer: 'granted' }, illegal],
  [2, { name: 'acquire', ...permits, answer: 'denied' }, illegal],
  [1, { name: 'acquire', ...permits, answer: 'denied' }, [1]],
  [1, { name: 'acquire', ...permits, answer: 'unknown' }, [1]],
  [1, { name: 'release', ...permits, answer: 'released' }, [3]],
  [2, { name: 'release', ...permits, answer: 'released' }, illegal],
  [2, { name: 'release', ...permits, answer: 'denied' }, [2]],
]);

const leased = { lease: 'l', owner: 'a' } as const;
stepsOf('a lease', lease(), [
  ['b', { name: 'acquire', ...leased, answer: 'granted' }, ['a']],
  ['b', { name: 'acquire', ...leased, answer: 'unknown' }, ['a', 'b']],
  ['a', { name: 'acquire', ...leased, answer: 'unknown' }, ['a']],
  [null, { name: 'acquire', ...leased, answer: 'unknown' }, ['a']],
  ['b', { name: 'acquire', ...leased, answer: 'denied' }, ['b']],
  [null, { name: 'acquire', ...leased, answer: 'denied' }, illegal],
  ['a', { name: 'renew', ...leased, answer: 'renewed' }, ['a']],
  ['b', { name: 'renew', ...leased, answer: 'renewed' }, illegal],
  ['a', { name: 'renew', ...leased, answer: 'denied' }, [null]],
  ['b', { name: 'renew', ...leased, answer: 'denied' }, ['b']],
  ['b', { name: 'renew', ...leased, answer: 'unknown' }, ['b']],
  ['a', { name: 'release', ...leased, answer: 'released' }, [null]],
  ['b', { name: 'release', ...leased, answer: 'released' }, illegal],
  ['a', { name: 'expire', lease: 'l' }, [null]],
]);

const fenced = { resource: 'db', token: 3 } as const;
const put = { name: 'write', ...fenced, key, value: 7 } as const;
const at = (highest: number): { highest: number; values: { x: number } } => {
  return { highest, values: { x: 1 } };
};
const written = { highest: 3, values: { x: 7 } };
const steps = [
  [at(3), { ...put, answer: 'accepted' }, [written]],
  [at(4), { ...put, answer: 'accepted' }, illegal],
  [at(3), { ...put, answer: 'refused' }, illegal],
  [at(4), { ...put, answer: 'refused' }, [at(4)]],
  [at(2), { ...put, answer: 'unknown' }, [written]],
  [at(4), { ...put, answer: 'unknown' }, [at(4)]],
  [at(2), { name: 'open', ...fenced, answer: 'accepted' }, [at(3)]],
  [at(4), { name: 'read', ...fenced, key: 'y', value: 'unknown' }, [at(4)]],
] as const;
stepsOf('a fenced register', fencedRegister({ initial: 0 }), [
  ...steps,
  [at(4), { name: 'read', ...fenced, key, value: 1 }, [at(4)]],
  [at(4), { name: 'read', ...fenced, key, value: 2 }, illegal],
  [at(4), { name: 'read', ...fenced, key: 'y', value: 0 }, [at(4)]],
]);
stepsOf('a strict fenced register', fencedRegister({ isStrict: true }), [
  [at(3), { ...put, answer: 'accepted' }, illegal],
  [at(3), { ...put, answer: 'refused' }, [at(3)]],
  [at(2), { ...put, answer: 'accepted' }, [written]],
]);
stepsOf('a fenced register with reads', fencedRegisterWithReads(0), [
  ...steps,
  [at(2), { name: 'read', ...fenced, key, value: 'unknown' }, [at(3)]],
  [at(3), { name: 'read', ...fenced, key, value: 1 }, [at(3)]],
  [at(2), { name: 'read', ...fenced, key, value: 1 }, [at(3)]],
  [at(2), { name: 'read', ...fenced, key, value: 2 }, illegal],
  [at(4), { name: 'read', ...fenced, key, value: 1 }, illegal],
  [at(4), { name: 'read', ...fenced, key, value: 'refused' }, [at(4)]],
  [at(3), { name: 'read', ...fenced, key, value: 'refused' }, illegal],
  [at(2), { name: 'read', ...fenced, key: 'y', value: 0 }, [at(3)]],
]);
