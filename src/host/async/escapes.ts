/**
 * Decides what leaves the simulated world: whatever waits for the real one, changes it or reads it.
 * A simulated process that calls such a thing gets an error that names the call, and its run fails
 * even where it catches that.
 */

import childProcess from 'node:child_process';
import cluster from 'node:cluster';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import process from 'node:process';
import tls from 'node:tls';
import workerThreads from 'node:worker_threads';
import zlib from 'node:zlib';
import { ambient } from './ambient.ts';
import { type Frame, framesIn, isOfNode, isOfPackage, pathOf, siteOf } from './call-site.ts';
import { readForPackage } from './package-files.ts';
import type { Patches } from './patches.ts';

/** What is virtual where the scenario has hosts. */
export const CONNECTS: RegExp =
  /^(?:net\.|net\.Socket\.|tls\.)(?:connect|createConnection)$|^dns\.(?:promises\.)?lookup$/;

/** A simulated process called something that leaves the simulated world. */
class LeftTheWorld extends Error {
  override readonly name: string = 'LeftTheWorld';

  constructor(process: string, call: string, site: string) {
    const hint = CONNECTS.test(call) ? '; `hosts` names the servers that it may connect to' : '';
    super(`${process} leaves the simulated world: ${call} at ${site}${hint}`);
  }
}

/** An object, what it is called, and which of its functions leave. */
type Exit = readonly [target: object, name: string, keys: readonly string[]];

const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Asked for at each start, since others may have replaced something before. */
function exits(): readonly Exit[] {
  return [
    [net, 'net', ['connect', 'createConnection']],
    [net.Socket.prototype, 'net.Socket', ['connect']],
    [net.Server.prototype, 'net.Server', ['listen']],
    [tls, 'tls', ['connect']],
    [http, 'http', ['request', 'get']],
    [https, 'https', ['request', 'get']],
    [http2, 'http2', ['connect']],
    [dgram, 'dgram', ['createSocket']],
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
      ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'],
    ],
    [childProcess.ChildProcess.prototype, 'ChildProcess', ['spawn']],
    [cluster, 'cluster', ['fork']],
    [workerThreads, 'worker_threads', ['Worker', 'MessageChannel', 'BroadcastChannel']],
    [globalThis, 'globalThis', ['fetch', 'WebSocket', 'EventSource']],
    [globalThis, 'globalThis', ['MessageChannel', 'BroadcastChannel']],
    // Chance that no stream of a process can stand for.
    [crypto, 'crypto', ['generateKeySync', 'generateKeyPairSync', 'generatePrimeSync']],
    // What follows runs on threads of its own, and ends when these do.
    [
      crypto,
      'crypto',
      ['pbkdf2', 'scrypt', 'hkdf', 'generateKey', 'generateKeyPair', 'generatePrime', 'checkPrime'],
    ],
    [crypto.webcrypto.subtle, 'crypto.subtle', functionsOf(crypto.webcrypto.subtle)],
    [
      zlib,
      'zlib',
      [
        ...['deflate', 'inflate', 'deflateRaw', 'inflateRaw', 'gzip', 'gunzip', 'unzip'],
        ...['brotliCompress', 'brotliDecompress', 'createGzip', 'createGunzip', 'createUnzip'],
        ...['createDeflate', 'createInflate', 'createDeflateRaw', 'createInflateRaw'],
        ...['createBrotliCompress', 'createBrotliDecompress'],
        ...['zstdCompress', 'zstdDecompress', 'createZstdCompress', 'createZstdDecompress'],
      ],
    ],
    [
      webAssembly(),
      'WebAssembly',
      ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming'],
    ],
    [Atomics, 'Atomics', ['wait', 'waitAsync']],
    [process, 'process', ['exit', 'reallyExit', 'abort', 'kill', '_kill', 'chdir']],
    [process, 'process', ['setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups']],
    [process, 'process', ['dlopen', 'loadEnvFile', 'setUncaughtExceptionCaptureCallback']],
  ];
}

/** It has no type without that of browsers, and is not there with `--jitless`. */
function webAssembly(): object {
  const found: unknown = Reflect.get(globalThis, 'WebAssembly');
  return typeof found === 'object' && found !== null ? found : {};
}

/** The names of what can be called, but not of the classes and what is hidden. */
function functionsOf(target: object): readonly string[] {
  const own = [target, Reflect.getPrototypeOf(target) ?? {}].flatMap((one) =>
    Object.entries(Object.getOwnPropertyDescriptors(one)),
  );
  return own.flatMap(([key, { value }]) =>
    typeof value === 'function' && /^[a-z]/.test(key) && !INHERITED.has(key) ? [key] : [],
  );
}

/** Closes every exit to simulated processes; to all others they stay open. */
export function patchExits(patches: Patches): void {
  for (const [target, name, keys] of exits()) {
    const prefix = target === globalThis ? '' : `${name}.`;
    for (const key of keys) {
      const real: unknown = Reflect.get(target, key);
      if (typeof real === 'function') patches.set(target, key, guarded(real, `${prefix}${key}`));
    }
  }
}

function guarded(real: object, call: string): object {
  return new Proxy(real, {
    apply(target, self, args): unknown {
      const given = ambient.current === null ? null : refuse(call, args);
      if (given !== null) return given.value;
      return typeof target === 'function' ? Reflect.apply(target, self, args) : undefined;
    },
    construct(target, args, newTarget): object {
      if (ambient.current !== null) refuse(`new ${call}`, args);
      return typeof target === 'function' ? Reflect.construct(target, args, newTarget) : {};
    },
  });
}

/** Standard output and error: what a program prints stays what it prints. */
const PRINTS: ReadonlySet<unknown> = new Set([1, 2]);

/** Throws, unless it is harmless; what it returns, if anything, stands for the call. */
function refuse(call: string, args: readonly unknown[]): { readonly value: unknown } | null {
  const { current } = ambient;
  if (current === null || (call === 'fs.writeSync' && PRINTS.has(args[0]))) return null;
  if (current.mayCall(call)) return null;
  const site = leaverOf(refuse);
  if (site.isMachinery) return null;
  const read = site.isOfPackage ? readForPackage(call, args) : null;
  if (read !== null) return read;
  const error = new LeftTheWorld(current.name, call, site.text);
  current.fail(error);
  throw error;
}

/** Node's own code that runs files, prints and ends a thread: no part of what a program does. */
const MACHINERY = /node:internal\/(?:modules|console|main)\//;

/** The code that made a call, as far as the stack tells. */
interface Leaver {
  /** `lock.mjs:12:5`; in a package `node_modules/a/a.js:3:1, called from lock.mjs:12:5`. */
  readonly text: string;
  /** The code that called Node is in a package. */
  readonly isOfPackage: boolean;
  /** It was Node itself that called, to load a module or to print. */
  readonly isMachinery: boolean;
}

/** Who called that function which called `called`. */
export function leaverOf(called: (...args: never[]) => unknown): Leaver {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const { stack = '' } = siteOf(called);
  Error.stackTraceLimit = stackTraceLimit;
  // Without who called `called`, and without guards that let the call through.
  return leaverIn(
    framesIn(stack)
      .slice(1)
      .filter(({ file }) => file !== HERE),
  );
}

const [{ file: HERE } = { file: '' }] = framesIn(new Error().stack ?? '');

function leaverIn(frames: readonly Frame[]): Leaver {
  const at = frames.findIndex((frame) => !isOfNode(frame));
  const isMachinery = frames
    .slice(0, at === -1 ? undefined : at)
    .some(({ line }) => MACHINERY.test(line));
  const first = frames[at];
  if (first === undefined) return { text: 'an unknown place', isOfPackage: false, isMachinery };
  const own = frames.find((frame) => !isOfNode(frame) && !isOfPackage(frame));
  const places = own === undefined || own === first ? [first] : [first, own];
  const text = places.map((frame) => `${pathOf(frame)}:${frame.place}`).join(', called from ');
  return { text, isOfPackage: isOfPackage(first), isMachinery };
}
