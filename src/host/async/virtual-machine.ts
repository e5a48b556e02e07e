/**
 * The machine of a simulated process, which is the same everywhere: one processor, a fixed amount
 * of memory, nobody else on it. And what Node itself stamps with the real time: marks, events and
 * files.
 */
import os from 'node:os';
import process from 'node:process';
import { ambient, type Inhabitant } from './ambient.ts';
import type { Patches } from './patches.ts';

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

export function patchMachine(patches: Patches): void {
  const give = (target: object, key: string, value: (current: Inhabitant) => unknown): void => {
    const real: unknown = Reflect.get(target, key);
    if (typeof real !== 'function') return;
    patches.set(target, key, function given(this: unknown, ...args: unknown[]) {
      const { current } = ambient;
      return current === null ? Reflect.apply(real, this, args) : value(current);
    });
  };
  const { memoryUsage } = process;
  const times = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 };
  give(os, 'cpus', () => [{ model: 'simulated', speed: 2000, times: { ...times } }]);
  give(os, 'availableParallelism', () => 1);
  give(os, 'loadavg', () => [0, 0, 0]);
  give(os, 'totalmem', () => 8 * GIB);
  give(os, 'freemem', () => 4 * GIB);
  give(os, 'uptime', (current) => current.monotonicUs() / 1_000_000);
  give(os, 'networkInterfaces', (current) => ({ eth0: [interfaceOf(current)] }));
  give(os, 'userInfo', () => ({
    uid: 1000,
    gid: 1000,
    username: 'user',
    homedir: '/home/user',
    shell: null,
  }));
  give(process, 'memoryUsage', () => ({ ...MEMORY }));
  Reflect.set(process.memoryUsage, 'rss', () =>
    ambient.current === null ? memoryUsage.rss() : MEMORY.rss,
  );
  give(process, 'cpuUsage', () => ({ user: 0, system: 0 }));
  give(process, 'threadCpuUsage', () => ({ user: 0, system: 0 }));
  give(process, 'resourceUsage', () => ({ ...NO_USE }));
  give(process, 'constrainedMemory', () => 0);
  give(process, 'availableMemory', () => 4 * GIB);
  patchMarks(patches, give);
  patchStamps(patches);
}

/** The hardware address is another for each life of each process, as pids are. */
function interfaceOf({ pid }: Inhabitant): object {
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

type Give = (target: object, key: string, value: (current: Inhabitant) => unknown) => void;

/** Marks and measures of `performance`, as far as a program reads them itself. */
function patchMarks(patches: Patches, give: Give): void {
  const { performance } = globalThis;
  give(performance, 'eventLoopUtilization', () => ({ idle: 0, active: 0, utilization: 0 }));
  give(performance, 'toJSON', (current) => ({
    timeOrigin: current.dateMs() - current.monotonicUs() / 1000,
  }));
  for (const key of ['getEntries', 'getEntriesByName', 'getEntriesByType']) {
    give(performance, key, () => []);
  }
  for (const key of ['mark', 'measure']) {
    const real: unknown = Reflect.get(performance, key);
    if (typeof real !== 'function') continue;
    patches.set(performance, key, (name: unknown, options?: unknown) => {
      const { current } = ambient;
      if (current === null) return Reflect.apply(real, performance, [name, options]);
      const startTime = current.monotonicUs() / 1000;
      return { name: String(name), entryType: key, startTime, duration: 0, detail: null };
    });
  }
  const { timerify } = performance;
  patches.set(performance, 'timerify', (called: (...args: unknown[]) => unknown) =>
    ambient.current === null ? timerify(called) : called,
  );
}

/** The time of an event, and of a file in memory. */
function patchStamps(patches: Patches): void {
  const stamps = new WeakMap<object, number>();
  const stamp = Reflect.getOwnPropertyDescriptor(Event.prototype, 'timeStamp')?.get;
  patches.define(Event.prototype, 'timeStamp', {
    get(this: object): unknown {
      const { current } = ambient;
      if (current === null) return stamp === undefined ? 0 : Reflect.apply(stamp, this, []);
      const known = stamps.get(this) ?? current.monotonicUs() / 1000;
      stamps.set(this, known);
      return known;
    },
  });
  const real: unknown = Reflect.get(globalThis, 'File');
  if (typeof real !== 'function') return;
  const VirtualFile = new Proxy(real, {
    construct(target, [parts, name, options], newTarget): object {
      const { current } = ambient;
      const given = current === null ? options : { lastModified: current.dateMs(), ...options };
      return Reflect.construct(target, [parts, name, given], newTarget);
    },
  });
  patches.set(globalThis, 'File', VirtualFile);
}

/** Node's `process.exitCode` cannot be replaced; what a process has set is taken back. */
export function takeExitCode(): { readonly isSet: boolean } {
  const isSet = process.exitCode !== exitCode;
  if (isSet) process.exitCode = exitCode;
  return { isSet };
}

let exitCode: typeof process.exitCode;

/** Called before simulated processes run. */
export function keepExitCode(): void {
  exitCode = process.exitCode;
}
