import { expect, test } from 'vitest';
import { firstLines, OutputLines } from './output-lines.ts';

function shown(lines: readonly string[], process = 'alice'): readonly string[] {
  const output = new OutputLines();
  for (const line of lines) output.add(process, line);
  return output.lines.map((line) => line.replace(/^alice \| /, ''));
}

function times(count: number, ...lines: readonly string[]): readonly string[] {
  return Array.from({ length: count }, () => lines).flat();
}

test('a repeated line is shown once, with its count', () => {
  expect(shown(times(813, 'no connection'))).toEqual(['no connection', '… 812 more']);
});

test('lines that differ only in numbers count as repeated', () => {
  const lines = Array.from({ length: 100 }, (_, at) => `try ${at} of job-${at * 7}a failed`);
  expect(shown(['begin', ...lines, 'end'])).toEqual(['begin', lines[0], '… 99 more', 'end']);
});

test('a block is counted like a line, and a partial repetition is shown', () => {
  const block = ['Error: no', '  at a.mjs:1:2', '  at b.mjs:3:4'];
  expect(shown([...times(50, ...block), 'Error: no', 'end'])).toEqual([
    ...block,
    '… 49 more of these 3 lines',
    'Error: no',
    'end',
  ]);
});

test('equal lines of several processes count as repeated', () => {
  const output = new OutputLines();
  for (let at = 0; at < 60; at += 1) {
    const name = ['alice', 'bob', 'carol'][(at * at) % 3] ?? '';
    output.add(name, `${name} waits for 10.0.0.${at}:6379`);
  }
  expect(output.lines).toEqual(['alice | alice waits for 10.0.0.0:6379', '… 59 more']);
});

test('a few lines are shown unchanged', () => {
  for (const lines of [['a', 'a'], ['a', 'a', 'b', 'b'], ['a', 'b', 'a', 'b', 'c'], []]) {
    expect(shown(lines)).toEqual(lines);
  }
});

test('a few lines that differ only in numbers are shown unchanged', () => {
  const lines = Array.from({ length: 8 }, (_, at) => `got lock ${at}`);
  expect(shown([...lines, 'end'])).toEqual([...lines, 'end']);
});

test('every line is shown or counted', () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => 'abcd'[(at * at + (at >> 4)) % 4] ?? '');
  const counted = shown(lines).reduce((sum, line) => {
    const [, count = '', block = '1'] =
      /^… ([\d,]+) more(?: of these (\d+) lines)?/.exec(line) ?? [];
    return sum + (count === '' ? 1 : Number(count.replaceAll(',', '')) * Number(block));
  }, 0);
  expect(counted).toBe(5_000);
});

/** A distinct word without digits per number. */
const word = (at: number): string => at.toString(2).replaceAll('0', 'o').replaceAll('1', 'i');

test('at most 400 lines of 500 columns are kept', () => {
  const lines = Array.from({ length: 9_000 }, (_, at) => word(at).padEnd(9_000 - at));
  const kept = shown(lines);
  expect(kept).toHaveLength(401);
  expect(kept.at(-1)).toBe('… 8,600 more lines');
  expect(Math.max(...kept.map((line) => line.length))).toBe(501);
});

test('the last of the first lines counts the omitted ones', () => {
  expect(firstLines(['a', 'b', 'c'], 3)).toEqual(['a', 'b', 'c']);
  expect(firstLines(['a', 'b', 'c', 'd'], 3)).toEqual(['a', 'b', '… 2 more lines']);
});
