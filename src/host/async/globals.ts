/**
 * Makes the globals and builtin modules of this thread those of whichever simulated process runs,
 * and what they always were where none does. Everything is put back by the last who asked for it.
 * The clocks are here, each process reads its own, of which faults know; timers, random values and
 * what would leave the simulated world are in files of their own.
 */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import process from 'node:process';
import { patchNetwork } from '../network/virtual-socket.ts';
import { ambient, type Inhabitant, noteImpure } from './ambient.ts';
import { countedJobs } from './endless.ts';
import { patchExits } from './escapes.ts';
import { Patches, Shared } from './patches.ts';
import { parseInZone, patchLocale } from './virtual-locale.ts';
import { keepExitCode, patchMachine } from './virtual-machine.ts';
import { patchRandom } from './virtual-random.ts';
import { patchTimers, patchWaits } from './virtual-timers.ts';

/** Patches that several may want at the same time. */
function layerOf(fill: (patches: Patches) => void): Shared {
  const patches = new Patches();
  const restore = (): void => {
    patches.restore();
    syncBuiltinESMExports();
  };
  const putInPlace = (): void => {
    try {
      fill(patches);
      // `import { randomBytes } from 'node:crypto'` sees it from here on.
      syncBuiltinESMExports();
    } catch (error) {
      restore();
      throw error;
    }
  };
  return new Shared(putInPlace, restore);
}

const sources = layerOf((patches) => {
  // Waits first: `promisify(setTimeout)` is to be theirs.
  keepExitCode();
  patchWaits(patches);
  patchTimers(patches);
  patchClocks(patches);
  patchLocale(patches);
  patchRandom(patches);
  patchIdentity(patches);
  patchMachine(patches);
  patchNetwork(patches);
});

const exits = layerOf(patchExits);

export interface GlobalsOptions {
  /** Whether leaving the simulated world is an error; true if absent. */
  readonly detectsEscapes?: boolean;
}

/** Puts them in place; call what it returns when it is over, in a `finally`. */
export function virtualizeGlobals({ detectsEscapes = true }: GlobalsOptions = {}): () => void {
  const restoreSources = sources.use();
  const restoreExits = detectsEscapes ? exits.use() : (): void => {};
  const restoreJobs = countedJobs.use();
  return () => {
    restoreJobs();
    restoreExits();
    restoreSources();
  };
}

/**
 * Loads modules, as `() => import('./my-lock.mjs')`, so that what they take out of builtin modules
 * as they are loaded, `const { randomBytes } = require('crypto')`, is virtual in every run.
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

/** What the simulated process at hand reads, and where none runs, what is real. */
function either<T>(real: () => T, read: (current: Inhabitant) => T): () => T {
  return () => (ambient.current === null ? real() : read(ambient.current));
}

/** `Date`, `performance.now`, `performance.timeOrigin`, `process.hrtime` and `process.uptime`. */
function patchClocks(patches: Patches): void {
  patchDate(patches);
  patchPerformance(patches);
  patchProcess(patches);
}

/**
 * The constructor is a proxy, so that dates made before and after are of one class; `now` is set
 * on the real one, which modules may have kept.
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
    construct(target, given, newTarget): Date {
      const { current } = ambient;
      const args = current === null ? given : [epochFor(given, current, realParse)];
      return Reflect.construct(target, args, newTarget);
    },
  });
  patches.set(globalThis, 'Date', VirtualDate);
  patches.set(RealDate.prototype, 'constructor', VirtualDate);
}

/** The time that `new Date(…)` means, in UTC where no zone stands there. */
function epochFor(
  given: readonly unknown[],
  current: Inhabitant,
  parse: (text: string) => number,
): unknown {
  if (given.length === 0) return current.dateMs();
  const [first] = given;
  if (given.length === 1) {
    const value: unknown = first instanceof Date ? first.getTime() : primitiveOf(first);
    return typeof value === 'string' ? parseInZone(value, parse) : value;
  }
  const [year = Number.NaN, ...others] = given.map(Number);
  return Date.UTC(year, ...others);
}

/** As `new Date` reads its argument. */
function primitiveOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const own: unknown = value.valueOf();
  return typeof own === 'object' ? String(value) : own;
}

function patchPerformance(patches: Patches): void {
  const { performance } = globalThis;
  const realNow = performance.now.bind(performance);
  const { timeOrigin } = performance;
  const now = either(realNow, (current) => current.monotonicUs() / 1000);
  patches.set(performance, 'now', now);
  const began = (current: Inhabitant): number => current.dateMs() - current.monotonicUs() / 1000;
  patches.define(performance, 'timeOrigin', { get: either(() => timeOrigin, began) });
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

/** A process is alone on its machine, which has its name. */
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
