import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { type Asking, resolveModule } from './resolve-module.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fencepost-resolve-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text = ''): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Returns the path below the folder, or the problem. */
function found(specifier: string, parent: string, asking: Asking = 'import'): string {
  const resolution = resolveModule(specifier, pathToFileURL(join(folder, parent)).href, asking);
  if (resolution.kind === 'builtin') return `builtin ${resolution.name}`;
  if (resolution.kind === 'problem') return resolution.what;
  return relative(folder, fileURLToPath(resolution.url));
}

const ENDINGS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'];

describe('relative to the importing file', () => {
  test.each(ENDINGS)('a name without an ending resolves to one with %s', (ending) => {
    write(`one${ending}/lock${ending}`);
    write(`one${ending}/queue/index${ending}`);
    const parent = `one${ending}/main.ts`;
    expect(found('./lock', parent)).toBe(`one${ending}/lock${ending}`);
    expect(found('./queue', parent)).toBe(`one${ending}/queue/index${ending}`);
    expect(found('./queue/', parent)).toBe(`one${ending}/queue/index${ending}`);
    expect(found('..', `one${ending}/queue/deep/main.ts`)).toBe(
      `one${ending}/queue/index${ending}`,
    );
  });

  test.each(['', 'm', 'c'])('.%sjs resolves to the TypeScript that it is built from', (kind) => {
    write(`made/lock.${kind}ts`);
    expect(found(`./lock.${kind}js`, 'made/main.ts')).toBe(`made/lock.${kind}ts`);
    expect(found(`./lock.${kind}js`, 'made/main.js')).toBe(`made/lock.${kind}ts`);
  });

  test('if both exist, TypeScript imports TypeScript, and JavaScript the named file', () => {
    write('both/lock.ts');
    write('both/lock.js');
    expect(found('./lock.js', 'both/main.ts')).toBe('both/lock.ts');
    expect(found('./lock.js', 'both/main.js')).toBe('both/lock.js');
    expect(found('./lock', 'both/main.js')).toBe('both/lock.ts');
  });

  test('a query is kept, and the importing URL may have one', () => {
    write('query/lock.ts');
    const parent = pathToFileURL(join(folder, 'query/main.ts')).href;
    expect(resolveModule('./lock?2', `${parent}?sha256:0`)).toEqual({
      kind: 'file',
      url: `${pathToFileURL(join(folder, 'query/lock.ts')).href}?2`,
    });
  });

  test('a missing module is reported', () => {
    expect(found('./missing.js', 'main.ts')).toContain('Cannot find module');
    expect(found('missing', 'main.ts')).toContain("Cannot find package 'missing'");
    expect(found('missing', 'main.cts', 'require')).toContain("Cannot find module 'missing'");
  });
});

describe('by a name', () => {
  test('the paths of the nearest tsconfig apply, which may extend another', () => {
    write('mapped/base.json', '{ "compilerOptions": { "paths": { "@locks/*": ["./locks/*"] } } }');
    write('mapped/tsconfig.json', '{ /* as ever */ "extends": "./base.json", }');
    write('mapped/locks/spin.ts');
    write('mapped/locks/deep/index.mts');
    expect(found('@locks/spin', 'mapped/src/main.ts')).toBe('mapped/locks/spin.ts');
    expect(found('@locks/spin.js', 'mapped/src/main.ts')).toBe('mapped/locks/spin.ts');
    expect(found('@locks/deep', 'mapped/src/main.ts')).toBe('mapped/locks/deep/index.mts');
    expect(found('@locks/none', 'mapped/src/main.ts')).toContain('Cannot find package');
  });

  test('inherited paths are relative to the tsconfig that declares them', () => {
    const name = 'extends';
    write(`${name}/tsconfig.json`, '{ "extends": "./base.json" }');
    const paths = `{ "@/*": ["\${configDir}/lib/*"], "~/*": ["./lib/*"] }`;
    write(`${name}/base.json`, `{ "compilerOptions": { "paths": ${paths} } }`);
    write(`${name}/lib/spin.tsx`);
    expect(found('@/spin', `${name}/src/main.ts`)).toBe(`${name}/lib/spin.tsx`);
    expect(found('~/spin.js', `${name}/src/main.ts`)).toBe(`${name}/lib/spin.tsx`);
  });

  test('the baseUrl applies before packages', () => {
    write('based/tsconfig.json', '{ "compilerOptions": { "baseUrl": "src" } }');
    write('based/src/locks/spin.ts');
    expect(found('locks/spin', 'based/src/app/main.ts')).toBe('based/src/locks/spin.ts');
  });

  test('a workspace package resolves to the source that its manifest names', () => {
    write('space/packages/lock/package.json', '{ "name": "@space/lock", "exports": "./src/a.ts" }');
    write('space/packages/lock/src/a.ts');
    mkdirSync(join(folder, 'space/node_modules/@space'), { recursive: true });
    symlinkSync(
      join(folder, 'space/packages/lock'),
      join(folder, 'space/node_modules/@space/lock'),
    );
    expect(found('@space/lock', 'space/app/main.ts')).toBe('space/packages/lock/src/a.ts');
  });

  test('JavaScript that a workspace manifest names resolves to its TypeScript', () => {
    write('own/package.json', '{ "name": "own", "imports": { "#lock": "./lock.js" } }');
    write('own/lock.ts');
    expect(found('#lock', 'own/main.ts')).toBe('own/lock.ts');
  });

  test('a package may provide different files for `import` and `require`', () => {
    const exported = '{ "import": "./a.mjs", "require": "./a.cjs" }';
    write('two/node_modules/dual/package.json', `{ "name": "dual", "exports": ${exported} }`);
    write('two/node_modules/dual/a.mjs');
    write('two/node_modules/dual/a.cjs');
    expect(found('dual', 'two/main.ts')).toBe('two/node_modules/dual/a.mjs');
    expect(found('dual', 'two/main.cts', 'require')).toBe('two/node_modules/dual/a.cjs');
  });

  test('inside packages only the rules of Node apply', () => {
    write('strict/node_modules/p/a.ts');
    expect(found('./a', 'strict/node_modules/p/main.mjs')).toContain('Cannot find module');
  });

  test.each(['fs', 'node:fs', 'node:fs/promises'])('%s is a builtin module', (name) => {
    expect(found(name, 'main.ts')).toBe(`builtin ${name}`);
  });
});
