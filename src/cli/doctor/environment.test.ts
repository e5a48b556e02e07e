import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  checkClock,
  checkFolder,
  checkMemory,
  checkNode,
  checkPackage,
  checkPeers,
  checkSql,
  checkTerminal,
  checkThreads,
  digestOfSchema,
  isVersionInRange,
  missingFiles,
  type PackageFacts,
  readManifest,
} from './environment.ts';

test('an old Node is a problem', () => {
  expect(checkNode('20.19.0', '>=20.19', 'linux x64').status).toBe('ok');
  expect(checkNode('18.20.0', '>=20.19', 'linux x64')).toMatchObject({
    status: 'problem',
    what: expect.stringContaining('18.20.0'),
    fix: expect.stringContaining('install'),
  });
});

test('more workers than fit into memory are a warning with the number that fits', () => {
  const workerMb = 512;
  expect(checkMemory({ cores: 4, memoryMb: 8192, workerMb }).status).toBe('ok');
  const { status, fix } = checkMemory({ cores: 64, memoryMb: 4096, workerMb });
  expect([status, fix]).toEqual(['warning', expect.stringContaining('--workers 7')]);
  expect(checkMemory({ cores: 2, memoryMb: 256, workerMb }).fix).toContain('--workers 1');
});

describe('a clock', () => {
  const nowMs = Date.UTC(2026, 5);
  const sane = {
    wallMs: [nowMs, nowMs + 60],
    monotonicMs: [10, 70],
    fileMs: nowMs + 55,
  } as const;

  test('that advances, and agrees with the others, is ok', () => {
    expect(checkClock(sane).status).toBe('ok');
    expect(checkClock({ ...sane, fileMs: null }).status).toBe('ok');
  });

  test('that stands still, jumps, or is far off is reported', () => {
    expect(checkClock({ ...sane, monotonicMs: [10, 10] }).status).toBe('problem');
    const frozen = { ...sane, monotonicMs: [0, 500], wallMs: [nowMs, nowMs] } as const;
    expect(checkClock(frozen)).toMatchObject({ status: 'warning' });
    const back = { ...sane, wallMs: [nowMs, nowMs - 3_600_000] } as const;
    expect(checkClock(back).what).toContain('-3600000 ms');
    expect(checkClock({ ...sane, wallMs: [0, 60] }).what).toContain('1970');
    expect(checkClock({ ...sane, fileMs: nowMs - 90_000 }).what).toContain('90 s');
  });
});

test.each([
  ['20.19.0', '>=20.19', true],
  ['20.18.9', '>=20.19', false],
  ['24.0.0', '>=20.19', true],
  ['v22.1.0-nightly', '>=20.19', true],
  ['4.1.12', '^4.0.0', true],
  ['5.0.0', '^4.0.0', false],
  ['3.9.9', '^4.0.0', false],
  ['0.2.9', '^0.2.3', true],
  ['0.3.0', '^0.2.3', false],
  ['0.0.4', '^0.0.3', false],
  ['0.9.0', '^0', true],
  ['0.0.9', '^0.0', true],
  ['0.1.0', '^0.0', false],
  ['1.2.9', '~1.2.3', true],
  ['1.3.0', '~1.2.3', false],
  ['1.9.0', '~1', true],
  ['4.1.7', '4.1', true],
  ['4.2.0', '4.1', false],
  ['4.2.0', '4.x', true],
  ['4.1.7', '=4.1.7', true],
  ['4.0.0', '>4', false],
  ['5.0.0', '>4', true],
  ['4.9.9', '<=4', true],
  ['5.0.0', '<=4', false],
  ['4.5.0', '>=3 <5', true],
  ['5.0.0', '>= 3 < 5', false],
  ['3.2.0', '^5.0.0 || ^3.1.0', true],
  ['4.0.0', '^5.0.0 || ^3.1.0', false],
  ['4.0.0', '1 - 5', true],
  ['6.0.0', '1 - 5', false],
  ['4.0.0', '*', true],
  ['4.0.0', '', true],
])('%s in %s is %s', (version, range, isIn) => {
  expect(isVersionInRange(version, range)).toBe(isIn);
});

test('an unknown version or range is neither inside nor outside', () => {
  expect(isVersionInRange('4.0.0', 'latest')).toBe(null);
  expect(isVersionInRange('', '*')).toBe(null);
  expect(isVersionInRange('4.0.0', 'latest || ^5')).toBe(null);
  expect(isVersionInRange('4.0.0', 'latest || ^4')).toBe(true);
});

describe('worker threads', () => {
  test('start here', async () => {
    expect(await checkThreads(64)).toMatchObject({ name: 'threads', status: 'ok' });
  });

  test('that fail, end silently, hang or share no memory are a problem', async () => {
    // Only the one that hangs runs into its limit; the others take as long as the machine needs.
    const whatOf = async (program: string, limitMs = 20_000): Promise<string> => {
      const { status, what } = await checkThreads(64, program, limitMs);
      return `${status}: ${what}`;
    };
    expect(await whatOf('throw new Error("no threads for you")')).toMatch(/^problem: .*for you/);
    expect(await whatOf('')).toMatch(/^problem: .*without a message/);
    expect(await whatOf('setInterval(() => {}, 1000)', 500)).toMatch(/^problem: .*0\.5 s/);
    const unshared = 'require("node:worker_threads").parentPort.postMessage(1)';
    expect(await whatOf(unshared)).toMatch(/^problem: .*shares no memory/);
  });
});

test('SQLite loads here', async () => {
  expect(await checkSql()).toMatchObject({ name: 'sql', status: 'ok' });
});

test('a writable folder is ok, and is left empty; a missing one is a problem', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
  try {
    const { check, fileMs } = checkFolder('folder', folder, 'or another');
    expect(check.status).toBe('ok');
    expect(Math.abs((fileMs ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(readdirSync(folder)).toEqual([]);
    const missing = checkFolder('folder', join(folder, 'none'), 'or another');
    expect(missing).toMatchObject({ check: { status: 'problem' }, fileMs: null });
    mkdirSync(join(folder, `.fencepost-doctor-${process.pid}.tmp`));
    expect(checkFolder('folder', folder, 'or another').check.status).toBe('problem');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a terminal reports why it has no color, and a warning if it is too narrow', () => {
  const wide = { isTerminal: true, hasColour: false, width: 100, env: { NO_COLOR: '1', CI: '' } };
  expect(checkTerminal(wide).what).toBe('a terminal of 100 columns, without color (NO_COLOR=1)');
  expect(checkTerminal({ ...wide, width: 40 }).status).toBe('warning');
  expect(checkTerminal({ ...wide, width: 40, isTerminal: false }).status).toBe('ok');
});

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fencepost-package-'));
});

afterEach(() => rmSync(root, { recursive: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Creates a small package without defects. */
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
  const page = "const page = new URL('./report/page/script.js', import.meta.url);";
  file(join(path, 'dist/index.js'), `/** import a from './shown.js'; */import"./cli.js";${page}`);
  file(join(path, 'dist/index.d.ts'), '');
  file(join(path, 'dist/report/page/script.js'), '');
  const inBundle = 'new URL(`./examiner.js`,new URL(`./a.js`,import.meta.url).href)';
  file(join(path, 'dist/search/sweep/worker.js'), inBundle);
  file(join(path, 'dist/search/sweep/examiner.js'), '// import("./gone.js")\n');
  file(join(path, 'dist/a.schema.json'), '{ "type": "string" }');
}

function facts(path = '.'): PackageFacts {
  const manifest = readManifest(join(root, path));
  if (manifest === null) throw new Error('it was not installed');
  const digests = { 'a.schema.json': digestOfSchema({ type: 'string' }) };
  return { root: join(root, path), manifest, digests };
}

function statusOf(name: string, workFolder = root): string {
  const found = checkPackage(facts(), workFolder).find((check) => check.name === name);
  return found === undefined ? 'none' : found.status;
}

describe('a package', () => {
  test('without defects is ok', () => {
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
    'without %s is a problem that names it',
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

  test('with a missing, truncated or outdated schema gets a warning', () => {
    install();
    for (const text of ['{ "type": "number" }', '{ "ty']) {
      file('dist/a.schema.json', text);
      expect(statusOf('schemas')).toBe('warning');
    }
    rmSync(join(root, 'dist/a.schema.json'));
    expect(statusOf('schemas')).toBe('warning');
  });
});

describe('the copy of fencepost in a project', () => {
  test('is this one, another version, or missing', () => {
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

test('an installed peer is ok within its range, and gets a warning outside of it', () => {
  file('node_modules/vitest/package.json', '{ "name": "vitest", "version": "2.1.0" }');
  const status = (range: string, name = 'vitest'): string | undefined =>
    checkPeers({ [name]: range }, join(root, 'src'))[0]?.status;
  expect(status('>=2')).toBe('ok');
  expect(status('^4.0.0')).toBe('warning');
  expect(status('^4.0.0', 'a-package-that-is-not-there')).toBe('ok');
  file('node_modules/vitest/package.json', '{ "name": "vit');
  expect(status('>=2')).toBe('warning');
});
