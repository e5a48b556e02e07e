/**
 * Tests the fast paths on small histories, to the index, and which histories they leave to the
 * search.
 */
import { describe, expect, it } from 'vitest';
import type { FastDecision, History } from '../model.ts';
import { type FencedMutexCall, fencedMutex } from '../models/fenced-mutex.ts';
import { type CasRegisterCall, casRegister, register } from '../models/register.ts';
import { operation, read, write } from '../operations.fixture.ts';
import { decidePairedLock } from './paired-lock.ts';
import { answeredByReturn, shortestBadPrefix } from './returns.ts';
import { decideByZones } from './zones.ts';

describe('answered operations', () => {
  it('are sorted by return, equal ones as they are listed', () => {
    const ends = [5, 3, null, 4, 3];
    expect(answeredByReturn(ends.map((end) => operation('do', 0, end)))).toEqual([1, 4, 3, 0]);
    expect(answeredByReturn([1, 2, 2].map((end) => operation('do', 0, end)))).toEqual([0, 1, 2]);
    expect(answeredByReturn([operation('do', 0, 3, 'fail')])).toEqual([]);
  });
  it.each([1, 2, 5, 8, 9])('first fail at return %d', (bad) => {
    expect(shortestBadPrefix(9, (returns) => returns < bad)).toBe(bad);
  });
});

const key = 'x';
const valid = (...order: readonly number[]): FastDecision => ({ kind: 'valid', order });
const invalid = (at: number): FastDecision => ({ kind: 'invalid', at });

describe('a register of unique values', () => {
  const rows: readonly (readonly [History<CasRegisterCall>, FastDecision | null])[] = [
    [[], valid()],
    [[operation(read(null), 0, 1)], valid(0)],
    [[operation(read(3), 0, 1)], invalid(0)],
    [[operation(write(1), 0, 1), operation(read(1), 2, 3)], valid(0, 1)],
    // A read may overlap its write and return at the position of its call, but not earlier.
    [[operation(read(1), 0, 2), operation(write(1), 2, 3)], valid(1, 0)],
    [[operation(read(1), 0, 1), operation(write(1), 2, 3)], invalid(0)],
    [[operation(write(1), 0, null), operation(read(1), 5, 6)], valid(0, 1)],
    [[operation(write(1), 0, null)], valid()],
    [[operation(write(1), 0, 1, 'fail'), operation(read(1), 5, 6)], invalid(1)],
    // The initial value is gone once another value is written.
    [[operation(write(1), 0, 1), operation(read(null), 2, 3)], invalid(1)],
    [[operation(write(1), 0, 2), operation(read(null), 2, 3)], valid(1, 0)],
    // Two forward zones must not overlap.
    [
      [
        operation(write(1), 0, 1),
        operation(write(2), 2, 3),
        operation(read(1), 4, 5),
        operation(read(2), 6, 7),
      ],
      invalid(2),
    ],
    [
      [
        operation(write(1), 0, 1),
        operation(write(2), 2, 5),
        operation(read(1), 4, 6),
        operation(read(2), 7, 8),
      ],
      valid(0, 2, 1, 3),
    ],
    // A backward zone must not lie inside a forward one.
    [[operation(write(1), 0, 1), operation(write(2), 2, 3), operation(read(1), 4, 5)], invalid(2)],
    [
      [operation(write(1), 0, 1), operation(write(2), 2, 4), operation(read(1), 4, 5)],
      valid(0, 2, 1),
    ],
    // Reads of one write are ordered by their calls.
    [
      [operation(read(1), 6, 9), operation(read(1), 5, 8), operation(write(1), 0, 1)],
      valid(2, 1, 0),
    ],
    [[operation(write(1), 0, 1), operation(write(1), 2, 3)], null],
    [[operation({ name: 'cas', key, expected: 1, value: 2, answer: 'matched' }, 0, 1)], null],
    [[operation({ name: 'cas', key, expected: 1, value: 2, answer: 'missed' }, 0, 1)], null],
    [[operation(read('unknown'), 0, 1)], null],
  ];
  it.each(rows)('%j is %j', (history, decision) => {
    expect(decideByZones(history, casRegister())).toEqual(decision);
  });
  it('may begin with a value that no operation writes', () => {
    const history = [operation(read(5), 0, 1), operation(write(1), 2, 3), operation(read(5), 4, 5)];
    expect(decideByZones(history, register(5))).toEqual(invalid(2));
    expect(decideByZones(history.slice(0, 2), register(5))).toEqual(valid(0, 1));
    expect(decideByZones([operation(write(5), 0, 1)], register(5))).toBeNull();
  });
});

describe('a lock whose calls are paired', () => {
  const take = (
    owner: string,
    token: number | null,
    answer: 'granted' | 'denied' | 'unknown' = 'granted',
  ): FencedMutexCall => ({ name: 'acquire', lock: 'l', owner, answer, token });
  const free = (owner: string, answer: 'released' | 'denied' = 'released'): FencedMutexCall => {
    return { name: 'release', lock: 'l', owner, answer };
  };
  const rows: readonly (readonly [History<FencedMutexCall>, FastDecision | null])[] = [
    [[], valid()],
    [[operation(take('a', 1), 0, 1)], valid(0)],
    [[operation(take('a', 1), 0, 1), operation(free('a'), 2, 3)], valid(0, 1)],
    // Two clients hold the lock at once.
    [[operation(take('a', 1), 0, 1), operation(take('b', 2), 0, 3)], invalid(1)],
    [
      [operation(take('a', 1), 0, 1), operation(free('a'), 3, 5), operation(take('b', 2), 0, 3)],
      valid(0, 1, 2),
    ],
    [
      [operation(take('a', 1), 0, 1), operation(free('a'), 4, 5), operation(take('b', 2), 0, 3)],
      invalid(2),
    ],
    // Tokens increase, and an unknown token needs a gap.
    [
      [operation(take('a', 2), 0, 1), operation(free('a'), 2, 3), operation(take('b', 2), 4, 5)],
      invalid(2),
    ],
    [
      [
        operation(take('a', 2), 0, 1),
        operation(free('a'), 2, 3),
        operation(take('b', null), 4, 5),
        operation(free('b'), 6, 7),
        operation(take('c', 3), 8, 9),
      ],
      invalid(4),
    ],
    [
      [
        operation(take('a', 2), 0, 1),
        operation(free('a'), 2, 3),
        operation(take('b', null), 4, 5),
        operation(free('b'), 6, 7),
        operation(take('c', 4), 8, 9),
      ],
      valid(0, 1, 2, 3, 4),
    ],
    // A denied acquire needs the lock to be held.
    [[operation(take('b', null, 'denied'), 0, 1)], invalid(0)],
    [[operation(take('b', null, 'denied'), 0, 2), operation(take('a', 1), 2, 3)], valid(1, 0)],
    [[operation(take('b', null, 'denied'), 0, 2), operation(take('a', 1), 3, 4)], invalid(0)],
    [
      [
        operation(take('a', 1), 0, 1),
        operation(free('a'), 2, 3),
        operation(take('b', null, 'denied'), 3, 4),
      ],
      valid(0, 2, 1),
    ],
    [
      [
        operation(take('a', 1), 0, 1),
        operation(free('a'), 2, 3),
        operation(take('b', null, 'denied'), 4, 5),
      ],
      invalid(2),
    ],
    [
      [operation(take('c', null, 'unknown'), 0, null), operation(take('b', null, 'denied'), 1, 2)],
      valid(0, 1),
    ],
    [
      [
        operation(take('a', 5), 0, 1),
        operation(free('a'), 2, 3),
        operation(take('c', 4, 'unknown'), 0, null),
        operation(take('b', null, 'denied'), 6, 7),
      ],
      invalid(3),
    ],
    // An unanswered acquire takes effect only if that lets a denied one find the lock held.
    [[operation(take('a', 1), 0, 1), operation(take('c', null, 'unknown'), 2, null)], valid(0)],
    [
      [
        operation(take('a', 1), 0, 1),
        operation(free('a'), 2, 3),
        operation(take('c', null, 'unknown'), 4, null),
        operation(take('b', null, 'denied'), 5, 6),
      ],
      valid(0, 1, 2, 3),
    ],
    [
      [
        operation(take('a', 1), 0, 1),
        operation(take('b', null, 'denied'), 2, 3),
        operation(free('a'), 4, 5),
        operation(take('c', null, 'unknown'), 6, null),
      ],
      valid(0, 1, 2),
    ],
    // It may take effect after its client gave up.
    [
      [
        operation(take('c', null, 'unknown'), 0, 1, 'info'),
        operation(take('a', 1), 2, 3),
        operation(free('a'), 4, 5),
        operation(take('b', null, 'denied'), 6, 7),
      ],
      valid(1, 2, 0, 3),
    ],
    // An unanswered release may or may not have taken effect.
    [[operation(take('a', 1), 0, 1), operation(free('a'), 2, null)], valid(0)],
    [
      [operation(take('a', 1), 0, 1), operation(free('a'), 2, null), operation(take('b', 2), 4, 5)],
      valid(0, 1, 2),
    ],
    // Calls that are not paired.
    [[operation(free('a'), 0, 1)], null],
    [[operation(take('a', 1), 0, 1), operation(take('a', 2), 2, 3)], null],
    [[operation(take('a', 1), 0, 2), operation(free('a'), 2, 3)], null],
    [[operation(take('a', 1), 0, 1), operation(free('a', 'denied'), 2, 3)], null],
    [[operation(take('a', null, 'unknown'), 0, 1)], null],
    [[operation(free('a'), 0, null)], null],
    [[operation(free('a'), 0, 1, 'fail')], valid()],
  ];
  it.each(rows)('%j is %j', (history, decision) => {
    expect(decidePairedLock(history)).toEqual(decision);
    expect(fencedMutex().fastPath).toBe(decidePairedLock);
  });
});
