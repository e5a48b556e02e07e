import { expect, test } from 'vitest';
import { isInRange } from './version-range.ts';

test.each([
  ['20.19.0', '>=20.19', true],
  ['20.18.9', '>=20.19', false],
  ['24.0.0', '>=20.19', true],
  ['v22.1.0-nightly', '>=20.19', true],
  ['4.1.12', '^4.0.0', true],
  ['5.0.0', '^4.0.0', false],
  ['3.9.9', '^4.0.0', false],
  ['0.2.9', '^0.2.3', true],
  ['0.3.0', '^0.2.3', false],
  ['0.0.4', '^0.0.3', false],
  ['0.9.0', '^0', true],
  ['0.0.9', '^0.0', true],
  ['0.1.0', '^0.0', false],
  ['1.2.9', '~1.2.3', true],
  ['1.3.0', '~1.2.3', false],
  ['1.9.0', '~1', true],
  ['4.1.7', '4.1', true],
  ['4.2.0', '4.1', false],
  ['4.2.0', '4.x', true],
  ['4.1.7', '=4.1.7', true],
  ['4.0.0', '>4', false],
  ['5.0.0', '>4', true],
  ['4.9.9', '<=4', true],
  ['5.0.0', '<=4', false],
  ['4.5.0', '>=3 <5', true],
  ['5.0.0', '>= 3 < 5', false],
  ['3.2.0', '^5.0.0 || ^3.1.0', true],
  ['4.0.0', '^5.0.0 || ^3.1.0', false],
  ['4.0.0', '1 - 5', true],
  ['6.0.0', '1 - 5', false],
  ['4.0.0', '*', true],
  ['4.0.0', '', true],
])('%s in %s is %s', (version, range, isIn) => {
  expect(isInRange(version, range)).toBe(isIn);
});

test('what is not understood is neither in a range nor out of it', () => {
  expect(isInRange('4.0.0', 'latest')).toBe(null);
  expect(isInRange('', '*')).toBe(null);
  expect(isInRange('4.0.0', 'latest || ^5')).toBe(null);
  expect(isInRange('4.0.0', 'latest || ^4')).toBe(true);
});
