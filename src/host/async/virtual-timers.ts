/**
 * The timers of Node for simulated processes, as globals and as `node:timers`. An immediate comes a
 * microsecond later, so that a program which polls with it lets time pass.
 */
import { AsyncResource } from 'node:async_hooks';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { promisify } from 'node:util';
import { ambient } from './ambient.ts';
import type { Patches } from './patches.ts';
import { delayOf, type TimerSetting, VirtualTimer } from './virtual-timer.ts';

type AnyFunction = (...args: unknown[]) => unknown;

const SETTERS = [
  ['setTimeout', 'timeout'],
  ['setInterval', 'interval'],
  ['setImmediate', 'immediate'],
] as const;

const CLEARERS = ['clearTimeout', 'clearInterval', 'clearImmediate'] as const;

/** All that sets or clears a timer with a callback. */
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

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

function setterOf(kind: TimerSetting['kind'], real: object): AnyFunction {
  return function set(...given: unknown[]): unknown {
    const { current } = ambient;
    const [callback] = given;
    // What is no function is refused in Node's own words.
    if (current === null || !isFunction(callback)) {
      return isFunction(real) ? Reflect.apply(real, globalThis, given) : undefined;
    }
    const isImmediate = kind === 'immediate';
    const args = given.slice(isImmediate ? 1 : 2);
    const resource = new AsyncResource(isImmediate ? 'Immediate' : 'Timeout');
    const timer: VirtualTimer = current.setTimer({
      kind,
      delayMs: isImmediate ? 0 : delayOf(given[1]),
      callback: () => void resource.runInAsyncScope(callback, timer, ...args),
    });
    return timer;
  };
}

function clearerOf(real: object): (given: unknown) => void {
  return (given) => {
    const { current } = ambient;
    if (given instanceof VirtualTimer) given.close();
    else if (current !== null && (typeof given === 'number' || typeof given === 'string')) {
      current.timerOf(Number(given))?.close();
    } else if (isFunction(real)) Reflect.apply(real, globalThis, [given]);
  };
}
