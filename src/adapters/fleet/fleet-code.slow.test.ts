/**
 * A record on the queue runs no code that was not named here, and none that is another than its
 * coordinator had. On a real Redis; left out where there is no `redis-server`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { root } from '../../cli/command-line.fixture.ts';
import { moduleVersion } from '../../host/modules/module-digest.ts';
import { openBullQueue } from './bull-queue.ts';
import { FleetShell, said } from './fleet-shell.fixture.ts';
import { readQueueUrl } from './queue-url.ts';
import type { SweepQueue } from './sweep-queue.ts';
import { type SweepRecord, sweepIdOf } from './sweep-record.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

const shell = new FleetShell();

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const redis = new OneRedis();
const onRedis = redis.test;
let folder = '';
let mark = '';
const announced: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(shell.folder, 'theirs-'));
  mark = join(folder, 'was-run');
  const module = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(mark)}, '');\n`;
  writeFileSync(join(folder, 'm.mjs'), `${module}export default null;\n`);
});

afterEach(async () => {
  await shell.kill();
  for (const id of announced.splice(0)) await onQueue((queue) => queue.end(id));
  rmSync(mark, { force: true });
});

afterAll(() => shell.remove());

async function onQueue(act: (queue: SweepQueue) => Promise<unknown>): Promise<void> {
  const read = readQueueUrl(redis.url);
  if (read.kind === 'problem') throw new Error(read.what);
  const queue = await openBullQueue(read.address, () => {});
  await act(queue);
  await queue.close();
}

/** Puts a record on the queue as anybody could who writes there; gives its id. */
async function announce(digest: string, fencepost: string = versionHere()): Promise<string> {
  const text = 'name: theirs\nuse: ./m.mjs\nsystems: { a: { lock: redis, store: fenced } }\n';
  const origin = { fencepost, scenario: 'theirs', digest: '', modules: { './m.mjs': digest } };
  const range = { from: 0, to: 9 };
  const file = join(folder, 'theirs.yaml');
  const record: SweepRecord = { origin, file, text, range, chunkSeeds: 10 };
  const id = sweepIdOf(record);
  await onQueue((queue) => queue.announce(id, record));
  announced.push(id);
  return id;
}

function versionHere(): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

async function resume(id: string, args: readonly string[]): Promise<string> {
  const { code, err } = await shell.start('ours', ['sweep', 'resume', id, ...args], redis.url)
    .ended;
  expect(code).toBe(2);
  return err;
}

const OTHER = `sha256:${'0'.repeat(64)}`;

onRedis('who resumes a sweep runs no module of a folder that only its record names', async () => {
  const id = await announce(moduleVersion(join(folder, 'm.mjs')).digest);
  expect(await resume(id, [])).toMatch(/code does not travel; name its folder here with --modules/);
  expect(existsSync(mark)).toBe(false);
  // It is the very file: now it is run, and is found to be no system.
  expect(await resume(id, ['--modules', folder])).toContain('exports something else by default');
  expect(existsSync(mark)).toBe(true);
});

onRedis('a module that is another than the record says is not run, by nobody', async () => {
  const id = await announce(OTHER);
  const told = /\.\/m\.mjs is another version .*\(looked for in .*theirs-/;
  expect(await resume(id, ['--modules', folder])).toMatch(told);
  const worker = shell.start(
    'worker',
    ['worker', '--workers', '1', '--modules', folder],
    redis.url,
  );
  await said(worker, told);
  expect(existsSync(mark)).toBe(false);
});

onRedis('nor is a module of a sweep of another version of fencepost', async () => {
  const id = await announce(moduleVersion(join(folder, 'm.mjs')).digest, '0.0.0-theirs');
  expect(await resume(id, ['--modules', folder])).toContain('is of fencepost 0.0.0-theirs, not');
  expect(existsSync(mark)).toBe(false);
});
