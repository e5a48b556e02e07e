import crypto, { getRandomValues, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { performance as hooked } from 'node:perf_hooks';
import process, { hrtime } from 'node:process';
import timers from 'node:timers';
import timersPromises, { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EPOCH_MS } from './incarnation.ts';
import { happen, logOf, type Script } from './script.fixture.ts';

/** Returns what `read` returns in alice, at 0 and after 5 ms. */
async function readings(read: () => unknown): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const alice: Script = async () => {
    seen.push(read());
    await wait(5);
    seen.push(read());
  };
  await happen({ alice });
  return seen;
}

const msOf = (date: Date): number => date.getTime();

const CLOCKS: readonly (readonly [string, () => unknown, unknown])[] = [
  ['Date.now', () => Date.now() - EPOCH_MS, 5],
  ['new Date', () => msOf(new Date()) - EPOCH_MS, 5],
  ['new of a date’s constructor', () => +new (class extends Date {})() - EPOCH_MS, 5],
  ['Date called', () => new Date(Date()).getTime() - EPOCH_MS, 0],
  ['performance.now', () => performance.now(), 5],
  ['perf_hooks', () => hooked.now(), 5],
  ['performance.timeOrigin', () => performance.timeOrigin - EPOCH_MS, 0],
  ['process.hrtime', () => process.hrtime()[1], 5_000_000],
  ['process.hrtime since', () => process.hrtime([0, 0])[1], 5_000_000],
  ['process.hrtime.bigint', () => Number(process.hrtime.bigint()), 5_000_000],
  ['hrtime of node:process', () => hrtime()[1], 5_000_000],
  ['process.uptime', () => process.uptime(), 0.005],
];

test.each(CLOCKS)('%s shows the time of the process', async (_, read, later) => {
  expect(await readings(read)).toEqual([0, later]);
});

test('each process has its own clocks: skewed, fast, and stepped', async () => {
  const alice: Script = async (context) => {
    const show = (): void =>
      context.log('clock', `${Date.now() - EPOCH_MS} ${performance.now()} ${hrtime()[1]}`);
    show();
    await wait(10);
    show();
  };
  const when = { kind: 'at', atUs: 0 } as const;
  const fast = { kind: 'clock', process: 'alice', when, stepUs: 0, ratePpm: 250_000 } as const;
  const later = { kind: 'at', atUs: 4000 } as const;
  const step = { kind: 'clock', process: 'alice', when: later, stepUs: -3000, ratePpm: 0 } as const;
  const trace = await happen({ alice, bob: alice }, { faults: [fast, step] });
  expect(logOf(trace)).toEqual(['0 0 0 0', '0 0 0 0', '8 7 10 10000000', '10 10 10 10000000']);
});

const later = (set: (done: () => void) => unknown): Promise<void> =>
  new Promise((resolve) => void set(resolve));

const WAITS: readonly (readonly [string, () => unknown, number])[] = [
  ['setTimeout', () => later((done) => setTimeout(done, 7)), 7],
  ['setTimeout of 0', () => later((done) => setTimeout(done, 0)), 1],
  ['setTimeout without a delay', () => later((done) => setTimeout(done)), 1],
  ['setTimeout of node:timers', () => later((done) => timers.setTimeout(done, 7.9)), 7],
  ['setInterval', () => later((done) => setInterval(done, 7).unref()), 7],
  ['setImmediate', () => later((done) => setImmediate(done)), 0.001],
  ['setImmediate of node:timers', () => later((done) => timers.setImmediate(done)), 0.001],
  ['promisify(setTimeout)', () => promisify(setTimeout)(7), 7],
  ['promisify(setImmediate)', () => promisify(setImmediate)(), 0.001],
  ['setTimeout of node:timers/promises', () => wait(7), 7],
  ['setImmediate of node:timers/promises', () => timersPromises.setImmediate(), 0.001],
  ['scheduler.wait', () => timersPromises.scheduler.wait(7), 7],
  ['scheduler.yield', () => timersPromises.scheduler.yield(), 0.001],
  ['process.nextTick', () => later((done) => process.nextTick(done)), 0],
  ['queueMicrotask', () => later((done) => queueMicrotask(done)), 0],
  [
    'AbortSignal.timeout',
    () => {
      const signal = AbortSignal.timeout(7);
      const ended = later((done) => signal.addEventListener('abort', done));
      return Promise.all([ended, wait(7)]); // the signal alone does not keep its process alive
    },
    7,
  ],
];

test.each(WAITS)('%s waits on the virtual clock', async (_, waits, ms) => {
  const alice: Script = async (context) => {
    await waits();
    context.log('', 'done');
  };
  expect(logOf(await happen({ alice }))).toEqual([`${ms} done`]);
});

const filled = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const DRAWS: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['Math.random', () => Math.random(), /^0\.\d+$/],
  ['randomUUID', () => randomUUID(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/],
  ['crypto.randomUUID', () => globalThis.crypto.randomUUID(), /^[0-9a-f]{8}-[0-9a-f]{4}-4/],
  ['randomBytes', () => filled(randomBytes(20)), /^[0-9a-f]{40}$/],
  ['randomBytes later', async () => filled(await promisify(crypto.randomBytes)(20)), /^\w{40}$/],
  ['randomInt', () => randomInt(1000), /^\d{1,3}$/],
  ['randomInt from', () => randomInt(5000, 6000), /^5\d{3}$/],
  ['randomFillSync', () => filled(crypto.randomFillSync(new Uint8Array(8))), /^\w{16}$/],
  ['getRandomValues', () => filled(getRandomValues(new Uint8Array(8))), /^\w{16}$/],
  ['the global', () => filled(globalThis.crypto.getRandomValues(new Uint8Array(8))), /^\w{16}$/],
];

describe.each(DRAWS)('%s', (_, draw, shape) => {
  const drawn = async (seed: number): Promise<readonly string[]> => {
    const script: Script = async (context) => {
      context.log('', String(await draw()));
      context.log('', String(await draw()));
    };
    const none = { latency: null, delay: null, drop: null, duplicate: null };
    const chance = { seed, latencyStepUs: 1, lateTimer: null, jitter: null, ...none };
    return logOf(await happen({ alice: script, bob: script }, { chance })).map((line) =>
      line.slice(2),
    );
  };

  test('differs per draw, process and seed, and is the same in another run', async () => {
    const first = await drawn(1);
    for (const one of first) expect(one).toMatch(shape);
    const others = await drawn(2);
    expect(new Set([...first, ...others]).size).toBeGreaterThan(6);
    expect(await drawn(1)).toEqual(first);
  });
});
