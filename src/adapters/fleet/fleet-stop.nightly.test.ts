/**
 * What a sweep comes to that did not reach its end: the built command line on a real Redis. Left
 * out where there is no `redis-server`.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, vi } from 'vitest';
import { root } from '../../cli/command-line.fixture.ts';
import { endedWithin, FleetShell, type Started, said } from './fleet-shell.fixture.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

const zombie = join(root, 'fixtures/zombie-writer.yaml');
const shell = new FleetShell();

// Processes start and end many times, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const redis = new OneRedis();
const onRedis = redis.test;

afterEach(() => shell.kill());

afterAll(() => shell.remove());

/** More than is done before a test ends. */
const MANY = ['--seeds', '0..999999', '--workers', '1', '--chunk-seconds', '1'];

interface Begun extends Started {
  readonly id: string;
}

async function begin(place: string, args: readonly string[]): Promise<Begun> {
  const begun = shell.start(place, ['sweep', ...args], redis.url);
  await said(begun, /sweep s[0-9a-f]{15}: /);
  const [id = ''] = /s[0-9a-f]{15}/.exec(begun.said()) ?? [];
  return { ...begun, id };
}

async function statusOf(id: string): Promise<string> {
  return (await shell.start('status', ['sweep', 'status', id], redis.url).ended).out;
}

/** Until some chunks are counted. */
async function beginSome(place: string, args: readonly string[]): Promise<Begun> {
  const begun = await begin(place, args);
  const worker = shell.start('worker', ['worker', '--workers', '1'], redis.url);
  const untilMs = performance.now() + 120_000;
  for (;;) {
    const status = await statusOf(begun.id);
    if (/ [1-9]\d* of \d[\d,]* chunks/.test(status)) return begun;
    const isLost = worker.child.exitCode !== null || begun.child.exitCode !== null;
    if (isLost || performance.now() > untilMs) {
      throw new Error(`no chunk is counted: ${status}${begun.said()}${worker.said()}`);
    }
  }
}

const REST =
  /^zombie-writer: [1-9][\d,]* of 1,000,000 seeds; go on with: (npx --no-install fencepost .*)$/m;

function filesOf(place: string): readonly string[] {
  return readdirSync(join(shell.folder, place, 'reports'), { recursive: true, encoding: 'utf8' });
}

function sweep(verb: string, args: readonly string[]): Started {
  return shell.start('other', ['sweep', verb, ...args], redis.url);
}

onRedis(
  'a sweep that was stopped is interrupted: it reports what is known, and leaves no shard',
  async () => {
    const begun = await beginSome('stopped', [zombie, ...MANY, '--json']);
    const stop = await sweep('stop', []).ended;
    expect(stop.out).toContain(
      `with its --output: npx --no-install fencepost sweep resume ${begun.id}\n`,
    );
    const { code, out, err } = await begun.ended;
    expect(code).toBe(130);
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      ...{ type: 'summary', exit: 130 },
      scenarios: [{ systems: [{ seeds: expect.any(Number) }, { seeds: expect.any(Number) }] }],
    });
    expect(REST.exec(err)?.[1]).toBe(`npx --no-install fencepost sweep resume ${begun.id}`);
    expect(filesOf('stopped').filter((name) => /shard/.test(name))).toEqual([]);
    expect(filesOf('stopped')).toContain(`zombie-writer-${begun.id}.checkpoint`);
    expect(await statusOf(begun.id)).toContain(': stopped; no coordinator');
    const forgotten = await sweep('stop', ['--forget', begun.id]).ended;
    expect([forgotten.code, forgotten.err]).toEqual([0, '']);
    const again = await sweep('stop', [begun.id]).ended;
    expect([again.code, again.err]).toEqual([2, `${begun.id}: no such sweep is there\n`]);
  },
);

onRedis('a sweep that runs is not forgotten, and comes before those that are stopped', async () => {
  const first = await begin('first', [zombie, ...MANY]);
  expect((await sweep('stop', ['--forget', first.id]).ended).err).toContain('is not stopped');
  expect((await sweep('stop', []).ended).out).toContain(`${first.id} is stopped`);
  expect((await first.ended).code).toBe(130);
  const seeds = ['--seeds', '5..999999'];
  const second = await begin('second', [zombie, ...MANY, ...seeds]);
  const third = await begin('third', [zombie, ...MANY, '--seeds', '6..999999']);
  const unclear = await sweep('stop', ['s']).ended;
  expect(unclear.code).toBe(2);
  const lines = unclear.err.split('\n').slice(1, -1).sort();
  expect(lines).toEqual(
    [
      `  ${first.id}  zombie-writer, seeds 0..999,999, stopped`,
      `  ${second.id}  zombie-writer, seeds 5..999,999, running`,
      `  ${third.id}  zombie-writer, seeds 6..999,999, running`,
    ].sort(),
  );
  await sweep('stop', [third.id]).ended;
  expect((await sweep('stop', []).ended).out).toContain(`${second.id} is stopped`);
  for (const { id } of [first, second, third]) await sweep('stop', ['--forget', id]).ended;
});

onRedis(
  'Ctrl-C reports what is known as `run` does, and leaves the sweep on the queue',
  async () => {
    const begun = await beginSome('left', [
      zombie,
      ...MANY,
      '--output',
      'own',
      '--queue',
      redis.url,
    ]);
    begun.child.kill('SIGINT');
    const { code, out, err } = await endedWithin(60_000, begun);
    expect(code).toBe(130);
    expect(out).toMatch(/ expectations? met/);
    const command = `npx --no-install fencepost sweep resume ${begun.id} --output own`;
    expect(REST.exec(err)?.[1]).toBe(command);
    expect(readdirSync(join(shell.folder, 'left/own'))).toContain(
      `zombie-writer-${begun.id}.checkpoint`,
    );
    expect(await statusOf(begun.id)).toContain(': running; no coordinator');
    await sweep('stop', []).ended;
    await sweep('stop', ['--forget']).ended;
  },
);

onRedis('a coordinator leaves a queue that does not answer, within some seconds', async () => {
  const begun = await begin('silent', [zombie, ...MANY]);
  redis.server.pause();
  try {
    begun.child.kill('SIGINT');
    const leftAtMs = performance.now();
    const { code, err } = await begun.ended;
    expect(performance.now() - leftAtMs).toBeLessThan(20_000);
    expect(code).toBe(130);
    expect(err).toContain('the queue does not answer: nothing came back within 2 s');
  } finally {
    redis.server.goOn();
  }
  await sweep('stop', ['--forget', begun.id]).ended;
  await sweep('stop', [begun.id]).ended;
  await sweep('stop', ['--forget', begun.id]).ended;
});

onRedis('sweeps into one folder keep a shard each, which `merge` takes', async () => {
  shell.start('worker', ['worker', '--workers', '1'], redis.url);
  const chunks = ['--workers', '1', '--chunk-seconds', '1', '--reporter', 'html'];
  const ids: string[] = [];
  for (const seeds of ['0..99', '100..299']) {
    const begun = await begin('shards', [zombie, '--seeds', seeds, ...chunks]);
    expect((await begun.ended).code).toBe(0);
    ids.push(begun.id);
  }
  const folders = ids.map((id) => join('reports', `zombie-writer-${id}`));
  for (const [at, seeds] of [100, 200].entries()) {
    const merged = await shell.start('shards', ['merge', folders[at] ?? '', '--json']).ended;
    expect(merged.err).not.toContain('missing');
    expect(merged.out).toContain(`"seeds":${seeds},`);
  }
  expect(existsSync(join(shell.folder, 'shards/reports/shard-1-of-1.json'))).toBe(false);
});

onRedis('`tail` waits for a sweep, tells what changed, and how it ended', async () => {
  const nothing = await sweep('status', []).ended;
  expect(nothing.out).toContain('no sweep is on this queue');
  const tail = sweep('tail', []);
  const begun = await begin('tailed', [zombie, '--seeds', '200', '--chunk-seconds', '1']);
  await said(tail, /of \d+ chunks?/);
  shell.start('worker', ['worker', '--workers', '1'], redis.url);
  await begun.ended;
  const { code, out } = await tail.ended;
  expect([code, out.trim().split('\n').at(-1)]).toEqual([
    0,
    `${begun.id} has ended; its coordinator has the verdict`,
  ]);
});

onRedis('a folder that takes no files is told before anything is put on the queue', async () => {
  writeFileSync(join(shell.folder, 'taken'), '');
  const output = join(shell.folder, 'taken/reports');
  const refused = await shell.start('a', ['sweep', zombie, '--output', output], redis.url).ended;
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`${output}:1:1: `)]);
  expect(await statusOf('s')).toBe('');
});
