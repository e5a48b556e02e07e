/**
 * Runs the example at the end of each `--help`, as printed, in a folder in which the packed package
 * is installed: all in one folder and in order, as a reader would.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OneRedis } from '../../src/adapters/fleet/trial/one-redis.fixture.ts';
import { install } from '../installed.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-examples-'));
const redis = new OneRedis();

beforeAll(() => {
  install(folder, ['bullmq', 'ioredis']);
  mkdirSync(join(folder, 'node_modules/.bin'));
  symlinkSync('../fencepost/dist/cli.js', join(folder, 'node_modules/.bin/fencepost'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { ...process.env, NO_COLOR: '1' };

/** Runs what `npx --no-install` runs, without its startup time of a second. */
function typed(line: string): string {
  return line.replaceAll('npx --no-install fencepost', 'node_modules/.bin/fencepost');
}

function shell(line: string): { readonly code: number | null; readonly said: string } {
  const args = { cwd: folder, encoding: 'utf8', env } as const;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', typed(line)], args);
  return { code: status, said: stdout + stderr };
}

/** The words of a command, and its example. */
type Example = readonly [words: string, example: string];

/** Returns the examples of a command and of its subcommands. */
function examplesBelow(words: string): readonly Example[] {
  const { said } = shell(`npx --no-install fencepost ${words} --help`);
  const [, typedOn] = /^Example:\n {2}((?:.*\\\n)*.*)$/m.exec(said) ?? [];
  const example = typedOn?.replaceAll(/ \\\n +/g, ' ');
  const [, below = ''] = /^Commands:\n((?: .*\n)+)/m.exec(said) ?? [];
  const names = [...below.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
  const inner = names.filter((name) => name !== 'help');
  const examples = example === undefined ? [] : [[words, example] as const];
  return [...examples, ...inner.flatMap((name) => examplesBelow(`${words} ${name}`.trim()))];
}

/** Commands that prepare an example. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  merge: ['npx --no-install fencepost run six-steps --seeds 9 --shard 1/1 -q'],
  'corpus update': [
    'npx --no-install fencepost show locks/my-lock.yaml --seed 95 --plan pinned > seed-95.yaml',
    'npx --no-install fencepost corpus add seed-95.yaml --modules locks',
    `sed -i "s/label: request.verb/&.replace('release', 'unlock')/" locks/my-lock.mjs`,
    `sed -i "s/'acquire', 'release'/'acquire', 'unlock'/" locks/my-lock.mjs`,
  ],
};

/** Replacements for fewer seeds, which are sufficient here. */
const SHORTER: Readonly<Record<string, readonly [string, string]>> = {
  run: ['--seeds 1000', '--seeds 20 --workers 0'],
  init: ['zombie.yaml', 'zombie.yaml --seeds 20 --workers 0'],
  sweep: ['1..100000000', '1..5'],
};

/** Examples that others need come first. */
const ORDER = ['init', 'run', 'corpus add'];

/** Exit codes other than 0: the history of `check` has no valid order. */
const CODES: Readonly<Record<string, number>> = { check: 1 };

function rank(words: string): number {
  const at = ORDER.indexOf(words);
  return at < 0 ? ORDER.length : at;
}

let found: readonly Example[] | null = null;
function examples(): readonly Example[] {
  found ??= examplesBelow('').toSorted(([one], [other]) => rank(one) - rank(other));
  return found;
}

test('every example runs and exits with the expected code', { timeout: 300_000 }, () => {
  expect(examples().length).toBeGreaterThan(20);
  for (const [words, example] of examples().filter(([, text]) => !text.includes('--queue'))) {
    expect(example).toMatch(new RegExp(`^npx --no-install fencepost ${words}(?: |$)`));
    for (const line of BEFORE[words] ?? []) {
      const { code, said } = shell(line);
      expect(code, `${line}\n${said}`).toBe(0);
    }
    const { code, said } = shell(example.replace(...(SHORTER[words] ?? ['', ''])));
    expect(code, `${example}\n${said}`).toBe(CODES[words] ?? 0);
  }
});

redis.test('the examples of a fleet run, too', { timeout: 120_000 }, async () => {
  const onRedis = (words: string): string => {
    const [, example = ''] = examples().find(([one]) => one === words) ?? [];
    expect(example).toContain('redis://127.0.0.1:6379');
    return example.replace(...(SHORTER[words] ?? ['', ''])).replace(':6379', `:${redis.port}`);
  };
  const line = `exec ${typed(onRedis('worker'))} --workers 1`;
  const worker = spawn('sh', ['-c', line], { cwd: folder, env, stdio: 'ignore' });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  try {
    expect(shell(onRedis('sweep'))).toMatchObject({ code: 0 });
  } finally {
    worker.kill('SIGTERM');
  }
  expect(await ended).toBe(0);
});
