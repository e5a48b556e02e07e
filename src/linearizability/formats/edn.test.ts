/** What EDN means, form by form, and where it goes wrong. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import { ednText, readEdn } from './edn.ts';

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
  ];
  test.each(forms)('%s is read', (text, value) => expect(one(text)).toEqual(value));

  test.each([
    ['[1 2', 0, '"]" is missing'],
    ['[1 }', 3, 'nothing is open that "}" closes'],
    ['"abc', 0, 'not closed'],
    ['"a\\x"', 2, 'unknown escape'],
    ['{:a}', 0, 'has no value'],
    ['{:a 1 :a 2}', 0, 'stands twice'],
    ['12ab', 0, 'unexpected "12ab"'],
    ['[:]', 1, 'unexpected ":"'],
    ['#_', 0, 'nothing follows'],
    ['#tag', 0, 'nothing follows the tag'],
    ['['.repeat(200), 100, 'levels deep'],
  ])('%s is refused where it goes wrong', (text, offset, what) => {
    const read = readEdn(text);
    expect(read).toMatchObject({ kind: 'malformed', offset });
    expect(read.kind === 'malformed' ? read.what : '').toContain(what);
  });
});

test('what is written as EDN is read back', () => {
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
