/**
 * Tests a project in TypeScript: in a folder of `npm init -y` and `tsc --init`, a lock in
 * `src/lock.ts`, which imports another file without an extension, works with every command.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, root, runCli } from './command-line.fixture.ts';

let folder = '';
const starter = join(root, 'fixtures/starter/locks');

function put(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function run(...args: readonly string[]): Ended {
  return runCli(args, { cwd: folder });
}

function outside(
  command: string,
  ...args: readonly string[]
): { code: number | null; out: string } {
  const env = { ...process.env, NO_COLOR: '1' };
  const ended = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env });
  return { code: ended.status, out: ended.stdout + ended.stderr };
}

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const REPORTS = ['--output', 'reports', '--seeds', '60'];
const PLAN = 'reports/my-lock-first-owner-only-release.yaml';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fencepost-typescript-'));
  expect(outside('npm', 'init', '-y').code).toBe(0);
  expect(outside(tsc, '--init').code).toBe(0);
  mkdirSync(join(folder, 'src'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/fencepost'));
  for (const name of ['vitest', '@types']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const lock = readFileSync(join(starter, 'my-lock.ts'), 'utf8').replace('< 40;', '< TRIES;');
  put(
    'src/lock.ts',
    `import { type Count, TRIES } from './tries';\n${lock}\nconst most: Count = 40;\n`,
  );
  put(
    'src/tries.ts',
    'export interface Count extends Number {}\nexport const TRIES: number = 40;\n',
  );
  const scenario = readFileSync(join(starter, 'my-lock.yaml'), 'utf8');
  put('src/lock.yaml', scenario.replaceAll('my-lock.mjs', 'lock.ts'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a lock in TypeScript', () => {
  test('meets the expectations of its scenario, also in worker threads, the same each time', () => {
    const { code, out, err } = run('run', 'src/lock.yaml', ...REPORTS, '--check-determinism');
    expect(out).toContain('3 of 3 expectations met');
    expect(out + err).not.toMatch(/Warning/);
    expect(code).toBe(0);
  });

  test('replays its plan, which lists the files of the lock, and can be shown', () => {
    expect(readFileSync(join(folder, PLAN), 'utf8')).toMatch(
      /\.\/lock\.ts: sha256:[0-9a-f]{64}\s+\.\/tries\.ts=[0-9a-f]{16}\n/,
    );
    const { code, out } = run('replay', PLAN, '--modules', 'src');
    expect(out).toContain('reproduced');
    expect(code).toBe(0);
    expect(run('show', PLAN, '--modules', 'src').code).toBe(0);
  });

  test('is not run for a plan made with another version of a file, which is named', () => {
    const before = readFileSync(join(folder, 'src/tries.ts'), 'utf8');
    put('src/plan.yaml', readFileSync(join(folder, PLAN), 'utf8'));
    put('src/tries.ts', `${before}// another\n`);
    const { code, err } = run('replay', 'src/plan.yaml');
    expect(err).toContain(
      './lock.ts (./tries.ts has changed) differs from the version that the plan was made with',
    );
    expect(code).toBe(2);
    const named = run('replay', 'src/plan.yaml', '--modules', 'src');
    expect(named.err).toContain('with another version of ./lock.ts (./tries.ts has changed)');
    expect(named.code).toBe(0);
    put('src/tries.ts', before);
  });

  test('that needs a missing compiler is refused with its place', () => {
    const before = readFileSync(join(folder, 'src/tries.ts'), 'utf8');
    put('src/tries.ts', `${before}@Object.freeze\nexport class Colour {}\n`);
    const { code, err } = run('run', 'src/lock.yaml', ...REPORTS);
    expect(err).toMatch(/src\/lock\.yaml:\d+:6 use: \.\/lock\.ts cannot be loaded: /);
    expect(err).toMatch(/src\/tries\.ts:3:1: .*decorator/);
    expect(code).toBe(2);
    put('src/tries.ts', before);
  });

  test('can be tested with vitest', () => {
    put(
      'src/lock.test.ts',
      `import { simTest } from 'fencepost/vitest';
simTest('holds', { scenario: './lock.yaml', system: 'fenced', seeds: 30 });`,
    );
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const { code, out } = outside('node', vitest, 'run', '--root', folder);
    expect(out).toMatch(/Tests +1 passed/);
    expect(code).toBe(0);
  });
});

test('TypeScript accepts the files of `init`, and they meet their expectations', () => {
  expect(run('init').code).toBe(0);
  const { code, out } = run('run', 'locks/my-lock.yaml', ...REPORTS);
  expect(out).toContain('3 of 3 expectations met');
  expect(code).toBe(0);
  put('package.json', '{ "type": "module" }');
  const checked = ['--noEmit', '--ignoreConfig', '--strict', '--module', 'nodenext'];
  const strict = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck'];
  const rest = ['--verbatimModuleSyntax', '--target', 'esnext', '--types', 'node'];
  expect(outside(tsc, ...checked, ...strict, ...rest, 'locks/my-lock.ts')).toEqual({
    code: 0,
    out: '',
  });
});
