/** Values that tell acquisitions apart. */
import { expect, test } from 'vitest';
import { nameOf } from '../../core/kernel/name.ts';
import { randomValue } from './random-value.ts';

const names = Array.from({ length: 20_000 }, (_, at) => `alice/${at % 100}/acquire-${at}`);

test('no two acquisitions of a long run have the same value', () => {
  const values = names.map((name) => randomValue(nameOf(name)));
  expect(new Set(values).size).toBe(names.length);
  expect(values.every((value) => Number.isSafeInteger(value) && value > 0)).toBe(true);
});

test('an acquisition always has its value', () => {
  expect(randomValue(nameOf('alice/1/acquire'))).toBe(randomValue(nameOf('alice/1/acquire')));
});

test('values have no order: about every second is lower than the one before', () => {
  const values = names.map((name) => randomValue(nameOf(name)));
  const falls = values.filter((value, at) => value < (values[at - 1] ?? 0)).length;
  expect(falls / names.length).toBeGreaterThan(0.4);
  expect(falls / names.length).toBeLessThan(0.6);
});
