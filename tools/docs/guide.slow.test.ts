/**
 * Follows the guide of `docs/own-lock.md` literally with the packed package in an empty folder: its
 * files are those of `fixtures/guide`, and its commands print what it states.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, root, runCli } from '../../src/cli/command-line.fixture.ts';
import { install } from '../installed.fixture.ts';

const guide = join(root, 'fixtures/guide');
const page = readFileSync(join(root, 'docs/own-lock.md'), 'utf8');
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fencepost-guide-'));
  install(folder);
  for (const name of readdirSync(guide)) cpSync(join(guide, name), join(folder, name));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fencepost(...args: readonly string[]): Ended {
  const cli = join(folder, 'node_modules/fencepost/dist/cli.js');
  return runCli(args, { cwd: folder, cli });
}

test('the files of the guide are those of fixtures/guide', () => {
  for (const name of ['my-lock.mjs', 'my-lock.fencepost.mjs', 'my-lock.yaml']) {
    expect(page, name).toContain(`\n${readFileSync(join(guide, name), 'utf8')}\`\`\`\n`);
  }
});

test('its run finds the pause, and confirms that the token holds', {
  timeout: 120_000,
}, () => {
  const { code, out } = fencepost('run', 'my-lock.yaml', '--seeds', '300');
  expect(out).toContain('2 of 2 expectations met');
  expect(code).toBe(0);
  const plan = 'reports/my-lock-alone-grant-order.yaml';
  expect(fencepost('replay', plan, '--modules', '.').out).toContain('reproduced');
});

test('a scenario of the package is run, shown and replayed by name', { timeout: 120_000 }, () => {
  const listed = (): readonly string[] =>
    readdirSync(join(folder, 'node_modules/fencepost'), { recursive: true }).map(String).sort();
  const before = listed();
  const { code, out, err } = fencepost('run', 'six-steps', '--seeds', '20');
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(out).toContain('same plan on twin fenced: 20 ms ⊘ refused, token 1, highest seen 2');
  expect(err).toContain('corpus: 2 plans replayed, 2 as expected');
  const keep = /^keep: +npx --no-install fencepost (.*)$/m.exec(out)?.[1] ?? expect.fail(out);
  expect(fencepost('show', 'six-steps').out).toContain("✓ accepts client-A's x = 101, token 1");
  expect(fencepost('replay', 'six-steps-unfenced-grant-order').out).toContain('reproduced');
  expect(listed()).toEqual(before);
  expect(fencepost(...keep.split(' ')).out).toContain('added as plans/six-steps-unfenced-');
  expect(listed()).toEqual(before);
  const again = fencepost('run', 'six-steps', '--seeds', '20');
  expect(again.err).toContain('corpus: 3 plans replayed, 3 as expected');
  expect(fencepost(...keep.split(' '))).toMatchObject({ code: 0 });
  expect(readdirSync(join(folder, 'plans'))).toHaveLength(1);
});
