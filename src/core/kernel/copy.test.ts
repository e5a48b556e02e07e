import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { copy } from './copy.ts';
import type { Json } from './json.ts';

describe('a copy', () => {
  test('equals its original and shares nothing with it', () => {
    const original = { list: [1, { deep: 'x' }], text: 'a', none: null };
    const twin = copy(original);
    expect(twin).toEqual(original);
    expect(twin).not.toBe(original);
    expect(twin.list).not.toBe(original.list);
    expect(twin.list[1]).not.toBe(original.list[1]);
  });

  test('keeps a key named __proto__', () => {
    const value: Json = JSON.parse('{"__proto__":{"a":1},"b":[{"__proto__":0}]}');
    expect(JSON.stringify(copy(value))).toBe(JSON.stringify(value));
  });

  test('omits undefined fields, as JSON does', () => {
    const optional: { a?: Json } = JSON.parse('{}');
    const value: Json = Object.defineProperty(optional, 'a', {
      value: undefined,
      enumerable: true,
    });
    expect(Object.keys(copy(value))).toEqual([]);
  });

  test('has the same JSON as its original', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.stringify(copy(plain))).toBe(JSON.stringify(plain));
      }),
    );
  });
});
