/** Tests how maps and lines are cut out of a text that arrives in pieces. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Line, LineCutter, MapCutter, type SplitMap } from './cutters.ts';
import type { Malformed } from './record.ts';

function split(pieces: readonly string[], syntax: 'edn' | 'json'): (SplitMap | Malformed)[] {
  const found: (SplitMap | Malformed)[] = [];
  const cutter = new MapCutter(syntax, (map) => {
    found.push(map);
    return null;
  });
  for (const piece of pieces) {
    const problem = cutter.push(piece);
    if (problem !== null) return [...found, problem];
  }
  const problem = cutter.end();
  return problem === null ? found : [...found, problem];
}

describe('maps', () => {
  const edn = `; {:not 1}
[#tag {:a "}\\"{" ; }
  :b [\\} {}]} #_{:c 1}
 {} ]`;
  const maps = [
    { text: '{:a "}\\"{" ; }\n  :b [\\} {}]}', line: 2, column: 7 },
    { text: '{}', line: 4, column: 2 },
  ];

  test('are cut out of an EDN list, each with its position', () => {
    expect(split([edn], 'edn')).toEqual(maps);
  });

  test('are the same for any division into pieces', () => {
    const ends = fc.array(fc.nat(edn.length), { maxLength: 8 });
    fc.assert(
      fc.property(ends, (places) => {
        const sorted = [0, ...places.sort((left, right) => left - right), edn.length];
        const pieces = sorted.slice(1).map((end, at) => edn.slice(sorted[at], end));
        expect(split(pieces, 'edn')).toEqual(maps);
      }),
    );
  });

  test('may follow each other without a list, or with commas in a JSON list', () => {
    expect(split(['{"a":1}\n{"b":2}'], 'json').map((map) => map.line)).toEqual([1, 2]);
    expect(split(['[{"a":1}, {"b":"]"}]'], 'json').map((map) => map.column)).toEqual([2, 11]);
    expect(split(['[]'], 'json')).toEqual([]);
  });

  test.each([
    ['edn', '{} #', 1, 5, 'where a map is expected'],
    ['edn', '{} #tag', 1, 8, 'where a map is expected'],
    ['edn', '[#_]', 1, 4, 'expected a map, found "]"'],
    ['edn', '[#tag ]', 1, 7, 'expected a map, found "]"'],
    ['edn', '#a #b {}', 1, 4, 'expected a map, found "#"'],
    ['edn', '#a@ {}', 1, 3, 'expected a tag, found "@"'],
    ['edn', 'x {}', 1, 1, 'expected a map, found "x"'],
    ['edn', '{} [{}]', 1, 4, 'expected a map, found "["'],
    ['edn', `{${'['.repeat(100)}`, 1, 101, 'brackets nested more than 100 levels'],
    ['json', '({})', 1, 1, 'expected a map, found "("'],
    ['json', '{}, {}', 1, 3, 'expected a map, found ","'],
    ['edn', '[{:a 1}', 1, 1, 'before "]" closes'],
    ['edn', '{:a 1}\n {:b [1', 2, 2, 'inside this map'],
    ['edn', '{:a [1}', 1, 7, 'expected "]", found "}"'],
    ['edn', '[{}] {}', 1, 6, 'nothing may follow'],
    ['edn', '#{1}', 1, 2, 'found a set'],
    ['edn', '[[{}]]', 1, 2, 'expected a map'],
    ['edn', '{} #_', 1, 6, 'where a map is expected'],
    ['json', '[{} {}]', 1, 5, 'expected a comma'],
    ['json', '[{},,{}]', 1, 5, 'expected a map'],
    ['json', '[{},]', 1, 5, 'after the comma'],
    ['json', '{} ; no comment', 1, 4, 'expected a map'],
  ] as const)('in %s: %s is refused at its position', (syntax, text, line, column, what) => {
    const last = split([text], syntax).at(-1);
    expect(last).toMatchObject({ line, column, what: expect.stringContaining(what) });
  });

  test.each([
    ['edn', '({:a 1}, {:b 2},)', ['{:a 1}', '{:b 2}']],
    ['edn', '{\n}{:a\n\n2}', ['{\n}', '{:a\n\n2}']],
    ['edn', '{:a "\n}"} {}', ['{:a "\n}"}', '{}']],
    ['edn', '{:a \\\\} {}', ['{:a \\\\}', '{}']],
    ['edn', '#_#_{1 2} {3 4} {5 6}', ['{5 6}']],
    ['edn', '[{} #_{}]', ['{}']],
    ['json', '{"a":"\\\\"} {"b":"\\""}', ['{"a":"\\\\"}', '{"b":"\\""}']],
    ['json', '{;} {\\}', ['{;}', '{\\}']],
    ['edn', `{${'['.repeat(99)}${']'.repeat(99)}}`, [`{${'['.repeat(99)}${']'.repeat(99)}}`]],
  ] as const)('in %s: each map of %s is cut out', (syntax, text, found) => {
    expect(split([text], syntax).map((map) => ('text' in map ? map.text : map.what))).toEqual(
      found,
    );
  });

  test('may have a million characters', () => {
    const long = `{${' '.repeat(999_998)}`;
    const [first] = split([long, '}'], 'json');
    expect(first && 'text' in first && first.text === `${long}}`).toBe(true);
    const what = 'a map of more than 1000000 characters';
    expect(split(['{}\n', `${long}  `, '}'], 'json')[1]).toEqual({ line: 2, column: 1, what });
  });
});

describe('lines', () => {
  const lines = (...pieces: readonly string[]): (Line | Malformed)[] => {
    const found: (Line | Malformed)[] = [];
    const cutter = new LineCutter((line) => {
      found.push(line);
      return line.text === 'bad' ? { line: line.line, column: 1, what: 'bad' } : null;
    });
    for (const piece of pieces) {
      const problem = cutter.push(piece);
      if (problem !== null) return [...found, problem];
    }
    const problem = cutter.end();
    return problem === null ? found : [...found, problem];
  };

  test('have the column of their first character; blank lines are counted and skipped', () => {
    expect(lines('\n  a', ' b \r\n \n', 'c')).toEqual([
      { text: 'a b', line: 2, column: 3, isClosed: true },
      { text: 'c', line: 4, column: 1, isClosed: false },
    ]);
  });

  test('end at the first refused line', () => {
    const refused = { line: 1, column: 1, what: 'bad' };
    expect(lines('bad\nc\n')).toEqual([expect.objectContaining({ text: 'bad' }), refused]);
    expect(lines('bad')).toEqual([expect.objectContaining({ isClosed: false }), refused]);
  });

  test('may have a million characters', () => {
    const long = 'a'.repeat(1_000_000);
    expect(lines(long).map((one) => 'text' in one && one.text === long)).toEqual([true]);
    const what = 'a line of more than 1000000 characters';
    expect(lines('\n', long, 'a')).toEqual([{ line: 2, column: 1, what }]);
  });
});
