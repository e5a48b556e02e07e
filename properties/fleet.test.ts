/**
 * Laws of sweeps on a queue, under faults on a real Redis: whatever dies, is paused or is lost,
 * every seed is counted exactly once, and the result is that of one process. Left out, in one line,
 * where there is no `redis-server`.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { loadScenario } from '../src/load.ts';
import { sweep } from '../src/sweep/sweep.ts';
import type { Tally } from '../src/sweep/tally.ts';
import { type Ended, Fleet } from './fleet/fleet.ts';
import { hasRedis, RedisServer } from './fleet/redis.ts';

const file = fileURLToPath(new URL('../fixtures/zombie-writer.yaml', import.meta.url));
const range = { from: 1, to: 600 };
const chunkSeeds = 12;
const CHUNKS = 50;
const rows: string[][] = [];
let expected: Readonly<Record<string, Tally>> = {};
let redis: RedisServer | null = null;
let fleet: Fleet | null = null;

// Processes start and end many times, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const isThere = hasRedis();
const onRedis = test.skipIf(!isThere);
if (!isThere) process.stderr.write('left out: sweeps on a queue, as there is no redis-server\n');

async function begin(window: number = 10_000): Promise<[Fleet, RedisServer]> {
  redis = await RedisServer.start();
  fleet = new Fleet(redis, { file, range, chunkSeeds, window });
  return [fleet, redis];
}

/** The result is that of one process, and `struck` says what happened on the way. */
function requireSame(
  what: string,
  struck: string,
  { end, alarm, lost, late, tallies }: Ended,
): void {
  const seeds = Object.values(tallies).map((tally) => tally.seeds);
  const { begun = 0, examined = 0 } = fleet ?? {};
  const isEqual = JSON.stringify(sorted(tallies)) === JSON.stringify(sorted(expected));
  rows.push([what, struck, seeds.join(' + '), ...[begun, examined, late, isEqual].map(String)]);
  expect([end, alarm, lost]).toEqual(['whole', null, []]);
  expect(seeds).toEqual([600, 600]);
  expect(tallies).toEqual(expected);
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries: [string, unknown][] = Object.entries(value);
  const inner = entries.map(([name, one]): [string, unknown] => [name, sorted(one)]);
  return inner.sort(([a], [b]) => (a < b ? -1 : 1));
}

function killed(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  return ended;
}

const later = (milliseconds: number): Promise<unknown> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

beforeAll(async () => {
  if (!isThere) return;
  const read = loadScenario(readFileSync(file, 'utf8'), file);
  if (read.kind === 'problems') throw new Error('the fixture does not load');
  const { tallies } = await sweep(read.scenario, { ...range, pool: null });
  expected = Object.fromEntries(tallies);
});

afterEach(async () => {
  await fleet?.end();
  await redis?.end();
});

afterAll(() => {
  if (!isThere) return;
  const head = ['fault', 'struck', 'seeds', 'begun', 'finished', 'late', 'equal'];
  const table = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const lines = table.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  process.stdout.write(`\n${lines.join('\n')}\n\n`);
});

onRedis(
  'a sweep on a queue comes to what one process comes to, and examines nothing twice',
  async () => {
    const [ours] = await begin();
    ours.coordinate();
    await Promise.all([ours.work(), ours.work()]);
    requireSame('none', '', await ours.ended());
    expect(ours.examined).toBe(CHUNKS);
    expect(ours.shrunk).toEqual([expect.stringContaining('unfenced grant-order')]);
  },
);

onRedis('a sweep on a queue loses and repeats nothing when workers are killed', async () => {
  const [ours] = await begin();
  ours.coordinate();
  const kills = 6;
  for (let kill = 0; kill < kills; kill += 1) {
    // The only one that is alive, so that nothing ends without it.
    const victim = await ours.work();
    for (let chunk = 0; chunk <= kill % 3; chunk += 1) await ours.begins(victim);
    await later(3 * kill);
    await killed(victim);
  }
  await Promise.all([ours.work(), ours.work()]);
  requireSame('workers killed', `${kills} times`, await ours.ended());
  expect(ours.begun).toBeGreaterThan(CHUNKS);
});

onRedis.each(['with its data', 'without its data'] as const)(
  'a sweep on a queue goes on when Redis is killed and comes back %s',
  async (what) => {
    const [ours, server] = await begin();
    ours.coordinate();
    await Promise.all([ours.work(), ours.work()]);
    for (const at of [8, 25]) {
      await ours.counted(at);
      await server.restart(what);
    }
    requireSame(`Redis restarted ${what}`, '2 times', await ours.ended());
  },
);

onRedis(
  'a sweep on a queue goes on when its coordinator is killed, without repeating what it has',
  async () => {
    const [ours] = await begin(12);
    ours.coordinate();
    await Promise.all([ours.work(), ours.work()]);
    for (const at of [8, 25]) {
      await ours.counted(at);
      await ours.killCoordinator();
      ours.coordinate();
    }
    requireSame('coordinator killed', '2 times', await ours.ended());
    expect(ours.examined).toBe(CHUNKS);
  },
);

onRedis('a chunk counts once that a worker finishes past its lock, after another did', async () => {
  const [ours] = await begin();
  ours.coordinate();
  const zombie = await ours.work();
  await ours.counted(3);
  await ours.begins(zombie);
  zombie.kill('SIGSTOP');
  // So that the sweep does not end before the late result is there.
  ours.signalCoordinator('SIGSTOP');
  await ours.work();
  await ours.until('another worker has done all', () => ours.examined === CHUNKS);
  zombie.kill('SIGCONT');
  await ours.until('the zombie was refused', () =>
    ours.notes.some((note) => /only compared/.test(note)),
  );
  ours.signalCoordinator('SIGCONT');
  const ended = await ours.ended();
  requireSame('worker paused past its lock', 'once', ended);
  expect(ended.late).toBe(1);
  expect([ours.begun, ours.examined]).toEqual([CHUNKS + 1, CHUNKS]);
});

onRedis(
  'the queue takes no result from under a lock that is lost, even where nobody looked',
  async () => {
    const [, server] = await begin();
    const connection = { port: server.port, maxRetriesPerRequest: null };
    const queue = new Queue('fenced', { connection });
    const redisClient = new Redis(connection);
    const take = (): Worker => new Worker('fenced', null, { connection, lockDuration: 300 });
    const [slow, fast] = [take(), take()];
    await queue.add('chunk', {}, { jobId: 'chunk-1' });
    const ours = await slow.getNextJob('slow');
    await later(400);
    await fast.startStalledCheckTimer();
    await later(100);
    await redisClient.del('bull:fenced:stalled-check');
    await fast.startStalledCheckTimer();
    await later(100);
    const theirs = await fast.getNextJob('fast');
    expect(theirs?.id).toBe('chunk-1');
    await expect(ours?.moveToCompleted('of the zombie', 'slow', false)).rejects.toThrow(/lock/i);
    await theirs?.moveToCompleted('of its successor', 'fast', false);
    await expect(ours?.moveToCompleted('of the zombie', 'slow', false)).rejects.toThrow(/lock/i);
    expect((await queue.getJob('chunk-1'))?.returnvalue).toBe('of its successor');
    await Promise.all([slow.close(), fast.close(), queue.close(), redisClient.quit()]);
  },
);

onRedis(
  'a sweep on a queue is left alone by a worker of another version, which says why once',
  async () => {
    const [ours] = await begin();
    await ours.work('9.9.9');
    ours.coordinate();
    await later(500);
    await ours.work();
    requireSame('a worker of another version', 'once', await ours.ended());
    const told = ours.notes.filter((note) => note.includes('fencepost 1.0.0, not 9.9.9'));
    expect(told).toEqual([expect.stringMatching(/^sweep s[0-9a-f]{15} is of .* left for other/)]);
  },
);
