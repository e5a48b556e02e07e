/** Tests how files are named after their contents. */
import { describe, expect, test } from 'vitest';
import { fileName, planFileOf, uniqueName } from './output-files.ts';

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
    const uniqueNames = names.map((name) => uniqueName(name, names));
    expect(uniqueNames).toEqual(['a-b', 'a-b-2', 'a-b-2-2', 'c', 'unnamed', 'unnamed-2', 'a-b-3']);
    expect(uniqueName('elsewhere', [])).toBe('elsewhere');
  });
});

test('two systems whose names differ in special characters only have separate plans', () => {
  const place = { scenario: 'a', systems: ['x y', 'x/y'], output: 'reports' };
  const files = place.systems.map((system) => planFileOf({ system, claim: 'c' }, place));
  expect(files).toEqual(['reports/a-x-y-c.yaml', 'reports/a-x-y-2-c.yaml']);
});
