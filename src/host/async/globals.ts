/**
 * While a simulated process runs, the globals and builtin modules of this thread act for that
 * process. The originals are restored when the last user is done. This file patches the clocks, the
 * random functions and the identity of a process. Other files patch timers and forbidden calls.
 */

import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import os from 'node:os';
import process from 'node:process';
import { patchNetwork } from '../network/virtual-socket.ts';
import { ambient, type CurrentProcess, noteImpure } from './ambient.ts';
import { patchContexts } from './async-context.ts';
import { patchBuiltins } from './builtin-views.ts';
import { countedJobs } from './endless.ts';
import { patchExits } from './forbidden-apis.ts';
import { isFunction, layerOf, type Patches } from './patches.ts';
import { capturedOutput } from './printing.ts';
import type { Randomness } from './randomness.ts';
import { parseInZone, patchLocale } from './virtual-locale.ts';
import { keepExitCode, patchMachine } from './virtual-machine.ts';
import { patchReplaceable, patchVirtualProcess } from './virtual-process.ts';
import { patchTimers, patchWaits } from './virtual-timers.ts';

const sources = layerOf((patches) => {
  // Waits come first: `promisify(setTimeout)` must return the virtual function.
  keepExitCode();
  patchWaits(patches);
  patchTimers(patches);
  patchContexts(patches);
  patchDate(patches);
  patchBuffers(patches);
  patchProcess(patches);
  patchLocale(patches);
  patchRandom(patches);
  patchIdentity(patches);
  patchMachine(patches);
  patchNetwork(patches);
  patchBuiltins(patches);
  patchVirtualProcess(patches);
});

const exits = layerOf((patches) => {
  patchExits(patches);
  patchReplaceable(patches);
});

export interface GlobalsOptions {
  /** If true, leaving the simulated world is an error. Default true. */
  readonly detectsForbiddenApis?: boolean;
}

/** Installs the virtual globals; call the returned function afterwards, in a `finally`. */
export function virtualizeGlobals({
  detectsForbiddenApis = true,
}: GlobalsOptions = {}): () => void {
  const restoreOutput = capturedOutput.use();
  const restoreSources = sources.use();
  const restoreExits = detectsForbiddenApis ? exits.use() : (): void => {};
  const restoreJobs = countedJobs.use();
  return () => {
    restoreJobs();
    restoreExits();
    restoreSources();
    restoreOutput();
  };
}

/**
 * Loads modules, as in `() => import('./my-lock.mjs')`. Functions that they take from builtin
 * modules, such as `randomBytes`, are then virtual in every run.
 */
export async function loadVirtually<T>(load: () => Promise<T>): Promise<T> {
  const restore = virtualizeGlobals();
  try {
    return await load();
  } finally {
    restore();
  }
}

const BILLION = 1_000_000_000n;

function either<T>(real: () => T, read: (current: CurrentProcess) => T): () => T {
  return () => (ambient.current === null ? real() : read(ambient.current));
}

/**
 * The constructor is a proxy, so that dates created before and after patching belong to one class.
 * `now` is set on the original class, which modules may have saved.
 */
function patchDate(patches: Patches): void {
  const RealDate = Date;
  const realNow = Date.now;
  const realParse = Date.parse;
  patches.set(RealDate, 'now', () => ambient.current?.dateMs() ?? realNow());
  patches.set(RealDate, 'parse', (text: unknown) =>
    ambient.current === null ? realParse(String(text)) : parseInZone(String(text), realParse),
  );
  const VirtualDate = new Proxy(RealDate, {
    apply: () => new VirtualDate().toString(),
    construct(target, dateArgs, newTarget): Date {
      const { current } = ambient;
      const args = current === null ? dateArgs : [epochFor(dateArgs, current, realParse)];
      return Reflect.construct(target, args, newTarget);
    },
  });
  patches.set(globalThis, 'Date', VirtualDate);
  patches.set(RealDate.prototype, 'constructor', VirtualDate);
}

/** Returns the time that `new Date(…)` represents, in UTC if the arguments name no time zone. */
function epochFor(
  args: readonly unknown[],
  current: CurrentProcess,
  parse: (text: string) => number,
): unknown {
  if (args.length === 0) return current.dateMs();
  const [first] = args;
  if (args.length === 1) {
    const value: unknown = first instanceof Date ? first.getTime() : primitiveOf(first);
    return typeof value === 'string' ? parseInZone(value, parse) : value;
  }
  const [year = Number.NaN, ...others] = args.map(Number);
  return Date.UTC(year, ...others);
}

/** Converts a value as `new Date` does with its argument. */
function primitiveOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const primitive: unknown = value.valueOf();
  return typeof primitive === 'object' ? String(value) : primitive;
}

/** Uninitialized memory would expose data of other processes or of the machine. */
function patchBuffers(patches: Patches): void {
  for (const key of ['allocUnsafe', 'allocUnsafeSlow'] as const) {
    const real = Buffer[key];
    patches.set(Buffer, key, (size: number) =>
      ambient.current === null ? real(size) : Buffer.alloc(size),
    );
  }
}

function patchProcess(patches: Patches): void {
  const realHrtime = process.hrtime;
  const realBigint = process.hrtime.bigint;
  const realUptime = process.uptime.bind(process);
  const bigint = either(realBigint, (current) => BigInt(current.monotonicUs()) * 1000n);
  const hrtime = (since?: [number, number]): [number, number] => {
    if (ambient.current === null) return realHrtime(since);
    const [seconds, nanoseconds] = since ?? [0, 0];
    const passed = bigint() - BigInt(seconds) * BILLION - BigInt(nanoseconds);
    const rest = ((passed % BILLION) + BILLION) % BILLION;
    return [Number((passed - rest) / BILLION), Number(rest)];
  };
  patches.set(process, 'hrtime', Object.assign(hrtime, { bigint }));
  const uptime = either(realUptime, (current) => current.monotonicUs() / 1_000_000);
  patches.set(process, 'uptime', uptime);
}

/** Each process has its own machine, which has the same name as the process. */
function patchIdentity(patches: Patches): void {
  const { pid, ppid } = process;
  const { hostname } = os;
  patches.define(process, 'pid', {
    get: either(
      () => pid,
      (current) => current.pid,
    ),
  });
  patches.define(process, 'ppid', {
    get: either(
      () => ppid,
      () => 1,
    ),
  });
  patches.set(
    os,
    'hostname',
    either(hostname, (current) => {
      noteImpure();
      return current.name;
    }),
  );
}

/**
 * Draws the result of a call. Returns undefined for invalid arguments; Node's own function then
 * throws.
 */
type Draw = (randomness: Randomness, args: readonly unknown[]) => unknown;

/**
 * Patches `Math.random` and all random functions of `node:crypto` and the global `crypto`: each
 * process draws from its own streams.
 */
function patchRandom(patches: Patches): void {
  const { webcrypto } = crypto;
  const ofAll = Reflect.getPrototypeOf(webcrypto) ?? {};
  const sources: readonly (readonly [target: object, key: string, draw: Draw])[] = [
    [Math, 'random', (randomness) => randomness.fraction()],
    [crypto, 'randomUUID', (randomness) => randomness.uuid()],
    [crypto, 'randomUUIDv7', (randomness) => randomness.uuid(ambient.current?.dateMs())],
    [crypto, 'randomBytes', drawBytes],
    [crypto, 'pseudoRandomBytes', drawBytes],
    [crypto, 'randomInt', drawInteger],
    [crypto, 'randomFillSync', fillSync],
    [crypto, 'randomFill', fillLater],
    [ofAll, 'randomUUID', (randomness) => randomness.uuid()],
    [ofAll, 'getRandomValues', fillSync],
    [webcrypto, 'randomUUID', (randomness) => randomness.uuid()],
    // `node:crypto` takes its own `getRandomValues` from here.
    [webcrypto, 'getRandomValues', fillSync],
  ];
  for (const [target, key, draw] of sources) {
    const real: unknown = Reflect.get(target, key);
    if (!isFunction(real)) continue;
    patches.set(target, key, function drawn(this: unknown, ...args: unknown[]) {
      const { current } = ambient;
      const value = current === null ? undefined : draw(current.randomness, args);
      const self = target === ofAll ? this : target;
      return value === undefined ? Reflect.apply(real, self, args) : value;
    });
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Passes `value` to the callback, if any, asynchronously as Node does. */
function give(callback: unknown, value: unknown): unknown {
  if (!isFunction(callback)) return value;
  process.nextTick(callback, null, value);
  return null;
}

function drawBytes(randomness: Randomness, [size, callback]: readonly unknown[]): unknown {
  if (!isCount(size) || size > 0x7fffffff) return undefined;
  const bytes = Buffer.alloc(size);
  randomness.fill(bytes);
  return give(callback, bytes);
}

function drawInteger(randomness: Randomness, args: readonly unknown[]): unknown {
  const numbers = args.filter((arg) => typeof arg === 'number');
  const [min, max] = numbers.length === 1 ? [0, numbers[0]] : numbers;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max)) return undefined;
  if (min === undefined || max === undefined || max <= min || max - min > 2 ** 48) return undefined;
  return give(args[numbers.length], randomness.integer(min, max));
}

/** Returns the bytes of a buffer or view, beginning at element `offset`. */
function bytesOf([target, offset, size]: readonly unknown[]): Uint8Array | null {
  const isView = ArrayBuffer.isView(target);
  if (!isView && !(target instanceof ArrayBuffer)) return null;
  const all = isView
    ? new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
    : new Uint8Array(target);
  const width = isView && 'BYTES_PER_ELEMENT' in target ? Number(target.BYTES_PER_ELEMENT) : 1;
  const from = isCount(offset) ? offset * width : 0;
  return all.subarray(from, isCount(size) ? from + size * width : all.length);
}

function fillSync(randomness: Randomness, args: readonly unknown[]): unknown {
  const bytes = bytesOf(args);
  if (bytes === null) return undefined;
  randomness.fill(bytes);
  return args[0];
}

function fillLater(randomness: Randomness, args: readonly unknown[]): unknown {
  const callback = args.at(-1);
  if (!isFunction(callback) || fillSync(randomness, args.slice(0, -1)) === undefined) {
    return undefined;
  }
  return give(callback, args[0]);
}
