/** `fencepost mutants` as it is typed: what it prints, and how it ends. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { mutants } from '../search/mutants/mutants.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cli = join(root, 'dist/cli.js');

function fencepost(...args: string[]): { code: number | null; out: string; err: string } {
  if (!existsSync(cli)) expect.fail('dist is missing: run `npm run build` before this test');
  const env = { ...process.env, NO_COLOR: '1' };
  const ended = spawnSync('node', [cli, 'mutants', ...args], { cwd: root, encoding: 'utf8', env });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

const here = ['--workers', '0', '--quiet'];

test('two mutants are found on a few seeds, and both bases hold', () => {
  const { code, out } = fencepost('token-32-bit', 'unfenced', '--seeds', '20', ...here);
  expect(out).toMatch(/^✓ unfenced +fence-monotone +held +[\d,]+ \(\d+–[\d,]+\) +\d+ +2\/1\/\d+$/m);
  expect(out).toMatch(/^✓ token-32-bit +tokens-increase +held +1,000 \(839–1,000\) +1 +\d\/0\//m);
  expect(out).toMatch(/^2 of 2 mutants found, every base held; 20 seeds of each$/m);
  expect(code).toBe(0);
});

test('a mutant that survives ends with 1', () => {
  const { code, out } = fencepost('expiry-boundary', '--seeds', '2', ...here);
  expect(out).toMatch(/^✗ expiry-boundary +lease-conservative +held +survived/m);
  expect(code).toBe(1);
});

test('a mutant that one seed misses is untested, which ends with 5', () => {
  const { code, out } = fencepost('expiry-boundary', '--seeds', '1', ...here);
  expect(out).toMatch(/^\? expiry-boundary +lease-conservative +held +untested/m);
  expect(code).toBe(5);
});

test('the same seeds give the same lines, each in the schema, the last their sum', () => {
  const args = ['unfenced', '--seeds', '5..14', '--json', ...here];
  const { code, out } = fencepost(...args);
  const lines = out.trim().split('\n');
  expect(lines.map((line) => outputLine.parse(JSON.parse(line)))).toMatchObject([
    { type: 'mutant', name: 'unfenced', seeds: 10, base: { verdict: 'held' } },
    { type: 'mutants-summary', exit: 0, mutants: 1, found: 1, basesHeld: 1 },
  ]);
  expect(code).toBe(0);
  expect(fencepost(...args).out).toBe(out);
});

test('a shrunk plan that is kept replays', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-mutants-'));
  try {
    fencepost('unfenced', '--seeds', '10', '--output', folder, ...here);
    const [plan = ''] = readdirSync(folder);
    const { status, stdout } = spawnSync('node', [cli, 'replay', join(folder, plan)], {
      encoding: 'utf8',
    });
    expect(stdout).toContain('reproduced');
    expect(status).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the list names them all, and needs no run', () => {
  const { code, out } = fencepost('--list');
  for (const { name } of mutants) expect(out).toContain(name);
  expect(code).toBe(0);
});

test('an unknown name ends with 2 and a suggestion', () => {
  const { code, out, err } = fencepost('unfenced', 'expiry-bondary');
  expect(err).toBe('there is no mutant "expiry-bondary"; did you mean "expiry-boundary"?\n');
  expect({ code, out }).toEqual({ code: 2, out: '' });
});

test('Ctrl-C ends with 130 and prints what was found so far', async () => {
  const child = spawn('node', [cli, 'mutants', '--seeds', '1000000'], { cwd: root });
  let out = '';
  child.stdout.on('data', (data) => {
    out += String(data);
  });
  // A busy machine takes long to begin.
  setTimeout(() => child.kill('SIGINT'), 10_000);
  expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(130);
  expect(out).toMatch(/^interrupted/m);
});
