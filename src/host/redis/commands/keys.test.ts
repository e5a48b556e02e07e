/** Patterns of `KEYS`, `SCAN`, `PSUBSCRIBE`. All answers are those of a redis-server 7.0.15. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../properties/runs.ts';
import { globOf } from './keys.ts';

test.each([
  ['*', '', true],
  ['', 'a', false],
  ['h?llo', 'hello', true],
  ['h[^e]llo', 'hello', false],
  ['h[a-c]llo', 'hbllo', true],
  ['h[c-a]llo', 'hbllo', true],
  ['[\\a-c]', 'b', false],
  ['[\\a-c]', '-', true],
  ['[a', 'a', true],
  ['[]a', 'a', false],
  ['a\\*b', 'a*b', true],
  ['a\\*b', 'axb', false],
  ['\\', '\\', true],
  ['*[a]*b?', 'xxabby', true],
  ['a**b', 'ab', true],
  ['[a-\xff]', 'b', false],
  ['[\xff-a]', '\0', true],
])('pattern %j matches %j: %s', (pattern, text, isMatch) => {
  expect(globOf(pattern)(text)).toBe(isMatch);
});

/** Matches by exhaustive search. */
function tried(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const rest = pattern.slice(1);
  if (pattern.startsWith('*'))
    return tried(rest, text) || (text !== '' && tried(pattern, text.slice(1)));
  if (text === '') return false;
  return (pattern.startsWith('?') || pattern[0] === text[0]) && tried(rest, text.slice(1));
}

test('a pattern matches if any way of matching does', () => {
  const signs = (...of: string[]): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom(...of), { maxLength: 9 }).map((all) => all.join(''));
  fc.assert(
    fc.property(signs('a', 'b', '?', '*', '*'), signs('a', 'b'), (pattern, text) => {
      expect(globOf(pattern)(text)).toBe(tried(pattern, text));
    }),
    { numRuns: runs(5000) },
  );
});

test('a pattern of many stars takes few steps, and one of more than 1,000 matches nothing', () => {
  const text = 'a'.repeat(5000);
  const before = performance.now();
  expect(globOf(`${'a*'.repeat(50)}b`)(text)).toBe(false);
  expect(globOf('*a'.repeat(1000))(text)).toBe(true);
  expect(globOf('*a'.repeat(1001))(text)).toBe(false);
  expect(performance.now() - before).toBeLessThan(1000);
});
