/**
 * The mistakes that `npm run mutate` makes in fencepost itself: it stops at one that cannot be made
 * any more, and this says so sooner.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';

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

test.each(mutants)('$name: it can be made, and there are tests for it', (mutant) => {
  const source = readFileSync(`${root}${mutant.file}`, 'utf8');
  expect(source.split(mutant.text).length - 1, `${mutant.file}: ${mutant.text}`).toBe(1);
  expect(mutant.replacement).not.toBe(mutant.text);
  for (const [file] of mutant.tests) expect(existsSync(`${root}${file}`), file).toBe(true);
});

test('each of the six ways to fool a harness is among them', () => {
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
      ...{ file: z.string(), original: z.string(), replacement: z.string() },
      /** Which line is meant, where the code is short. */
      within: z.string().optional(),
      because: z.string().min(20),
    }),
  )
  .parse(JSON.parse(readFileSync(`${root}tools/mutate/equivalent.json`, 'utf8')));

test.each(equivalents)('$file: `$original`, which no test can tell, is there', (equivalent) => {
  const { file, original, replacement, within = '' } = equivalent;
  const text = readFileSync(`${root}${file}`, 'utf8');
  expect(text).toContain(original);
  expect(text).toContain(within);
  expect(replacement).not.toBe(original);
});
