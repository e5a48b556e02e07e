import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs, { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import process from 'node:process';
import { runInThisContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import zlib from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { happen, type Script } from './script.fixture.ts';

const HERE = import.meta.filename;

const webAssembly: unknown = Reflect.get(globalThis, 'WebAssembly');

/** Functions that compress on other threads; newer versions of Node have more of them. */
const LATER_OF_ZLIB = Object.keys(zlib).filter(
  (name) => /^create|press$|flate$|zip$|Raw$/.test(name) && !/^[A-Z]/.test(name),
);

/** Returns an escape whose function has no type, or is missing in some versions of Node. */
function escapeOf(
  name: string,
  target: unknown,
  key: string,
  ...args: readonly unknown[]
): readonly [string, () => unknown] {
  const leave = (): unknown => {
    const isThere = typeof target === 'object' && target !== null;
    const call: unknown = isThere ? Reflect.get(target, key) : undefined;
    return typeof call === 'function' ? Reflect.apply(call, target, args) : undefined;
  };
  return [`${name}.${key}`, leave];
}

const FORBIDDEN_CALLS: readonly (readonly [string, () => unknown])[] = [
  escapeOf('process', process, 'reallyExit', 0),
  escapeOf('process', process, 'chdir', '/'),
  escapeOf('process', process, 'setUncaughtExceptionCaptureCallback', null),
  ['net.Server.listen', () => net.createServer().listen(0)],
  ['http.request', () => http.request('http://localhost:1')],
  ['http.get', () => http.get('http://localhost:1')],
  ['net.Server.listen', () => http.createServer().listen(0)],
  ['https.request', () => https.request('https://localhost:1')],
  ['http2.connect', () => http2.connect('http://localhost:1')],
  ['fetch', () => fetch('http://localhost:1')],
  ['dns.lookup', () => dns.lookup('localhost', () => {})],
  ['dns.promises.resolve4', () => dns.promises.resolve4('localhost')],
  ['dns.Resolver.resolve4', () => new dns.Resolver().resolve4('localhost', () => {})],
  ['dns.promises.Resolver.resolve', () => new dns.promises.Resolver().resolve('localhost')],
  ['dgram.createSocket', () => dgram.createSocket('udp4')],
  ['fs.readFileSync', () => readFileSync(HERE)],
  ['fs.existsSync', () => fs.existsSync(HERE)],
  ['fs.readFile', () => fs.readFile(HERE, () => {})],
  ['fs.createReadStream', () => fs.createReadStream(HERE)],
  ['fs.promises.readFile', () => readFile(HERE)],
  ['fs.promises.stat', () => fs.promises.stat(HERE)],
  ['child_process.spawn', () => childProcess.spawn('true')],
  ['child_process.execFileSync', () => childProcess.execFileSync('true')],
  ['new worker_threads.Worker', () => new Worker('', { eval: true })],
  ['new MessageChannel', () => new MessageChannel()],
  ['crypto.scrypt', () => crypto.scrypt('a', 'b', 8, () => {})],
  ['crypto.generateKeySync', () => crypto.generateKeySync('hmac', { length: 64 })],
  ['crypto.generateKey', () => crypto.generateKey('hmac', { length: 64 }, () => {})],
  ['crypto.generateKeyPairSync', () => crypto.generateKeyPairSync('ed25519')],
  ['crypto.generateKeyPair', () => crypto.generateKeyPair('ed25519', {}, () => {})],
  ['crypto.generatePrimeSync', () => crypto.generatePrimeSync(16)],
  ['crypto.generatePrime', () => crypto.generatePrime(16, () => {})],
  ['crypto.subtle.digest', () => globalThis.crypto.subtle.digest('SHA-1', new Uint8Array(1))],
  ['zlib.gzip', () => zlib.gzip('a', () => {})],
  ['zlib.createGzip', () => zlib.createGzip()],
  ...LATER_OF_ZLIB.map((key) => escapeOf('zlib', zlib, key, 'a', () => {})),
  escapeOf('WebAssembly', webAssembly, 'compileStreaming', new Response()),
  escapeOf('WebAssembly', webAssembly, 'instantiateStreaming', new Response()),
  ['Atomics.wait', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)],
  ['process.exit', () => process.exit()],
];

test.each(FORBIDDEN_CALLS)('%s throws at its call, and fails the run', async (call, leave) => {
  let thrown: unknown = null;
  const alice: Script = async () => {
    try {
      await leave();
    } catch (error) {
      thrown = error;
    }
  };
  const { ending } = await happen({ alice, bob: async () => {} });
  expect(thrown).toMatchObject({ name: 'LeftTheWorld' });
  const place = 'src/host/async/forbidden-apis\\.test\\.ts:\\d+:\\d+';
  const text = new RegExp(`^alice leaves the simulated world: ${call} at ${place}(?:; .+)?$`);
  expect(ending).toMatchObject({ kind: 'failed', process: 'alice' });
  expect(ending.kind === 'failed' && ending.error).toMatch(text);
});

const FAKE = 'only Redis is simulated, so hand your code a fake client';

test.each<readonly [string, () => unknown, string]>([
  ['fetch', () => fetch('http://localhost:1/lock'), FAKE],
  ['http.request', () => http.request({ host: 'api', port: 8080 }), FAKE],
  ['https.get', () => https.get(new URL('https://api/lock')), FAKE],
  ['http2.connect', () => http2.connect('https://api'), FAKE],
  [
    'dns.lookup',
    () => dns.lookup('db-1', () => {}),
    'name a Redis in `hosts`; for another server, hand your code a fake client',
  ],
  ['dns.resolve4', () => dns.resolve4('db-1', () => {}), FAKE],
  ['dgram.createSocket', () => dgram.createSocket('udp4'), FAKE],
  [
    'fs.readFileSync',
    () => readFileSync(HERE),
    'read the file while the module is loaded, or hand your code a fake',
  ],
  ['fs.writeFileSync', () => fs.writeFileSync(HERE, ''), 'hand your code a fake'],
  ['child_process.spawn', () => childProcess.spawn('true'), 'hand your code a fake'],
  ['process.exit', () => process.exit(), 'throw an error, or inject the fault `crash`'],
  [
    'zlib.gzip',
    () => zlib.gzip('a', () => {}),
    'use its synchronous form, whose name ends in Sync',
  ],
  [
    'crypto.subtle.digest',
    () => globalThis.crypto.subtle.digest('SHA-1', new Uint8Array(1)),
    'use `createHash` and `createHmac` of node:crypto',
  ],
])('%s is refused with a remedy', async (call, leave, wayOut) => {
  const { ending } = await happen({ alice: async () => void (await leave()) });
  if (ending.kind !== 'failed') return expect.fail(ending.kind);
  const [, found, hint] = /world: (.+) at \S+:\d+:\d+; (.+)$/.exec(ending.error) ?? [];
  expect([found, hint]).toEqual([call, wayOut]);
});

test('code that only prints does not leave the world', async () => {
  const alice: Script = async () => {
    fs.writeSync(2, '');
    process.stderr.write('');
    // As `pino` prints its lines.
    const written = await new Promise((resolve) => {
      fs.write(2, Buffer.from(''), (error, length) => resolve([error, length]));
    });
    expect(written).toEqual([null, 0]);
  };
  expect((await happen({ alice })).ending).toEqual({ kind: 'complete' });
});

test('escapes are allowed if their detection is off', async () => {
  let found = false;
  const alice: Script = async () => {
    found = fs.existsSync(HERE);
  };
  const globals = { detectsForbiddenApis: false };
  expect((await happen({ alice }, { globals })).ending).toEqual({ kind: 'complete' });
  expect(found).toBe(true);
});

test('other work of the thread during a run is not an escape', async () => {
  const alice: Script = async () => {
    for (let at = 0; at < 300; at += 1) await new Promise((done) => setTimeout(done, 1));
  };
  const run = happen({ alice });
  let reads = 0;
  let isOver = false;
  const reading = (async () => {
    while (!isOver) {
      await readFile(HERE);
      reads += 1;
    }
  })();
  const { ending } = await run;
  isOver = true;
  await reading;
  expect(ending).toEqual({ kind: 'complete' });
  expect(reads).toBeGreaterThan(0);
});

describe('real work that no replaced function saw', () => {
  /** As kept by a module that was loaded before the globals were virtual. */
  const { setTimeout: kept } = globalThis;
  const timers: NodeJS.Timeout[] = [];
  afterEach(() => {
    for (const timer of timers.splice(0)) clearTimeout(timer);
  });

  test('fails the run with its place while it is pending', async () => {
    const { ending } = await happen({
      alice: async () => {
        timers.push(kept(() => undefined, 60_000));
      },
    });
    expect(ending).toMatchObject({ kind: 'failed', process: 'alice' });
    expect(ending.kind === 'failed' && ending.error).toMatch(
      /^alice leaves the simulated world: a real Timeout at \S*forbidden-apis\.test\.ts:\d+:\d+$/,
    );
  });

  test('does not fail the run if the thread itself began it', async () => {
    const run = happen({ alice: () => Promise.resolve() });
    timers.push(kept(() => undefined, 60_000));
    expect((await run).ending.kind).toBe('complete');
  });
});

test('vitest may report while a process runs, and code in another package may not', async () => {
  const real: unknown = Reflect.get(process, '_send');
  const sent: unknown[] = [];
  // Forwards what vitest itself reports meanwhile.
  Reflect.set(process, '_send', (...args: readonly unknown[]): unknown => {
    if (typeof args[0] === 'string') return sent.push(args[0]);
    return typeof real === 'function' ? Reflect.apply(real, process, args) : true;
  });
  const sendIn = (name: string): Script => {
    const filename = `/node_modules/${name}/index.js`;
    return runInThisContext(`async () => void process._send('${name}')`, { filename });
  };
  try {
    const { ending } = await happen({ alice: sendIn('vitest') });
    expect(ending).toEqual({ kind: 'complete' });
    const other = await happen({ alice: sendIn('other') });
    expect(other.ending).toMatchObject({ kind: 'failed' });
  } finally {
    Reflect.set(process, '_send', real);
  }
  expect(sent).toEqual(['vitest']);
});
