/**
 * Checks the mistakes that `npm run mutate` makes in fencepost itself: it stops at one that can no
 * longer be made, and this test finds that earlier.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { linesOfEntry } from './equivalents.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

const list = z.array(
  z.strictObject({
    name: z.string(),
    file: z.string(),
    text: z.string(),
    replacement: z.string(),
    tests: z.array(z.tuple([z.string(), z.string()])).min(1),
  }),
);

const mutants = list.parse(
  JSON.parse(readFileSync(`${root}tools/mutate/harness-mutants.json`, 'utf8')),
);

test.each(mutants)('$name: it can be made, and has tests', (mutant) => {
  const source = readFileSync(`${root}${mutant.file}`, 'utf8');
  expect(source.split(mutant.text).length - 1, `${mutant.file}: ${mutant.text}`).toBe(1);
  expect(mutant.replacement).not.toBe(mutant.text);
  for (const [file] of mutant.tests) expect(existsSync(`${root}${file}`), file).toBe(true);
});

test('the list has each of the six ways to fool a harness', () => {
  const names = mutants.map(({ name }) => name).join('\n');
  for (const way of [
    /insertion order/,
    /paused/,
    /duplicate/,
    /shrinker/,
    /own clock/,
    /ambient/,
  ]) {
    expect(names).toMatch(way);
  }
});

const equivalents = z
  .array(
    z.strictObject({
      file: z.string(),
      original: z.string(),
      replacement: z.string(),
      /** A part of the intended line, if several lines contain the text. */
      within: z.string().optional(),
      because: z.string().min(20),
    }),
  )
  .parse(JSON.parse(readFileSync(`${root}tools/mutate/equivalent.json`, 'utf8')));

test.each(equivalents)(
  '$file: `$original`, which no test can detect, is at one place',
  (equivalent) => {
    const { file, original, replacement } = equivalent;
    const text = readFileSync(`${root}${file}`, 'utf8');
    expect(linesOfEntry(equivalent, text)).toHaveLength(1);
    expect(replacement).not.toBe(original);
  },
);
