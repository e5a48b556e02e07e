import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { copy } from './copy.ts';

describe('a copy', () => {
  test('equals its original and shares nothing with it', () => {
    const original = { list: [1, { deep: 'x' }], text: 'a', none: null };
    const twin = copy(original);
    expect(twin).toEqual(original);
    expect(twin).not.toBe(original);
    expect(twin.list).not.toBe(original.list);
    expect(twin.list[1]).not.toBe(original.list[1]);
  });

  test('survives JSON as its original does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.stringify(copy(plain))).toBe(JSON.stringify(plain));
      }),
    );
  });
});
