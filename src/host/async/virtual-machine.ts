/**
 * The machine of a simulated process, which is the same everywhere: one processor, a fixed amount
 * of memory, no other load. Also virtualizes the times that Node records in marks, events and
 * files.
 */
import buffer from 'node:buffer';
import http from 'node:http';
import os from 'node:os';
import perfHooks from 'node:perf_hooks';
import process from 'node:process';
import tty from 'node:tty';
import workerThreads from 'node:worker_threads';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient, type CurrentProcess } from './ambient.ts';
import { FOLDER, HOME } from './disk-reads.ts';
import { isFunction, type Patches } from './patches.ts';
import { processValue } from './virtual-process.ts';

const PERFORMANCE: object = Object.getPrototypeOf(globalThis.performance);
const NODE = '/usr/bin/node';
const GIB = 2 ** 30;
const HEAP = 2 ** 26;
const MEMORY = { rss: HEAP, heapTotal: HEAP, heapUsed: HEAP / 2, external: 0, arrayBuffers: 0 };
const NO_USE = {
  userCPUTime: 0,
  systemCPUTime: 0,
  maxRSS: HEAP / 1024,
  sharedMemorySize: 0,
  unsharedDataSize: 0,
  unsharedStackSize: 0,
  minorPageFault: 0,
  majorPageFault: 0,
  swappedOut: 0,
  fsRead: 0,
  fsWrite: 0,
  ipcSent: 0,
  ipcReceived: 0,
  signalsCount: 0,
  voluntaryContextSwitches: 0,
  involuntaryContextSwitches: 0,
};

type Read = (current: CurrentProcess) => unknown;
type Row = readonly [target: object, key: string, read: Read];

const always =
  (value: unknown): Read =>
  () =>
    value;

function functions(): readonly Row[] {
  const times = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 };
  const user = { uid: 1000, gid: 1000, username: 'user', homedir: HOME, shell: null };
  return [
    [os, 'cpus', () => [{ model: 'simulated', speed: 2000, times: { ...times } }]],
    [os, 'availableParallelism', always(1)],
    [os, 'loadavg', () => [0, 0, 0]],
    [os, 'totalmem', always(8 * GIB)],
    [os, 'freemem', always(4 * GIB)],
    [os, 'uptime', (current) => current.monotonicUs() / 1_000_000],
    [os, 'networkInterfaces', (current) => ({ eth0: [interfaceOf(current)] })],
    [os, 'userInfo', () => ({ ...user })],
    [os, 'homedir', always(HOME)],
    [os, 'tmpdir', always('/tmp')],
    [os, 'release', always('6.1.0')],
    [os, 'version', always('#1 SMP')],
    [process, 'cwd', always(FOLDER)],
    [process, 'getuid', always(1000)],
    [process, 'geteuid', always(1000)],
    [process, 'getgid', always(1000)],
    [process, 'getegid', always(1000)],
    [process, 'getgroups', () => [1000]],
    [process, 'memoryUsage', () => ({ ...MEMORY })],
    [process, 'cpuUsage', () => ({ user: 0, system: 0 })],
    [process, 'threadCpuUsage', () => ({ user: 0, system: 0 })],
    [process, 'resourceUsage', () => ({ ...NO_USE })],
    [process, 'constrainedMemory', always(0)],
    [process, 'availableMemory', always(4 * GIB)],
    [tty, 'isatty', always(false)],
    [PERFORMANCE, 'now', nowMs],
    [PERFORMANCE, 'toJSON', (current) => ({ timeOrigin: originMs(current) })],
    [PERFORMANCE, 'eventLoopUtilization', () => ({ idle: 0, active: 0, utilization: 0 })],
    [perfHooks, 'eventLoopUtilization', () => ({ idle: 0, active: 0, utilization: 0 })],
    [PERFORMANCE, 'getEntries', () => []],
    [PERFORMANCE, 'getEntriesByName', () => []],
    [PERFORMANCE, 'getEntriesByType', () => []],
  ];
}

/** Virtual values. A process that sets a value sets it only for itself. */
function values(): readonly Row[] {
  return [
    [process, 'argv', () => [NODE, `${FOLDER}/main.js`]],
    [process, 'execArgv', () => []],
    [process, 'execPath', always(NODE)],
    [PERFORMANCE, 'timeOrigin', originMs],
    [PERFORMANCE, 'nodeTiming', nodeTiming],
    [workerThreads, 'isMainThread', always(true)],
    [workerThreads, 'threadId', always(0)],
    [workerThreads, 'parentPort', always(null)],
    [workerThreads, 'workerData', always(null)],
    [workerThreads, 'resourceLimits', () => ({})],
    [Reflect.get(globalThis, 'Navigator')?.prototype ?? {}, 'hardwareConcurrency', always(1)],
    [Reflect.get(globalThis, 'Navigator')?.prototype ?? {}, 'language', always('en-US')],
    [Reflect.get(globalThis, 'Navigator')?.prototype ?? {}, 'languages', () => ['en-US']],
  ];
}

function nowMs(current: CurrentProcess): number {
  return current.monotonicUs() / 1000;
}

function originMs(current: CurrentProcess): number {
  return current.dateMs() - nowMs(current);
}

function nodeTiming(current: CurrentProcess): object {
  const start = { name: 'node', entryType: 'node', startTime: 0, duration: nowMs(current) };
  const since = { nodeStart: 0, v8Start: 0, environment: 0, bootstrapComplete: 0, loopStart: 0 };
  return { ...start, ...since, loopExit: -1, idleTime: 0 };
}

export function patchMachine(patches: Patches): void {
  const { memoryUsage } = process;
  for (const [target, key, read] of functions()) {
    const real: unknown = Reflect.get(target, key);
    if (!isFunction(real)) continue;
    patches.set(target, key, function readVirtual(this: unknown, ...args: unknown[]) {
      const { current } = ambient;
      return current === null ? Reflect.apply(real, this, args) : read(current);
    });
  }
  Reflect.set(process.memoryUsage, 'rss', () =>
    ambient.current === null ? memoryUsage.rss() : MEMORY.rss,
  );
  for (const [target, key, read] of values()) {
    const before = Reflect.getOwnPropertyDescriptor(target, key);
    if (before === undefined) continue;
    const { get = () => before.value } = before;
    const virtualGetter = processValue(before.value, read);
    patches.define(target, key, {
      ...virtualGetter,
      get(this: unknown): unknown {
        return ambient.current === null ? Reflect.apply(get, this, []) : virtualGetter.get?.();
      },
    });
  }
  patchMarks(patches);
  patchClasses(patches);
  patchResponseDate(patches);
}

/** The hardware address, like the pid, is unique to each incarnation of each process. */
function interfaceOf({ pid }: CurrentProcess): object {
  const mac = `02:00:00:00:${hex(pid >> 8)}:${hex(pid & 0xff)}`;
  const netmask = '255.255.255.0';
  return {
    address: '10.0.0.254',
    cidr: '10.0.0.254/24',
    netmask,
    family: 'IPv4',
    mac,
    internal: false,
  };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** Patches the marks and measures that `performance` returns to a program. */
function patchMarks(patches: Patches): void {
  const { performance } = globalThis;
  for (const key of ['mark', 'measure']) {
    const real: unknown = Reflect.get(performance, key);
    if (!isFunction(real)) continue;
    patches.set(PERFORMANCE, key, (name: unknown, options?: unknown) => {
      const { current } = ambient;
      if (current === null) return Reflect.apply(real, performance, [name, options]);
      const startTime = nowMs(current);
      return { name: String(name), entryType: key, startTime, duration: 0, detail: null };
    });
  }
  const { timerify } = performance;
  patches.set(PERFORMANCE, 'timerify', (called: (...args: unknown[]) => unknown) =>
    ambient.current === null ? Reflect.apply(timerify, performance, [called]) : called,
  );
  const stamps = new WeakMap<object, number>();
  const stamp = Reflect.getOwnPropertyDescriptor(Event.prototype, 'timeStamp')?.get;
  patches.define(Event.prototype, 'timeStamp', {
    get(this: object): unknown {
      const { current } = ambient;
      if (current === null) return stamp === undefined ? 0 : Reflect.apply(stamp, this, []);
      return entryOf(stamps, this, () => nowMs(current));
    },
  });
}

/** Constructor arguments for instances that a process creates, by class name. */
const GIVEN: Readonly<
  Record<string, (args: readonly unknown[], current: CurrentProcess) => unknown[]>
> = {
  File: ([parts, name, options], current) => [
    parts,
    name,
    { lastModified: current.dateMs(), ...Object(options) },
  ],
  PerformanceMark: ([name, options], current) => [
    name,
    { startTime: nowMs(current), ...Object(options) },
  ],
  // The garbage collector runs at unpredictable times, so a process never observes a collection.
  FinalizationRegistry: () => [() => {}],
  WeakRef: (args) => [...args],
};

function patchClasses(patches: Patches): void {
  const kept = new WeakMap<object, unknown>();
  for (const [name, change] of Object.entries(GIVEN)) {
    const real: unknown = Reflect.get(globalThis, name);
    if (!isFunction(real)) continue;
    const made = new Proxy(real, {
      construct(target, args, newTarget): object {
        const { current } = ambient;
        if (current === null) return Reflect.construct(target, args, newTarget);
        const instance: object = Reflect.construct(target, change(args, current), newTarget);
        if (name === 'WeakRef') kept.set(instance, args[0]);
        return instance;
      },
    });
    for (const target of [globalThis, buffer, perfHooks]) {
      if (Reflect.get(target, name) === real) patches.set(target, name, made);
    }
    patches.set(Reflect.get(real, 'prototype'), 'constructor', made);
  }
}

/** Patches the `Date` header that Node adds to a response. */
function patchResponseDate(patches: Patches): void {
  const outgoing = http.OutgoingMessage.prototype;
  const real: unknown = Reflect.get(outgoing, '_storeHeader');
  if (!isFunction(real)) return;
  patches.set(
    outgoing,
    '_storeHeader',
    function stored(this: http.OutgoingMessage, ...args: unknown[]) {
      const { current } = ambient;
      const usesDate = this.hasHeader('date') || /"date"/i.test(JSON.stringify(args[1] ?? null));
      const result = Reflect.apply(real, this, args);
      const header: unknown = Reflect.get(this, '_header');
      if (current === null || usesDate || typeof header !== 'string') return result;
      const date = new Date(current.dateMs()).toUTCString();
      Reflect.set(this, '_header', header.replace(/^Date: .*$/m, `Date: ${date}`));
      return result;
    },
  );
}

/** Clears `RegExp.lastMatch` and similar properties, which would expose matches of earlier code. */
export function clearMatches(): void {
  /^/.test('');
}

/** Undoes an assignment to `process.exitCode`, because the property cannot be replaced. */
export function takeExitCode(): { readonly isSet: boolean } {
  const isSet = process.exitCode !== exitCode;
  if (isSet) process.exitCode = exitCode;
  return { isSet };
}

let exitCode: typeof process.exitCode;

/** Saves the real exit code. Called before simulated processes run. */
export function keepExitCode(): void {
  exitCode = process.exitCode;
}
