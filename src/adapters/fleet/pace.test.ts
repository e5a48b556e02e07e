import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('the pace is that of the last minute, not since the start', () => {
  const pace = new Pace(1_000, 0);
  expect(pace.at(0, 1_000)).toBe(0);
  for (let s = 1; s <= 600; s += 1) pace.at(1_000 * s, 1_000 + s);
  expect(pace.at(600_000, 1_600)).toBeCloseTo(1, 1);
  for (let s = 1; s <= 61; s += 1) pace.at(600_000 + 1_000 * s, 1_600 + 100 * s);
  expect(pace.at(661_000, 7_700)).toBeGreaterThan(98);
});

test('where a chunk takes longer than a minute the last two that ended tell the pace', () => {
  const pace = new Pace(0, 0);
  expect(pace.at(100_000, 0)).toBe(0);
  expect(pace.at(300_000, 600)).toBe(2);
  expect(pace.at(600_000, 1_200)).toBe(2);
  expect(pace.at(660_000, 1_200)).toBeCloseTo(600 / 360);
  expect(pace.at(900_000, 2_400)).toBe(4);
  expect(pace.quietMs(950_000)).toBe(50_000);
});
