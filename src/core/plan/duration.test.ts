import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DURATION_PATTERN,
  formatDuration,
  formatRange,
  parseDuration,
  parseInstant,
  parseRange,
  parseStep,
  parseStepRange,
} from './duration.ts';

describe('a duration', () => {
  test.each([
    ['10ms', 10_000],
    ['250us', 250],
    ['1.5s', 1_500_000],
    ['2h', 7_200_000_000],
    ['5min', 300_000_000],
    ['5m', 300_000_000],
    ['9.999ms', 9_999],
    ['0', 0],
    ['0ms', 0],
    ['1.50ms', 1_500],
    ['0.1ms', 100],
    ['9007199254740991us', Number.MAX_SAFE_INTEGER],
  ])('%s is %i µs', (text, us) => {
    expect(parseDuration(text)).toBe(us);
    expect(text).toMatch(new RegExp(DURATION_PATTERN));
  });

  test.each([
    '',
    '10',
    '10 ms',
    '-1ms',
    '+1ms',
    '1e3ms',
    '.5ms',
    '1.ms',
    '1,5ms',
    '1ms ',
    '١ms',
    'ms',
    '00',
    '0.5us',
    '1.0001ms',
    '9007199254740992us',
    '9999999999999999h',
    '10MS',
    'never',
  ])('%j is not one', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test.each([
    [0, '0ms'],
    [10_000, '10ms'],
    [9_999, '9.999ms'],
    [250, '250us'],
    [1_500_000, '1.5s'],
    [1_000, '1ms'],
    [86_400_000_000, '24h'],
    [-5_000, '-5ms'],
  ])('of %i µs is written %s', (us, text) => {
    expect(formatDuration(us)).toBe(text);
  });

  test('never loses a microsecond on the way to text and back', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat(), fc.nat(2_000_000)), (us) => {
        expect(parseDuration(formatDuration(us))).toBe(us);
        expect(formatDuration(us)).toMatch(new RegExp(DURATION_PATTERN));
      }),
    );
  });

  test('may be negative if it steps a clock', () => {
    expect(parseStep('-5ms')).toBe(-5_000);
    expect(parseStep('-0ms')).toBe(0);
    expect(parseStep('--5ms')).toBeUndefined();
    expect(parseStepRange('-5ms..5ms')).toEqual({ minUs: -5_000, maxUs: 5_000 });
  });
});

describe('a range', () => {
  test('has two ends in order, or one value', () => {
    expect(parseRange('1ms..5ms')).toEqual({ minUs: 1_000, maxUs: 5_000 });
    expect(parseRange('5ms')).toEqual({ minUs: 5_000, maxUs: 5_000 });
    expect(parseRange('5ms..1ms')).toBeUndefined();
    expect(parseRange('1ms...5ms')).toBeUndefined();
    expect(parseRange('1..5ms')).toBeUndefined();
  });

  test('reads back as it was written', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
        const range = { minUs: Math.min(a, b), maxUs: Math.max(a, b) };
        expect(parseRange(formatRange(range))).toEqual(range);
      }),
    );
  });
});

test.each([
  ['2000-02-29', true],
  ['1900-02-29', false],
  ['2100-02-29', false],
  ['2024-02-29', true],
  ['2023-02-29', false],
])('%s is a day: %s', (day, isDay) => {
  expect(parseInstant(`${day}T00:00:00Z`) !== undefined).toBe(isDay);
});
