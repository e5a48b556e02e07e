/**
 * Tests mistakes in commands and problems of the queue: each is reported in one line, soon, and
 * without a password. Some tests need `redis-server`.
 */
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { root } from '../../cli/command-line.fixture.ts';
import { FleetShell, said } from './fleet-shell.fixture.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

const zombie = join(root, 'fixtures/zombie-writer.yaml');
const shell = new FleetShell();
const SECRET = 's3cret';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

afterEach(() => shell.kill());

afterAll(() => shell.remove());

/** Returns the one line of a command that ended with 2. */
async function mistake(args: readonly string[], queue?: string): Promise<string> {
  const { code, out, err } = await shell.start('a', args, queue).ended;
  expect([code, out], err).toEqual([2, '']);
  expect(out + err).not.toContain(SECRET);
  expect(err).toMatch(/^[^\n]+\n$/);
  return err.trim();
}

describe('a URL with a password', () => {
  const url = `redis://:${SECRET}@127.0.0.1:1`;
  const NO_URL = 'pass the URL of the queue with --queue, or set FENCEPOST_QUEUE';

  test.each([
    [['sweep', url], NO_URL],
    [['sweep', zombie, `rediss//:${SECRET}@h`], NO_URL],
    [['sweep', `redis:${SECRET}`], NO_URL],
    [['sweep', zombie, '--seeds', url], /^--seeds redis:\/\/\*\*\*@127/],
    [['run', url], /^redis:\/\/\*\*\*@127\.0\.0\.1:1:1:1: /],
    [['worker', '--queue', `postgres://u:${SECRET}@h/db`], /redis:\/\/ or rediss:\/\/ URL$/],
    [['sweep', `--quue=${url}`], /\/\/\*\*\*@127/],
  ] as const)('is not repeated if no URL is expected: %j', async (args, message) => {
    expect(await mistake(args, url)).toMatch(message);
  });
});

test('a missing or unreachable queue is reported with advice', async () => {
  const there = await mistake(['sweep', zombie, '--queue', 'redis://127.0.0.1:1']);
  expect(there).toBe('redis://127.0.0.1:1: queue not reachable: connect ECONNREFUSED 127.0.0.1:1');
  expect(await mistake(['worker'])).toBe('no queue: pass --queue <url>, or set FENCEPOST_QUEUE');
  const many = ['--shards', '10001', '--queue', 'redis://127.0.0.1:1'];
  expect(await mistake(['sweep', zombie, ...many])).toBe('--shards 10001: expected at most 10000');
});

describe('a server that accepts connections and never replies', () => {
  let silent: Server | null = null;
  let port = 0;

  beforeAll(async () => {
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent?.listen(0, '127.0.0.1', resolve));
    const address: AddressInfo | string | null = silent.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });

  afterAll(() => silent?.close());

  test('does not block a command that needs a queue', async () => {
    const url = `redis://u:${SECRET}@127.0.0.1:${port}/1`;
    const commands = [['worker'], ['sweep', zombie]];
    const startedMs = performance.now();
    const all = await Promise.all(commands.map((args) => shell.start('b', args, url).ended));
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    for (const { code, err } of all) {
      expect(code).toBe(2);
      expect(err).toContain(`redis://***@127.0.0.1:${port}/1: queue not reachable: `);
      expect(err).not.toContain(SECRET);
    }
  });
});

describe('on a Redis', () => {
  const redis = new OneRedis();
  const onRedis = redis.test;

  onRedis('an unknown database is refused, and not replaced by the first one', async () => {
    const message = await mistake(['worker'], `${redis.url}/99`);
    expect(message).toMatch(/\/99: queue not reachable: ERR DB index is out of range$/);
    const worker = shell.start('a', ['worker'], `${redis.url}/3`);
    await said(worker, /worker on redis.*\/3:/);
  });

  onRedis('an error of the server is one line that names the queue', async () => {
    await redis.server.ask((client) => client.set('fencepost:shards:wait', 'not a list'));
    const failed = /^redis:\/\/127\.0\.0\.1:\d+: queue failed: .*WRONGTYPE/;
    const { code, err } = await shell.start('a', ['sweep', zombie, '-q'], redis.url).ended;
    expect([code, err]).toEqual([2, expect.stringMatching(failed)]);
    expect(err).not.toMatch(/^ +at /m);
    await redis.server.ask((client) => client.del('fencepost:shards:wait'));
  });

  onRedis('a worker refuses a folder that does not exist', async () => {
    expect(await mistake(['worker', '--modules', '/nope'], redis.url)).toBe(
      '--modules: /nope is not a folder',
    );
  });
});

test('an error of a module cannot control the terminal, and adds no line', async () => {
  const thrown = JSON.stringify('\u001b[2J\u001b]0;mine\u0007\n::error::mine');
  shell.start('own', ['--version']);
  const file = join(shell.folder, 'own/own.yaml');
  writeFileSync(join(shell.folder, 'own/own.mjs'), `throw new Error(${thrown});\n`);
  writeFileSync(
    file,
    'name: own\nuse: ./own.mjs\nsystems: { a: { lock: redis, store: fenced } }\n',
  );
  const { code, err } = await shell.start('own', ['run', file]).ended;
  expect([code, err]).toEqual([2, expect.stringContaining('‹U+001B›[2J')]);
  for (const steering of ['\u001b', '\u0007', '\n::error']) expect(err).not.toContain(steering);
});
