/**
 * Tests the end of the built `fencepost check`: interrupted, with a closed pipe, with several
 * files, from stdin.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { file, fixture, folder, root } from './checking.fixture.ts';

const cli = join(root, 'dist/cli.js');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Calls `act` once there is output, or at once if `isEager`. */
function run(
  args: readonly string[],
  act: (child: ReturnType<typeof spawn>) => void,
  isEager = false,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn('node', [cli, 'check', ...args], { stdio: 'pipe' });
    const written = { out: '', err: '' };
    child.stdout?.on('data', (data) => {
      if (written.out === '' && !isEager) act(child);
      written.out += String(data);
    });
    child.stderr?.on('data', (data) => {
      written.err += String(data);
    });
    child.on('close', (code) => resolve({ code, ...written }));
    if (isEager) act(child);
  });
}

/** A history of a counter, whose search takes hours. */
function hardHistory(): string {
  const calls = Array.from({ length: 40 }, (_, process) => {
    return { process, type: 'invoke', f: 'add', value: (process * process * 7919) % 100_003 };
  });
  const read = { process: 99, type: 'invoke', f: 'read' };
  const ends = calls.map((event) => ({ ...event, type: 'ok' }));
  const events = [...calls, ...ends, read, { ...read, type: 'ok', value: -5 }];
  return file('hard.jsonl', events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

const endless = ['--max-configurations=1000000000000', '--memory=100000'];

describe('Ctrl-C', () => {
  test('during a search ends with the results so far, a page and 130', async () => {
    const page = join(folder, 'interrupted.html');
    const files = [fixture('mutex-invalid.jsonl'), hardHistory(), fixture('kv-valid.txt')];
    const { code, out, err } = await run([...files, ...endless, '--html', page], (child) => {
      setTimeout(() => child.kill('SIGINT'), 500);
    });
    expect(code).toBe(130);
    expect(out).toMatch(/✗ invalid .*mutex-invalid.*\? unknown .*hard.*interrupted before/s);
    expect(err).toContain(`interrupted; not judged: ${files[2]}`);
    expect(readFileSync(page, 'utf8')).toContain('could not be decided');
  });

  test('ends the reading of an endless input', async () => {
    const args = [fixture('mutex-valid.jsonl'), '-'];
    const { code, out, err } = await run(args, (child) => {
      setTimeout(() => child.kill('SIGINT'), 300);
    });
    expect({ code, err }).toEqual({ code: 130, err: 'interrupted; not judged: -\n' });
    expect(out).toContain('✓ valid');
  });
});

test('a closed pipe changes neither the exit code nor the page', async () => {
  const page = join(folder, 'pipe.html');
  const files = [
    fixture('mutex-invalid.jsonl'),
    fixture('kv-valid.txt'),
    fixture('kv-invalid.txt'),
  ];
  const shut = (child: ReturnType<typeof spawn>): void => {
    child.stdout?.destroy();
  };
  const { code, err } = await run([...files, '--html', page], shut, true);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(existsSync(page)).toBe(true);
});

test('- reads standard input, and its page is written', () => {
  const page = join(folder, 'stdin-named.html');
  const args = [cli, 'check', '-', '--html', page];
  const input = readFileSync(fixture('mutex-invalid.jsonl'));
  const { status, stdout } = spawnSync('node', args, { input, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout).toContain('✗ invalid -');
  expect(existsSync(page)).toBe(true);
});

test('the limit of --time applies to each history, from the time it is read', () => {
  const files = [fixture('kv-valid.txt'), hardHistory(), fixture('mutex-valid.jsonl')];
  const args = [cli, 'check', ...files, ...endless, '--time=1s', '--json'];
  const { status, stdout } = spawnSync('node', args, { encoding: 'utf8' });
  expect(status).toBe(5);
  const verdicts = [...stdout.matchAll(/"verdict":"(\w+)","configurations":\d+,"parts"/g)];
  expect(verdicts.map(([, verdict]) => verdict)).toEqual(['valid', 'unknown', 'valid']);
});
