/**
 * A job on the queue runs only code whose folder the worker was given, and only in the version that
 * its coordinator had. Needs `redis-server`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { root } from '../../cli/command-line.fixture.ts';
import { moduleVersion } from '../../host/modules/module-digest.ts';
import { Fleet } from './coordinate.ts';
import { FleetShell, said } from './fleet-shell.fixture.ts';
import { readQueueUrl } from './queue-url.ts';
import { jobIdOf, type ShardOrder, sweepIdOf } from './shard-order.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

const shell = new FleetShell();
const folder = join(shell.folder, 'theirs');
const spinLock = join(root, 'fixtures/modules/spin-lock.yaml');

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const redis = new OneRedis();
const onRedis = redis.test;

beforeAll(() => {
  shell.write('theirs', 'm.mjs', "throw new Error('it was run');\n");
});

afterEach(async () => {
  await shell.kill();
});

afterAll(() => shell.remove());

/** Returns why a worker fails a job that any client could put on the queue. */
async function failureOf(origin: {
  readonly digest?: string;
  readonly fencepost?: string;
}): Promise<string> {
  const { digest = moduleVersion(join(folder, 'm.mjs')), fencepost = versionHere() } = origin;
  const text = 'name: theirs\nuse: ./m.mjs\nsystems: { a: { lock: redis, store: fenced } }\n';
  const modules = { './m.mjs': digest };
  const scenario = {
    origin: { fencepost, scenario: 'theirs', digest: '', modules },
    text,
  };
  const order: ShardOrder = {
    range: { from: 0, to: 9 },
    shard: { index: 1, of: 1 },
    scenarios: [scenario],
  };
  const read = readQueueUrl(redis.url);
  if (read.kind === 'problem') throw new Error(read.what);
  const fleet = await Fleet.open(read.address);
  const jobId = jobIdOf(sweepIdOf(order), order.shard);
  await fleet.queue.add('shard', order, { jobId });
  const worker = shell.start('w', ['worker', '--workers', '1', '--modules', folder], redis.url);
  for (;;) {
    const job = await fleet.queue.getJob(jobId);
    if (job?.failedReason !== undefined) {
      fleet.close();
      worker.child.kill('SIGTERM');
      expect((await worker.ended).code).toBe(0);
      return job.failedReason;
    }
    await sleep(50);
  }
}

function versionHere(): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

onRedis(
  'a worker refuses a sweep without its modules; with them, it gives the result of `run`',
  async () => {
    const flags = ['--seeds', '40', '--shards', '2', '--workers', '1'];
    const without = shell.start('without', ['worker', '--workers', '1'], redis.url);
    const refused = await shell.start('a', ['sweep', spinLock, ...flags], redis.url).ended;
    expect(refused.code).toBe(2);
    const refusal =
      /refused by the worker on .*modules are not sent to workers; name their folder here with --modules/;
    expect(refused.err).toMatch(refusal);
    await said(without, refusal);
    without.child.kill('SIGKILL');
    const modules = ['--modules', join(root, 'fixtures/modules')];
    shell.start('with', ['worker', '--workers', '1', ...modules], redis.url);
    const one = await shell.start('one', ['run', spinLock, '--seeds', '40']).ended;
    const fleet = await shell.start('a', ['sweep', spinLock, ...flags], redis.url).ended;
    expect(fleet.code, fleet.err).toBe(one.code);
    const timeless = (text: string): string => text.replace(/[\d,]+ (seeds|events)\/s/g, '0 $1/s');
    expect(timeless(fleet.out)).toBe(timeless(one.out));
  },
);

onRedis('a module in a version other than the coordinator’s is not run', async () => {
  const reason = await failureOf({ digest: `sha256:${'0'.repeat(64)}` });
  expect(reason).toMatch(/\.\/m\.mjs is not the required version .*\(looked for in .*theirs\)/);
  expect(reason).not.toContain('it was run');
});

onRedis('a module of a sweep by another version of fencepost is not run', async () => {
  const reason = await failureOf({ fencepost: '0.0.0-theirs' });
  expect(reason).toContain('is from fencepost 0.0.0-theirs, not');
  expect(reason).not.toContain('it was run');
});

onRedis('a module in the coordinator’s version is run', async () => {
  expect(await failureOf({})).toContain('it was run');
});
