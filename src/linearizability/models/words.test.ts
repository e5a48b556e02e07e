/** Tests the exact words of each model for its calls, their needs, and its states. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import type { CallData, Model } from '../model.ts';
import { counter } from './counter.ts';
import { fencedMutex, reentrantFencedMutex } from './fenced-mutex.ts';
import { fencedRegister, fencedRegisterWithReads } from './fenced-register.ts';
import { keyValue } from './key-value.ts';
import { lease } from './lease.ts';
import { anonymousMutex, mutex, reentrantMutex } from './mutex.ts';
import { casRegister, register } from './register.ts';
import { semaphore } from './semaphore.ts';
import { versionedRegister } from './versioned-register.ts';

/** A call, how it reads, and what it needs. */
type Row<Call> = readonly [call: Call, reads: string, needs: string];

function sayOf<State extends Json, Call extends CallData>(
  title: string,
  make: () => Model<State, Call>,
  calls: readonly Row<Call>[],
  states: readonly (readonly [state: State, reads: string])[],
): void {
  describe(title, () => {
    it.each(calls)('%j reads "%s" and needs "%s"', (call, reads, needs) => {
      const model = make();
      expect(model.describe?.(call)).toBe(reads);
      expect(model.needs?.(call)).toBe(needs);
    });
    it.each(states)('%j reads "%s"', (state, reads) => {
      expect(make().describeState?.(state)).toBe(reads);
    });
  });
}

const key = 'x';
sayOf(
  'a register',
  () => register(),
  [
    [{ name: 'read', key, value: 3 }, 'read=3', 'the value 3'],
    [{ name: 'read', key, value: null }, 'read=nothing', 'the value nothing'],
    [{ name: 'write', key, value: 'a' }, 'write(a)', 'the value a'],
  ],
  [
    [null, 'it is nothing'],
    [2, 'it is 2'],
  ],
);

const cas = { name: 'cas', key, expected: 1, value: 2 } as const;
sayOf(
  'a CAS register',
  () => casRegister(),
  [
    [{ name: 'read', key, value: 3 }, 'read=3', 'the value 3'],
    [{ name: 'write', key, value: 4 }, 'write(4)', 'the value 4'],
    [{ ...cas, answer: 'matched' }, 'cas(1→2)=ok', 'the value 1'],
    [{ ...cas, answer: 'missed' }, 'cas(1→2)=missed', 'any value but 1'],
    [{ ...cas, answer: 'unknown' }, 'cas(1→2)=unknown', 'the value 1'],
  ],
  [[2, 'it is 2']],
);

sayOf(
  'a counter',
  () => counter(),
  [
    [{ name: 'increment', key, by: 2 }, 'increment(2)', 'nothing'],
    [{ name: 'read', key, value: 3 }, 'read=3', 'the sum 3'],
  ],
  [[7, 'it is 7']],
);

const write = { name: 'write', key, value: 7 } as const;
sayOf(
  'a versioned register',
  () => versionedRegister(),
  [
    [
      { name: 'read', key, value: 7, version: 2 },
      'read=7 at version 2',
      'the value 7 at version 2',
    ],
    [{ name: 'read', key, value: 7, version: null }, 'read=7', 'the value 7'],
    [{ ...write, version: 2 }, 'write(7) at version 2', 'the version 1'],
    [{ ...write, version: null }, 'write(7)', 'nothing'],
    [{ ...write, version: null, expected: 4 }, 'write(7) over version 4', 'the version 4'],
    [
      { ...write, version: 5, expected: 4 },
      'write(7) over version 4 at version 5',
      'the version 4',
    ],
    [
      { ...write, version: 5, expected: 4, answer: 'refused' },
      'write(7) over version 4, refused at version 5',
      'the version 5',
    ],
    [
      { ...write, version: 4, expected: 4, answer: 'refused' },
      'write(7) over version 4, refused at version 4',
      'a version other than 4',
    ],
    [
      { ...write, version: null, expected: 4, answer: 'refused' },
      'write(7) over version 4, refused',
      'a version other than 4',
    ],
    [{ ...write, version: null, answer: 'refused' }, 'write(7), refused', 'nothing'],
  ],
  [[{ value: 7, version: 2 }, 'it is 7 at version 2']],
);

const long = 'abcdefghij'.repeat(4);
sayOf(
  'a map',
  () => keyValue(),
  [
    [{ name: 'get', key, value: 'a' }, 'get(x)="a"', 'the value "a"'],
    [{ name: 'get', key, value: long }, `get(x)="${long}"`, `the value "${long}"`],
    [
      { name: 'get', key, value: `a${long}` },
      `get(x)="…${long.slice(1)}"`,
      `the value "…${long.slice(1)}"`,
    ],
    [{ name: 'put', key, value: 'a' }, 'put(x, "a")', 'nothing'],
    [{ name: 'append', key, value: 'a' }, 'append(x, "a")', 'nothing'],
    [{ name: 'delete', key }, 'delete(x)', 'nothing'],
    [
      { name: 'cas', key, expected: null, value: 'b', answer: 'matched' },
      'cas(x, nothing→"b")=matched',
      'the value nothing',
    ],
    [
      { name: 'cas', key, expected: 'a', value: 'b', answer: 'missed' },
      'cas(x, "a"→"b")=missed',
      'any value but "a"',
    ],
  ],
  [
    ['', 'it is ""'],
    [null, 'it is nothing'],
  ],
);

const acquire = { name: 'acquire', lock: 'l', owner: 'a' } as const;
const release = { name: 'release', lock: 'l', owner: 'a' } as const;
const owned = [
  [{ ...acquire, answer: 'granted' }, 'acquire(l)=granted', 'the lock to be free'],
  [{ ...acquire, answer: 'denied' }, 'acquire(l)=denied', 'another client to hold the lock'],
  [{ ...release, answer: 'released' }, 'release(l)=released', 'a to hold the lock'],
  [{ ...release, answer: 'denied' }, 'release(l)=denied', 'the lock not to be held by a'],
] as const;

sayOf('a mutex', () => mutex(), owned, [
  [null, 'it is free'],
  ['b', 'b holds it'],
]);

sayOf(
  'an anonymous mutex',
  () => anonymousMutex(),
  [
    [{ ...acquire, answer: 'granted' }, 'acquire(l)=granted', 'the lock to be free'],
    [{ ...acquire, answer: 'denied' }, 'acquire(l)=denied', 'the lock to be held'],
    [{ ...release, answer: 'released' }, 'release(l)=released', 'the lock to be held'],
    [{ ...release, answer: 'denied' }, 'release(l)=denied', 'the lock to be free'],
  ],
  [
    [false, 'it is free'],
    [true, 'it is held'],
  ],
);

sayOf('a reentrant mutex', () => reentrantMutex(), owned, [
  [null, 'it is free'],
  [{ owner: 'b', depth: 1 }, 'b holds it'],
  [{ owner: 'b', depth: 2 }, 'b holds it 2 times'],
]);

sayOf(
  'a fenced mutex',
  () => fencedMutex(),
  [
    [
      { ...acquire, answer: 'granted', token: 4 },
      'acquire(l)=granted with token 4',
      'the lock to be free and every earlier token to be below 4',
    ],
    [{ ...acquire, answer: 'granted', token: null }, 'acquire(l)=granted', 'the lock to be free'],
    [{ ...release, answer: 'released' }, 'release(l)=released', 'a to hold the lock'],
  ],
  [
    [{ hold: null, highest: 4, isSeen: true }, 'it is free and the last token was 4'],
    [
      { hold: { owner: 'b', depth: 1 }, highest: 4, isSeen: false },
      'b holds it and the last token was at least 4',
    ],
  ],
);

sayOf(
  'a reentrant fenced mutex',
  () => reentrantFencedMutex(),
  [],
  [
    [
      { hold: { owner: 'b', depth: 3 }, highest: null, isSeen: true },
      'b holds it 3 times and no token is known yet',
    ],
  ],
);

const permits = { semaphore: 's', permits: 2 } as const;
sayOf(
  'a semaphore',
  () => semaphore(3),
  [
    [{ name: 'acquire', ...permits, answer: 'granted' }, 'acquire(2)=granted', 'at least 2 left'],
    [{ name: 'acquire', ...permits, answer: 'denied' }, 'acquire(2)=denied', 'fewer than 2 left'],
    [
      { name: 'release', ...permits, answer: 'released' },
      'release(2)=released',
      'at least 2 taken',
    ],
    [{ name: 'release', ...permits, answer: 'denied' }, 'release(2)=denied', 'fewer than 2 taken'],
  ],
  [[1, '1 of 3 are left']],
);

const leased = { lease: 'l', owner: 'a' } as const;
sayOf(
  'a lease',
  () => lease(),
  [
    [
      { name: 'acquire', ...leased, answer: 'denied' },
      'acquire(l)=denied',
      'a client to hold the lease',
    ],
    [
      { name: 'renew', ...leased, answer: 'renewed' },
      'renew(l)=renewed',
      'a to be the last client that was granted the lease',
    ],
    [{ name: 'expire', lease: 'l' }, 'expire(l)', 'nothing'],
  ],
  [
    [null, 'no client holds it'],
    ['a', 'it was last granted to a'],
  ],
);

const fenced = { resource: 'db', token: 3 } as const;
const guarded = { name: 'write', ...fenced, key, value: 7 } as const;
const seen = { highest: 3, values: { x: 7, y: null } };
sayOf(
  'a fenced register',
  () => fencedRegister(),
  [
    [{ name: 'read', ...fenced, key, value: 7 }, 'read(x)=7 with token 3', 'x to be 7'],
    [{ name: 'read', ...fenced, key: '', value: 7 }, 'read()=7 with token 3', 'the value to be 7'],
    [
      { ...guarded, answer: 'accepted' },
      'write(x, 7) with token 3 (accepted)',
      'every token before it to be at most 3',
    ],
    [
      { ...guarded, key: '', answer: 'accepted' },
      'write(7) with token 3 (accepted)',
      'every token before it to be at most 3',
    ],
    [
      { ...guarded, answer: 'refused' },
      'write(x, 7) with token 3 (refused)',
      'a token above 3 before it',
    ],
    [
      { name: 'open', ...fenced, answer: 'accepted' },
      'open with token 3 (accepted)',
      'every token before it to be at most 3',
    ],
  ],
  [[seen, 'the highest token is 3, x is 7, y is null']],
);

sayOf(
  'a strict fenced register',
  () => fencedRegister({ isStrict: true }),
  [
    [
      { ...guarded, answer: 'accepted' },
      'write(x, 7) with token 3 (accepted)',
      'every token before it to be below 3',
    ],
    [
      { ...guarded, answer: 'refused' },
      'write(x, 7) with token 3 (refused)',
      'a token of at least 3 before it',
    ],
  ],
  [[{ highest: 0, values: {} }, 'the highest token is 0']],
);

sayOf(
  'a fenced register with reads',
  () => fencedRegisterWithReads(),
  [
    [
      { name: 'read', ...fenced, key, value: 7 },
      'read(x)=7 with token 3',
      'x to be 7 and every token before it at most 3',
    ],
    [
      { name: 'read', ...fenced, key, value: 'refused' },
      'read(x)=refused with token 3',
      'a token above 3 before it',
    ],
    [
      { ...guarded, answer: 'accepted' },
      'write(x, 7) with token 3 (accepted)',
      'every token before it to be at most 3',
    ],
  ],
  [],
);
