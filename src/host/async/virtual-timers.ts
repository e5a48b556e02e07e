/**
 * Node's timers for simulated processes: the globals, `node:timers`, `node:timers/promises` and the
 * timers of `AbortSignal`. An immediate fires a microsecond later, so that time passes for a
 * program that polls with immediates.
 */
import process from 'node:process';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { promisify } from 'node:util';
import { ambient, type CurrentProcess, noteImpure } from './ambient.ts';
import { type AnyFunction, isFunction, type Patches } from './patches.ts';
import { delayOf, type TimerSetting, VirtualTimer } from './timers.ts';

const SETTERS = [
  ['setTimeout', 'timeout'],
  ['setInterval', 'interval'],
  ['setImmediate', 'immediate'],
] as const;

const CLEARERS = ['clearTimeout', 'clearInterval', 'clearImmediate'] as const;

export function patchTimers(patches: Patches): void {
  for (const [name, kind] of SETTERS) {
    const setter = setterOf(kind, timers[name]);
    const { setTimeout: wait, setImmediate: pass } = timersPromises;
    const custom = kind === 'immediate' ? pass : wait;
    if (kind !== 'interval') Reflect.set(setter, promisify.custom, custom);
    patches.set(globalThis, name, setter);
    patches.set(timers, name, setter);
  }
  for (const name of CLEARERS) {
    const clear = clearerOf(timers[name]);
    patches.set(globalThis, name, clear);
    patches.set(timers, name, clear);
  }
}

function setterOf(kind: TimerSetting['kind'], real: object): AnyFunction {
  return function set(...allArgs: unknown[]): unknown {
    const { current } = ambient;
    const [callback] = allArgs;
    // Node's own function rejects a callback that is not a function.
    if (current === null || !isFunction(callback)) {
      return isFunction(real) ? Reflect.apply(real, globalThis, allArgs) : undefined;
    }
    const isImmediate = kind === 'immediate';
    const args = allArgs.slice(isImmediate ? 1 : 2);
    const timer: VirtualTimer = current.setTimer({
      kind,
      delayMs: isImmediate ? 0 : delayOf(allArgs[1]),
      callback: () => void Reflect.apply(callback, timer, args),
    });
    return timer;
  };
}

function clearerOf(real: object): (handle: unknown) => void {
  return (handle) => {
    const { current } = ambient;
    if (handle instanceof VirtualTimer) handle.close();
    else if (current !== null && (typeof handle === 'number' || typeof handle === 'string')) {
      current.timerOf(Number(handle))?.close();
    } else if (isFunction(real)) Reflect.apply(real, globalThis, [handle]);
  };
}

class AbortError extends Error {
  override readonly name: string = 'AbortError';
  readonly code: string = 'ABORT_ERR';

  constructor(signal: AbortSignal) {
    super('The operation was aborted', { cause: signal.reason });
  }
}

interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

type TimerRequest = Pick<TimerSetting, 'kind' | 'delayMs'>;

/** Patches all timers that take no callback. */
export function patchWaits(patches: Patches): void {
  const { setTimeout, setImmediate, setInterval, scheduler } = timersPromises;
  const realTimeout = AbortSignal.timeout.bind(AbortSignal);
  const wait = (delay?: number, value?: unknown, options?: WaitOptions): Promise<unknown> => {
    const { current } = ambient;
    if (current === null) return setTimeout(delay, value, options);
    return waitFor(current, { kind: 'timeout', delayMs: delayOf(delay) }, { value, options });
  };
  const pass = (value?: unknown, options?: WaitOptions): Promise<unknown> => {
    const { current } = ambient;
    if (current === null) return setImmediate(value, options);
    return waitFor(current, { kind: 'immediate', delayMs: 0 }, { value, options });
  };
  const repeat = (
    delay?: number,
    value?: unknown,
    options?: WaitOptions,
  ): AsyncIterable<unknown> =>
    ambient.current === null
      ? setInterval(delay, value, options)
      : repeated(ambient.current, delayOf(delay), { value, options });
  patches.set(timersPromises, 'setTimeout', wait);
  patches.set(timersPromises, 'setImmediate', pass);
  patches.set(timersPromises, 'setInterval', repeat);
  const schedulers = Reflect.getPrototypeOf(scheduler) ?? scheduler;
  patches.set(schedulers, 'wait', (delay: number, options?: WaitOptions) =>
    wait(delay, undefined, options),
  );
  patches.set(schedulers, 'yield', () => pass());
  patchTicks(patches);
  patches.set(AbortSignal, 'timeout', (delay: number) =>
    ambient.current === null ? realTimeout(delay) : signalAfter(ambient.current, delay),
  );
}

/** Counts ticks and microtasks as jobs, like those of promises, to detect endless chains. */
function patchTicks(patches: Patches): void {
  const { nextTick } = process;
  const { queueMicrotask } = globalThis;
  patches.set(process, 'nextTick', (callback: () => void, ...args: unknown[]) => {
    noteImpure();
    ambient.current?.countJob();
    nextTick(callback, ...args);
  });
  patches.set(globalThis, 'queueMicrotask', (callback: () => void) => {
    noteImpure();
    ambient.current?.countJob();
    queueMicrotask(callback);
  });
}

/** `value` may be undefined. */
interface Settling {
  readonly value: unknown;
  readonly options: WaitOptions | undefined;
}

function waitFor(
  currentProcess: CurrentProcess,
  request: TimerRequest,
  { value, options }: Settling,
): Promise<unknown> {
  const signal = options?.signal;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(new AbortError(signal));
      return;
    }
    const stop = (): void => {
      timer.close();
      if (signal !== undefined) reject(new AbortError(signal));
    };
    const callback = (): void => {
      signal?.removeEventListener('abort', stop);
      resolve(value);
    };
    const timer = currentProcess.setTimer({ ...request, callback });
    if (options?.ref === false) timer.unref();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Pending ticks are delivered at once, as in Node. */
async function* repeated(
  currentProcess: CurrentProcess,
  delayMs: number,
  { value, options }: Settling,
): AsyncGenerator<unknown, void, void> {
  const signal = options?.signal;
  let ticks = 0;
  let wake = (): void => {};
  const callback = (): void => {
    ticks += 1;
    wake();
  };
  throwIfAborted(signal);
  const timer = currentProcess.setTimer({ kind: 'interval', delayMs, callback });
  if (options?.ref === false) timer.unref();
  const stop = (): void => wake();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      throwIfAborted(signal);
      if (ticks === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        ticks -= 1;
        yield value;
      }
    }
  } finally {
    timer.close();
    signal?.removeEventListener('abort', stop);
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AbortError(signal);
}

function signalAfter(currentProcess: CurrentProcess, delay: number): AbortSignal {
  const controller = new AbortController();
  const message = 'The operation was aborted due to timeout';
  const callback = (): void => controller.abort(new DOMException(message, 'TimeoutError'));
  currentProcess.setTimer({ kind: 'timeout', delayMs: delayOf(delay), callback }).unref();
  return controller.signal;
}
