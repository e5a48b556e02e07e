/**
 * Each example that a `--help` ends with, typed as it stands in a folder where the packed package
 * is installed: all of them in one folder, one after the other, as somebody would who reads on.
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

/** As `npx --no-install` does, without the second that it takes to. */
function typed(line: string): string {
  return line.replaceAll('npx --no-install fencepost', 'node_modules/.bin/fencepost');
}

function shell(line: string): { readonly code: number | null; readonly said: string } {
  const args = { cwd: folder, encoding: 'utf8', env } as const;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', typed(line)], args);
  return { code: status, said: stdout + stderr };
}

/** The words that name a command, and its example. */
type Example = readonly [words: string, example: string];

/** The examples of a command and of those below it. */
function examplesBelow(words: string): readonly Example[] {
  const { said } = shell(`npx --no-install fencepost ${words} --help`);
  const [, typedOn] = /^Example:\n {2}((?:.*\\\n)*.*)$/m.exec(said) ?? [];
  const example = typedOn?.replaceAll(/ \\\n +/g, ' ');
  const [, below = ''] = /^Commands:\n((?: .*\n)+)/m.exec(said) ?? [];
  const names = [...below.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
  const inner = names.filter((name) => name !== 'help');
  const own = example === undefined ? [] : [[words, example] as const];
  return [...own, ...inner.flatMap((name) => examplesBelow(`${words} ${name}`.trim()))];
}

/** What has to be there before an example does anything. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  merge: ['npx --no-install fencepost run six-steps --seeds 9 --shard 1/1 -q'],
  'corpus update': [
    'npx --no-install fencepost show locks/my-lock.yaml --seed 95 --plan pinned > seed-95.yaml',
    'npx --no-install fencepost corpus add seed-95.yaml --modules locks',
    `sed -i "s/label: request.verb/&.replace('release', 'unlock')/" locks/my-lock.mjs`,
    `sed -i "s/'acquire', 'release'/'acquire', 'unlock'/" locks/my-lock.mjs`,
  ],
};

/** The same with fewer seeds, which say as much here. */
const SHORTER: Readonly<Record<string, readonly [string, string]>> = {
  run: ['--seeds 1000', '--seeds 20 --workers 0'],
  init: ['zombie.yaml', 'zombie.yaml --seeds 20 --workers 0'],
  sweep: ['1..100000000', '1..5'],
};

/** First what others need. */
const ORDER = ['init', 'run', 'corpus add'];

/** Of a history that no order explains. */
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

test('every example runs, and ends as it should', { timeout: 300_000 }, () => {
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

redis.test('and so do those of a fleet', { timeout: 120_000 }, async () => {
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
