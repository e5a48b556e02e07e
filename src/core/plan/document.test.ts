import { describe, expect, test } from 'vitest';
import { renderProblem, suggest } from '../../text/problem.ts';
import { parseFile } from './document.ts';

function problemsOf(text: string): readonly string[] {
  const parsed = parseFile({ text, file: 'a.yaml' });
  return parsed.kind === 'problems' ? parsed.problems.map(renderProblem) : [];
}

const layers = Array.from({ length: 12 }, (_, at) => {
  const inner = at === 0 ? 'x' : `*a${at - 1}`;
  return `a${at}: &a${at} [${Array.from({ length: 10 }, () => inner).join(', ')}]`;
});

describe('a file that cannot be read is refused with its place', () => {
  test.each([
    ['a NUL', 'a: 1\nb: \u0000', 'a.yaml:2:4: this is not UTF-8 text'],
    ['a broken byte', 'a: \uFFFD', 'a.yaml:1:4: this is not UTF-8 text'],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'a.yaml:3:1: map keys must be unique'],
    ['a tab', 'a:\n\t- b\n', 'a.yaml:2:1: tabs are not allowed as indentation'],
    ['an open bracket', 'a: [1, 2\nb: 3\n', 'a.yaml:2:1: flow sequence in block collection'],
    ['two documents', 'a: 1\n---\nb: 1\n', 'a.yaml:2:1: only one document may stand here'],
    ['a tag', 'a: !!js/function x\n', 'a.yaml:1:4: unresolved tag'],
    ['an unknown alias', 'a: *b\n', 'unresolved alias'],
    ['an alias inside of itself', 'a: &b [*b]\n', 'a.yaml:1:8: the alias *b contains itself'],
    ['a list as key', '[a]: 1\n', 'a.yaml:1:1: with stringKeys, all keys must be strings'],
    ['a key that JavaScript reserves', 'a:\n  __proto__: 1\n', 'a.yaml:2:3: the name "__proto__"'],
    ['nothing', '# only a comment\n', 'a.yaml:1:1: the file is empty'],
    ['a bomb of aliases', layers.join('\n'), 'aliases expand to too much'],
    ['a megabyte', `a: ${'x'.repeat(1_000_000)}`, 'at most 1000000 are read'],
  ])('%s', (_, text, what) => {
    expect(problemsOf(text).join('\n')).toContain(what);
  });

  test('however deeply it is nested', () => {
    expect(problemsOf('['.repeat(200_000)).length).toBeGreaterThan(0);
    expect(problemsOf(`${'['.repeat(20_000)}${']'.repeat(20_000)}`).length).toBeGreaterThan(0);
  });
});

describe('a finding', () => {
  const parsed = parseFile({ text: 'a: &a\n  - b: 1\n    c: 2\nd: *a\n', file: 'a.yaml' });
  const place = (path: readonly (string | number)[], isKey: boolean): string | undefined => {
    if (parsed.kind === 'problems') return undefined;
    const [problem] = parsed.locate([{ path, isKey, what: 'wrong' }]);
    return problem && renderProblem(problem);
  };

  test.each([
    [['a', 0, 'c'], false, 'a.yaml:3:8 a[0].c: wrong'],
    [['a', 0, 'c'], true, 'a.yaml:3:5 a[0].c: wrong'],
    [['a', 0, 'missing'], false, 'a.yaml:2:5 a[0].missing: wrong'],
    [['d', 0, 'b'], false, 'a.yaml:2:8 d[0].b: wrong'],
    [[], false, 'a.yaml:1:1: wrong'],
  ])('is placed at %j (key: %s)', (path, isKey, text) => {
    expect(place(path, isKey)).toBe(text);
  });

  test('suggests the nearest known word, or lists a few', () => {
    expect(suggest('pausee', ['pause', 'delay'])).toBe('; did you mean "pause"?');
    expect(suggest('dleay', ['pause', 'delay'])).toBe('; did you mean "delay"?');
    expect(suggest('nonsense', ['pause', 'delay'])).toBe('; known: pause, delay');
    expect(suggest('x'.repeat(100_000), ['pause'])).toBe('; known: pause');
  });
});
