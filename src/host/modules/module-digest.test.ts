import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { differences, moduleVersion } from './module-digest.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fencepost-digest-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function writePackage(name: string, version: string, dependencies: readonly string[] = []): void {
  const needs = Object.fromEntries(dependencies.map((needed) => [needed, '*']));
  const manifest = { name, version, main: './main.js', dependencies: needs };
  write(`node_modules/${name}/package.json`, JSON.stringify(manifest));
  write(`node_modules/${name}/main.js`, '');
}

describe('the digest of a module', () => {
  test('is that of its bytes if it reaches only Node and fencepost', () => {
    const text = "import 'node:crypto';\nimport { defineSystem } from 'fencepost';\n";
    const digest = createHash('sha256').update(text).digest('hex');
    expect(moduleVersion(write('alone.mjs', text))).toBe(`sha256:${digest}`);
  });

  test.each([
    ['ESM', 'mjs', (path: string) => `import '${path}';`],
    ['ESM, later', 'mjs', (path: string) => `await import('${path}');`],
    ['CommonJS', 'cjs', (path: string) => `require('${path}');`],
    ['TypeScript', 'ts', (path: string) => `import '${path.replace(/\.ts$/, '')}'; let a: A;`],
    ['TypeScript', 'mts', (path: string) => `export * from '${path.replace('.mts', '.mjs')}';`],
    ['TypeScript', 'cts', (path: string) => `const a: A = require('${path}');`],
  ])('changes with each file that it reaches: %s, .%s', (what, ending, importOf) => {
    const name = (file: string): string => `${what}-${ending}/${file}.${ending}`;
    const main = write(name('main'), importOf(`./lib/near.${ending}`));
    write(name('lib/near'), importOf(`../far.${ending}`));
    write(name('far'), '');
    for (const file of ['far', 'lib/near']) {
      const last = moduleVersion(main);
      expect(moduleVersion(main)).toBe(last);
      write(
        name(file),
        `${importOf(`./main.${ending}`)}${importOf(`../far.${ending}`)} // changed`,
      );
      expect(moduleVersion(main)).not.toBe(last);
      expect(differences(last, moduleVersion(main))).toEqual([`./${file}.${ending} has changed`]);
    }
  });

  test('does not change with the line ends that git checks out', () => {
    const text = "import './near.mjs';\nexport const a = `\n`;\n";
    const main = write('ends/main.mjs', text);
    write('ends/near.mjs', 'export {};\n');
    const before = moduleVersion(main);
    write('ends/main.mjs', text.replaceAll('\n', '\r\n'));
    write('ends/near.mjs', 'export {};\r\n');
    expect(moduleVersion(main)).toBe(before);
    write('ends/near.mjs', 'export {};\r');
    expect(differences(before, moduleVersion(main))).toEqual(['./near.mjs has changed']);
  });

  test('does not change with a file that provides only types', () => {
    const main = write('erased/main.ts', "import type { A } from './a.ts';\nlet a: A;");
    write('erased/a.ts', 'export type A = 1;');
    const before = moduleVersion(main);
    write('erased/a.ts', 'export type A = 2;');
    expect(moduleVersion(main)).toBe(before);
  });

  test('lists reached packages with versions, and a comparison names those that differ', () => {
    writePackage('far', '2.0.0');
    writePackage('near', '1.0.0-beta.2', ['far', 'missing']);
    writePackage('@own/gone', '3.0.0');
    const main = write('packages.mjs', "import 'near';\nimport '@own/gone';\n");
    const before = moduleVersion(main);
    expect(before).toMatch(
      /^sha256:[0-9a-f]{64} @own\/gone@3\.0\.0 far@2\.0\.0 near@1\.0\.0-beta\.2$/,
    );
    writePackage('far', '2.0.1', ['other']);
    writePackage('other', '1.0.0');
    write('node_modules/@own/gone/package.json', '{}');
    expect(differences(before, moduleVersion(main))).toEqual([
      '@own/gone is no longer used',
      'far is 2.0.1 and was 2.0.0',
      'other is new',
    ]);
  });

  test('is that of the file alone if the file cannot be parsed', () => {
    const before = moduleVersion(write('wrong.mts', "import './x.mjs'; const a: = ;"));
    expect(moduleVersion(write('wrong.mts', "import './x.mjs'; const b: = ;"))).not.toBe(before);
  });
});

describe('two digests', () => {
  const names = ['./a.ts', '../b=c.mjs', 'p', '@s/q'];
  const parts = fc
    .dictionary(fc.constantFrom(...names), fc.constantFrom('0', '1'), { noNullPrototype: true })
    .map((chosen) => new Map(Object.entries(chosen)));
  const textOf = (of: ReadonlyMap<string, string>): string =>
    [
      `sha256:${'0'.repeat(64)}`,
      ...[...of].map(([name, part]) => `${name}${name.startsWith('.') ? '=' : '@'}${part}`),
    ].join(' ');

  test('yield exactly the parts in which they differ', () => {
    fc.assert(
      fc.property(parts, parts, (was, is) => {
        const said = differences(textOf(was), textOf(is));
        const differing = names.filter((name) => was.get(name) !== is.get(name));
        expect(said.map((clause) => clause.split(' ')[0]).sort()).toEqual(differing.sort());
      }),
    );
  });
});
