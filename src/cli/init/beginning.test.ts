import { describe, expect, test } from 'vitest';
import { type BeginningOptions, type FolderFacts, planBeginning } from './beginning.ts';
import { starterFiles } from './starter.ts';

const EMPTY: FolderFacts = { has: () => false, manifest: null, schema: null };
const ALL: BeginningOptions = { parts: new Set(['locks', 'vitest', 'github']), isForced: false };

describe('in an empty folder', () => {
  test('every file is written, of every part that is wanted', () => {
    const steps = planBeginning(EMPTY, ALL);
    expect(steps.map(({ target }) => target)).toEqual(starterFiles.map(({ target }) => target));
    expect(steps.every(({ kind }) => kind === 'written')).toBe(true);
    const few = planBeginning(EMPTY, { ...ALL, parts: new Set(['locks']) });
    expect(few.map(({ target }) => target).join()).not.toMatch(/test|github/);
  });

  test('scenarios lead an editor to the schema, where it is', () => {
    const lineOf = (schema: string | null): string => {
      const [first] = planBeginning({ ...EMPTY, schema }, ALL);
      return first?.kind === 'written' ? (first.text.split('\n')[0] ?? '') : '';
    };
    const key = '# yaml-language-server: $schema=';
    const usual = '../node_modules/fencepost/dist/scenario.schema.json';
    expect(lineOf(null)).toBe(key + usual);
    expect(lineOf('../../$&/scenario.schema.json')).toBe(`${key}../../$&/scenario.schema.json`);
  });
});

describe('in a folder with files', () => {
  const has = (target: string): boolean => target === 'locks/my-lock.mjs';

  test('one that exists is left and named', () => {
    const left = planBeginning({ ...EMPTY, has }, ALL).filter(({ kind }) => kind === 'left');
    expect(left).toEqual([expect.objectContaining({ target: 'locks/my-lock.mjs' })]);
  });

  test('one that exists is overwritten when that is asked for', () => {
    const steps = planBeginning({ ...EMPTY, has }, { ...ALL, isForced: true });
    const kinds = steps.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(['overwritten', 'written', 'written', 'written', 'written']);
  });

  test('a package.json gets a script, and keeps one of that name', () => {
    const last = (manifest: string): unknown => planBeginning({ ...EMPTY, manifest }, ALL).at(-1);
    expect(last('{ "name": "x" }')).toMatchObject({ kind: 'extended', target: 'package.json' });
    expect(last('{ "scripts": { "locks": "mine" } }')).toMatchObject({ kind: 'left' });
    expect(last('{ "name": ')).toMatchObject({ kind: 'left' });
  });
});
