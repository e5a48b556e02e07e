/**
 * If any part of a fleet ends, loses data or returns garbage, its sweep has the result of one
 * process, or ends with an error that suggests what to do. Needs `redis-server`.
 */
import { afterAll, afterEach, beforeAll, describe, expect, vi } from 'vitest';
import { rotating } from '../../../properties/runs.ts';
import { said } from './fleet-shell.fixture.ts';
import {
  type Outcome,
  SEEDS,
  SHARDS,
  TestFleet,
  until,
  versionHere,
} from './trial/fleet.fixture.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

// Processes start and end often, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const redis = new OneRedis();
const onRedis = rotating(redis.test);
const fleet = new TestFleet(redis);
const ALL = Array.from({ length: SHARDS }, (_, at) => at + 1);
let alone: Outcome['result'] | null = null;

beforeAll(async () => {
  alone = (await fleet.alone()).result;
});

afterEach(() => fleet.end());

afterAll(() => fleet.shell.remove());

const sorted = (shards: readonly number[]): readonly number[] => [...shards].sort((a, b) => a - b);

describe('a sweep has the result of one process', () => {
  onRedis('even if a worker is killed in the middle of a shard', async () => {
    const sweep = fleet.sweep('killed');
    const first = await fleet.work();
    await until('it begins its third shard', () => first.begun.length === 3);
    const [, , lost = 0] = first.begun;
    first.child.kill('SIGKILL');
    const second = await fleet.work();
    const { result, err } = await fleet.ended('killed', sweep);
    expect(result, err).toEqual(alone);
    expect(first.done).not.toContain(lost);
    expect(second.done).toContain(lost);
    expect(sorted(fleet.done)).toEqual(ALL);
  });

  onRedis('even if a worker is stopped for longer than its lock, and then continues', async () => {
    const sweep = fleet.sweep('paused');
    const first = await fleet.work();
    await until('it begins its second shard', () => first.begun.length === 2);
    first.child.kill('SIGSTOP');
    const second = await fleet.work();
    await until('another has its shard', () => second.begun.includes(first.begun[1] ?? 0));
    first.child.kill('SIGCONT');
    const { result, err } = await fleet.ended('paused', sweep);
    expect(result, err).toEqual(alone);
  });

  onRedis('even if its coordinator is killed; finished shards do not run again', async () => {
    const first = fleet.sweep('again');
    const worker = await fleet.work();
    await until('some are done', () => worker.done.length === 2);
    first.child.kill('SIGKILL');
    await first.ended;
    // The sweep was split by the first coordinator, and is not split again.
    const { result, err } = await fleet.ended('again', fleet.sweep('again', []));
    expect(result, err).toEqual(alone);
    expect(sorted(fleet.done)).toEqual(ALL);
    expect(await fleet.jobs()).toEqual([]);
  });

  onRedis('even if its coordinator is interrupted, which leaves the workers no work', async () => {
    const first = fleet.sweep('interrupted');
    const worker = await fleet.work();
    await until('some are done', () => worker.done.length === 2);
    first.child.kill('SIGINT');
    const { code, err } = await first.ended;
    expect(code).toBe(130);
    expect(err).toMatch(/^interrupted: \d of 6 shards done; to continue, repeat the same command/m);
    await until('it ends the shard at hand', () => worker.done.length === worker.begun.length);
    expect(await fleet.jobs()).toHaveLength(worker.done.length);
    expect(worker.done.length).toBeLessThan(SHARDS);
    const second = await fleet.ended('interrupted', fleet.sweep('interrupted'));
    expect(second.result, second.err).toEqual(alone);
    expect(sorted(fleet.done)).toEqual(ALL);
  });

  onRedis('even if Redis loses all its data', async () => {
    const sweep = fleet.sweep('flushed');
    const worker = await fleet.work();
    await until('some are done', () => worker.done.length === 2);
    await redis.server.ask((client) => client.flushall());
    const { result, err } = await fleet.ended('flushed', sweep);
    expect(result, err).toEqual(alone);
    expect(err).toMatch(/^\d jobs are gone from the queue: added again$/m);
  });

  onRedis('even if Redis does not reply for a while', async () => {
    const sweep = fleet.sweep('silent');
    const worker = await fleet.work();
    await until('one is done', () => worker.done.length === 1);
    redis.server.pause();
    await said(sweep, /^the queue does not answer: .*; waiting for it$/m);
    redis.server.goOn();
    const { result, err } = await fleet.ended('silent', sweep);
    expect(result, err).toEqual(alone);
    expect(err).toMatch(/^the queue answers again$/m);
  });

  onRedis('even if Redis restarts without its data', async () => {
    const sweep = fleet.sweep('restarted');
    const worker = await fleet.work();
    await until('one is done', () => worker.done.length === 1);
    await redis.server.restart('without its data');
    const { result, err } = await fleet.ended('restarted', sweep);
    expect(result, err).toEqual(alone);
  });

  onRedis('even if jobs are replaced by garbage, and others are added', async () => {
    const sweep = fleet.sweep('garbage');
    const id = await fleet.added(sweep);
    const keyOf = (index: number): string => `fencepost:shards:${id}-${index}-of-${SHARDS}`;
    await redis.server.ask(async (client) => {
      const other = await client.hget(keyOf(4), 'data');
      await client.hset(keyOf(1), 'data', '{"garbage":true}');
      await client.hset(keyOf(2), 'data', 'no JSON');
      await client.hset(keyOf(3), 'data', other ?? '');
      await client.hset(keyOf(5), 'opts', 'no JSON');
      await client.set(keyOf(6), 'no hash');
      await client.hset('fencepost:shards:garbage', 'name', 'shard', 'data', 'no JSON');
      await client.zadd('fencepost:shards:prioritized', 0, 'garbage');
    });
    await fleet.work();
    const { result, err } = await fleet.ended('garbage', sweep);
    expect(result, err).toEqual(alone);
    for (const index of [1, 2, 3]) {
      expect(err).toContain(`shard ${index} of 6: its job contains a different order; it is added`);
    }
  });

  onRedis('even if a worker took a job that it cannot read, and holds its lock', async () => {
    const sweep = fleet.sweep('held');
    const jobId = `${await fleet.added(sweep)}-1-of-${SHARDS}`;
    await redis.server.ask(async (client) => {
      await client.set(`fencepost:shards:${jobId}`, 'no hash');
      await client.set(`fencepost:shards:${jobId}:lock`, 'held', 'PX', 600_000);
      await client.zrem('fencepost:shards:prioritized', jobId);
      await client.lpush('fencepost:shards:active', jobId);
    });
    await fleet.work();
    const { result, err } = await fleet.ended('held', sweep);
    expect(result, err).toEqual(alone);
  });

  onRedis('even if results are replaced by garbage', async () => {
    const first = fleet.sweep('results');
    const id = await fleet.added(first);
    first.child.kill('SIGKILL');
    await first.ended;
    await fleet.work();
    await until('all are done', () => fleet.done.length === SHARDS);
    const keyOf = (index: number): string => `fencepost:shards:${id}-${index}-of-${SHARDS}`;
    await redis.server.ask(async (client) => {
      await until('all are told', async () => {
        return (await client.hget(keyOf(SHARDS), 'returnvalue')) !== null;
      });
      const [one, other] = [
        await client.hget(keyOf(5), 'returnvalue'),
        await client.hget(keyOf(6), 'returnvalue'),
      ];
      await client.hset(keyOf(1), 'returnvalue', '"garbage"');
      await client.hset(keyOf(2), 'returnvalue', 'no JSON');
      await client.hset(keyOf(3), 'returnvalue', '{"a":1}');
      await client.hset(keyOf(4), 'returnvalue', other ?? '');
      await client.hset(keyOf(5), 'returnvalue', one?.replace('events', 'evenst') ?? '');
    });
    const { result, err } = await fleet.ended('results', fleet.sweep('results'));
    expect(result, err).toEqual(alone);
    for (const [index, why] of [
      [1, 'is damaged: incomplete JSON'],
      [2, 'is damaged: incomplete JSON'],
      [3, 'is damaged: incomplete JSON'],
      [4, 'is shard 6 of 6'],
      [5, 'is damaged: checksum mismatch'],
    ]) {
      expect(err).toContain(`shard ${index} of 6: a worker's result ${why}; it is added again`);
    }
  });
});

describe('a sweep ends with an error', () => {
  onRedis('if a shard fails on every attempt', async () => {
    const sweep = fleet.sweep('fails');
    const faulty = await fleet.work({ mode: 'fails' });
    const { code, out, err } = await sweep.ended;
    expect([code, out]).toEqual([3, '']);
    expect(err).toContain('✗ shard 1 of 6 failed: no ‹U+001B›[2Jroom');
    const range = `0\\.\\.${SEEDS - 1}`;
    expect(err).toMatch(
      new RegExp(`^ {2}run it here: .* run \\S+ --seeds ${range} --shard 1/6$`, 'm'),
    );
    expect(err).not.toContain('\n::error::');
    expect(faulty.begun.filter((index) => index === 1)).toHaveLength(3);
    faulty.child.kill('SIGKILL');
    await fleet.work();
    const again = await fleet.ended('fails', fleet.sweep('fails'));
    expect(again.result, again.err).toEqual(alone);
  });

  onRedis('if a shard kills every worker that begins it', async () => {
    const sweep = fleet.sweep('kills', ['--shards', '2']);
    for (let tries = 1; sweep.child.exitCode === null; tries += 1) {
      if (tries > 30) throw new Error('it is tried for ever');
      const { ended } = await fleet.work({ mode: 'dies' });
      await Promise.race([ended, sweep.ended]);
    }
    const { code, err } = await sweep.ended;
    expect(code).toBe(3);
    const stalled = 'job stalled more than allowable limit: every worker that started it died';
    expect(err).toMatch(new RegExp(`^✗ shard \\d of 2 failed: ${stalled}$`, 'm'));
    expect(err).toMatch(/^ {2}run it here: /m);
  });

  onRedis('if workers return garbage each time', async () => {
    const sweep = fleet.sweep('garbled');
    await fleet.work({ mode: 'garbles' });
    const { code, out, err } = await sweep.ended;
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/^✗ shard \d of 6 failed: a worker's result is damaged/m);
  });

  onRedis('if a worker has another version of fencepost', async () => {
    const sweep = fleet.sweep('version');
    const other = await fleet.work({ version: '9.9.9' });
    const { code, out, err } = await sweep.ended;
    expect([code, out]).toEqual([2, '']);
    const refused = `refused by the worker on .*: the sweep is from fencepost ${versionHere()}, not 9.9.9$`;
    expect(err).toMatch(new RegExp(`^✗ shard 1 of 6 failed: ${refused}`, 'm'));
    expect(err).not.toMatch(/^ +at /m);
    expect(other.begun).toEqual([]);
  });
});

onRedis('a small sweep does not wait for a big one that began earlier', async () => {
  const big = fleet.sweep('big');
  await fleet.added(big);
  const small = fleet.sweep('small', ['--shards', '2', '--seeds', '60']);
  await until('both are added', async () => (await fleet.jobs()).length === SHARDS + 2);
  const worker = await fleet.work();
  const { code, err } = await small.ended;
  expect(code, err).toBe(0);
  expect(sorted(worker.begun.slice(0, 4))).toEqual([1, 1, 2, 2]);
  expect((await fleet.ended('big', big)).result).toEqual(alone);
});

onRedis('a sweep without a worker reports that, and how to start one', async () => {
  const sweep = fleet.sweep('lonely');
  await said(sweep, /waiting for a worker: npx --no-install fencepost worker/);
});
