/**
 * Law of the built package: the same file and seeds give the same result on an idle machine and
 * with 16 busy loops, since only CPU time without an event ends a thread. The limit is lowered, so
 * that a wall-clock limit would end the seeds that compute for a while.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root, runCli } from '../src/cli/command-line.fixture.ts';

const WHERE = '    const owner = randomUUID();\n';
/** Computes for about a tenth of a second of CPU time, without an event. */
const COMPUTES = '    for (let at = 0, sum = 0; at < 1e8; at += 1) sum += at;\n';
const LOOPS = 16;

const folder: string = mkdtempSync(join(root, 'reports/load-'));
const loops: ChildProcess[] = [];
afterAll(() => {
  for (const loop of loops) loop.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function result(): unknown {
  const output = 'out';
  const args = ['run', 'busy.yaml', '--seeds', '3', '--output', output, '--reporter', 'json'];
  const { code, err } = runCli(args, { cwd: folder, env: { FENCEPOST_STALL_MS: '800' } });
  expect(err).not.toContain('.yaml:');
  const text = readFileSync(join(folder, output, 'report.json'), 'utf8');
  const untimed = text.replace(/"(?:seeds|events)PerSecond":\s*\d+/g, '');
  return { code, untimed };
}

test('the same seeds give the same result with 16 busy loops', { timeout: 600_000 }, () => {
  const starter = (name: string): string =>
    readFileSync(join(root, 'fixtures/starter/locks', name), 'utf8');
  const lock = starter('my-lock.mjs').replace(WHERE, `${WHERE}${COMPUTES}`);
  expect(lock).toContain(COMPUTES);
  writeFileSync(join(folder, 'busy.mjs'), lock);
  const text = starter('my-lock.yaml').replaceAll('my-lock.mjs', 'busy.mjs');
  const one = text
    .replace(/^ {2}own-release:.*?(?=^\S)/ms, '')
    .replace('sections: 3', 'sections: 1');
  writeFileSync(join(folder, 'busy.yaml'), one.replace('count: 3', 'count: 2'));
  const idle = result();
  for (let at = 0; at < LOOPS; at += 1) loops.push(spawn('node', ['-e', 'for (;;);']));
  const busy = result();
  expect(JSON.stringify(idle)).not.toContain('did not finish');
  expect(busy).toEqual(idle);
});
