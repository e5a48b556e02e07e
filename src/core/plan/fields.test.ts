import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  closed,
  durationOrNever,
  formatOdds,
  instant,
  integer,
  mapOfOne,
  name,
  odds,
  optional,
  parseRate,
  point,
  positiveDuration,
  range,
  rangeOrNever,
  rate,
  ratio,
  shown,
  step,
  stepRange,
} from './fields.ts';

/** Returns the value that is read, or the error messages. */
function read(schema: z.ZodType, input: unknown): unknown {
  const result = schema.safeParse(input, { reportInput: true });
  return result.success ? result.data : result.error.issues.map(({ message }) => message).join();
}

describe('a field', () => {
  test.each([
    ['a zero duration', positiveDuration, '0', 'must be longer than 0'],
    ['the shortest time', positiveDuration, '1us', 1],
    ['a bare 0', step, 0, 0],
    ['a step back', step, '-5ms', -5_000],
    ['an instant', instant, '1970-01-02', 86_400_000_000],
    ['two ends', range, '1us..2us', { minUs: 1, maxUs: 2 }],
    ['never, for a time', durationOrNever, 'never', null],
    ['a time, for never', durationOrNever, '3us', 3],
    ['never, for a range', rangeOrNever, 'never', 'never'],
    ['a range, for never', rangeOrNever, '1us..2us', { minUs: 1, maxUs: 2 }],
    ['a range of steps', stepRange, '-1us..2us', { minUs: -1, maxUs: 2 }],
    ['a rate', rate, '-200ppm', -200],
    ['the most odds', odds, '2/2', { numerator: 2, denominator: 2 }],
    ['odds in percent', odds, '12.5%', { numerator: 125, denominator: 1_000 }],
    ['odds of always', odds, 1, { numerator: 1, denominator: 1 }],
    ['odds of always, as text', odds, '1', { numerator: 1, denominator: 1 }],
    ['odds of never', odds, '0', { numerator: 0, denominator: 1 }],
    ['a ratio above 1', ratio, '3/2', { numerator: 3, denominator: 2 }],
    ['a ratio above 100 percent', ratio, '250%', { numerator: 250, denominator: 100 }],
    [
      'the finest percent',
      ratio,
      '999999999.9999%',
      { numerator: 9999999999999, denominator: 1e6 },
    ],
    ['the largest parts', ratio, '1/9007199254740991', { numerator: 1, denominator: 2 ** 53 - 1 }],
    ['whole numbers', integer(2, 3), 2, 2],
  ])('reads %s', (_, schema, input, value) => {
    expect(read(schema, input)).toEqual(value);
  });

  const ODDS = 'expected odds such as 1/20 or 5%, at most 1, not';
  const RATIO = 'expected a ratio such as 1/4 or 25%, not';
  const RATE = 'expected a rate such as 200ppm or -200ppm, not';
  test.each([
    ['nothing', rate, undefined, 'is missing; expected a rate such as 200ppm or -200ppm'],
    ['a list', rate, [], `${RATE} a list`],
    ['a stopped clock', rate, '-1000000ppm', `${RATE} "-1000000ppm"`],
    ['odds above 1', odds, 2, `${ODDS} 2`],
    ['odds above 1', odds, '3/2', `${ODDS} "3/2"`],
    ['odds with a denominator of 0', odds, '1/0', `${ODDS} "1/0"`],
    ['0 divided by 0', ratio, '0/0', `${RATIO} "0/0"`],
    ['a percent too fine', ratio, '1.00001%', `${RATIO} "1.00001%"`],
    ['a percent too large', ratio, '1234567890%', `${RATIO} "1234567890%"`],
    ['a part too large', ratio, '9007199254740992/1', `${RATIO} "9007199254740992/1"`],
    ['a whole too large', ratio, '1/9007199254740992', `${RATIO} "1/9007199254740992"`],
    ['parts of 17 digits', ratio, '00000000000000001/2', `${RATIO} "00000000000000001/2"`],
    ['a whole of 17 digits', ratio, '1/00000000000000002', `${RATIO} "1/00000000000000002"`],
    ['a number for a name', name, '12', 'a name must not be a number'],
    ['a name that objects have', name, '__proto__', 'the name "__proto__" cannot be used'],
    ['a slash', name, 'a/b', 'a name has 1 to 100 characters, none of them "/" or blank'],
    ['a blank in a point', point, 'a b', 'expected a name such as alice/1/write'],
  ])('refuses %s', (_, schema, input, message) => {
    expect(read(schema, input)).toBe(message);
  });

  test('accepts a name that begins or ends with digits', () => {
    expect([read(name, 'a1'), read(name, '1a'), read(point, 'a/1/b')]).toEqual([
      'a1',
      '1a',
      'a/1/b',
    ]);
  });

  test('has a description in the schema', () => {
    const field = optional(name, 'Who it is.');
    expect([field.description, read(field, undefined)]).toEqual(['Who it is.', undefined]);
  });
});

test.each([
  ['0', 0],
  ['200ppm', 200],
  ['-999999ppm', -999_999],
  ['9999999ppm', 9_999_999],
  ['-0ppm', 0],
  ['-1000000ppm', undefined],
  ['12345678ppm', undefined],
  ['200', undefined],
  ['ppm', undefined],
  ['x200ppm', undefined],
  ['200ppms', undefined],
])('a rate of %s is read as %s', (text, ppm) => {
  expect(parseRate(text)).toBe(ppm);
});

test('odds are written as a fraction', () => {
  expect(formatOdds({ numerator: 1, denominator: 20 })).toBe('1/20');
});

test.each([
  ['nothing', undefined, 'nothing'],
  ['a list', [1], 'a list'],
  ['a map', {}, 'a map'],
  ['null', null, 'null'],
  ['a number', 7, '7'],
  ['text', 'a"b', '"a\\"b"'],
  ['60 characters', 'x'.repeat(58), `"${'x'.repeat(58)}"`],
  ['more than 60 characters', 'x'.repeat(59), `"${'x'.repeat(56)}…`],
])('an error shows %s', (_, input, text) => {
  expect(shown(input)).toBe(text);
});

describe('a map', () => {
  const shape = { a: z.number().optional(), b: z.number().optional() };

  test('lists its fields if one is unknown, and adds nothing to other errors', () => {
    const map = closed('spice', shape);
    expect(read(map, { c: 1 })).toBe('spice: a b');
    expect(read(map, { a: 'x' })).toBe('Invalid input: expected number, received string');
    expect(read(map, 7)).toBe('Invalid input: expected object, received number');
  });

  test('of one key is read as its value, and any other number of keys is refused', () => {
    const kinds = {
      a: z.object({ x: z.number() }).optional(),
      b: z.object({ y: z.number() }).optional(),
    };
    const one = mapOfOne<object>('step', kinds);
    expect(read(one, { b: { y: 2 } })).toEqual({ y: 2 });
    expect(read(one, { a: { x: 1 }, b: undefined })).toEqual({ x: 1 });
    for (const entry of [{}, { a: { x: 1 }, b: { y: 2 } }]) {
      expect(read(one, entry)).toBe('a step is a map of one key');
    }
  });
});
