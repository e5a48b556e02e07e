/**
 * Follows the part of `docs/own-lock.md` on in-memory locks literally with the packed package in an
 * empty folder: its files are those of `fixtures/in-memory`, and mutexes of npm separate the
 * requests of one process, but not those of two.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, root, runCli } from '../../src/cli/command-line.fixture.ts';
import { install } from '../installed.fixture.ts';

const sources = join(root, 'fixtures/in-memory');
const page = readFileSync(join(root, 'docs/own-lock.md'), 'utf8');
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fencepost-in-memory-'));
  install(folder, ['async-lock', 'async-mutex', 'p-queue']);
  cpSync(sources, folder, { recursive: true });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(name: string, seeds: number): Ended {
  const cli = join(folder, 'node_modules/fencepost/dist/cli.js');
  return runCli(['run', name, '--seeds', `${seeds}`], { cwd: folder, cli });
}

test('the files of the page are those of fixtures/in-memory', () => {
  for (const name of readdirSync(sources)) {
    expect(page, name).toContain(`\n${readFileSync(join(sources, name), 'utf8')}\`\`\`\n`);
  }
});

test('in one process each mutex holds, and without any updates are lost', {
  timeout: 120_000,
}, () => {
  const { code, out } = run('turns.yaml', 40);
  expect(out).toMatch(/✓ passed on .*: 4 of 4 expectations met/);
  expect(out).toMatch(/`alice\/\d` entered `db` while `alice\/\d` held it/);
  expect(code).toBe(0);
});

test('between two processes no mutex holds', { timeout: 240_000 }, () => {
  const text = readFileSync(join(sources, 'turns.yaml'), 'utf8');
  writeFileSync(join(folder, 'two.yaml'), text.replace('count: 1', 'count: 2'));
  // Every claim breaks on the first seed.
  const { code, out } = run('two.yaml', 10);
  expect(out).toMatch(/✗ failed on .*: 1 of 4 expectations met, 3 not met/);
  expect(out).toContain('bob entered `db` while alice held it');
  expect(code).toBe(1);
});
