/**
 * Virtualizes asynchronous contexts: the values of `AsyncLocalStorage`, and the ids and hooks of
 * `node:async_hooks`. Each event of a simulated process begins in a new context. A context entered
 * during an event ends with the event, so that nothing leaks into another process, another run or
 * the host.
 *
 * Node assigns ids to promises only while a hook is enabled or, before version 24, a storage is in
 * use. A continuation of a promise without an id runs in the context of the thread. A thread whose
 * code uses `node:async_hooks` therefore tracks all promises from the start, so that all runs are
 * equal on every version of Node.
 */
import asyncHooks from 'node:async_hooks';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient, type CurrentProcess, noteImpure } from './ambient.ts';
import { type AnyFunction, isFunction, type Patches } from './patches.ts';

// The originals; named imports would follow the patched exports.
const { AsyncLocalStorage, AsyncResource, createHook } = asyncHooks;

/** Runs code in a saved context. Contexts that the code enters end with it. */
export type InContext = <T>(code: () => T) => T;

/** Saves the current context, as a resource of this type would. */
export function contextNow(type: string): InContext {
  const here = new AsyncResource(type);
  return (code) => here.runInAsyncScope(() => new AsyncResource('EVENT').runInAsyncScope(code));
}

/** The context of the thread. */
export const inThread: InContext = contextNow('THREAD');

let isTracked = false;

/** Returns true if promises of this thread have ids. A run that starts tracking is repeated. */
export function areTracked(): boolean {
  return isTracked;
}

export function trackContexts(): void {
  if (isTracked) return;
  isTracked = true;
  createHook({ init: () => {} }).enable();
}

/**
 * Ends the run if promises are not tracked yet, so that the process never sees untracked ids. The
 * run is then repeated.
 */
function requireTracked(current: CurrentProcess): void {
  if (isTracked) return;
  trackContexts();
  const error = new Error('it uses node:async_hooks');
  current.fail(error);
  throw error;
}

/** The state of one process in `node:async_hooks`. */
interface Contexts {
  /** Hooks and storages that the process created; left enabled, they would slow down later runs. */
  readonly inUse: Set<{ disable(): unknown }>;
  /** The resource ids that the process sees, by Node's ids. */
  readonly numbers: Map<number, number>;
}

const contexts: WeakMap<CurrentProcess, Contexts> = new WeakMap();

function contextsOf(current: CurrentProcess): Contexts {
  return entryOf(contexts, current, () => ({ inUse: new Set(), numbers: new Map([[0, 0]]) }));
}

/** Disables the hooks and storages of a process that has ended. */
export function endContexts(current: CurrentProcess): void {
  for (const context of contexts.get(current)?.inUse ?? []) context.disable();
  contexts.delete(current);
}

export function patchContexts(patches: Patches): void {
  const looks: readonly (readonly [object, string])[] = [
    [asyncHooks, 'executionAsyncId'],
    [asyncHooks, 'triggerAsyncId'],
    [asyncHooks, 'executionAsyncResource'],
    [AsyncResource.prototype, 'asyncId'],
    [AsyncResource.prototype, 'triggerAsyncId'],
  ];
  for (const [target, key] of looks) {
    const real: AnyFunction = Reflect.get(target, key);
    patches.set(target, key, function looked(this: unknown): unknown {
      const { current } = ambient;
      if (current !== null) requireTracked(current);
      const found = Reflect.apply(real, this, []);
      return current === null || typeof found !== 'number' ? found : numberFor(current, found);
    });
  }
  patchResources(patches);
  patchHooks(patches);
  patchStorages(patches);
}

/** Returns the id that a process sees for a resource. Ids count from 1 in order of first use. */
function numberFor(current: CurrentProcess, real: number): number {
  noteImpure();
  const { numbers } = contextsOf(current);
  return entryOf(numbers, real, () => numbers.size);
}

/** Translates trigger ids to Node's ids, because code may pass the virtual id of a resource. */
function patchResources(patches: Patches): void {
  const realOf = (id: unknown): unknown => {
    const numbers = ambient.current === null ? [] : contextsOf(ambient.current).numbers;
    return [...numbers].find(([, registered]) => registered === id)?.[0] ?? id;
  };
  const VirtualResource = new Proxy(AsyncResource, {
    construct(target, [type, options], newTarget): object {
      const realOptions =
        typeof options === 'object' && options !== null && 'triggerAsyncId' in options
          ? { ...options, triggerAsyncId: realOf(options.triggerAsyncId) }
          : realOf(options);
      return Reflect.construct(target, [type, realOptions], newTarget);
    },
  });
  patches.set(asyncHooks, 'AsyncResource', VirtualResource);
  patches.set(AsyncResource.prototype, 'constructor', VirtualResource);
}

const HEARD = ['init', 'before', 'after', 'promiseResolve'];

/**
 * A hook observes only its own process, and never the destruction of a resource, which depends on
 * garbage collection.
 */
function patchHooks(patches: Patches): void {
  patches.set(asyncHooks, 'createHook', (hooks: object) => {
    const { current } = ambient;
    const hook = Reflect.apply(createHook, asyncHooks, [hooks]);
    if (current === null) return hook;
    requireTracked(current);
    noteImpure();
    const listeners = HEARD.map((key) => [key, listenerFor(current, Reflect.get(hooks, key))]);
    const filtered = createHook({ ...hooks, ...Object.fromEntries(listeners), destroy: undefined });
    contextsOf(current).inUse.add(filtered);
    return filtered;
  });
}

function listenerFor(owner: CurrentProcess, listener: unknown): AnyFunction | undefined {
  if (!isFunction(listener)) return undefined;
  return function heard(this: unknown, ...args: unknown[]): void {
    if (ambient.current !== owner) return;
    const mapped = args.map((item) => (typeof item === 'number' ? numberFor(owner, item) : item));
    try {
      Reflect.apply(listener, this, mapped);
    } catch (error) {
      owner.fail(error); // Node would end the thread
    }
  };
}

const ofHost = new WeakSet<object>();

/** Returns a storage for the host itself. Its use does not count as use by a process. */
export function storageOfHost<T>(): asyncHooks.AsyncLocalStorage<T> {
  const storage = new AsyncLocalStorage<T>();
  ofHost.add(storage);
  return storage;
}

/**
 * Records the storages of a process, so that they can be disabled at its end. Before Node 24, each
 * new promise queries every enabled storage.
 */
function patchStorages(patches: Patches): void {
  const enable: unknown = Reflect.get(AsyncLocalStorage.prototype, '_enable');
  if (!isFunction(enable)) return;
  const made = new WeakSet<object>();
  patches.set(
    AsyncLocalStorage.prototype,
    '_enable',
    function enabled(this: asyncHooks.AsyncLocalStorage<unknown>): void {
      const { current } = ambient;
      if (current !== null && !ofHost.has(this)) {
        requireTracked(current);
        if (made.has(this)) contextsOf(current).inUse.add(this);
      }
      Reflect.apply(enable, this, []);
    },
  );
  const VirtualStorage = new Proxy(AsyncLocalStorage, {
    construct(target, args, newTarget): object {
      const storage = Reflect.construct(target, args, newTarget);
      if (ambient.current !== null) made.add(storage);
      return storage;
    },
  });
  patches.set(asyncHooks, 'AsyncLocalStorage', VirtualStorage);
  patches.set(AsyncLocalStorage.prototype, 'constructor', VirtualStorage);
}
