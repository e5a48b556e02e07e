import { expect, test } from 'vitest';
import { type Chunk, countsOfKilled, examineChunk } from '../search/sweep/chunk.ts';
import { countsSchema } from '../search/sweep/counts.ts';
import { errorText, MOST_TEXT, truncateText } from './error-text.ts';

test.each([
  [new Error('no'), 'no'],
  ['no', 'no'],
  [undefined, 'undefined'],
  [Object.create(null), 'a value that cannot be converted to text'],
  [Object.assign(new Error('no'), { message: Symbol('odd') }), 'Symbol(odd)'],
])('thrown value %# is converted to text', (thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});

const LONG = 'x'.repeat(10_000_000);

test('a text that is too long ends with an ellipsis, and never within a character', () => {
  expect(truncateText('short')).toBe('short');
  expect(truncateText('x'.repeat(MOST_TEXT))).toHaveLength(MOST_TEXT);
  expect(truncateText(LONG)).toBe(`${'x'.repeat(MOST_TEXT - 1)}…`);
  const pairs = truncateText(`x${'😀'.repeat(MOST_TEXT)}`);
  expect(pairs).toBe(`x${'😀'.repeat((MOST_TEXT - 2) / 2)}…`);
});

test('a thrown error is kept short enough to be read back', async () => {
  const chunk: Chunk = { system: 's', from: 0, to: 2, skip: [] };
  const throwing = (): never => {
    throw new Error(LONG);
  };
  const thrown = await examineChunk(chunk, { holds: [], breaks: [] }, throwing, () => {});
  const killed = countsOfKilled({ seed: 1, error: LONG });
  for (const counts of [thrown, killed]) {
    expect(countsSchema.safeParse(counts).success).toBe(true);
    expect(counts.failures[0]?.error).toHaveLength(MOST_TEXT);
  }
  expect(thrown.failed).toBe(3);
});
