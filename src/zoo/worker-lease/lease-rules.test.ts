import { describe, expect, test } from 'vitest';
import {
  beginningAt,
  freedBy,
  type LeaseRecord,
  LeaseTime,
  PUBLISHED_RULES,
  takenBy,
} from './lease-rules.ts';

const held: LeaseRecord = {
  state: 'leased',
  steps: 1,
  retries: 2,
  since: 10,
  expires: 20,
  fence: 7,
};
const ask = { steps: 3, retries: 0, now: 21, timeout: 5 };

describe('a lease', () => {
  test('that timed out is taken with the next fence, and records the new step', () => {
    const taken = { state: 'leased', steps: 3, retries: 0, since: 21, expires: 26, fence: 8 };
    expect(takenBy(held, ask)).toEqual(taken);
    expect(takenBy(held, { ...ask, now: 20 })).toBeNull();
  });

  test('that was released is taken at once, with the next fence', () => {
    const open = freedBy(held, { steps: 1, retries: 2, fence: 7 });
    expect(open).toMatchObject({ state: 'open', fence: 7 });
    expect(takenBy(open, { ...ask, now: 0 })).toMatchObject({ state: 'leased', fence: 8 });
    expect(freedBy(open, { steps: -1, retries: -1, fence: 7 })).toBeNull();
  });

  test('keeps its fence on a takeover only as a mutant, and even then not after a release', () => {
    const rules = { ...PUBLISHED_RULES, takeover: 'keeps' } as const;
    expect(takenBy(held, ask, rules)?.fence).toBe(7);
    const open = freedBy(held, { steps: 1, retries: 2, fence: 7 });
    expect(takenBy(open, ask, rules)?.fence).toBe(8);
  });

  test('is judged by the timeout of the request only as a mutant', () => {
    const rules = { ...PUBLISHED_RULES, timeout: 'own' } as const;
    const impatient = { ...ask, now: 16 };
    expect(takenBy(held, impatient)).toBeNull();
    expect(takenBy(held, impatient, rules)?.fence).toBe(8);
    expect(takenBy(held, { ...impatient, timeout: 6 }, rules)).toBeNull();
  });

  test('without a record starts at 1, or at a given number', () => {
    const first = takenBy(null, ask);
    expect(first?.fence).toBe(1);
    expect(beginningAt(held, 1_000_000).fence).toBe(1_000_000);
    expect(beginningAt(held, 0).fence).toBe(1);
  });
});

describe('time', () => {
  test('in whole seconds rounds the clock down and the ttl up, so that no lease is too short', () => {
    const time = new LeaseTime('whole');
    expect([0, 999_999, 1_000_000].map((us) => time.timeOf(us))).toEqual([0, 0, 1]);
    expect([1, 1_000_000, 1_500_000].map((us) => time.timeoutOf(us))).toEqual([1, 1, 2]);
    const expires = time.timeOf(1_900_000) + time.timeoutOf(1_500_000);
    expect(time.endUsOf(expires)).toBe(4_000_000);
    expect(time.timeOf(time.endUsOf(expires))).toBe(expires + 1);
    expect(time.timeOf(time.endUsOf(expires) - 1)).toBe(expires);
  });

  test('truncated loses up to a second of the ttl', () => {
    const time = new LeaseTime('truncated');
    expect([999_999, 1_500_000].map((us) => time.timeoutOf(us))).toEqual([0, 1]);
    expect(time.endUsOf(time.timeOf(1_900_000) + time.timeoutOf(1_500_000))).toBe(3_000_000);
  });

  test('exact ends a microsecond after its last', () => {
    const time = new LeaseTime('exact');
    expect([time.timeOf(1_900_001), time.timeoutOf(1_500_001)]).toEqual([1_900_001, 1_500_001]);
    expect(time.endUsOf(3_400_002)).toBe(3_400_003);
  });
});
