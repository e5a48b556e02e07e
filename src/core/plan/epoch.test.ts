import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ASYNC_EPOCH_US, formatInstant, parseInstant } from './duration.ts';

const LAST_MS = Date.parse('2200-01-01') - 1;

test('an instant matches the calendar, and its text reads back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: LAST_MS }), (ms) => {
      const text = formatInstant(ms * 1000);
      expect(Date.parse(text)).toBe(ms);
      expect(parseInstant(text)).toBe(ms * 1000);
      expect(parseInstant(new Date(ms).toISOString())).toBe(ms * 1000);
    }),
  );
});

test('an instant is written as short as possible', () => {
  expect(formatInstant(0)).toBe('1970-01-01');
  expect(formatInstant(ASYNC_EPOCH_US)).toBe('2024-01-01');
  expect(formatInstant(ASYNC_EPOCH_US + 45_296_500_001)).toBe('2024-01-01T12:34:56.500001Z');
});

test.each([
  '2024-02-30',
  '2023-02-29',
  '2024-13-01',
  '2024-00-10',
  '2024-01-00',
  '1969-12-31',
  '2024-01-01T24:00:00Z',
  '2024-01-01T00:00:00',
  '2024-1-1',
  'yesterday',
  '',
  '1',
  '2200-01-01',
  '9999-12-31T23:59:59.999999Z',
])('%j is not an instant', (text) => {
  expect(parseInstant(text)).toBeUndefined();
});
