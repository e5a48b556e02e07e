/** How maps are cut out of a text, wherever its pieces end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CutMap, MapCutter } from './cutters.ts';
import type { Malformed } from './record.ts';

function cut(pieces: readonly string[], syntax: 'edn' | 'json'): (CutMap | Malformed)[] {
  const found: (CutMap | Malformed)[] = [];
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

  test('are cut out of an EDN list with their places', () => {
    expect(cut([edn], 'edn')).toEqual(maps);
  });

  test('are the same wherever the pieces end', () => {
    const ends = fc.array(fc.nat(edn.length), { maxLength: 8 });
    fc.assert(
      fc.property(ends, (places) => {
        const sorted = [0, ...places.sort((left, right) => left - right), edn.length];
        const pieces = sorted.slice(1).map((end, at) => edn.slice(sorted[at], end));
        expect(cut(pieces, 'edn')).toEqual(maps);
      }),
    );
  });

  test('follow each other without a list, or with commas in a list of JSON', () => {
    expect(cut(['{"a":1}\n{"b":2}'], 'json').map((map) => map.line)).toEqual([1, 2]);
    expect(cut(['[{"a":1}, {"b":"]"}]'], 'json').map((map) => map.column)).toEqual([2, 11]);
    expect(cut(['[]'], 'json')).toEqual([]);
  });

  test.each([
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
  ] as const)('in %s: %s is refused at its place', (syntax, text, line, column, what) => {
    const last = cut([text], syntax).at(-1);
    expect(last).toMatchObject({ line, column, what: expect.stringContaining(what) });
  });
});
