/**
 * Laws of the size of the installed package: the tarball, its files, and its dependencies. Reads
 * the built package in `dist` and the packages in `node_modules`, and fetches nothing.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokenLinks, pagesIn } from './docs/pages.ts';
import { install, needsOf, pack, type Tarball } from './installed.fixture.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
/** Bytes on a disk with blocks of 4 kB. */
const onDisk = (bytes: number): number => Math.ceil(bytes / 4096) * 4096;

/** Returns the folders of all packages that are installed with this one. */
function installed(): readonly string[] {
  const found = new Set<string>();
  const waiting = needsOf(root).map((name) => ({ name, from: root }));
  for (const { name, from } of waiting) {
    const nested = join(from, 'node_modules', name);
    const folder = existsSync(nested) ? nested : join(root, 'node_modules', name);
    if (found.has(folder)) continue;
    found.add(folder);
    waiting.push(...needsOf(folder).map((needed) => ({ name: needed, from: folder })));
  }
  return [...found];
}

/** Returns files that our modules name by `new URL('./worker.js', import.meta.url)`. */
function loadedByUrl(): readonly string[] {
  const modules = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const found = modules
    .filter((name) => /\.ts$/.test(name) && !/\.(?:test|fixture)\.ts$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(root, 'src', name), 'utf8');
      const named = [...text.matchAll(/new URL\('(\.[^']+\.js)', import\.meta\.url\)/g)];
      return named.map(([, path = '']) => join('dist', dirname(name), path));
    });
  // The page's script and the threads.
  expect(found.length).toBeGreaterThan(5);
  return found;
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, { size }) => sum + onDisk(size), 0);
}

describe('the installed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-package-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'node_modules/fencepost');
  const node = (args: readonly string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  let packed: Tarball;

  beforeAll(() => {
    packed = pack(folder);
    install(folder, ['vitest', 'fast-check'], packed);
  });

  test('is a tarball of at most 800 kB with at most 300 files', () => {
    expect(packed.size).toBeLessThanOrEqual(800_000);
    expect(packed.files.length).toBeLessThanOrEqual(300);
  });

  test('takes at most 20 MB on disk with its dependencies', () => {
    const sizeOnDisk = packed.files.reduce((sum, { size }) => sum + onDisk(size), 0);
    const others = installed().reduce((sum, path) => sum + sizeOf(path), 0);
    expect(sizeOnDisk + others).toBeLessThanOrEqual(20_000_000);
    // Lower bounds, so that missing files are noticed.
    expect(sizeOnDisk).toBeGreaterThan(2_000_000);
    expect(others).toBeGreaterThan(7_000_000);
  });

  test('has the entry points, the files that are loaded by URL, and third-party licenses', () => {
    const paths = packed.files.map(({ path }) => path);
    const modules = ['index', 'check', 'fast-check', 'redis', 'vitest', 'fleet'];
    for (const path of [
      ...modules.flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`]),
      ...loadedByUrl(),
      'dist/cli.js',
      'dist/LICENCES.md',
    ]) {
      expect(paths).toContain(path);
    }
  });

  test('loads with only the packages that it depends on', () => {
    const entries = ['', '/check', '/fast-check', '/redis', '/vitest', '/fleet'];
    // For the vitest adapter only that it is found: it runs only within a test.
    const loaded = entries.map((entry) => `import 'fencepost${entry}';`).join('\n');
    const { stderr } = node(['--input-type=module', '--eval', loaded]);
    expect(stderr).not.toMatch(/Cannot find|ERR_MODULE/);
    // The order in which Lua's interpreter runs its modules works, and no module is missing.
    const script = "return string.format('%5.2f', math.pi) .. load('return 1 + 1')()";
    const evaluated = `import { RedisNode } from 'fencepost/redis';
      console.log(new RedisNode().handle(['EVAL', ${JSON.stringify(script)}, '0'], { wallUs: 0 }));`;
    expect(node(['--input-type=module', '--eval', evaluated]).stdout).toBe(' 3.142\n');
    const { status, stdout } = node([join(home, 'dist/cli.js'), 'run', 'six-steps']);
    expect(stdout).toContain('seeds: 3 of 3 expectations met');
    expect(status).toBe(0);
  });

  test('names the package to install for stores in SQL', () => {
    const { status, stderr } = node([join(home, 'dist/cli.js'), 'run', 'stock', 'six-steps']);
    expect(stderr).toMatch(/^\S+stock\.yaml:1:1: .*: npm install --save-dev node-sqlite3-wasm\n$/);
    expect(status).toBe(2);
  });

  test('has every page, only internal or web links, and no build step', () => {
    expect(pagesIn(home)).toEqual(pagesIn(root));
    expect(pagesIn(home).flatMap((path) => brokenLinks(home, path))).toEqual([]);
    expect(readFileSync(join(home, 'package.json'), 'utf8')).not.toContain('"prepare"');
  });

  test('loads no simulator code for `fencepost/check`', () => {
    const checker = ['check', 'shared/checker', 'shared/histories'];
    const imported = checker.flatMap((name) => {
      const text = readFileSync(join(root, `dist/${name}.js`), 'utf8');
      return [...text.matchAll(/^import\b.*"([^"]+)";$/gm)].map(([, path = '']) => path);
    });
    const entries = ['./shared/checker.js', './shared/histories.js', './checker.js'];
    expect(imported).toEqual(entries);
  });

  test('has types that do not need those of Node', () => {
    const entries = ['index', 'check', 'fast-check', 'redis', 'vitest', 'fleet'];
    const files = entries.map((name) => join(root, `dist/${name}.d.ts`));
    const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'es2023' };
    const options = { ...compilerOptions, lib: ['es2023'], types: [] };
    writeFileSync(join(folder, 'types.json'), JSON.stringify({ compilerOptions: options, files }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(node([tsc, '-p', 'types.json']).stdout).toBe('');
  });

  test('imports no package of which a part is bundled', () => {
    const scripts = packed.files.filter(({ path }) => /\.(?:js|d\.ts)$/.test(path));
    const texts = scripts.map(({ path }) => readFileSync(join(root, path), 'utf8'));
    const asked = texts.flatMap((text) => [
      ...text.matchAll(/^import\b.*from ?["'](?:zod|fengari)["/]/gm),
    ]);
    expect(asked).toEqual([]);
    const properties = scripts.filter((_, at) =>
      /(?:from|import\() ?["']fast-check/.test(texts[at] ?? ''),
    );
    expect(properties.map(({ path }) => path).sort()).toEqual([
      'dist/fast-check.d.ts',
      'dist/fast-check.js',
    ]);
    // Otherwise fengari's requires for a terminal would fail, and `fencepost/redis` would not load.
    for (const text of texts) expect(text).not.toMatch(/\(["'`](?:tmp|readline-sync)["'`]\)/);
  });
});
