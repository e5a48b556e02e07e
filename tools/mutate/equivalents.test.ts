/** Checks which mutant an entry of equivalent.json excuses, and that each excuses exactly one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isEquivalent, linesOfEntry, readEquivalents } from './equivalents.mjs';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-equivalents-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = `function first(a, n) {
  if (n > 0) return a;
  return last;
}
function second(b, n) {
  if (n > 0) return b;
  if (n > 0) return;
  let list: number[] = [];
  if (own.n > 0) return;
}
`;
const file = join(folder, 'code.ts');
writeFileSync(file, text);

function read(...entries: readonly { original: string; within?: string }[]): number {
  const path = join(folder, 'list.json');
  const all = entries.map((one) => ({ file, replacement: 'true', because: 'so it is', ...one }));
  writeFileSync(path, JSON.stringify(all));
  return readEquivalents(path).length;
}

test('an entry whose text is at several places is refused, with its lines', () => {
  expect(() => read({ original: 'n > 0' })).toThrow(
    `${file}: \`n > 0\` is at lines 2, 6, 7: say by "within" which one is meant`,
  );
  expect(() => read({ original: 'n > 0', within: 'return' })).toThrow(
    'within `return` is at lines',
  );
  expect(() => read({ original: 'n > 1' })).toThrow('`n > 1` is nowhere');
  expect(() => read({ original: 'n > 0', within: 'return c' })).toThrow('is nowhere');
});

test("a part of an entry's line, or of that and adjacent lines, makes its place unique", () => {
  expect(read({ original: 'n > 0', within: 'return a' }, { original: '[]' })).toBe(2);
  expect(linesOfEntry({ original: 'n > 0', within: 'return a' }, text)).toEqual([2]);
  expect(linesOfEntry({ original: 'n > 0', within: 'return;\n  let' }, text)).toEqual([7]);
  expect(linesOfEntry({ original: 'n > 0', within: 'return a;\n  return last' }, text)).toEqual([
    2,
  ]);
});

test('an entry excuses only the mutant at its own place', () => {
  const entry = { file, original: 'n > 0', replacement: 'true', within: 'return b', because: 'so' };
  const mutant = { file, line: 6, original: 'n > 0', replacement: 'true' };
  expect(isEquivalent(mutant, [entry])).toBe(true);
  expect(isEquivalent({ ...mutant, line: 2 }, [entry])).toBe(false);
  expect(isEquivalent({ ...mutant, replacement: 'false' }, [entry])).toBe(false);
  expect(isEquivalent({ ...mutant, file: join(folder, 'list.json') }, [entry])).toBe(false);
});

test('each entry of the project excuses one mutant', () => {
  expect(readEquivalents('tools/mutate/equivalent.json').length).toBeGreaterThan(100);
});
