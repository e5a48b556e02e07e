/**
 * Law: a seed gives its recorded plan, and a plan its recorded trace: for every shipped scenario,
 * and for locks as users write them, on the first block of seeds that `npm run freeze` recorded.
 */
import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { differencesOf, RECORDS, readRecord } from '../tools/freeze/frozen.ts';
import { subjects } from '../tools/freeze/subjects.ts';
import { some } from './runs.ts';

const cases = subjects().filter(({ name }) => /^(scenarios|own-locks)\//.test(name));

test.each(some(cases))(
  '$name: a seed gives its recorded plan and trace',
  async ({ name, record }) => {
    expect(differencesOf(name, readRecord(name), await record('first'), 'first')).toEqual([]);
  },
);

test('exactly the subjects to freeze are recorded, in less than 1 MB', () => {
  const files = readdirSync(RECORDS, { recursive: true, encoding: 'utf8' });
  const names = files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4));
  const known = subjects().map(({ name }) => name);
  expect(names.sort()).toEqual(known.sort());
  const sizes = names.map((name) => statSync(`${RECORDS}${name}.txt`).size);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(1_000_000);
  for (const name of known) expect(readRecord(name).size, name).toBeGreaterThan(0);
});
