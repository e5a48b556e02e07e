/** Tests how files are named after their contents. */
import { describe, expect, test } from 'vitest';
import { fileName, ownName, planFileOf } from './output-files.ts';

describe('a file is named', () => {
  test.each([
    [['zombie writer', 'unfenced', 'grant-order'], 'zombie-writer-unfenced-grant-order'],
    [['../étage/2.b'], 'étage-2.b'],
    [['..'], 'unnamed'],
    [[']]>', 'fenced'], 'unnamed-fenced'],
    [['zombie', '"', 'grant-order'], 'zombie-unnamed-grant-order'],
  ])('after %j as %s', (parts, name) => {
    expect(fileName(parts)).toBe(name);
  });

  test('uniquely in a run, even if names differ in special characters only', () => {
    const names = ['a b', 'a/b', 'a-b-2', 'c', '..', ']]>', 'a+b'];
    const own = names.map((name) => ownName(name, names));
    expect(own).toEqual(['a-b', 'a-b-2', 'a-b-2-2', 'c', 'unnamed', 'unnamed-2', 'a-b-3']);
    expect(ownName('elsewhere', [])).toBe('elsewhere');
  });
});

test('two systems whose names differ in special characters only have separate plans', () => {
  const place = { scenario: 'a', systems: ['x y', 'x/y'], output: 'reports' };
  const files = place.systems.map((system) => planFileOf({ system, claim: 'c' }, place));
  expect(files).toEqual(['reports/a-x-y-c.yaml', 'reports/a-x-y-2-c.yaml']);
});
