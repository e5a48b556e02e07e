import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameOf, under } from './name.ts';

describe('a name', () => {
  test('has the FNV-1a hash of its text', () => {
    // Test vectors published with the hash (Fowler, Noll, Vo).
    expect(nameOf('').hash >>> 0).toBe(0x811c9dc5);
    expect(nameOf('a').hash >>> 0).toBe(0xe40c292c);
    expect(nameOf('foobar').hash >>> 0).toBe(0xbf9cf968);
  });

  test('of a part has the text and the hash of the whole path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, part) => {
        expect(under(nameOf(text), part)).toEqual(nameOf(`${text}/${part}`));
      }),
    );
  });

  test('distinguishes characters beyond one byte', () => {
    expect(nameOf('ā').hash).not.toBe(nameOf('Ā').hash);
    expect(nameOf('ш').hash).not.toBe(nameOf('H').hash);
  });
});
