import { expect, test } from 'vitest';
import { ALWAYS, completed, fieldText, statedFields } from './left-out.ts';

const defaults = { ttlUs: 10_000, driftPpm: 5, lock: 'db', endsUs: 3 };

test('a field in a file overrides a default, by its name without the unit', () => {
  const read = { ttl: 7, drift: 0, other: 1, endsUs: 9, lock: undefined };
  expect(completed(defaults, read)).toEqual({ ...defaults, ttlUs: 7, driftPpm: 0 });
  expect(completed(defaults, {})).toBe(defaults);
});

test('fields are written in the order of the defaults, except those that equal theirs', () => {
  const values = { lock: 'b', driftPpm: 5, ttlUs: 7_000, other: 1 };
  const fields = statedFields(values, { ...defaults, id: ALWAYS });
  expect(Object.entries(fields)).toEqual([
    ['ttl', '7ms'],
    ['lock', 'b'],
  ]);
});

test('a field without a default is written if it is present', () => {
  const fields = statedFields({ id: 1, other: undefined }, { id: ALWAYS, other: 7 });
  expect(fields).toStrictEqual({ id: 1 });
});

test.each([
  ['ttlUs', 1_500, '1.5ms'],
  ['ttlUs', null, 'never'],
  ['driftPpm', -200, '-200ppm'],
  ['pool', 3, 3],
  ['lock', 'db', 'db'],
  ['releases', false, false],
])('%s of %s is written %s', (name, value, text) => {
  expect(fieldText(name, value)).toBe(text);
});
