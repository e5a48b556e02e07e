/**
 * Tests the traits of calls in each model: purity, object, awaited and provided states, and the
 * answer of a failed call.
 */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import type { CallData, Model } from '../model.ts';
import { type Beginning, type ModelName, models } from '../models.ts';
import { counter } from './counter.ts';
import { fencedMutex, reentrantFencedMutex } from './fenced-mutex.ts';
import { fencedRegister, fencedRegisterWithReads } from './fenced-register.ts';
import { keyValue } from './key-value.ts';
import { lease } from './lease.ts';
import { anonymousMutex, mutex, reentrantMutex } from './mutex.ts';
import { casRegister, register } from './register.ts';
import { semaphore } from './semaphore.ts';
import { versionedRegister } from './versioned-register.ts';

interface Traits<State> {
  readonly isPure: boolean;
  /** Undefined if the model has no such method or the method returns undefined. */
  readonly awaits?: State;
  readonly provides?: State;
  /** The changed fields of a call that failed, or null if nothing is known then. */
  readonly failed?: { readonly answer: string; readonly token?: null } | null;
  readonly version?: number | null;
}

function describeAnswer<State extends Json, Call extends CallData>(
  title: string,
  model: Model<State, Call>,
  object: string,
  calls: readonly (readonly [call: Call, traits: Traits<State>])[],
): void {
  it.each(calls)(`${title}: %j is %j`, (call, { isPure, failed, ...traits }) => {
    expect(model.isPure?.(call)).toBe(isPure);
    expect(model.partition?.(call)).toBe(object);
    expect(model.awaits?.(call)).toBe(traits.awaits);
    expect(model.provides?.(call)).toBe(traits.provides);
    expect(model.versionOf?.(call)).toBe(traits.version);
    expect(model.whenFailed?.(call)).toEqual(failed && Object.assign({}, call, failed));
    expect(model.mistakeIn?.(call)).toBeNull();
  });
}

const [pure, effect] = [{ isPure: true }, { isPure: false }];
const key = 'x';

describe('a model reports the traits of its calls', () => {
  const plain = [
    [
      { name: 'read', key, value: 3 },
      { ...pure, awaits: 3 },
    ],
    [
      { name: 'read', key, value: null },
      { ...pure, awaits: null },
    ],
    [{ name: 'read', key, value: 'unknown' }, pure],
    [
      { name: 'write', key, value: 4 },
      { ...effect, provides: 4 },
    ],
    [
      { name: 'write', key, value: 'unknown' },
      { ...effect, provides: 'unknown' },
    ],
  ] as const;
  describeAnswer('a register', register(), 'x', plain);

  const cas = { name: 'cas', key, expected: 1, value: 2 } as const;
  const reportedCas = { awaits: 1, provides: 2, failed: { answer: 'missed' } } as const;
  describeAnswer('a CAS register', casRegister(), 'x', [
    ...plain.map(([call, traits]) => [call, { ...traits, failed: null }] as const),
    [
      { ...cas, answer: 'matched' },
      { ...effect, ...reportedCas },
    ],
    [
      { ...cas, answer: 'missed' },
      { ...pure, ...reportedCas },
    ],
    [
      { ...cas, answer: 'unknown' },
      { ...effect, ...reportedCas },
    ],
  ]);

  describeAnswer('a counter', counter(), 'x', [
    [{ name: 'increment', key, by: 2 }, effect],
    [{ name: 'read', key, value: 3 }, pure],
  ]);

  const write = { name: 'write', key, value: 7 } as const;
  describeAnswer('a versioned register', versionedRegister(), 'x', [
    [
      { name: 'read', key, value: 7, version: 2 },
      { ...pure, version: 2 },
    ],
    [
      { ...write, version: 3 },
      { ...effect, version: 3 },
    ],
    [
      { ...write, version: null },
      { ...effect, version: null },
    ],
    [
      { ...write, version: 4, expected: 3, answer: 'refused' },
      { ...pure, version: 4 },
    ],
  ]);

  const edit = { name: 'cas', key, expected: 'a', value: 'b' } as const;
  const edits = { awaits: 'a', provides: 'b', failed: { answer: 'missed' } } as const;
  describeAnswer('a map', keyValue('?'), 'x', [
    [
      { name: 'get', key, value: 'a' },
      { ...pure, awaits: 'a', failed: null },
    ],
    [
      { name: 'put', key, value: 'a' },
      { ...effect, provides: 'a', failed: null },
    ],
    [
      { name: 'append', key, value: 'a' },
      { ...effect, failed: null },
    ],
    [
      { name: 'delete', key },
      { ...effect, provides: '', failed: null },
    ],
    [
      { name: 'get', key, value: null },
      { ...pure, awaits: '', failed: null },
    ],
    [
      { ...edit, answer: 'matched' },
      { ...effect, ...edits },
    ],
    [
      { ...edit, answer: 'missed' },
      { ...pure, ...edits },
    ],
    [
      { ...edit, answer: 'unknown' },
      { ...effect, ...edits },
    ],
  ]);

  const failed = { answer: 'denied' } as const;
  const acquire = { name: 'acquire', lock: 'l', owner: 'a' } as const;
  const release = { name: 'release', lock: 'l', owner: 'a' } as const;
  const locking = [
    [
      { ...acquire, answer: 'granted' },
      { ...effect, failed },
    ],
    [
      { ...acquire, answer: 'denied' },
      { ...pure, failed },
    ],
    [
      { ...acquire, answer: 'unknown' },
      { ...effect, failed },
    ],
    [
      { ...release, answer: 'released' },
      { ...effect, failed },
    ],
    [
      { ...release, answer: 'denied' },
      { ...pure, failed },
    ],
  ] as const;
  describeAnswer('a mutex', mutex(), 'l', locking);
  describeAnswer('an anonymous mutex', anonymousMutex(), 'l', locking);
  describeAnswer('a reentrant mutex', reentrantMutex(), 'l', locking);
  const tokenless = { answer: 'denied', token: null } as const;
  for (const model of [fencedMutex(), reentrantFencedMutex()]) {
    describeAnswer(`a ${model.name}`, model, 'l', [
      [
        { ...acquire, answer: 'granted', token: 3 },
        { ...effect, failed: tokenless },
      ],
      [
        { ...acquire, answer: 'denied', token: null },
        { ...pure, failed: tokenless },
      ],
      [
        { ...release, answer: 'released' },
        { ...effect, failed },
      ],
      [
        { ...release, answer: 'denied' },
        { ...pure, failed },
      ],
    ]);
  }

  const permits = { semaphore: 's', permits: 2 } as const;
  describeAnswer('a semaphore', semaphore(), 's', [
    [
      { name: 'acquire', ...permits, answer: 'granted' },
      { ...effect, failed },
    ],
    [
      { name: 'acquire', ...permits, answer: 'denied' },
      { ...pure, failed },
    ],
    [
      { name: 'release', ...permits, answer: 'unknown' },
      { ...effect, failed },
    ],
  ]);

  const leased = { lease: 'l', owner: 'a' } as const;
  describeAnswer('a lease', lease(), 'l', [
    [
      { name: 'acquire', ...leased, answer: 'granted' },
      { ...effect, failed },
    ],
    [
      { name: 'acquire', ...leased, answer: 'denied' },
      { ...pure, failed },
    ],
    [
      { name: 'renew', ...leased, answer: 'renewed' },
      { ...pure, failed },
    ],
    [
      { name: 'renew', ...leased, answer: 'denied' },
      { ...effect, failed },
    ],
    [
      { name: 'release', ...leased, answer: 'released' },
      { ...effect, failed },
    ],
    [
      { name: 'release', ...leased, answer: 'denied' },
      { ...effect, failed },
    ],
    [
      { name: 'expire', lease: 'l' },
      { ...effect, failed: null },
    ],
  ]);

  const fenced = { resource: 'db', token: 3 } as const;
  const guarded = [
    [{ name: 'write', ...fenced, key, value: 7, answer: 'accepted' }, effect],
    [{ name: 'write', ...fenced, key, value: 7, answer: 'refused' }, pure],
    [{ name: 'write', ...fenced, key, value: 7, answer: 'unknown' }, effect],
    [{ name: 'open', ...fenced, answer: 'refused' }, pure],
  ] as const;
  describeAnswer('a fenced register', fencedRegister(), 'db', [
    ...guarded,
    [{ name: 'read', ...fenced, key, value: 7 }, pure],
  ]);
  describeAnswer('a fenced register with reads', fencedRegisterWithReads(), 'db', [
    ...guarded,
    [{ name: 'read', ...fenced, key, value: 7 }, effect],
    [{ name: 'read', ...fenced, key, value: 'refused' }, pure],
  ]);
});

describe('appends', () => {
  it('extend a text that is a prefix of the result', () => {
    const approaches = keyValue().approaches ?? expect.fail('it is there');
    expect(approaches('a', 'ab')).toBe(true);
    expect(approaches('ab', 'a')).toBe(false);
    expect(approaches('b', 'ab')).toBe(false);
    expect(approaches(null, 'a')).toBe(true);
    expect(approaches('', null)).toBe(false);
  });
});

describe('the starting states of a later search are', () => {
  const { startingStates } = keyValue();
  it('no text, the awaited texts, their prefixes before appends, and a longer text', () => {
    expect(
      startingStates?.([
        { name: 'get', key, value: 'abc' },
        { name: 'cas', key, expected: null, value: 'xbc', answer: 'matched' },
        { name: 'append', key, value: 'c' },
        { name: 'append', key, value: 'b' },
        { name: 'put', key, value: 'ab' },
      ]),
    ).toEqual([null, '', 'abc', 'ab', 'a', '    ']);
    expect(startingStates?.([])).toEqual([null, '', ' ']);
  });
  it('limited in number', () => {
    const grown = Array.from({ length: 2_000 }, () => 'a').join('');
    const states = startingStates?.([
      { name: 'get', key, value: grown },
      { name: 'append', key, value: 'a' },
    ]);
    expect(states).toHaveLength(1_001 + 1);
  });
  it('for a fenced mutex, free or held by any client, with unknown tokens', () => {
    const acquire = { name: 'acquire', lock: 'l', answer: 'granted', token: 4 } as const;
    const owners = ['a', 'b', 'a'].map((owner) => ({ ...acquire, owner }));
    const holds = [null, ...['a', 'b', 'not a or b'].map((owner) => ({ owner, depth: 1 }))];
    expect(fencedMutex().startingStates?.(owners)).toEqual(
      holds.map((hold) => ({ hold, highest: null, isSeen: true })),
    );
  });
});

describe('the initial state of', () => {
  it.each<[ModelName, Beginning, Json]>([
    ['register', { value: 7 }, 7],
    ['cas-register', { value: 7 }, 7],
    ['versioned-register', { value: 7 }, { value: 7, version: 0 }],
    ['versioned-register', { version: 3 }, { value: null, version: 3 }],
    ['kv', { text: 'a' }, 'a'],
    ['kv', {}, ''],
    ['counter', { value: 7 }, 7],
    ['counter', { value: 'a' }, 0],
    ['counter', { value: null }, 0],
    ['counter', {}, 0],
    ['semaphore', {}, 1],
    ['mutex', {}, null],
    ['fenced-register', {}, { highest: 0, values: {} }],
  ])('%s follows %j', (name, beginning, init) => {
    expect(models[name](beginning).init).toEqual(init);
  });
  it.each<ModelName>(['fenced-register', 'fenced-register-strict', 'fenced-register-with-reads'])(
    '%s uses the given value for all keys',
    (name) => {
      const model: Model = models[name]({ value: 7 });
      const read = (value: number): CallData => {
        return { name: 'read', resource: 'db', key, token: 1, value };
      };
      expect(model.step(model.init, read(7))).toHaveLength(1);
      expect(model.step(model.init, read(6))).toEqual([]);
    },
  );
});
