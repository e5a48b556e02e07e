/** Tests the fields that a call may have, and how messages show a value. */
import { expect, test } from 'vitest';
import { mistakesIn, shownValue } from './call-shape.ts';

test.each([
  ['', '""'],
  [{ a: [1] }, '{"a":[1]}'],
  [null, 'null'],
  [undefined, 'undefined'],
  [Number.NaN, 'NaN'],
  [7, '7'],
  [true, 'true'],
])('%j is shown as %s', (value, text) => {
  expect(shownValue(value)).toBe(text);
});

test('a long value is truncated', () => {
  expect(shownValue('x'.repeat(200))).toBe(`"${'x'.repeat(79)}`);
});

test('a field matches its description, and may be omitted only if that allows it', () => {
  const find = mistakesIn({
    put: {
      text: 'a string',
      textOrNull: 'a string or null',
      number: 'a number',
      numberOrNull: 'a number or null',
      numberOrNot: 'a number or unknown',
      any: 'a number, a string or null',
      word: ['yes', 'no', 'unknown'],
      more: { optional: 'a number' },
    },
  });
  const good = {
    name: 'put',
    text: '',
    textOrNull: null,
    number: 0,
    numberOrNull: null,
    numberOrNot: 'unknown',
    any: null,
    word: 'no',
  };
  expect(find(good)).toBeNull();
  const also = { textOrNull: 'a', numberOrNull: 1, numberOrNot: 2, any: 'a', word: 'yes', more: 3 };
  expect(find({ ...good, ...also })).toBeNull();
  expect(find(Object.assign({}, good, { any: 4 }))).toBeNull();
  const wrong: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ text: null }, '"text" of its put must be a string, not null'],
    [{ textOrNull: 1 }, '"textOrNull" of its put must be a string or null, not 1'],
    [{ number: Infinity }, '"number" of its put must be a number, not Infinity'],
    [{ number: '1' }, '"number" of its put must be a number, not "1"'],
    [{ numberOrNull: 'a' }, '"numberOrNull" of its put must be a number or null, not "a"'],
    [{ numberOrNot: null }, '"numberOrNot" of its put must be a number or unknown, not null'],
    [{ any: true }, '"any" of its put must be a number, a string or null, not true'],
    [{ word: 'maybe' }, '"word" of its put must be yes, no or unknown, not "maybe"'],
    [{ word: undefined }, '"word" of its put must be yes, no or unknown, not undefined'],
    [{ more: 'a' }, '"more" of its put must be a number, not "a"'],
    [{ name: 'get' }, 'unknown call "get"; known: put'],
  ];
  for (const [field, mistake] of wrong) expect(find({ ...good, ...field })).toBe(mistake);
});
