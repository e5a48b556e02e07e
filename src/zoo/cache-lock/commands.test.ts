import { describe, expect, test } from 'vitest';
import { FOR_EVER, type LockArguments, refusalsOf } from './commands.ts';

const GOOD: LockArguments = { key: 'db', expiration: 10, retry: 2, timeout: FOR_EVER };

describe('the arguments of a lock', () => {
  test('are accepted with a key, positive times, and a timeout or none', () => {
    const good = [GOOD, { ...GOOD, timeout: 1 }, { ...GOOD, expiration: 1, retry: 0.25 }];
    expect(good.flatMap(refusalsOf)).toEqual([]);
  });

  test.each([
    [{ key: '' }, 'a lock needs a key'],
    [{ expiration: 0 }, 'an expiration must be greater than 0, not 0'],
    [{ expiration: -10 }, 'an expiration must be greater than 0, not -10'],
    [{ retry: 0 }, 'a retry interval must be greater than 0, not 0'],
    [{ retry: Number.NaN }, 'a retry interval must be greater than 0, not NaN'],
    [{ timeout: 0 }, 'a timeout must be greater than 0, or -1 for no limit, not 0'],
    [{ timeout: -2 }, 'a timeout must be greater than 0, or -1 for no limit, not -2'],
  ])('are refused with %o', (wrong, message) => {
    expect(refusalsOf({ ...GOOD, ...wrong })).toEqual([message]);
  });

  test('are refused with all their mistakes at once', () => {
    expect(refusalsOf({ key: '', expiration: 0, retry: 0, timeout: 0 })).toHaveLength(4);
  });
});
