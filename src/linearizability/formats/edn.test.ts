/** Tests the meaning of EDN, form by form, and the position of errors. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import { ednText, readEdn, readEdnFields } from './edn.ts';

function one(text: string): Json | undefined {
  const read = readEdn(text);
  if (read.kind === 'malformed') expect.fail(`${read.offset}: ${read.what}`);
  expect(read.forms).toHaveLength(1);
  return read.forms[0];
}

describe('a form of EDN', () => {
  const forms: readonly (readonly [text: string, value: Json])[] = [
    ['nil', null],
    ['true', true],
    ['-12', -12],
    ['+3', 3],
    ['12N', 12],
    ['1.5e3', 1500],
    ['12345678901234567890', '12345678901234567890'],
    ['1/3', '1/3'],
    ['##Inf', '##Inf'],
    [':a/b', ':a/b'],
    ['a-symbol!', 'a-symbol!'],
    ['a_b', 'a_b'],
    ['-', '-'],
    ['*1*', '*1*'],
    [':12', ':12'],
    ['##NaN', '##NaN'],
    ['##-Inf', '##-Inf'],
    ['1e999', '1e999'],
    ['-1/3', '-1/3'],
    ['1.5M', 1.5],
    ['"\\\\\\t\\b\\f\\r"', '\\\t\b\f\r'],
    ['\\\\', '\\\\'],
    ['#a.b/c {:d 1}', { '#a.b/c': { d: 1 } }],
    ['a;b', 'a'],
    [`(${'[]'.repeat(200)})`, Array.from({ length: 200 }, () => [])],
    ['\\newline', '\\newline'],
    ['\\{', '\\{'],
    ['"a \\"b\\" \\u00e9\\n"', 'a "b" é\n'],
    ['"two\nlines"', 'two\nlines'],
    ['[1, [2 (3)]]', [1, [2, [3]]]],
    ['{:a 1, "b" {2 3}}', { a: 1, '"b"': { '2': 3 } }],
    ['#{3 1 2}', { '#set': [1, 2, 3] }],
    ['#inst "2020"', { '#inst': '2020' }],
    ['#jepsen.independent/tuple [1 2]', [1, 2]],
    ['[1 #_ 2 #_ #_ {:a "]"} 3 4] ; [', [1, 4]],
    ['; nothing\n ,, 5', 5],
    ['\u2003[1\u20282]\u3000', [1, 2]],
  ];
  test.each(forms)('%s is read', (text, value) => expect(one(text)).toEqual(value));

  test.each([
    ['[1 2', 0, '"]" is missing'],
    ['[1 }', 3, 'unmatched "}'],
    ['"abc', 0, 'not closed'],
    ['"a\\x"', 2, 'unknown escape'],
    ['{:a}', 0, 'has no value'],
    ['{:a 1 :a 2}', 0, 'duplicate key :a'],
    ['12ab', 0, 'unexpected "12ab"'],
    ['[1 2)', 4, 'unmatched ")'],
    ['::1', 0, 'unexpected "::1"'],
    [':1a', 0, 'unexpected ":1a"'],
    ['1/b', 0, 'unexpected "1/b"'],
    ['##xInf', 0, 'unknown ##xInf'],
    ['##Infx', 0, 'unknown ##Infx'],
    ['1 \\ ', 2, 'expected a character after \\'],
    ['#(1)', 0, 'expected a tag after #'],
    ['{:a 1 :__proto__ 2}', 0, 'duplicate key :__proto__'],
    ['"a\\u00g0"', 2, 'unknown escape'],
    ['[:]', 1, 'unexpected ":"'],
    ['#_', 0, 'nothing follows'],
    ['#tag', 0, 'nothing follows the tag'],
    ['['.repeat(200), 100, 'levels deep'],
  ])('%s is refused at the position of the error', (text, offset, what) => {
    const read = readEdn(text);
    expect(read).toMatchObject({ kind: 'malformed', offset });
    expect(read.kind === 'malformed' ? read.what : '').toContain(what);
  });
});

test('the text of data does not depend on the order of its fields', () => {
  const data = { b: 1, a: [null, true, ':k', 'x'], c: {} };
  expect(ednText(data)).toBe('{a [nil true :k "x"], b 1, c {}}');
});

test('the fields of a text are those of its first form, which must be a map', () => {
  expect(readEdnFields('{:a 1}')).toEqual({ kind: 'fields', fields: { a: 1 } });
  const what = 'expected a map, found [1]';
  expect(readEdnFields('[1]')).toEqual({ kind: 'malformed', offset: 0, what });
  expect(readEdnFields('{:a')).toMatchObject({ kind: 'malformed', offset: 0 });
  expect(readEdnFields('')).toMatchObject({ what: 'expected a map, found nil' });
});

test('data written as EDN is read back unchanged', () => {
  const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constant(':keyword'));
  const text = fc.string().filter((string) => !string.startsWith(':'));
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(leaf, text, fc.array(tie('value'), { maxLength: 4 })),
  })).value;
  fc.assert(
    fc.property(value, (json) => {
      expect(one(ednText(json))).toEqual(json);
    }),
  );
});
