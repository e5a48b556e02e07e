import { describe, expect, test } from 'vitest';
import { JobKeys } from './job-guard.ts';

const step = { lock: 'm', tick: 1, fence: null };

describe('a key', () => {
  test('is claimed once', () => {
    const keys = new JobKeys();
    expect([keys.has(step), keys.claim(step), keys.has(step), keys.claim(step)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test('of another step or machine is another key', () => {
    const keys = new JobKeys();
    keys.claim(step);
    expect(keys.claim({ ...step, tick: 2 })).toBe(true);
    expect(keys.claim({ ...step, lock: 'n' })).toBe(true);
  });

  test('with a fence is claimed once per holder, and never by an earlier one', () => {
    const keys = new JobKeys();
    const claims = [2, 2, 3, 2, 1, 3].map((fence) => keys.claim({ ...step, fence }));
    expect(claims).toEqual([true, false, true, false, false, false]);
    expect(keys.claim({ ...step, tick: 2, fence: 2 })).toBe(false);
    expect(keys.claim({ ...step, lock: 'n', fence: 1 })).toBe(true);
  });

  test('that was claimed after a snapshot is unknown once that is restored', () => {
    const keys = new JobKeys();
    const restore = keys.snapshot();
    keys.claim({ ...step, fence: 9 });
    restore();
    expect(keys.claim({ ...step, fence: 1 })).toBe(true);
  });
});
