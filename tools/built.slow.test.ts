/** Tests the build: the command line, and the tools that run on its modules. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';

const cwd = fileURLToPath(new URL('..', import.meta.url));

function outputOf(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

beforeAll(() => {
  const rolldown = 'node_modules/rolldown/bin/cli.mjs';
  outputOf(process.execPath, rolldown, '-c', 'tools/tools.config.mjs', '--logLevel', 'silent');
});

test('the command line loads no module of the package before it has parsed its arguments', () => {
  const text = readFileSync(`${cwd}dist/cli.js`, 'utf8');
  const atOnce = [...text.matchAll(/^import\b[^(]*?"([^"]+)"/gm)].map(([, from]) => from);
  expect(atOnce).toEqual(['node:fs']);
});

test('the benchmark prints each row as it is measured', () => {
  const rows = outputOf(process.execPath, 'tools/built/bench.js', 'startup');
  expect(rows).toContain('`fencepost --version`');
});

test('the fuzzer compares the requested number of histories', () => {
  expect(outputOf(process.execPath, 'tools/built/fuzz.js', '50', '0', 'mutex')).toContain(
    'mutex: 50 histories',
  );
});

test('the freeze compares the requested subjects and finds what it recorded', () => {
  const only = ['--only', 'token-regression', '--only', 'guide'];
  const printed = outputOf(process.execPath, 'tools/built/freeze.js', '--compare', ...only);
  expect(printed).toBe('subjects: 3; differences: 0\n');
});

test.each([
  [['--sample'], '--sample compares a part: add --compare'],
  [['--compare', '--only', 'zombie'], '--only zombie: unknown name'],
  [['--compares'], "Unknown option '--compares'"],
])('the freeze refuses %j', (args, says) => {
  const freeze = ['tools/built/freeze.js', ...args];
  const { status, stderr } = spawnSync(process.execPath, freeze, { cwd, encoding: 'utf8' });
  expect(stderr).toContain(`freeze: ${says}`);
  expect(status).toBe(2);
});

test('each lock mutant is found by its claim, and one that is not found is reported', () => {
  const table = outputOf(process.execPath, 'tools/built/lock-mutants.js', 'unfenced', '20');
  expect(table).toMatch(/^unfenced +fence-monotone +held +\d+ \(\d+–\d+\) +\d+ +no comparison/m);
  expect(table).toContain('1 of 1 mutants found; 20 seeds of each');
  const args = ['tools/built/lock-mutants.js', 'expiry-boundary', '2'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  expect(stdout).toContain('expiry-boundary: not found');
  expect(status).toBe(1);
});

test('strategies are compared on the requested number of seeds', () => {
  const tables = outputOf(process.execPath, 'tools/built/compare.js', '2');
  expect(tables.match(/runs with a wrong update +\d of 2/g)).toHaveLength(6);
  expect(tables).toContain('2 seeds per kind');
});
