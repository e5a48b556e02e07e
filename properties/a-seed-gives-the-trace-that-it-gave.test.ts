/**
 * Law: a seed means the plan that it meant, and a plan gives the trace that it gave: for every
 * scenario that ships, and for locks that people bring, on the first block of the seeds that
 * `npm run freeze` recorded.
 */
import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { differencesOf, RECORDS, readRecord } from '../tools/freeze/frozen.ts';
import { subjects } from '../tools/freeze/subjects.ts';
import { some } from './runs.ts';

const cases = subjects().filter(({ name }) => /^(scenarios|own-locks)\//.test(name));

test.each(some(cases))(
  '$name: a seed gives the plan and the trace that it gave',
  async ({ name, record }) => {
    expect(differencesOf(name, readRecord(name), await record('first'), 'first')).toEqual([]);
  },
);

test('whatever there is to freeze is recorded, and nothing else, in less than 1 MB', () => {
  const files = readdirSync(RECORDS, { recursive: true, encoding: 'utf8' });
  const names = files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4));
  const known = subjects().map(({ name }) => name);
  expect(names.sort()).toEqual(known.sort());
  const sizes = names.map((name) => statSync(`${RECORDS}${name}.txt`).size);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(1_000_000);
  for (const name of known) expect(readRecord(name).size, name).toBeGreaterThan(0);
});
