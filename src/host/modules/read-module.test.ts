import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readModule } from './read-module.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-read-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function readText(name: string, text: string): ReturnType<typeof readModule> {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return readModule(pathToFileURL(file).href);
}

/** Returns the problem without the folder, or the form if there is none. */
function problemIn(name: string, text: string): string {
  const read = readText(name, text);
  return read.kind === 'problem' ? read.what.replace(`${folder}/`, '') : read.form;
}

describe('TypeScript', () => {
  /** Statements, each with the mark `HERE` in code that runs. */
  const statements = [
    'const HERE: number = 1;',
    "import type { Lock } from './lock.ts'; HERE();",
    "import { type Lock, acquire } from 'x'; HERE();",
    'interface Lease<T> { readonly until: T } HERE();',
    'type Ä = "é😀"; HERE();',
    'export async function f<T extends object>(this: Foo, a?: T, b = 1): Promise<T> { HERE(); }',
    'class A<T> extends B<T> implements C { private readonly x?: number = 1; declare y: T; HERE() {} }',
    'const g = <T,>(a: T): a is never => HERE;',
    'x = (a satisfies B).HERE!.c as unknown as D<E>;',
    'declare module "y" { export const z: number }\nHERE();',
    'abstract class Q { abstract m(): void; HERE() {} }',
    'function over(a: string): void;\nfunction over(a: unknown): void { HERE(); }',
    '// 😀 a: string\nHERE();',
    'const s = `a: \u0024{b as string}`; HERE();',
  ];
  const lines = fc.array(fc.constantFrom(...statements), { maxLength: 8 });
  const ends = fc.constantFrom('\n', '\r\n', '; ');

  test('becomes JavaScript in which all code keeps its place', () => {
    fc.assert(
      fc.property(lines, ends, (chosen, end) => {
        const text = chosen.join(end);
        const read = readText('law.ts', text);
        if (read.kind === 'problem') throw new Error(read.what);
        expect(placesOf(read.text)).toEqual(placesOf(text));
        expect(read.text).not.toMatch(/interface|Promise|satisfies|declare/);
      }),
    );
  });

  function placesOf(text: string): readonly string[] {
    return text
      .split('\n')
      .flatMap((line, at) => [...line.matchAll(/HERE/g)].map(({ index }) => `${at}:${index}`));
  }

  test.each([
    ['.ts', 'enum A { B }', 'commonjs'],
    ['.ts', 'export enum A { B }', 'module'],
    ['.ts', "import x = require('x');", 'commonjs'],
    ['.ts', "import x = require('x'); export const y = x;", 'module'],
    ['.mts', "import x = require('x');", 'module'],
    ['.cts', 'export = 3;', 'commonjs'],
    ['.ts', "import { a } from 'x';\nexport = a;", 'module'],
  ])('%s with more than types is translated: %s', (ending, text, form) => {
    expect(problemIn(`more${ending}`, `const before: number = 1;\n${text}\n`)).toBe(form);
  });

  describe('that imports a name', () => {
    const used = (text: string): string => {
      const read = readText('names.ts', text);
      return read.kind === 'problem' ? read.what : read.text.replace(/\s+/g, ' ').trim();
    };

    test.each([
      ["import { A } from 'x'; let a: A;", "import { } from 'x'; let a ;"],
      ["import { A, b } from 'x'; let a: A = b;", "import { b } from 'x'; let a = b;"],
      ["import { b, A } from 'x'; let a: A = b;", "import { b, } from 'x'; let a = b;"],
      ["import d, { A as B, $c } from 'x'; d<B>($c);", "import d, { $c } from 'x'; d ($c);"],
      ["import { 'a-b' as C, d } from 'x'; d(1 as C);", "import { d } from 'x'; d(1 );"],
      ["import { A } from 'x'; A.A();", "import { A } from 'x'; A.A();"],
      ["import { A /* why */ } from 'x';", "import { A /* why */ } from 'x';"],
      ["import { A } from 'x'; export { A };", "import { A } from 'x'; export { A };"],
      ["export { A } from 'x';", "export { A } from 'x';"],
      [
        "import j from './j.json' with { type: 'json' };",
        "import j from './j.json' with { type: 'json' };",
      ],
      ["import * as A from 'x';", "import * as A from 'x';"],
    ])('drops it if only types use it, and keeps it otherwise: %s', (text, left) => {
      expect(used(text)).toBe(left);
    });
  });

  test('with an error is refused with its place', () => {
    expect(problemIn('wrong.ts', 'f();\nconst a: = 3;')).toMatch(
      /^wrong\.ts:2:10: Unexpected token `=`/,
    );
  });
});

describe('a file', () => {
  const ESM = 'export const a = 1;';
  const CJS = 'module.exports = 1;';

  test.each([
    ['mjs', ESM, ['module', 'module', 'module']],
    ['cjs', CJS, ['commonjs', 'commonjs', 'commonjs']],
    ['mts', ESM, ['module', 'module', 'module']],
    ['cts', CJS, ['commonjs', 'commonjs', 'commonjs']],
    ['cts', ESM, ['module', 'module', 'module']],
    ['cts', `import type { A } from 'x';\n${CJS}`, ['commonjs', 'commonjs', 'commonjs']],
    ['ts', `import type { A } from 'x';\n${CJS}`, ['commonjs', 'commonjs', 'module']],
    ['ts', 'export type A = 1;', ['module', 'module', 'module']],
    ['ts', ESM, ['module', 'module', 'module']],
    ['ts', CJS, ['commonjs', 'commonjs', 'module']],
    ['js', ESM, ['module', 'commonjs', 'module']],
    ['js', CJS, ['commonjs', 'commonjs', 'module']],
    ['json', '{}', ['json', 'json', 'json']],
  ])('.%s with %s gets its form from its ending and its package', (ending, text, forms) => {
    const manifests = ['{}', '{ "type": "commonjs" }', '{ "type": "module" }'];
    const actual = manifests.map((manifest, at) => {
      readText(`typed-${at}/package.json`, manifest);
      return problemIn(`typed-${at}/src/lock.${ending}`, text);
    });
    expect(actual).toEqual(forms);
  });

  test('that is not JavaScript is refused by name, with a remedy', () => {
    const remedy = 'cannot be simulated; hand your code a fake of the package that loads it';
    expect(problemIn('addon.node', '')).toBe(`addon.node:1:1: native code ${remedy}`);
    expect(problemIn('addon.wasm', '')).toBe(`addon.wasm:1:1: WebAssembly ${remedy}`);
  });
});
