import crypto from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadVirtually, virtualizeGlobals } from './globals.ts';
import { EPOCH_MS } from './incarnation.ts';
import { fillOf, happen, logOf, type Script } from './script.fixture.ts';

/** Returns every global and export that is replaced, as a program sees it. */
function seen(): readonly unknown[] {
  const { Date: dates, Math: math, performance: clock, fetch: fetches } = globalThis;
  return [
    dates,
    dates.now,
    dates.prototype.constructor,
    math.random,
    clock.now,
    fetches,
    process.hrtime,
    process.exit,
    globalThis.setTimeout,
    globalThis.clearTimeout,
    timers.setImmediate,
    timersPromises.setTimeout,
    timersPromises.scheduler.wait,
    globalThis.crypto.randomUUID,
    AbortSignal.timeout,
    net.Socket.prototype.connect,
    Object.keys(clock),
    Reflect.ownKeys(globalThis.crypto),
    Reflect.ownKeys(clock),
    process.listeners('unhandledRejection'),
    process.listeners('uncaughtException'),
    globalThis.MessageChannel,
  ];
}

describe('the globals are restored', () => {
  test.each<readonly [string, Script]>([
    ['after a run', async () => {}],
    ['after a throw', () => Promise.reject(new Error('no'))],
    [
      'after a throw at once',
      () => {
        throw new Error('no');
      },
    ],
  ])('%s', async (_, alice) => {
    const before = seen();
    const run = happen({ alice });
    expect(seen()[0]).not.toBe(before[0]);
    await run;
    expect(seen()).toEqual(before);
    for (const [at, one] of seen().entries()) {
      if (typeof one === 'function') expect(one).toBe(before[at]);
    }
  });

  test('after a defect of fencepost', async () => {
    const before = seen();
    const { runFilled } = await import('./run-filled.ts');
    const { planOf } = await import('../../systems/plan.fixture.ts');
    const fill = fillOf({ alice: async () => {} });
    const broken = { ...planOf({ clients: [] }), limits: { ...planOf({ clients: [] }).limits } };
    const limits = { ...broken.limits, healAtUs: -1 };
    await expect(runFilled({ ...broken, limits }, fill)).rejects.toThrow('in the past');
    expect(seen()).toEqual(before);
  });

  test('by the last of several concurrent runs, which do not see one another', async () => {
    const before = seen();
    const script =
      (ms: number): Script =>
      async (context) => {
        for (let round = 0; round < 200; round += 1) await timersPromises.setTimeout(ms);
        context.log('', String(Date.now() - EPOCH_MS));
      };
    const traces = await Promise.all([happen({ a: script(1) }), happen({ a: script(2) })]);
    expect(traces.map(logOf)).toEqual([['200 200'], ['400 400']]);
    expect(seen()).toEqual(before);
  });
});

test('globals behave as usual while no simulated process runs', async () => {
  const restore = virtualizeGlobals();
  try {
    expect(Math.abs(Date.now() - EPOCH_MS)).toBeGreaterThan(1e9);
    expect(new Date()).toBeInstanceOf(Date);
    expect(new Date(5).constructor).toBe(Date);
    const started = performance.now();
    await timersPromises.setTimeout(5);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(performance.now() - started).toBeGreaterThan(8);
    expect(Math.random()).not.toBe(Math.random());
    expect(() => Reflect.apply(setTimeout, null, ['no function'])).toThrow('callback');
  } finally {
    restore();
  }
});

test('a rejection outside of simulated processes reaches the earlier listeners', async () => {
  const lost: unknown[] = [];
  const before = process.listeners('unhandledRejection');
  const listener = (reason: unknown): number => lost.push(reason);
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', listener);
  try {
    const alice: Script = async () => {
      for (let round = 0; round < 500; round += 1) await timersPromises.setTimeout(1);
    };
    const run = happen({ alice });
    void new Promise((resolve) => setTimeout(resolve, 0)).then(() => Promise.reject('ours'));
    expect((await run).ending).toEqual({ kind: 'complete' });
    expect(lost).toEqual(['ours']);
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const one of before) process.on('unhandledRejection', one);
  }
});

describe('a package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-package-'));
  const home = join(folder, 'node_modules', 'small-lock');
  const body = `value: () => randomBytes(4).toString('hex'), now: () => Date.now(),
    wait: (ms) => new Promise((done) => setTimeout(done, ms))`;

  beforeAll(() => {
    mkdirSync(home, { recursive: true });
    const names = '{ randomBytes }';
    const timer = '{ setTimeout }';
    writeFileSync(
      join(home, 'lock.mjs'),
      `import ${names} from 'crypto'; import ${timer} from 'node:timers';
       export const lock = { ${body} }; export { randomBytes };`,
    );
    writeFileSync(
      join(home, 'lock.cjs'),
      `const crypto = require('crypto'); const timers = require('node:timers');
       const randomBytes = (...a) => crypto.randomBytes(...a);
       const setTimeout = (...a) => timers.setTimeout(...a); exports.lock = { ${body} };`,
    );
    writeFileSync(
      join(home, 'early.cjs'),
      `const ${names} = require('crypto'); const ${timer} = require('node:timers');
       exports.lock = { ${body} };`,
    );
    writeFileSync(join(home, 'lazy.cjs'), `exports.lock = { value: () => 'lazy' };`);
    writeFileSync(
      join(home, 'net.cjs'),
      `exports.lock = { connect: () => require('net').connect(1) };`,
    );
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  interface Lock {
    value(): string;
    now(): number;
    wait(ms: number): Promise<void>;
    connect(): void;
  }

  const required = (file: string): Lock => createRequire(import.meta.url)(join(home, file)).lock;

  async function behaviour(lock: Lock): Promise<readonly string[]> {
    const alice: Script = async (context) => {
      await lock.wait(5);
      context.log('', `${lock.value()} ${lock.now() - EPOCH_MS}`);
    };
    return logOf(await happen({ alice }));
  }

  test('as an ES module gets its imports from the simulated process', async () => {
    const module = await import(/* @vite-ignore */ pathToFileURL(join(home, 'lock.mjs')).href);
    const [line = ''] = await behaviour(module.lock);
    expect(line).toMatch(/^5 [0-9a-f]{8} 5$/);
    expect(await behaviour(module.lock)).toEqual([line]);
    expect(module.randomBytes).toBe(crypto.randomBytes);
  });

  test('in CommonJS gets what it requires from the simulated process', async () => {
    const [line = ''] = await behaviour(required('lock.cjs'));
    expect(line).toMatch(/^5 [0-9a-f]{8} 5$/);
    expect(await behaviour(required('lock.cjs'))).toEqual([line]);
  });

  test('that keeps required functions must be loaded virtually', async () => {
    const lock = await loadVirtually(async () => required('early.cjs'));
    const [line = ''] = await behaviour(lock);
    expect(line).toMatch(/^5 [0-9a-f]{8} 5$/);
    expect(await behaviour(lock)).toEqual([line]);
    expect(lock.value()).not.toBe(lock.value());
  });

  test('may be required while a process runs', async () => {
    const alice: Script = async (context) => context.log('', required('lazy.cjs').value());
    const trace = await happen({ alice });
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(logOf(trace)).toEqual(['0 lazy']);
  });

  test('that leaves the world is named, with its caller', async () => {
    const lock = required('net.cjs');
    const alice: Script = async () => lock.connect();
    const { ending } = await happen({ alice });
    expect(ending.kind === 'failed' && ending.error).toMatch(
      /no server listens .*, at .*node_modules\/small-lock\/net\.cjs:1:\d+, called from .*globals\.test\.ts:\d+/,
    );
  });
});

test('a UUID of version 7 begins with the time of its process', async () => {
  const drawn: string[] = [];
  const alice: Script = () => {
    const draw: unknown = Reflect.get(crypto, 'randomUUIDv7');
    if (typeof draw === 'function') drawn.push(String(draw.call(crypto)));
    return Promise.resolve();
  };
  await happen({ alice });
  await happen({ alice });
  if (!('randomUUIDv7' in crypto)) return; // not in this version of Node
  const ms = EPOCH_MS.toString(16).padStart(12, '0');
  const begins = `${ms.slice(0, 8)}-${ms.slice(8)}-7`;
  expect(drawn[0]).toMatch(new RegExp(`^${begins}[0-9a-f]{3}-[89ab]`));
  expect(drawn[1]).toBe(drawn[0]);
});
