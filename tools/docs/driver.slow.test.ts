/**
 * Follows the part of `docs/own-lock.md` on one's own driver literally: an empty folder, `npm init
 * -y`, `tsc --init`, the packed package and ioredis, a lock in `src/lock.ts` that connects by
 * itself, and a run that fails.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, root, runCli } from '../../src/cli/command-line.fixture.ts';
import { install } from '../installed.fixture.ts';

const sources = join(root, 'fixtures/driver');
const FILES = ['src/lock.ts', 'lock.fencepost.ts', 'lock.yaml'];
const tsc = join(root, 'node_modules/typescript/bin/tsc');
let folder = '';

function outside(command: string, ...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fencepost-driver-'));
  outside('npm', 'init', '-y');
  outside(tsc, '--init');
  install(folder, ['ioredis', '@types/node']);
  cpSync(sources, folder, { recursive: true });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fencepost(...args: readonly string[]): Ended {
  const cli = join(folder, 'node_modules/fencepost/dist/cli.js');
  return runCli(args, { cwd: folder, cli });
}

test('the files of the guide are those of fixtures/driver, and they compile', () => {
  const page = readFileSync(join(root, 'docs/own-lock.md'), 'utf8');
  for (const name of FILES) {
    expect(page, name).toContain(`\n${readFileSync(join(sources, name), 'utf8')}\`\`\`\n`);
  }
  const modern = ['--module', 'nodenext', '--allowImportingTsExtensions', '--target', 'es2023'];
  const options = [...modern, '--types', 'node', '--strict', '--skipLibCheck', '--noEmit'];
  outside(tsc, ...options, '--ignoreConfig', 'lock.fencepost.ts');
});

test('the run fails, the same way each time, and its plan replays', { timeout: 300_000 }, () => {
  const { code, out } = fencepost('run', 'lock.yaml', '--seeds', '8', '--check-determinism');
  expect(out).toContain('grant-order of my-lock in lock, seed 0');
  expect(out).toMatch(/✗ failed on .*: 0 of 1 expectation met, 1 not met/);
  expect(out).toMatch(/breaks with any pause of \w+ over [\d.]+ ms/);
  expect(code).toBe(1);
  const plan = 'reports/lock-my-lock-grant-order.yaml';
  expect(readFileSync(join(folder, plan), 'utf8')).toContain('hosts: { redis-1:6379: lock }');
  expect(fencepost('replay', plan, '--modules', '.')).toMatchObject({ code: 0 });
});

test('a mistake in `hosts` is reported with its place', () => {
  const text = readFileSync(join(sources, 'lock.yaml'), 'utf8');
  writeFileSync(
    join(folder, 'wrong.yaml'),
    text.replace('redis-1:6379: lock ', 'redis-1:6379: lok '),
  );
  const { code, err } = fencepost('run', 'wrong.yaml');
  expect(err).toContain(
    'wrong.yaml:3:24 hosts["redis-1:6379"]: unknown server "lok"; did you mean "lock"?',
  );
  expect(code).toBe(2);
});

test('an address without a server is reported with the known hosts', () => {
  const text = readFileSync(join(sources, 'lock.yaml'), 'utf8');
  writeFileSync(join(folder, 'other.yaml'), text.replace('redis-1:6379', 'redis-2:6379'));
  const { code, out, err } = fencepost('run', 'other.yaml', '--seeds', '5');
  expect(out + err).toMatch(
    /speaks Redis to redis-1:6379, where no server listens \(hosts: redis-2:6379\)/,
  );
  const shown = fencepost('show', 'other.yaml');
  expect(shown.out).toMatch(
    /^✗ failed: \w+ speaks Redis to redis-1:6379, where no server listens/m,
  );
  expect([code, shown.code]).toEqual([3, 3]);
});
