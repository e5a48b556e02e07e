/** Law: on a machine without the programs that tests need, the last line of a run says so. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../src/cli/command-line.fixture.ts';
import { leftOutLine, tierLine, turnOf } from './left-out.ts';

const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const redis = 'src/host/redis/differential.slow.test.ts';
const browsers = [
  'src/report/mermaid-drawn.slow.test.ts',
  'src/report/page/browser/width.slow.test.ts',
];

/** Runs tests of the project without any programs; fails if a test or a hook fails. */
function runWithoutPrograms(args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { npm_lifecycle_event: 'npx', PATH: '/nowhere', CHROMIUM: '/nowhere', NO_COLOR: '1' };
  return promisify(execFile)(process.execPath, [vitest, 'run', ...args], { cwd: root, env });
}

test('missing programs are reported once, last, each with the number of its tests', async () => {
  const { stdout } = await runWithoutPrograms([redis, ...browsers]);
  const [last = ''] = stdout.trimEnd().split('\n').slice(-1);
  const [, ...counts] =
    /^left out: (\d+) tests that need chromium, (\d+) that need redis-server \(apt-get install chromium redis-server\)$/.exec(
      last,
    ) ?? expect.fail(stdout);
  const [, skipped] = /Tests +(?:\d+ passed \| )?(\d+) skipped/.exec(stdout) ?? expect.fail(stdout);
  expect(Number(counts[0]) + Number(counts[1])).toBe(Number(skipped));
  expect(stdout.match(/left out:/g)).toHaveLength(1);
});

test('only requested tests count, and a document stays unchanged', async () => {
  const { stdout, stderr } = await runWithoutPrograms([redis, '-t=, seed 2$', '--reporter=json']);
  expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 0 });
  expect(stderr.trim()).toMatch(
    /^left out: \d tests? that needs? redis-server \(apt-get install redis-server\)$/,
  );
});

test('if nothing was left out, nothing is reported', async () => {
  const { stdout, stderr } = await runWithoutPrograms([redis, '-t=no such test']);
  expect(stdout).toMatch(/Tests +\d+ skipped/);
  expect(stdout + stderr).not.toContain('left out');
  expect(leftOutLine([])).toBeNull();
});

test('each program is reported with its package', () => {
  expect(leftOutLine(['redis-server', 'chromium', 'redis-server'])).toBe(
    'left out: 1 test that needs chromium, 2 that need redis-server' +
      ' (apt-get install chromium redis-server)',
  );
  expect(leftOutLine(['npm’s registry'])).toBe('left out: 1 test that needs npm’s registry');
});

test('each tier reports what it leaves to the next one; a run of single files does not', () => {
  const files = { run: 30, all: 100, turn: '4' };
  expect(tierLine('quick', files)).toMatch(/^left out: 70 of 100 test files, .* \(npm test\)$/);
  expect(tierLine('test', files)).toMatch(
    /^left out: 70 of 100 test files: .* FENCEPOST_TURN=4\) \(npm run test:all\)$/,
  );
  expect(tierLine('test:all', files)).toMatch(
    /^left out: most runs of each law .* \(npm run nightly\)$/,
  );
  expect(tierLine('npx', files)).toBeNull();
});

test('the part of the lists is FENCEPOST_TURN, or else depends on the commit', () => {
  expect(turnOf({ FENCEPOST_TURN: '7' })).toBe('7');
  expect(turnOf({})).toMatch(/^\d$/);
  expect(turnOf({ FENCEPOST_TURN: 'x' })).toBe(turnOf({}));
});
