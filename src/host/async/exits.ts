/**
 * Lists the functions that leave the simulated world: they wait for, change or read the real world
 * and are not virtual. `leaks.test.ts` requires each function of Node to be listed here, virtual,
 * or known to be harmless.
 */
import buffer from 'node:buffer';
import childProcess from 'node:child_process';
import cluster from 'node:cluster';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import nodeModule from 'node:module';
import net from 'node:net';
import os from 'node:os';
import perfHooks from 'node:perf_hooks';
import process from 'node:process';
import streamWeb from 'node:stream/web';
import timers from 'node:timers';
import tls from 'node:tls';
import tty from 'node:tty';
import v8 from 'node:v8';
import vm from 'node:vm';
import workerThreads from 'node:worker_threads';
import zlib from 'node:zlib';

type Exit = readonly [target: object, name: string, keys: readonly string[]];

/** Modules whose functions are all refused to simulated processes. */
export const LEAVING_MODULES: ReadonlySet<string> = new Set([
  'inspector',
  'inspector/promises',
  'repl',
  'sqlite',
  'trace_events',
  'wasi',
]);

const FINALIZATION: object = Reflect.get(process, 'finalization') ?? {};
const SUBTLE: object = Reflect.getPrototypeOf(crypto.webcrypto.subtle) ?? {};

const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Evaluated at each start, because other code may have replaced functions in the meantime. */
export function exitsOfNode(): readonly Exit[] {
  return [...toOthers(), ...toChance(), ...toThreads(), ...toMachine()];
}

/** The network, the disk, and other processes and threads. */
function toOthers(): readonly Exit[] {
  return [
    [net, 'net', ['connect', 'createConnection', 'BoundSocket', '_createServerHandle']],
    [net, 'net', functionsOf(net).filter((name) => /^setDefault/.test(name))],
    [net.Socket.prototype, 'net.Socket', ['connect']],
    [net.Server.prototype, 'net.Server', ['listen']],
    [tls, 'tls', ['connect']],
    [http, 'http', ['request', 'get']],
    [https, 'https', ['request', 'get']],
    [http2, 'http2', ['connect']],
    [dgram, 'dgram', ['createSocket', '_createSocketHandle']],
    [dgram.Socket.prototype, 'dgram.Socket', ['bind', 'connect', 'send']],
    [dns, 'dns', functionsOf(dns)],
    [dns.promises, 'dns.promises', functionsOf(dns.promises)],
    [dns.Resolver.prototype, 'dns.Resolver', functionsOf(dns.Resolver.prototype)],
    [
      dns.promises.Resolver.prototype,
      'dns.promises.Resolver',
      functionsOf(dns.promises.Resolver.prototype),
    ],
    [fs, 'fs', functionsOf(fs)],
    [fs.promises, 'fs.promises', functionsOf(fs.promises)],
    [
      childProcess,
      'child_process',
      words(`spawn spawnSync exec execSync execFile execFileSync fork`),
    ],
    [childProcess.ChildProcess.prototype, 'ChildProcess', ['spawn']],
    [cluster, 'cluster', ['fork']],
    [workerThreads, 'worker_threads', ['Worker', 'MessageChannel', 'BroadcastChannel']],
    [globalThis, 'globalThis', ['fetch', 'WebSocket', 'EventSource']],
    [globalThis, 'globalThis', ['MessageChannel', 'BroadcastChannel']],
    [globalThis, 'globalThis', ['CompressionStream', 'DecompressionStream']],
    [streamWeb, 'stream.web', ['CompressionStream', 'DecompressionStream']],
    [workerThreads, 'worker_threads', ['receiveMessageOnPort', 'moveMessagePortToContext']],
    [workerThreads, 'worker_threads', ['postMessageToThread', 'setEnvironmentData']],
    [Blob.prototype, 'Blob', ['arrayBuffer', 'text', 'bytes', 'stream', 'textStream']],
    [fs, 'fs', ['ReadStream', 'WriteStream', 'FileReadStream', 'FileWriteStream', 'Utf8Stream']],
    [tty, 'tty', ['ReadStream', 'WriteStream']],
  ];
}

/** Randomness and clocks that are not virtual. */
function toChance(): readonly Exit[] {
  return [
    // Randomness that no stream of a process can replace.
    [crypto, 'crypto', ['generateKeySync', 'generateKeyPairSync', 'generatePrimeSync']],
    [crypto, 'crypto', ['createDiffieHellman', 'createDiffieHellmanGroup', 'getDiffieHellman']],
    [crypto, 'crypto', ['DiffieHellman', 'DiffieHellmanGroup', 'createECDH', 'publicEncrypt']],
    [crypto, 'crypto', ['setEngine', 'sign', 'createSign', 'encapsulate']],
    [crypto.Sign.prototype, 'crypto.Sign', ['sign']],
    [crypto.ECDH.prototype, 'crypto.ECDH', ['generateKeys']],
    // Another context has its own clocks and randomness, which are not virtual.
    [vm, 'vm', ['createContext', 'runInContext', 'runInNewContext', 'measureMemory']],
    [vm.Script.prototype, 'vm.Script', ['runInContext', 'runInNewContext']],
  ];
}

/** Work on background threads, which ends at an unpredictable time. */
function toThreads(): readonly Exit[] {
  return [
    [
      crypto,
      'crypto',
      words(`pbkdf2 scrypt argon2 hkdf generateKey generateKeyPair generatePrime checkPrime`),
    ],
    [SUBTLE, 'crypto.subtle', functionsOf(SUBTLE)],
    [
      zlib,
      'zlib',
      words(`Deflate Inflate Gzip Gunzip DeflateRaw InflateRaw Unzip BrotliCompress
      BrotliDecompress ZstdCompress ZstdDecompress deflate inflate deflateRaw
      inflateRaw gzip gunzip unzip brotliCompress brotliDecompress createGzip
      createGunzip createUnzip createDeflate createInflate createDeflateRaw
      createInflateRaw createBrotliCompress createBrotliDecompress zstdCompress
      zstdDecompress createZstdCompress createZstdDecompress`),
    ],
    [webAssembly(), 'WebAssembly', ['compileStreaming', 'instantiateStreaming']],
    [Atomics, 'Atomics', ['wait', 'waitAsync']],
  ];
}

/** The state of the machine, the thread and the process. */
function toMachine(): readonly Exit[] {
  return [
    [
      v8,
      'v8',
      words(`getHeapSnapshot getHeapStatistics getHeapSpaceStatistics GCProfiler
      getHeapCodeStatistics setFlagsFromString takeCoverage stopCoverage
      writeHeapSnapshot queryObjects setHeapSnapshotNearHeapLimit
      getCppHeapStatistics startCpuProfile`),
    ],
    [perfHooks, 'perf_hooks', ['monitorEventLoopDelay', 'PerformanceObserver']],
    [globalThis, 'globalThis', ['PerformanceObserver']],
    [v8.promiseHooks, 'v8.promiseHooks', functionsOf(v8.promiseHooks)],
    [nodeModule, 'module', ['register', 'registerHooks', 'enableCompileCache', 'runMain']],
    [nodeModule, 'module', ['_preloadModules', '_initPaths', 'flushCompileCache']],
    [timers, 'timers', ['_unrefActive', 'active', 'enroll', 'unenroll']],
    [os, 'os', ['setPriority', 'getPriority']],
    [process, 'process', ['binding', '_linkedBinding', 'openStdin', '_debugProcess', '_debugEnd']],
    [process, 'process', ['_getActiveRequests', '_getActiveHandles', 'getActiveResourcesInfo']],
    [process, 'process', ['umask', '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier']],
    [process, 'process', ['setSourceMapsEnabled', 'execve', 'ref', 'unref']],
    [process, 'process', ['exit', 'reallyExit', 'abort', 'kill', '_kill', 'chdir']],
    [process, 'process', ['setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups']],
    [FINALIZATION, 'process.finalization', functionsOf(FINALIZATION)],
    [process.report, 'process.report', functionsOf(process.report)],
    [URL, 'URL', ['createObjectURL', 'revokeObjectURL']],
    [buffer, 'buffer', ['resolveObjectURL']],
    [tls, 'tls', ['getCACertificates', 'setDefaultCACertificates']],
    [process, 'process', ['send', '_send', 'disconnect', '_disconnect']],
    [process, 'process', ['dlopen', 'loadEnvFile', 'setUncaughtExceptionCaptureCallback']],
  ];
}

/** Returns `WebAssembly`; it has no type without the DOM library, and `--jitless` removes it. */
export function webAssembly(): object {
  const found: unknown = Reflect.get(globalThis, 'WebAssembly');
  return typeof found === 'object' && found !== null ? found : {};
}

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}

/** Returns the public functions of an object and its prototype, except classes. */
function functionsOf(target: object): readonly string[] {
  const methods = [target, Reflect.getPrototypeOf(target) ?? {}].flatMap((object) =>
    Object.entries(Object.getOwnPropertyDescriptors(object)),
  );
  return methods.flatMap(([key, { value }]) =>
    typeof value === 'function' && /^[a-z]/.test(key) && !INHERITED.has(key) ? [key] : [],
  );
}
