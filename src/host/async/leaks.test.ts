/**
 * Nothing of Node leaks into a simulated process: each function that a builtin module exports, and
 * each method of its classes, is virtual, refused, or on the reviewed list of what is harmless. A
 * new version of Node that brings others fails this test, and not a user.
 */
import { builtinModules, createRequire } from 'node:module';
import os from 'node:os';
import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CONNECTS } from './escapes.ts';
import { exitsOfNode, LEAVING_MODULES } from './exits.ts';
import { isOfEachProcess } from './global-objects.ts';
import { virtualizeGlobals } from './globals.ts';
import { happen } from './script.fixture.ts';

const require = createRequire(import.meta.url);

/**
 * Functions of Node that are harmless to a simulation, each with the reason why: they compute from
 * what they are given, only print, or end in one that is virtual or refused. A name is
 * `module.function` or `module.Class#method`.
 */
const HARMLESS: readonly (readonly [names: RegExp, reason: string])[] = [
  [/^(?:assert|assert\/strict|path|path\/posix|path\/win32|punycode|querystring)\./, 'computes'],
  [/^(?:string_decoder|url|util\/types|constants)\./, 'computes'],
  [/^util\./, 'computes, or prints what is being debugged'],
  [/^buffer\.(?!Blob#|File$)/, 'computes, on bytes in memory'],
  [/^buffer\.Blob#slice$/, 'bytes in memory'],
  [/^buffer\.File$/, 'its default date is virtual on globalThis'],
  [/^(?:events|diagnostics_channel|domain)\./, 'calls listeners, at once'],
  [/^async_hooks\./, 'tells apart what runs; its numbers mean nothing'],
  [/^stream(?:\/promises|\/consumers)?\./, 'moves what is given to it, by ticks'],
  [/^stream\/web\.(?!(?:De)?[cC]ompressionStream)/, 'moves what is given to it, by jobs'],
  [/^readline(?:\/promises)?\./, 'reads a stream that is given; standard input never comes'],
  [/^console\./, 'prints'],
  [/^timers\.clear/, 'virtual'],
  [/^(?:http|https)\.(?!request$|get$)/, 'connects and listens by net'],
  [/^http2\.(?!connect$)/, 'listens by net'],
  [/^net\.(?:isIP|isIPv4|isIPv6|_normalizeArgs|BlockList|SocketAddress)/, 'computes'],
  [/^net\.(?:get|set)DefaultAutoSelect/, 'of connections that are virtual'],
  [
    /^net\.(?:_createServerHandle|_setSimultaneousAccepts|createServer|Server)/,
    'listens by listen',
  ],
  [
    /^net\.(?:Socket|Stream|BoundSocket)(?:$|#)/,
    'does nothing before it is connected, which is virtual',
  ],
  [/^tls\.(?!connect$)/, 'computes; what connects and listens does so by net'],
  [/^dgram\.(?:_createSocketHandle|Socket)/, 'does nothing before it is bound'],
  [/^dns(?:\/promises)?\.(?:getServers|setServers|getDefaultResultOrder|setDefault)/, 'refused'],
  [/^dns(?:\/promises)?\.Resolver(?:$|#)/, 'what asks is refused'],
  [/^fs\.(?:_toUnixTimestamp|Stats|Dirent|BigIntStats)/, 'computes'],
  [/^fs\.(?:Dir|FSWatcher|StatWatcher|Utf8Stream)/, 'comes from what is refused'],
  [/^child_process\.(?:_forkChild|ChildProcess)/, 'spawn is refused'],
  [/^cluster\.(?:Worker|setupPrimary|setupMaster|disconnect)/, 'fork is refused'],
  [
    /^crypto\.(?:create(?:Hash|Hmac|Cipher|Decipher|Cipheriv|Decipheriv|Verify)|Hash|Hmac)/,
    'computes',
  ],
  [
    /^crypto\.(?:Cipher|Decipher|Cipheriv|Decipheriv|Verify|verify|hash|timingSafeEqual)/,
    'computes',
  ],
  [
    /^crypto\.(?:create(?:Private|Public|Secret)Key|KeyObject|X509Certificate|Certificate)/,
    'computes',
  ],
  [
    /^crypto\.(?:get(?:Ciphers|CipherInfo|Curves|Hashes|Fips|RandomValues)|secureHeapUsed)/,
    'computes',
  ],
  [
    /^crypto\.(?:hkdfSync|pbkdf2Sync|scryptSync|argon2Sync|checkPrimeSync|diffieHellman)/,
    'computes',
  ],
  [/^crypto\.(?:privateDecrypt|privateEncrypt|publicDecrypt|decapsulate)/, 'computes'],
  [/^crypto\.setFips/, 'of the whole process, and of no run: it throws, or changes speed'],
  [/^crypto\.(?:DiffieHellman|DiffieHellmanGroup|ECDH|Sign)(?:$|#)/, 'what draws is refused'],
  [/^zlib\.(?:crc32|\w+Sync$)/, 'computes'],
  [
    /^vm\.(?:Script|createScript|runInThisContext|isContext|compileFunction)/,
    'runs in this context',
  ],
  [/^v8\.(?:serialize|deserialize|\w*Serializer|\w*Deserializer|cachedDataVersionTag)/, 'computes'],
  [/^v8\.(?:GCProfiler#|isStringOneByte)/, 'computes, or cannot be made'],
  [
    /^perf_hooks\.(?:Performance\w*|createHistogram|eventLoopUtilization|timerify)/,
    'kept by performance',
  ],
  [/^module\./, 'a realm gives its own; of others the loader'],
  [/^os\.(?:arch|platform|type|release|version|machine|endianness)$/, 'what code is built for'],
  [/^os\.(?:homedir|tmpdir)$/, 'a path, at which every file is refused'],
  [/^tty\./, 'whether somebody looks'],
  [
    /^worker_threads\.(?:markAs|isMarkedAs|(?:get|set)EnvironmentData|MessagePort|locks)/,
    'in memory',
  ],
  [/^worker_threads\.(?:Worker|BroadcastChannel|MessageChannel)#/, 'cannot be made'],
  [/^process\.(?:hrtime|nextTick|uptime)$/, 'virtual'],
  [
    /^process\.(?:cwd|get(?:e?uid|e?gid|groups)|assert|emitWarning|getBuiltinModule|_rawDebug)$/,
    'reads',
  ],
  [
    /^process\.(?:_fatalException|_tickCallback|hasUncaughtExceptionCaptureCallback|_?send|_?disconnect)$/,
    'of Node',
  ],
  [
    /^process\.(?:on|once|off|emit|addListener|removeListener|prependListener|listeners)/,
    'calls listeners',
  ],
];

/** Those that people have; `test` runs tests, and no lock has them. */
const MODULES = builtinModules.filter((name) => !/^_|^(?:node:)?(?:test|sys|sea)\b/.test(name));

/** By name, the functions that a module has at this moment. */
function functionsOf(name: string): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const exports: unknown = require(name);
  const walk = (target: object, prefix: string, isDeep: boolean): void => {
    for (const key of Reflect.ownKeys(target)) {
      const property = Reflect.getOwnPropertyDescriptor(target, key) ?? {};
      const value: unknown = isOfEachProcess(property) ? Reflect.get(target, key) : property.value;
      if (typeof key !== 'string' || typeof value !== 'function' || key === 'constructor') continue;
      found.set(prefix + key, value);
      const { prototype } = value;
      if (isDeep && typeof prototype === 'object' && prototype !== null) {
        walk(prototype, `${prefix}${key}#`, false);
      }
    }
  };
  if (typeof exports === 'object' || typeof exports === 'function') {
    walk(Object(exports), `${name.replace(/^node:/, '')}.`, true);
  }
  return found;
}

const isHarmless = (name: string): boolean => HARMLESS.some(([names]) => names.test(name));

test('every function of Node is virtual, refused, or harmless', () => {
  const before = new Map(MODULES.map((name) => [name, functionsOf(name)]));
  const restore = virtualizeGlobals();
  const after = new Map(MODULES.map((name) => [name, functionsOf(name)]));
  restore();
  const leaks: string[] = [];
  let replaced = 0;
  for (const [module, functions] of before) {
    if (LEAVING_MODULES.has(module.replace(/^node:/, ''))) continue;
    const now = after.get(module);
    for (const [name, real] of functions) {
      const isReplaced = now?.get(name) !== real;
      if (isReplaced) replaced += 1;
      else if (!isHarmless(name)) leaks.push(name);
    }
  }
  expect(replaced).toBeGreaterThan(300);
  expect(leaks).toEqual([]);
});

test('each reason of the list is still that of something', () => {
  const names = MODULES.flatMap((name) => [...functionsOf(name).keys()]);
  const idle = HARMLESS.filter(([pattern]) => !names.some((name) => pattern.test(name)));
  expect(idle).toEqual([]);
});

test('each function that leaves is refused by its name and place, but to connect', async () => {
  const told: string[] = [];
  const expected: string[] = [];
  const alice = async (): Promise<void> => {
    for (const [target, name, keys] of exitsOfNode()) {
      const prefix = target === globalThis ? '' : `${name}.`;
      for (const key of keys) {
        const call: unknown = Reflect.get(target, key);
        if (typeof call !== 'function' || CONNECTS.test(`${prefix}${key}`)) continue;
        expected.push(`${prefix}${key}`);
        try {
          Reflect.apply(call, target, [0]);
        } catch (error) {
          const [, what = String(error)] =
            /^LeftTheWorld: alice leaves the simulated world: (\S+) at \S+leaks\.test\.ts:\d+:\d+/.exec(
              String(error),
            ) ?? [];
          told.push(what);
        }
      }
    }
  };
  expect((await happen({ alice })).ending.kind).toBe('failed');
  expect(expected.length).toBeGreaterThan(250);
  expect(told).toEqual(expected);
});

test('the machine of a process is the same everywhere', async () => {
  const here = { cpus: os.cpus().length, rss: process.memoryUsage.rss() };
  let seen: unknown = null;
  const alice = async (): Promise<void> => {
    await new Promise((go) => setTimeout(go, 5));
    const event = new Event('a');
    seen = [
      os.cpus().length,
      os.availableParallelism(),
      os.loadavg(),
      os.totalmem() / 2 ** 30,
      os.uptime(),
      process.memoryUsage.rss(),
      process.cpuUsage().user,
      performance.mark('a').startTime,
      event.timeStamp,
      performance.timerify(Math.abs)(-1),
      os.userInfo().username,
      os.networkInterfaces()['eth0']?.[0]?.mac.slice(0, 12),
      new File([], 'a').lastModified,
      performance.eventLoopUtilization().active,
    ];
  };
  expect((await happen({ alice })).ending).toEqual({ kind: 'complete' });
  const MINE = ['user', '02:00:00:00:'];
  const epoch = Date.UTC(2024, 0, 1);
  expect(seen).toEqual([1, 1, [0, 0, 0], 8, 0.005, 2 ** 26, 0, 5, 5, 1, ...MINE, epoch + 5, 0]);
  expect(os.cpus().length).toBe(here.cpus);
  expect(process.memoryUsage.rss()).not.toBe(2 ** 26);
});

test('an exit code that a process sets is an error, and taken back', async () => {
  const { exitCode } = process;
  const alice = async (): Promise<void> => {
    process.exitCode = 7;
  };
  const { ending } = await happen({ alice });
  expect(process.exitCode).toBe(exitCode);
  expect(ending).toMatchObject({ error: 'it sets process.exitCode, which is real' });
});

describe('what all processes share', () => {
  test.each([
    ['Array.prototype.last', () => Object.assign(Array.prototype, { last: 1 })],
    ['Map.prototype.get', () => Object.assign(Map.prototype, { get: () => 1 })],
    ['Date.now', () => Object.assign(Date, { now: () => 7 })],
    ['globalThis.counter', () => Object.assign(globalThis, { counter: 1 })],
  ])('cannot be changed as they run: %s', async (name, change) => {
    const kept = [Map.prototype.get, Date.now];
    const idle = async (): Promise<void> => {
      await new Promise((go) => setTimeout(go, 5));
    };
    const bob = async (): Promise<void> => {
      await idle();
      change();
      await idle();
    };
    const what = `it changes ${name}, which all simulated processes share; at \\S+leaks\\.test\\.ts:\\d+`;
    const error = expect.stringMatching(new RegExp(what));
    const failed = { kind: 'failed', process: 'bob', error };
    expect((await happen({ alice: idle, bob })).ending).toMatchObject(failed);
    expect([Map.prototype.get, Date.now]).toEqual(kept);
    expect(Array.prototype).not.toHaveProperty('last');
    expect(globalThis).not.toHaveProperty('counter');
  });

  test('may be changed by others between runs, and by a polyfill', async () => {
    const alice = async (): Promise<void> => {
      Object.defineProperty(Array, 'fromTwo', { value: () => [], configurable: true });
    };
    onTestFinished(() => {
      Reflect.deleteProperty(Array, 'fromTwo');
      Reflect.deleteProperty(globalThis, 'ofTheTest');
    });
    Object.assign(globalThis, { ofTheTest: 1 });
    expect((await happen({ alice })).ending).toEqual({ kind: 'complete' });
  });

  test('is blamed on nobody in particular by code that changes it only once', async () => {
    let isFirst = true;
    const alice = async (): Promise<void> => {
      if (isFirst) Object.assign(globalThis, { counter: 1 });
      isFirst = false;
    };
    const { ending } = await happen({ alice });
    const error = 'it, or another process, changes globalThis.counter, which all simulated';
    expect(ending).toMatchObject({ kind: 'failed', error: expect.stringContaining(error) });
  });
});
