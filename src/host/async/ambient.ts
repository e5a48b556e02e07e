/**
 * Says which simulated process real code runs for at this moment: a plain variable, set while an
 * event's jobs run, since these run to their end before the next event and belong to one process.
 */
import { setImmediate } from 'node:timers';
import type { Unsimulated } from '../../core/history/trace.ts';
import type { Uplink } from '../network/hosts.ts';
import type { CallSite } from './call-site.ts';
import type { Randomness } from './randomness.ts';
import type { TimerSetting, VirtualTimer } from './timers.ts';

/** What a simulated process is to the globals that its code calls. */
export interface Inhabitant {
  readonly name: string;
  /** Another for each life of each process. */
  readonly pid: number;
  /** By its own wall clock, in milliseconds since 1970. */
  dateMs(): number;
  /** By its own monotonic clock, in microseconds since its machine started. */
  monotonicUs(): number;
  setTimer(setting: TimerSetting): VirtualTimer;
  /** The timer that `Number(timer)` stands for. */
  timerOf(id: number): VirtualTimer | undefined;
  /** Its streams; while a module is loaded, those of that module. */
  readonly randomness: Randomness;
  /** Null where it connects to nothing. */
  readonly network: Uplink | null;
  /** Whether it may call this, `net.connect` say, which is virtual. */
  mayCall(call: string): boolean;
  /** Whether it may read files at this moment, as modules do while they are loaded. */
  readonly mayRead: boolean;
  /** Keeps what its code prints; `stream` is 1 or 2. */
  print(text: string, stream: unknown): void;
  /** One more job runs of what it does in one event; throws where that has no end. */
  countJob(): void;
  /** It asked for something that is not simulated. */
  noteUnsimulated(asked: Pick<Unsimulated, 'kind' | 'what'>, site: CallSite): void;
  /** Its code went wrong, and nobody caught that: the run fails. The first one counts. */
  fail(error: unknown, why?: string): void;
}

/** A module while its code runs for the first time. */
export interface Loading {
  readonly name: string;
  /** Whether it drew, read and began nothing so far that is another in each process and run. */
  isPure: boolean;
  /** Whether it drew a random value. */
  hasDrawn: boolean;
}

/** Null while no simulated process runs: every global is then what it always was. */
export const ambient: {
  current: Inhabitant | null;
  /** The module that is being loaded; null while none is. */
  loading: Loading | null;
} = { current: null, loading: null };

/** How many modules of a process wait for something as they are loaded. */
const waiting: WeakMap<Inhabitant, number> = new WeakMap();

/** Whether a module of this process is being loaded. */
export function isLoading(current: Inhabitant): boolean {
  return ambient.loading !== null || (waiting.get(current) ?? 0) > 0;
}

/** Counts a module of the current process as being loaded until this has ended. */
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

/** What fencepost does for a simulated process, such as to find a module, is no deed of its own. */
export function asNobody<T>(action: () => T): T {
  const { current } = ambient;
  ambient.current = null;
  try {
    return action();
  } finally {
    ambient.current = current;
  }
}

/** Called where code draws, reads or begins what is another in each process and run. */
export function noteImpure(): void {
  const { loading } = ambient;
  if (loading !== null) loading.isPure = false;
}

const immediate: typeof setImmediate = setImmediate;

/** Calls `action` in a turn of the real event loop. */
export function inRealTurn(action: () => void): void {
  immediate(action);
}

/** Lets all else that waits in this thread have its turn, such as signals and timers. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => inRealTurn(resolve));
}
