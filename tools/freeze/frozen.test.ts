import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { differencesOf, readRecord, writeRecord } from './frozen.ts';
import type { Sections } from './seeds.ts';

const folder = `${mkdtempSync(join(tmpdir(), 'fencepost-frozen-'))}/`;

afterAll(() => rmSync(folder, { recursive: true }));

const [A, B] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];
const systems: Sections = new Map([
  ['fenced', [`0 ${A} ${A}`, `25 ${A} ${B}`, 'claim progress: exercised=312 times=400']],
  ['unfenced', [`0 ${B} ${B}`, 'shrink grant-order: seed=3 plan=aaaaaaaaaaaa runs=212']],
]);
const printed: Sections = new Map([['fencepost run x', ['# one', '==== two', '', 'exit 0', '']]]);

/** Returns the record with some lines changed. */
function changed(before: RegExp, after: string, sections: Sections = systems): Sections {
  const lines = [...sections].map(([title, sectionLines]): [string, readonly string[]] => {
    return [title, sectionLines.map((line) => line.replace(before, after))];
  });
  return new Map(lines);
}

describe('a record', () => {
  test('is read as it was written', () => {
    writeRecord('scenarios/a', systems, folder);
    expect(readRecord('scenarios/a', folder)).toEqual(systems);
  });

  test('that is missing is refused, with the command that records it', () => {
    const says = 'scenarios/b.txt is missing: npm run freeze -- --only scenarios/b records it';
    expect(() => readRecord('scenarios/b', folder)).toThrow(says);
  });

  test.each([
    ['a digit of a digest', (text: string) => text.replace(A, 'aaaaaaaaaaa0')],
    ['its end', (text: string) => text.slice(0, -9)],
    ['everything', () => ''],
    ['a line', (text: string) => text.replace(/^claim.*\n/m, '')],
  ])('is refused if %s was changed after writing', (_, damage) => {
    writeRecord('damaged', systems, folder);
    const file = `${folder}damaged.txt`;
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    expect(() => readRecord('damaged', folder)).toThrow(/damaged\.txt is damaged/);
  });
});

describe('the differences', () => {
  test('are empty if nothing changed', () => {
    expect(differencesOf('scenarios/a', systems, systems)).toEqual([]);
    expect(differencesOf('outputs/a', printed, printed)).toEqual([]);
  });

  test.each([
    [/25 a{12} b/, '25 aaaaaaaaaaaa 0', 'fenced, seeds 25..49: traces differ'],
    [/^0 a{12} a/, '0 cccccccccccc 0', 'fenced, seeds 0..24: plans and traces differ'],
    [/exercised=312/, 'exercised=310', 'fenced, claim progress: exercised 312 → 310'],
    [/progress: /, 'progress: broken=2 ', 'fenced, claim progress: broken 0 → 2'],
    [/runs=212/, 'runs=9', 'unfenced, shrink grant-order: runs 212 → 9'],
  ])('name the change: %s', (before, after, says) => {
    expect(differencesOf('a', systems, changed(before, after))).toEqual([`a, ${says}`]);
  });

  test('name the first blocks of many', () => {
    const blocks = Array.from({ length: 9 }, (_, at) => `${25 * at} ${A} ${A}`);
    const found = changed(/ a+/, ` ${B}`, new Map([['a', blocks]]));
    expect(differencesOf('scenarios/a', new Map([['a', blocks]]), found)).toEqual([
      'scenarios/a, a, seeds 0..24, 25..49, 50..74 and 6 more blocks: plans differ',
    ]);
  });

  test('name added and removed sections', () => {
    const [first] = [...systems];
    const one = new Map(first === undefined ? [] : [first]);
    expect(differencesOf('a', one, systems)).toEqual(['a, unfenced: not recorded']);
    expect(differencesOf('a', systems, one)).toEqual(['a, unfenced: recorded, but not there']);
  });

  test('of a part cover only its own runs', () => {
    const part = new Map([...systems].map(([title, lines]) => [title, lines.slice(0, 1)]));
    expect(differencesOf('a', systems, part, 'first')).toEqual([]);
    expect(differencesOf('a', systems, part)).not.toEqual([]);
  });

  test('of output show the first line, around its first difference', () => {
    const long = new Map([['run', [`${'x'.repeat(400)}a${'y'.repeat(400)}`]]]);
    const [difference = ''] = differencesOf('outputs/a', long, changed(/a/, 'b', long));
    const around = (letter: string): string => `${'x'.repeat(80)}${letter}${'y'.repeat(79)}`;
    expect(difference).toContain('line 1 differs at column 401:');
    expect(difference.split('\n  - ')[1]).toBe(`${around('a')}\n  + ${around('b')}`);
  });

  test('of output include a longer line and an additional line', () => {
    const more = new Map([['fencepost run x', [...(printed.get('fencepost run x') ?? []), 'z']]]);
    expect(differencesOf('outputs/a', printed, more)).toHaveLength(1);
    expect(differencesOf('outputs/a', more, printed)).toHaveLength(1);
    expect(differencesOf('outputs/a', printed, changed(/one/, 'one more', printed))).toHaveLength(
      1,
    );
  });

  test('of output show only the first line', () => {
    const found = changed(/==== two/, 'three', printed);
    expect(differencesOf('outputs/a', printed, found)).toEqual([
      'outputs/a, fencepost run x: line 2 differs at column 1:\n  - ==== two\n  + three',
    ]);
  });
});
