import { describe, expect, test } from 'vitest';
import { pause, planWith } from './sample-plan.fixture.ts';
import { isSimpler, scales } from './simpler.ts';

describe('the order of plans', () => {
  test('has a scale for each kind of complexity, and is strict', () => {
    const start = planWith([pause('alice', 12_345)]);
    expect(isSimpler(start, start)).toBe(false);
    expect([...scales].map(([name, scale]) => [name, scale(start)])).toEqual([
      ['chance', 0],
      ['clients', 3],
      ['probe', 1],
      ['faults', 1],
      ['messages', 0],
      ['sections', 6],
      ['steps of work', 12],
      ['decisions', 5],
      ['order', 2],
      ['features', 3 * 11 + 6],
      ['instants', 1],
      ['digits', 5 + 4 + 6 * 4 + 3 + 4 * 3 + 2],
      ['time', 12_345 + 7_345 + 2 * (1_234 + 2_345 + 3_456) + 734 + 812 + 813 + 814 + 815 + 2_500],
      ['values', 3 * (41 + 51 + 42 + 52)],
    ]);
  });

  test('prefers fewer faults to rounder numbers, and rounder numbers to shorter times', () => {
    const one = planWith([pause('alice', 12_345)]);
    const two = planWith([pause('alice', 10_000), pause('bob', 10_000)]);
    expect(isSimpler(one, two)).toBe(true);
    expect(isSimpler(planWith([pause('alice', 20_000)]), one)).toBe(true);
    expect(isSimpler(one, planWith([pause('alice', 20_000)]))).toBe(false);
  });
});
