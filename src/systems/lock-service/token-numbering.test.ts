import { expect, test } from 'vitest';
import { type Numbering, tokenOf } from './lock-service.ts';

function tokens(numbering: Numbering, first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, before) => tokenOf(numbering, { first, before }));
}

test('exact tokens count from the first', () => {
  expect(tokens('exact', 31, 3)).toEqual([31, 32, 33]);
});

test('an exact token is a safe integer, or there is none', () => {
  expect(() => tokens('exact', Number.MAX_SAFE_INTEGER, 2)).toThrow('a token is a safe integer');
});

test('above 2^53 a double has every second integer, then even halves go down and up', () => {
  const above = tokens('double', 2 ** 53 - 2, 7).map((token) => token - 2 ** 53);
  expect(above).toEqual([-2, -1, 0, 0, 2, 4, 4]);
});

test('a counter of 32 bits goes on at its lowest', () => {
  expect(tokens('32-bit', 2 ** 31 - 2, 3)).toEqual([2 ** 31 - 2, 2 ** 31 - 1, -(2 ** 31)]);
});

test('random tokens are different, in no order, and above 0', () => {
  const given = tokens('random', 1, 1000);
  expect(new Set(given).size).toBe(1000);
  const rises = given.filter((token, at) => at > 0 && token > (given[at - 1] ?? 0)).length;
  expect(rises).toBeGreaterThan(400);
  expect(rises).toBeLessThan(600);
  expect(Math.min(...given)).toBeGreaterThan(0);
});
