/**
 * Holds the simulated process that real code currently runs for. A plain variable is enough: all
 * jobs of an event belong to one process, and end before the next event.
 */
import { setImmediate } from 'node:timers';
import type { Unsimulated } from '../../core/history/trace.ts';
import type { Uplink } from '../network/hosts.ts';
import type { CallSite } from './call-site.ts';
import type { Randomness } from './randomness.ts';
import type { TimerSetting, VirtualTimer } from './timers.ts';

/** A simulated process as the virtual globals see it. */
export interface CurrentProcess {
  readonly name: string;
  /** Unique to each incarnation of each process. */
  readonly pid: number;
  /** The process's wall clock, in milliseconds since 1970. */
  dateMs(): number;
  /** The process's monotonic clock, in microseconds since its machine started. */
  monotonicUs(): number;
  setTimer(setting: TimerSetting): VirtualTimer;
  /** Returns the timer that `Number(timer)` refers to. */
  timerOf(id: number): VirtualTimer | undefined;
  /** Random streams of the process, or of the module that is being loaded. */
  readonly randomness: Randomness;
  /** Null if the process cannot connect to anything. */
  readonly network: Uplink | null;
  /** Returns true for a virtual call that the process may make, such as `net.connect`. */
  mayCall(call: string): boolean;
  /** True while the process may read any file, for example while it loads modules. */
  readonly mayRead: boolean;
  /** Records output of the process's code; `stream` is 1 or 2. */
  print(text: string, stream: unknown): void;
  /** Counts one more job of the current event. Throws if the jobs seem endless. */
  countJob(): void;
  /** Records that the process used something that is not simulated. */
  noteUnsimulated(asked: Pick<Unsimulated, 'kind' | 'what'>, site: CallSite): void;
  /** Fails the run because of an uncaught error. Only the first error counts. */
  fail(error: unknown, why?: string): void;
}

/** A module whose code is running for the first time. */
export interface Loading {
  readonly name: string;
  /** True until the module uses something that varies by process or run, such as a random value. */
  isPure: boolean;
  /** True once the module has drawn a random value. */
  hasDrawn: boolean;
}

/** `current` is null while no simulated process runs; every global then behaves as usual. */
export const ambient: {
  current: CurrentProcess | null;
  /** The module that is being loaded, or null. */
  loading: Loading | null;
} = { current: null, loading: null };

/** Number of modules of a process that are suspended at a top-level `await`. */
const waiting: WeakMap<CurrentProcess, number> = new WeakMap();

/** Returns true if this process is loading a module. */
export function isLoading(current: CurrentProcess): boolean {
  return ambient.loading !== null || (waiting.get(current) ?? 0) > 0;
}

/** Counts a module of the current process as being loaded until `ended` settles. */
export function loadsUntil(ended: Promise<unknown>): Promise<void> {
  const { current } = ambient;
  const count = (by: number): void => {
    if (current !== null) waiting.set(current, (waiting.get(current) ?? 0) + by);
  };
  count(1);
  const fail = (error: unknown): never => {
    count(-1);
    throw error;
  };
  return ended.then(() => count(-1), fail);
}

/**
 * Runs `action` outside any simulated process. Used for fencepost's own work, such as finding
 * modules.
 */
export function outsideProcess<T>(action: () => T): T {
  const { current } = ambient;
  ambient.current = null;
  try {
    return action();
  } finally {
    ambient.current = current;
  }
}

/** Called when code uses something that varies by process or run, such as a random value. */
export function noteImpure(): void {
  const { loading } = ambient;
  if (loading !== null) loading.isPure = false;
}

const immediate: typeof setImmediate = setImmediate;

export function inRealTurn(action: () => void): void {
  immediate(action);
}

/** Gives the event loop a turn, so that signals and timers of this thread are handled. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => inRealTurn(resolve));
}
