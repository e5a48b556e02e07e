import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { renderPath, renderProblem, suggest } from '../../text/problem.ts';
import { check, parseFile } from './document.ts';
import { closed } from './fields.ts';

function problemsOf(text: string): readonly string[] {
  const parsed = parseFile({ text, file: 'a.yaml' });
  return parsed.kind === 'problems' ? parsed.problems.map(renderProblem) : [];
}

const layers = Array.from({ length: 12 }, (_, at) => {
  const inner = at === 0 ? 'x' : `*a${at - 1}`;
  return `a${at}: &a${at} [${Array.from({ length: 10 }, () => inner).join(', ')}]`;
});

describe('an unreadable file is refused with the place of the error', () => {
  test.each([
    ['a NUL', 'a: 1\nb: \u0000', 'a.yaml:2:4: not UTF-8 text'],
    ['a broken byte', 'a: \uFFFD', 'a.yaml:1:4: not UTF-8 text'],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'a.yaml:3:1: map keys must be unique'],
    ['a tab', 'a:\n\t- b\n', 'a.yaml:2:1: tabs are not allowed as indentation'],
    ['an open bracket', 'a: [1, 2\nb: 3\n', 'a.yaml:2:1: flow sequence in block collection'],
    ['two documents', 'a: 1\n---\nb: 1\n', 'a.yaml:2:1: expected only one document'],
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

  test('even if it is nested very deeply', () => {
    const what = 'the file is nested more than 100 deep';
    expect(problemsOf('['.repeat(200_000)).join('\n')).toContain(what);
    expect(problemsOf(`${'['.repeat(20_000)}${']'.repeat(20_000)}`).join('\n')).toContain(what);
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

  test('is listed in file order, and only the first 50 are kept', () => {
    if (parsed.kind === 'problems') return expect.unreachable();
    const finding = (...path: (string | number)[]) => ({ path, isKey: true, what: 'wrong' });
    const found = [finding('d'), finding('a', 0, 'c'), finding('a'), finding('a', 0)];
    expect(parsed.locate(found).map(renderProblem)).toEqual([
      'a.yaml:1:1 a: wrong',
      'a.yaml:2:5 a[0]: wrong',
      'a.yaml:3:5 a[0].c: wrong',
      'a.yaml:4:1 d: wrong',
    ]);
    const wide = parseFile({ text: '{ a: 1, b: 2 }', file: 'a.yaml' });
    if (wide.kind === 'problems') return expect.unreachable();
    const many = [finding('b'), ...Array.from({ length: 50 }, () => finding('a'))];
    expect(wide.locate(many).map(({ column }) => column)).toEqual(many.slice(1).map(() => 3));
  });

  test('suggests the nearest known word, or lists a few', () => {
    expect(suggest('pausee', ['pause', 'delay'])).toBe('; did you mean "pause"?');
    expect(suggest('dleay', ['pause', 'delay'])).toBe('; did you mean "delay"?');
    expect(suggest('nonsense', ['pause', 'delay'])).toBe('; known: pause, delay');
    expect(suggest('x'.repeat(100_000), ['pause'])).toBe('; known: pause');
  });
});

describe('data that a schema refuses', () => {
  /** Returns each finding as `path: what`, with a `*` after the path of a key. */
  const findingsOf = (schema: z.ZodType, value: unknown): readonly string[] => {
    const checked = check(schema, value);
    if (checked.kind === 'value') return [];
    return checked.findings.map(
      ({ path, isKey, what }) => `${renderPath(path)}${isKey ? '*' : ''}: ${what}`,
    );
  };
  const word = z.enum(['run', 'freeze']);
  const pairs = z.array(z.number()).min(1).max(2);
  const map = closed('spice', { salt: z.number().optional(), sugar: z.number().optional() });
  const both = map.refine(({ salt }) => salt !== undefined, { error: 'needs salt' });

  test.each<[string, z.ZodType, unknown, readonly string[]]>([
    ['nothing', word, 'run', []],
    ['an unknown word', word, 'runn', [': unknown value "runn"; did you mean "run"?']],
    ['a number for a word', word, 7, [': expected one of run, freeze, not 7']],
    ['a number for text', z.string(), 7, [': expected text, not 7']],
    ['text for a number', z.number(), 'x', [': expected a number, not "x"']],
    ['a fraction for a whole number', z.int(), 0.5, [': expected a whole number, not 0.5']],
    ['a list for a map', map, [], [': expected a map, not a list']],
    ['a type without a name of ours', z.date(), 7, [': expected date, not 7']],
    [
      'a number too large once',
      z.int().max(Number.MAX_SAFE_INTEGER),
      2 ** 60,
      [': must be at most 9007199254740991'],
    ],
    ['a number too small', z.int().min(5), 4, [': must be at least 5']],
    ['too many in a list', pairs, [1, 2, 3], [': must have at most 2 items']],
    ['too few in a list', pairs, [], [': must have at least 1 item']],
    ['too long a text', z.string().max(1), 'ab', [': at most 1 characters']],
    ['a wrong item of a list', pairs, [1, 'x'], ['[1]: expected a number, not "x"']],
    [
      'a missing field',
      z.object({ a: z.boolean() }),
      {},
      ['a: is missing; expected true or false'],
    ],
    ['a literal with its own message', z.literal(1, { error: 'expected 1' }), 2, [': expected 1']],
    ['an unknown key', map, { sallt: 1 }, ['sallt*: unknown spice "sallt"; did you mean "salt"?']],
    [
      'two of them',
      map,
      { a: 1, b: 2 },
      ['a*: unknown spice "a"; known: salt, sugar', 'b*: unknown spice "b"; known: salt, sugar'],
    ],
    [
      'an unknown key, but not a missing one',
      both,
      { x: 1 },
      ['x*: unknown spice "x"; known: salt, sugar'],
    ],
    ['a missing key', both, { sugar: 1 }, [': needs salt']],
    [
      'a key of the wrong form',
      z.record(z.string().max(1), z.number()),
      { ab: 1 },
      ['ab*: Too big: expected string to have <=1 characters'],
    ],
  ])('is reported: %s', (_, schema, value, findings) => {
    expect(findingsOf(schema, value)).toEqual(findings);
  });

  test.each<[string, z.ZodType, unknown, readonly string[]]>([
    [
      'the closest form',
      z.union([word, map]),
      { x: 1 },
      ['x*: unknown spice "x"; known: salt, sugar'],
    ],
    [
      'all words, of several forms',
      z.union([word, z.enum(['stop'])]),
      7,
      [': expected one of run, freeze, stop, not 7'],
    ],
    [
      'the words, if the value is text',
      z.union([map, word]),
      'runn',
      [': unknown value "runn"; did you mean "run"?'],
    ],
    [
      'all types, each once',
      z.union([z.string(), z.number(), z.string().max(9)]),
      [],
      [': expected text or a number, not a list'],
    ],
    [
      'a map, if the value is neither a word nor text',
      z.union([map, word]),
      7,
      [': expected a map, not 7'],
    ],
    ['its own message', z.union([word, map], { error: 'a spice' }), 7, [': a spice']],
  ])('with several allowed forms is reported by %s', (_, schema, value, findings) => {
    expect(findingsOf(schema, value)).toEqual(findings);
    const inside = findings.map((line) => `in${/^[:*[]/.test(line) ? '' : '.'}${line}`);
    expect(findingsOf(z.object({ in: schema }), { in: value })).toEqual(inside);
  });
});

test('only the first 50 problems of a file are listed', () => {
  const problems = problemsOf(Array.from({ length: 90 }, () => 'a: 1').join('\n'));
  expect(problems).toHaveLength(50);
  expect(problems[0]).toMatch(/^a\.yaml:2:1: /);
  expect(problems[49]).toMatch(/^a\.yaml:51:1: /);
});
