/**
 * Tests that plans are kept beside their scenario, where `run` and `corpus` find them by default.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));

afterAll(() => rmSync(folder, { recursive: true }));

function fencepost(...args: readonly string[]): { readonly code: number; readonly stdout: string } {
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync('node', [cli, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env,
  });
  return { code: status ?? -1, stdout: `${stdout}${stderr}` };
}

const RUN = ['run', 'locks/zombie.yaml', '--seeds', '60', '--workers', '1'];

test('after init and run, the printed `keep:` command lets the next run replay the plan', () => {
  expect(fencepost('init').code).toBe(0);
  const first = fencepost(...RUN);
  expect(first.stdout).toContain('corpus: 0 plans replayed');
  const [, keep = ''] = /^keep: +npx --no-install fencepost (.*)$/m.exec(first.stdout) ?? [];
  expect(keep).toMatch(/^corpus add reports\/\S+\.yaml$/);
  expect(fencepost(...keep.split(' ')).code).toBe(0);
  expect(readdirSync(join(folder, 'locks/plans'))).toHaveLength(1);
  expect(fencepost(...RUN).stdout).toContain('corpus: 1 plan replayed, 1 as expected');
  expect(fencepost('corpus', 'check').stdout).toContain('1 kept plan, 1 reproduced; 1 as expected');
  const again = fencepost(...keep.split(' '));
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('already kept') });
}, 120_000);

test('a plan is kept beside its scenario at any depth', () => {
  const deep = 'one/two/three/four/five/six';
  mkdirSync(join(folder, deep), { recursive: true });
  renameSync(join(folder, 'locks'), join(folder, deep, 'locks'));
  const [report = ''] = readdirSync(join(folder, 'reports')).filter((one) => one.endsWith('.yaml'));
  rmSync(join(folder, deep, 'locks/plans'), { recursive: true });
  const { stdout } = fencepost('corpus', 'add', join('reports', report));
  expect(stdout).toContain(`added as ${deep}/locks/plans/`);
  renameSync(join(folder, deep, 'locks'), join(folder, 'locks'));
});

test('accept does not change a plan that still breaks, and reports that', () => {
  const [name = ''] = readdirSync(join(folder, 'locks/plans'));
  const file = join('locks/plans', name);
  const before = readFileSync(join(folder, file), 'utf8');
  const { code, stdout } = fencepost('corpus', 'accept', file);
  expect({ code, stdout }).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not accepted: reproduced'),
  });
  expect(readFileSync(join(folder, file), 'utf8')).toBe(before);
});

test('accept turns a fixed plan into a guard', () => {
  const [name = ''] = readdirSync(join(folder, 'locks/plans'));
  const file = join(folder, 'locks/plans', name);
  const text = readFileSync(file, 'utf8');
  const fixed = text.replace('store: unfenced', 'store: fenced');
  expect(fixed).not.toBe(text);
  writeFileSync(file, fixed);
  expect(fencepost('corpus', 'check').code).toBe(1);
  expect(fencepost('corpus', 'accept')).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toContain('outcome: fixed');
  expect(fencepost('corpus', 'check').code).toBe(0);
  expect(existsSync(file)).toBe(true);
}, 120_000);
