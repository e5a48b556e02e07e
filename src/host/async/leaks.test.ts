/**
 * Nothing of Node leaks into a simulated process: each function reachable from globals and builtin
 * modules is virtual, refused, per process, or on the reviewed list of harmless ones. A version of
 * Node with more functions fails this test instead of a user's run.
 */
// Needs modules of its own: what other tests leave in a thread can be reached, too.
import buffer from 'node:buffer';
import http from 'node:http';
import { builtinModules, createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import { resolve } from 'node:path';
import process from 'node:process';
import tty from 'node:tty';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import worker from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exitsOfNode, LEAVING_MODULES } from './exits.ts';
import { CONNECTS } from './forbidden-apis.ts';
import { virtualizeGlobals } from './globals.ts';
import { EPOCH_MS } from './incarnation.ts';
import { happen, type Script } from './script.fixture.ts';

const require = createRequire(import.meta.url);

/** Matches these globals, and the names of everything below them. */
function named(names: string): RegExp {
  return new RegExp(`^(?:${names.replaceAll(' ', '|')})(?:$|[.#^ ])`);
}

/**
 * Functions of Node that are harmless to a simulation, each with the reason: they compute from
 * their arguments, only print, or end in a function that is virtual or refused. A name is
 * `module.function`, `module.Class#method` or `global`.
 */
const HARMLESS: readonly (readonly [names: RegExp, reason: string])[] = [
  [
    named('Object Function Array Number Boolean String Symbol BigInt Proxy Reflect JSON Math eval'),
    'the language: computes',
  ],
  [named('Error AggregateError EvalError RangeError ReferenceError SyntaxError'), 'the language'],
  [named('TypeError URIError DOMException SuppressedError Iterator AsyncIterator'), 'the language'],
  [named('Promise Map Set WeakMap WeakSet DisposableStack AsyncDisposableStack'), 'the language'],
  [named('ArrayBuffer SharedArrayBuffer DataView Uint8Array Int8Array Uint16Array'), 'computes'],
  [named('Int16Array Uint32Array Int32Array Float32Array Float64Array BigInt64Array'), 'computes'],
  [named('Uint8ClampedArray BigUint64Array Float16Array parseInt parseFloat isNaN'), 'computes'],
  [named('isFinite escape unescape encodeURI encodeURIComponent decodeURI'), 'computes'],
  [
    named('decodeURIComponent atob btoa structuredClone Buffer TextDecoder TextEncoder'),
    'computes',
  ],
  [/^Atomics\.(?!wait)/, 'computes'],
  [/^WebAssembly\.(?!compile|instantiate)/, 'computes, at once'],
  [/^(?:WeakRef|FinalizationRegistry)#/, 'of an instance that is virtual: it never sees garbage'],
  [/^RegExp(?:$|#|\.(?:escape|\[))/, 'the language'],
  [
    /^RegExp\.(?:\$|input|last|left|right)/,
    'of what the process matched: empty as an event begins',
  ],
  [/^Date(?:#(?:getTime|setTime|to\w+String|toJSON|valueOf|[gs]etUTC\w+|\[)|\.UTC$)/, 'in UTC'],
  [/^Intl\./, 'computes, by the language that its maker was given'],
  [named('URL URLSearchParams URLPattern Headers FormData Request Response'), 'in memory'],
  [named('Event CustomEvent CloseEvent ErrorEvent MessageEvent EventTarget'), 'calls listeners'],
  [named('AbortController AbortSignal'), 'calls listeners'],
  [/^\w+Stream\w*(?:$|[.#^ ])|^\w+QueuingStrategy/, 'moves what is given to it, by jobs'],
  [named('MessagePort BroadcastChannel WebSocket EventSource Storage'), 'cannot be made'],
  [/^(?:Blob|File)(?:$|#(?!arrayBuffer|text|bytes|stream))/, 'bytes in memory'],
  [named('Crypto CryptoKey'), 'holds what is virtual'],
  [/^SubtleCrypto$|^SubtleCrypto\.supports$/, 'cannot be made'],
  [/^crypto(?:\^subtle)? \(get\)$|^crypto\.(?:fips|webcrypto|subtle) \([gs]et\)$/, 'gives'],
  [/^crypto\.(?:rng|prng)$/, 'an alias'],
  [/^crypto\.ECDH\.convertKey$/, 'computes'],
  [/^crypto\.Sign[.^]/, 'a stream'],
  [named('PerformanceEntry PerformanceMark PerformanceMeasure'), 'of an entry'],
  [named('PerformanceResourceTiming PerformanceObserverEntryList'), 'of an entry'],
  [/^PerformanceObserver[.#]/, 'cannot be made'],
  [/^Performance(?:$|#(?:clear|set|mark|on|\[))/, 'no process sees an entry of the thread'],
  [/^performance \([gs]et\)$/, 'gives'],
  [/^(?:assert|assert\/strict|path|path\/posix|path\/win32|punycode|querystring)\./, 'computes'],
  [/^(?:string_decoder|url|util\/types|constants)\./, 'computes'],
  [/^util\./, 'computes, or prints what is being debugged'],
  [/^buffer\.(?!Blob#|File$)/, 'computes, on bytes in memory'],
  [/^(?:events|diagnostics_channel|domain)\./, 'calls listeners, at once'],
  [/^async_hooks\./, 'tells apart what runs; its numbers mean nothing'],
  [/^stream(?:\/promises|\/consumers)?\./, 'moves what is given to it, by ticks'],
  [/^stream\/web\.(?!(?:De)?[cC]ompressionStream)/, 'moves what is given to it, by jobs'],
  [/^readline(?:\/promises)?\./, 'reads a stream that is given; standard input never comes'],
  [/^console[.^]/, 'prints; how long something took is real, and no program reads it'],
  [
    /^process \([gs]et\)$|^process\.(?:domain|_exiting|exitCode|report|finalization) \([gs]et\)$/,
    'gives',
  ],
  [
    /^process\.(?:allowedNodeEnvironmentFlags|features)[.^]|^[nN]avigator(?:$|[# ])/,
    'what code is built for',
  ],
  [/^process\.report\.\w+ \([gs]et\)$/, 'of reports, which are refused'],
  [/^process\.sourceMapsEnabled \(get\)$/, 'how stacks are shown'],
  [
    /^(?:assert|assert\/strict|events|module|stream)$|^\w+\.(?:promises|[FRWX]_OK) \(get\)$/,
    'gives',
  ],
  [/^v8\.startupSnapshot\./, 'throws: no snapshot is built'],
  [/^zlib\.Deflate[.^]|^fs\.(?:Read|Write)Stream[.#^]/, 'of an instance that cannot be made'],
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
  [/^dns(?:\/promises|\.promises)?\.Resolver(?:$|[#.])/, 'what asks is refused'],
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
  [/^module[.#]/, 'a realm gives its own; of others the loader'],
  [/^os\.(?:arch|platform|type|release|version|machine|endianness)$/, 'what code is built for'],
  [/^tty\./, 'whether somebody looks'],
  [
    /^worker_threads\.(?:markAs|isMarkedAs|(?:get|set)EnvironmentData|MessagePort|locks)/,
    'in memory',
  ],
  [/^worker_threads\.(?:Worker|BroadcastChannel|MessageChannel)#/, 'cannot be made'],
  [
    /^process\.(?:cwd|get(?:e?uid|e?gid|groups)|assert|emitWarning|getBuiltinModule|_rawDebug)$/,
    'reads',
  ],
  [
    /^process\.(?:_fatalException|_tickCallback|hasUncaughtExceptionCaptureCallback|_?send|_?disconnect)$/,
    'of Node',
  ],
];

/** Builtin modules that a lock may import. None runs tests or builds executables. */
const MODULES = builtinModules.filter((name) => {
  const isOther = /^_|^(?:node:)?(?:test|sys|sea)\b/.test(name);
  return !isOther && !LEAVING_MODULES.has(name.replace(/^node:/, ''));
});

/** Skips the test runner, loaded modules, real standard streams, and classes by prototype. */
const NOT_WALKED =
  /vite|^module\.(?:_cache|_pathCache|globalPaths|_extensions)|^process\.(?:std|_?channel|mainModule|_events)|\._std|_events|(?:^|[.#])\[|\bconstructor$|^global(?:This)?$|\.default$/;

type Named = readonly [name: string, called: object];

/**
 * Returns the functions that can be reached from the globals and the builtin modules, each by every
 * name that is found: properties, getters and setters, statics, prototypes (`Map#get`), and those
 * of objects whose class is not exported (`process.features`, `timers.promises.scheduler^wait`).
 */
function reachable(): readonly Named[] {
  const found: Named[] = [];
  const seen = new Set<object>();
  const walk = (target: object, prefix: string): void => {
    if (seen.has(target)) return;
    seen.add(target);
    for (const key of Reflect.ownKeys(target)) {
      const name = `${prefix}${typeof key === 'symbol' ? `[${key.description}]` : key}`;
      const property = Reflect.getOwnPropertyDescriptor(target, key);
      if (property === undefined || NOT_WALKED.test(name)) continue;
      for (const kind of ['get', 'set'] as const) {
        const accessor = property[kind];
        if (accessor !== undefined) found.push([`${name} (${kind})`, accessor]);
      }
      // Getters of prototypes need an instance.
      const isRead = property.get !== undefined && !/[#^]/.test(prefix);
      visit(isRead ? Reflect.get(target, key) : property.value, name);
    }
  };
  const visit = (value: unknown, name: string): void => {
    const isFunction = typeof value === 'function';
    if (isFunction) found.push([name, value]);
    if (!isFunction && (typeof value !== 'object' || value === null)) return;
    const object = Object(value);
    if (isFunction && object.prototype instanceof Object) walk(object.prototype, `${name}#`);
    walk(object, `${name}.`);
    walk(Object(Reflect.getPrototypeOf(object)), `${name}^`);
  };
  walk(globalThis, '');
  for (const name of MODULES) visit(require(name), name.replace(/^node:/, ''));
  return found.map(([name, called]) => [name.replaceAll('.prototype.', '#'), called]);
}

const isHarmless = (name: string): boolean => HARMLESS.some(([names]) => names.test(name));

/** Returns all functions as simulated processes see them, and the names of the real ones. */
function walked(): { readonly all: readonly Named[]; readonly real: readonly string[] } {
  reachable(); // some are created on first access
  const before = new Set(reachable().map(([, called]) => called));
  const restore = virtualizeGlobals();
  const all = reachable();
  restore();
  return { all, real: all.filter(([, called]) => before.has(called)).map(([name]) => name) };
}

test('every function is virtual, refused, per process, or harmless', () => {
  const { all, real } = walked();
  expect(all.length - real.length).toBeGreaterThan(500);
  expect(real.length).toBeGreaterThan(2000);
  expect(real.filter((name) => !isHarmless(name))).toEqual([]);
  // Since Node 24, each process has its own version of more of them.
  const isOlder = Number.parseInt(process.versions.node, 10) < 24;
  const idle = HARMLESS.filter(([pattern]) => !real.some((name) => pattern.test(name)));
  expect(isOlder ? idle : []).toEqual([]);
});

test('each function that leaves is refused by its name and place, except to connect', async () => {
  const found: string[] = [];
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
          found.push(what);
        }
      }
    }
  };
  expect((await happen({ alice })).ending.kind).toBe('failed');
  expect(expected.length).toBeGreaterThan(250);
  expect(found).toEqual(expected);
});

/** Values that in Node depend on the age of the thread, on the machine, or on what ran before. */
const VALUES: Readonly<Record<string, readonly [read: () => unknown, expected: unknown]>> = {
  'cpus, memory and load': [
    () => [os.cpus().length, os.availableParallelism(), os.totalmem(), os.freemem(), os.loadavg()],
    [1, 1, 2 ** 33, 2 ** 32, [0, 0, 0]],
  ],
  'the system': [() => [os.release(), os.version()], ['6.1.0', '#1 SMP']],
  uptimes: [() => [os.uptime(), process.uptime()], [0.005, 0.005]],
  addresses: [
    () => os.networkInterfaces()['eth0']?.map(({ mac }) => mac.slice(0, 12)),
    ['02:00:00:00:'],
  ],
  'use of memory and time': [
    () => [process.memoryUsage().rss, process.memoryUsage.rss(), process.cpuUsage().user],
    [2 ** 26, 2 ** 26, 0],
  ],
  'its user': [
    () => [os.userInfo().username, process.getuid?.(), process.geteuid?.(), process.getgroups?.()],
    ['user', 1000, 1000, [1000]],
  ],
  'its folders': [
    () => [os.homedir(), os.userInfo().homedir, process.env['HOME'], os.tmpdir(), process.cwd()],
    ['/home/user', '/home/user', '/home/user', '/tmp', '/home/user/simulated'],
  ],
  'memory that is not filled': [
    () => [buffer.Buffer.allocUnsafe(8), buffer.Buffer.allocUnsafeSlow(8)].map(String),
    ['\0'.repeat(8), '\0'.repeat(8)],
  ],
  'paths in its folder': [
    () => [resolve('a'), pathToFileURL('a').pathname, process.env['PWD']],
    ['/home/user/simulated/a', '/home/user/simulated/a', '/home/user/simulated'],
  ],
  'what runs': [
    () => [process.argv, process.execArgv, process.execPath, process.title, process.umask()],
    [['/usr/bin/node', '/home/user/simulated/main.js'], [], '/usr/bin/node', 'node', 0o22],
  ],
  'its environment': [
    () => Object.keys(process.env).filter((key) => !/^(?:NODE_ENV|DEBUG|\w+_COLOR)$/.test(key)),
    ['PATH', 'HOME', 'USER', 'PWD', 'LANG', 'TZ'],
  ],
  'its thread': [
    () => [worker.isMainThread, worker.threadId, worker.parentPort, worker.workerData],
    [true, 0, null, null],
  ],
  'its terminal': [() => [tty.isatty(0), tty.isatty(1)], [false, false]],
  'its browser': [
    () => {
      const { hardwareConcurrency = 1, language = 'en-US' } = Object(
        Reflect.get(globalThis, 'navigator'),
      );
      return [hardwareConcurrency, language];
    },
    [1, 'en-US'],
  ],
  'the monotonic clock': [
    () => [performance.now(), PERFORMANCE.now.call(performance), process.hrtime.bigint()],
    [5, 5, 5_000_000n],
  ],
  'what performance shows': [
    () => [performance.timeOrigin, performance.toJSON(), performance.eventLoopUtilization().active],
    [EPOCH_MS, { timeOrigin: EPOCH_MS }, 0],
  ],
  'its getters': [
    () => Reflect.getOwnPropertyDescriptor(PERFORMANCE, 'timeOrigin')?.get?.call(performance),
    EPOCH_MS,
  ],
  'how Node began': [
    () => [performance.nodeTiming.duration, performance.nodeTiming.bootstrapComplete],
    [5, 0],
  ],
  marks: [
    () => [
      performance.mark('a').startTime,
      Reflect.construct(Reflect.get(globalThis, 'PerformanceMark'), ['a']).startTime,
    ],
    [5, 5],
  ],
  'what is timed': [() => performance.timerify(Math.abs)(-1), 1],
  'the time of an event': [() => new Event('a').timeStamp, 5],
  'the time of a file': [
    () => [new File([], 'a').lastModified, new buffer.File([], 'a').lastModified],
    [EPOCH_MS + 5, EPOCH_MS + 5],
  ],
  'the date of a response': [
    () => {
      const request = new http.IncomingMessage(new net.Socket());
      const response = new http.ServerResponse(Object.assign(request, { method: 'GET' }));
      response.writeHead(200, { a: 'b' });
      return /^date: (.*)/im.exec(Reflect.get(response, '_header'))?.[1];
    },
    'Mon, 01 Jan 2024 00:00:00 GMT',
  ],
  'the date that a program writes': [
    () => {
      const request = new http.IncomingMessage(new net.Socket());
      const response = new http.ServerResponse(Object.assign(request, { method: 'GET' }));
      response.writeHead(200, { date: 'mine' });
      return /^date: (.*)/im.exec(Reflect.get(response, '_header'))?.[1];
    },
    'mine',
  ],
  'a date of many': [
    () => [
      Reflect.apply(Reflect.get(Date.prototype, 'getYear'), new Date(0), []),
      Reflect.apply(Reflect.get(Date.prototype, 'setYear'), new Date(Date.UTC(70, 5)), [99]),
      new Intl.DateTimeFormat('en').format(),
    ],
    [70, Date.UTC(99, 5), '1/1/2024'],
  ],
  'how a timer looks': [
    () => [inspect(setTimeout(() => {}, 1)), Object.keys(setTimeout(() => {}, 1))],
    ['VirtualTimer {}', []],
  ],
  'what garbage was collected': [
    () => {
      const kept = new WeakRef({ a: 1 });
      new FinalizationRegistry(() => expect.fail('collected')).register({}, 1);
      return [kept instanceof WeakRef, kept.deref()];
    },
    [true, { a: 1 }],
  ],
};

const PERFORMANCE: typeof performance = Object.getPrototypeOf(performance);

test.each(Object.entries(VALUES))('every run sees the same: %s', async (_, [read, expected]) => {
  const real = read();
  const seen: unknown[] = [];
  const script: Script = async () => {
    await new Promise((go) => setTimeout(go, 5));
    seen.push(read());
  };
  expect((await happen({ alice: script, bob: script })).ending).toEqual({ kind: 'complete' });
  expect(seen).toEqual([expected, expected]);
  expect(typeof read()).toBe(typeof real);
});

test('a match of a regular expression is not visible to the next event', async () => {
  const seen: unknown[] = [];
  const script: Script = () => {
    seen.push(RegExp.lastMatch, RegExp.$1, Reflect.get(RegExp, 'input'));
    /(b)/.exec('abc');
    seen.push(RegExp.lastMatch);
    return Promise.resolve();
  };
  /(secret)/.exec('a secret');
  await happen({ alice: script, bob: script });
  expect(seen).toEqual(['', '', '', 'b', '', '', '', 'b']);
});

test('a process that sets the exit code fails its run, and the code is restored', async () => {
  const { exitCode } = process;
  const alice = async (): Promise<void> => {
    process.exitCode = 7;
  };
  const { ending } = await happen({ alice });
  expect(process.exitCode).toBe(exitCode);
  expect(ending).toMatchObject({
    error: 'it sets process.exitCode, which belongs to the real process',
  });
});

describe('state that all processes share', () => {
  test.each([
    ['Array.prototype.last', () => Object.assign(Array.prototype, { last: 1 })],
    ['Map.prototype.get', () => Object.assign(Map.prototype, { get: () => 1 })],
    ['Date.now', () => Object.assign(Date, { now: () => 7 })],
    ['globalThis.counter', () => Object.assign(globalThis, { counter: 1 })],
  ])('cannot be changed during a run: %s', async (name, change) => {
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

  test('may be changed by other code between runs, and by a polyfill', async () => {
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

  test('is attributed to no single process if it is changed only once', async () => {
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
