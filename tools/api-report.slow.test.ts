/**
 * Compares the public API of the built package with its record; `npm run api` updates the record.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { hidden, undocumented } from './api-report.mjs';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Maximum number of names that an entry exports. */
const MOST: Readonly<Record<string, number>> = {
  fencepost: 80,
  'fencepost/check': 40,
  'fencepost/servers': 60,
  'fencepost/redis': 25,
  'fencepost/fast-check': 10,
  'fencepost/vitest': 10,
  'fencepost/fleet': 10,
};

const printed = spawnSync('node', [at('api-report.mjs')], { encoding: 'utf8' }).stdout;

test('the public API is that of tools/api-report.txt', () => {
  expect(printed.length).toBeGreaterThan(10_000);
  expect(printed).toBe(readFileSync(at('api-report.txt'), 'utf8'));
});

test.each(Object.entries(MOST))('%s exports at most %i names', (entry, most) => {
  const [, count = ''] = new RegExp(`^${entry}: (\\d+) names$`, 'm').exec(printed) ?? [];
  expect(Number(count)).toBeGreaterThan(0);
  expect(Number(count)).toBeLessThanOrEqual(most);
});

test.each(Object.keys(MOST))('every name in the signatures of %s is exported', (entry) => {
  expect(hidden(entry)).toEqual([]);
});

test.each(['fencepost/servers', 'fencepost/redis'])(
  'each name of %s has a doc comment',
  (entry) => {
    expect(undocumented(entry)).toEqual([]);
  },
);
