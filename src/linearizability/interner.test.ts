import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import type { Json } from '../core/kernel/json.ts';
import { hashContent, hasSameContent, Interner } from './interner.ts';

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, '', 'a', 'ab', 0, 1, -1, 0.5, 2 ** 40),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));

/** Returns the text of `value` with sorted fields: another way to compare. */
function sortedText(value: Json): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

describe('content', () => {
  it('is equal if and only if the texts with sorted fields are, and then has equal hashes', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const isSame = sortedText(a) === sortedText(b);
        expect(hasSameContent(a, b)).toBe(isSame);
        if (isSame) expect(hashContent(a)).toBe(hashContent(b));
        expect(hasSameContent(a, structuredClone(a))).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });
  it('does not depend on the order of fields', () => {
    expect(hashContent({ a: 1, b: 'x' })).toBe(hashContent({ b: 'x', a: 1 }));
    expect(hasSameContent({ a: 1, b: 'x' }, { b: 'x', a: 1 })).toBe(true);
    expect(hasSameContent({ a: 1 }, { a: 1, b: 'x' })).toBe(false);
  });
  it('does not include inherited fields', () => {
    const named = (field: string): Json => ({ [field]: {} });
    expect(hasSameContent(named('__proto__'), named('a'))).toBe(false);
    expect(hasSameContent(named('__proto__'), named('__proto__'))).toBe(true);
  });
});

describe('an interner', () => {
  it('numbers each of thousands of values once', () => {
    const interner = new Interner();
    interner.reset();
    const values = Array.from({ length: 5_000 }, (_, index) => ({ a: index % 70, b: [index] }));
    expect(values.map((value) => interner.intern(value))).toEqual([...values.keys()]);
    expect(values.map((value) => interner.intern({ ...value }))).toEqual([...values.keys()]);
  });
  it('needs more memory for longer texts, alone and in a list', () => {
    const bytesOf = (value: Json): number => {
      const interner = new Interner();
      interner.reset();
      interner.intern(value);
      return interner.bytes;
    };
    const short = 'a';
    const long = 'a'.repeat(1_001);
    expect(bytesOf(long) - bytesOf(short)).toBe(1_000);
    expect(bytesOf([long]) - bytesOf([short])).toBe(1_000);
  });
});
