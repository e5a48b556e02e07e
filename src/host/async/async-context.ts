/**
 * Asynchronous contexts: what an `AsyncLocalStorage` holds, and the numbers and hooks of
 * `node:async_hooks`. Each event of a simulated process begins in a context of its own, and what it
 * enters ends with it, so that nothing reaches another process, another run or the host.
 *
 * Node numbers promises only while a hook or, before version 24, a storage is in use; what goes on
 * from one that has no number shares the context of the thread. So a thread whose code asks for
 * `node:async_hooks` numbers all of them, from before its first run on: then the first run is as
 * every later one, on every version of Node.
 */
import asyncHooks from 'node:async_hooks';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient, type Inhabitant, noteImpure } from './ambient.ts';
import { type AnyFunction, isFunction, type Patches } from './patches.ts';

// As they were before they were virtual, which an import of them would follow.
const { AsyncLocalStorage, AsyncResource, createHook } = asyncHooks;

/** Runs code in a context; what the code enters there ends with it. */
export type InContext = <T>(code: () => T) => T;

/** Keeps the present context for later, as a resource of this type does. */
export function contextNow(type: string): InContext {
  const here = new AsyncResource(type);
  return (code) => here.runInAsyncScope(() => new AsyncResource('EVENT').runInAsyncScope(code));
}

/** The context of the thread. */
export const inThread: InContext = contextNow('THREAD');

let isTracked = false;

/** Whether promises of this thread have numbers; a run in which that begins is to be repeated. */
export function areTracked(): boolean {
  return isTracked;
}

export function trackContexts(): void {
  if (isTracked) return;
  isTracked = true;
  createHook({ init: () => {} }).enable();
}

/** Ends the run of a process that is the first to look at a context, before it has. */
function requireTracked(current: Inhabitant): void {
  if (isTracked) return;
  trackContexts();
  const error = new Error('it uses node:async_hooks');
  current.fail(error);
  throw error;
}

/** What one process has of `node:async_hooks`. */
interface Contexts {
  /** Its hooks, and storages that it made: each would cost later runs time. */
  readonly inUse: Set<{ disable(): unknown }>;
  /** Its own number of each resource that it asked for, by Node's number. */
  readonly numbers: Map<number, number>;
}

const contexts: WeakMap<Inhabitant, Contexts> = new WeakMap();

function contextsOf(current: Inhabitant): Contexts {
  return entryOf(contexts, current, () => ({ inUse: new Set(), numbers: new Map([[0, 0]]) }));
}

/** The process is over: nothing that it made listens or stores any longer. */
export function endContexts(current: Inhabitant): void {
  for (const one of contexts.get(current)?.inUse ?? []) one.disable();
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

/** Returns the number that a process knows a resource by: they count from 1 as it asks for them. */
function numberFor(current: Inhabitant, real: number): number {
  noteImpure();
  const { numbers } = contextsOf(current);
  return entryOf(numbers, real, () => numbers.size);
}

/** A resource may be given the number of another one, which is that of its process. */
function patchResources(patches: Patches): void {
  const realOf = (given: unknown): unknown => {
    const numbers = ambient.current === null ? [] : contextsOf(ambient.current).numbers;
    return [...numbers].find(([, own]) => own === given)?.[0] ?? given;
  };
  const VirtualResource = new Proxy(AsyncResource, {
    construct(target, [type, options], newTarget): object {
      const given =
        typeof options === 'object' && options !== null && 'triggerAsyncId' in options
          ? { ...options, triggerAsyncId: realOf(options.triggerAsyncId) }
          : realOf(options);
      return Reflect.construct(target, [type, given], newTarget);
    },
  });
  patches.set(asyncHooks, 'AsyncResource', VirtualResource);
  patches.set(AsyncResource.prototype, 'constructor', VirtualResource);
}

const HEARD = ['init', 'before', 'after', 'promiseResolve'];

/**
 * A hook hears of what its own process does. It never hears that a resource was destroyed, since
 * the collector of garbage decides when that is.
 */
function patchHooks(patches: Patches): void {
  patches.set(asyncHooks, 'createHook', (given: object) => {
    const { current } = ambient;
    const hook = Reflect.apply(createHook, asyncHooks, [given]);
    if (current === null) return hook;
    requireTracked(current);
    noteImpure();
    const own = HEARD.map((key) => [key, listenerFor(current, Reflect.get(given, key))]);
    const filtered = createHook({ ...given, ...Object.fromEntries(own), destroy: undefined });
    contextsOf(current).inUse.add(filtered);
    return filtered;
  });
}

function listenerFor(owner: Inhabitant, listener: unknown): AnyFunction | undefined {
  if (!isFunction(listener)) return undefined;
  return function heard(this: unknown, ...args: unknown[]): void {
    if (ambient.current !== owner) return;
    const given = args.map((one) => (typeof one === 'number' ? numberFor(owner, one) : one));
    try {
      Reflect.apply(listener, this, given);
    } catch (error) {
      owner.fail(error); // Node would end the thread
    }
  };
}

const ofHost = new WeakSet<object>();

/** Makes a storage that no process looks at. */
export function storageOfHost<T>(): asyncHooks.AsyncLocalStorage<T> {
  const storage = new AsyncLocalStorage<T>();
  ofHost.add(storage);
  return storage;
}

/** Before version 24 a storage that is in use is asked for each promise that is made. */
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
