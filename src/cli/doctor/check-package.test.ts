import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkPackage, missingFiles, type PackageFacts } from './check-package.ts';
import { checkPeers } from './check-peers.ts';
import { readManifest } from './manifest.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fencepost-package-'));
});

afterEach(() => rmSync(root, { recursive: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** A small package, whole. */
function install(path = '.', version = '1.2.3'): void {
  const manifest = {
    name: 'fencepost',
    version,
    bin: { fencepost: './dist/cli.js' },
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
  };
  file(join(path, 'package.json'), JSON.stringify(manifest));
  file(join(path, 'dist/cli.js'), `const { a } = await import('./late.js');\n`);
  file(join(path, 'dist/late.js'), `import {\n  a,\n} from './search/sweep/worker.js';\n`);
  file(join(path, 'dist/index.js'), `/** import a from './shown.js'; */\nimport './cli.js';\n`);
  file(join(path, 'dist/index.d.ts'), '');
  file(join(path, 'dist/report/page/script.js'), '');
  file(join(path, 'dist/search/sweep/worker.js'), `export * from './examiner.js';\n`);
  file(join(path, 'dist/search/sweep/examiner.js'), '// import("./gone.js")\n');
  file(join(path, 'dist/a.schema.json'), '{ "type": "string" }');
}

function facts(path = '.'): PackageFacts {
  const manifest = readManifest(join(root, path));
  if (manifest === null) throw new Error('it was not installed');
  return { root: join(root, path), manifest, schemas: { 'a.schema.json': { type: 'string' } } };
}

function statusOf(name: string, workFolder = root): string {
  const found = checkPackage(facts(), workFolder).find((check) => check.name === name);
  return found === undefined ? 'none' : found.status;
}

describe('a package', () => {
  test('that is whole is well', () => {
    install();
    expect(missingFiles(root, facts().manifest)).toEqual([]);
    expect(checkPackage(facts(), root).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  });

  const files = [
    'cli.js',
    'late.js',
    'index.d.ts',
    'report/page/script.js',
    'search/sweep/worker.js',
  ];
  test.each([...files, 'search/sweep/examiner.js'])(
    'that lacks %s is a problem which names it',
    (name) => {
      install();
      rmSync(join(root, 'dist', name));
      const [check] = checkPackage(facts(), root);
      expect(check).toMatchObject({
        status: 'problem',
        what: expect.stringContaining(`dist/${name}`),
      });
    },
  );

  test('whose schema is missing, torn or of another version is told', () => {
    install();
    for (const text of ['{ "type": "number" }', '{ "ty']) {
      file('dist/a.schema.json', text);
      expect(statusOf('schemas')).toBe('warning');
    }
    rmSync(join(root, 'dist/a.schema.json'));
    expect(statusOf('schemas')).toBe('warning');
  });
});

describe('the copy that a project has', () => {
  test('is this one, another one, or none', () => {
    install();
    file('project/package.json', '{ "name": "project" }');
    mkdirSync(join(root, 'project/node_modules'));
    symlinkSync(root, join(root, 'project/node_modules/fencepost'));
    expect(statusOf('copy', join(root, 'project'))).toBe('ok');
    install('other/node_modules/fencepost', '9.9.9');
    const [, , other] = checkPackage(facts(), join(root, 'other/deep/below'));
    expect(other).toMatchObject({ status: 'warning', what: expect.stringContaining('9.9.9') });
    expect(statusOf('copy', tmpdir())).toBe('warning');
  });
});

test('a package that fencepost works with is well in its range, and told out of it', () => {
  file('node_modules/vitest/package.json', '{ "name": "vitest", "version": "2.1.0" }');
  const status = (range: string, name = 'vitest'): string | undefined =>
    checkPeers({ [name]: range }, join(root, 'src'))[0]?.status;
  expect(status('>=2')).toBe('ok');
  expect(status('^4.0.0')).toBe('warning');
  expect(status('^4.0.0', 'a-package-that-is-not-there')).toBe('ok');
  file('node_modules/vitest/package.json', '{ "name": "vit');
  expect(status('>=2')).toBe('warning');
});
