/**
 * Gives simulated processes a view of each builtin module. A change to a view, such as the
 * replacement of `fs.close` by `graceful-fs`, affects only the current incarnation. All other
 * properties are read from the module, which holds the virtual functions. Plain objects and HTTP
 * agents in a module have views too. Functions and classes are shared, and `GlobalObjects` finds
 * changes to them.
 *
 * One view object serves all processes and looks up the current process on each access. Every
 * import of a builtin module therefore returns the same view.
 */
import http from 'node:http';
import nodeModule, { createRequire, isBuiltin } from 'node:module';
import process from 'node:process';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient, type CurrentProcess, noteImpure, outsideProcess } from './ambient.ts';
import { LEAVING_MODULES } from './exits.ts';
import { guardedModule } from './forbidden-apis.ts';
import { sharedState } from './global-objects.ts';
import { isFunction, type Patches } from './patches.ts';
import { isLoadedBuiltin } from './reachable.ts';

const hostRequire = createRequire(import.meta.url);

const known: Map<string, object> = new Map();

/** Returns the view of a builtin module; `name` has no `node:` prefix. */
export function builtinFor(name: string): object {
  return entryOf(known, name, () => {
    // Outside any process, because `_load` would call this function again.
    const load = (): object => outsideProcess(() => hostRequire(`node:${name}`));
    const exports = isLoadedBuiltin(name) ? load() : sharedState.addIfNew(name, load);
    const exposed = LEAVING_MODULES.has(name) ? guardedModule(name, exports) : exports;
    return isViewed(exposed) ? viewOf(exposed) : exposed;
  });
}

/** Makes `process.getBuiltinModule` and `Module._load` return the same views as an import. */
export function patchBuiltins(patches: Patches): void {
  for (const [owner, key] of [
    [process, 'getBuiltinModule'] as const,
    [nodeModule, '_load'] as const,
  ]) {
    const real: unknown = Reflect.get(owner, key);
    if (!isFunction(real)) continue;
    patches.set(owner, key, function loaded(this: unknown, ...args: unknown[]): unknown {
      const id = String(args[0]);
      if (ambient.current === null || !isBuiltin(id)) return Reflect.apply(real, this, args);
      return builtinFor(id.replace(/^node:/, ''));
    });
  }
}

/** Properties that one process has set; null marks a deleted property. */
type ViewValues = Map<string | symbol, PropertyDescriptor | null>;

const views: WeakMap<object, object> = new WeakMap();
const behind: WeakMap<object, object> = new WeakMap();

/** Returns the object behind a view, or undefined if `object` is not a view. */
export function behindView(object: object): object | undefined {
  return behind.get(object);
}

function isViewed(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Reflect.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || value instanceof http.Agent;
}

/** Returns the view of an object. */
export function viewOf(real: object): object {
  return entryOf(views, real, () => {
    // An empty target imposes no proxy invariants on the properties of the view.
    const view = new Proxy(Object.create(Reflect.getPrototypeOf(real)), new View(real));
    behind.set(view, real);
    return view;
  });
}

class View implements ProxyHandler<object> {
  private readonly real: object;
  private owns: WeakMap<CurrentProcess, ViewValues> | null = null;

  constructor(real: object) {
    this.real = real;
  }

  private get values(): ViewValues | undefined {
    if (this.owns === null || ambient.current === null) return undefined;
    const values = this.owns.get(ambient.current);
    if (values !== undefined) noteImpure();
    return values;
  }

  private read(key: string | symbol): PropertyDescriptor | null | undefined {
    return this.values?.get(key);
  }

  private write(
    current: CurrentProcess,
    key: string | symbol,
    property: PropertyDescriptor | null,
  ): void {
    noteImpure();
    this.owns ??= new WeakMap();
    entryOf(this.owns, current, () => new Map()).set(key, property);
  }

  get(target: object, key: string | symbol, self: unknown): unknown {
    const descriptor = this.read(key);
    if (descriptor === null) return Reflect.get(target, key, self);
    if (descriptor !== undefined)
      return descriptor.get ? Reflect.apply(descriptor.get, self, []) : descriptor.value;
    const value: unknown = Reflect.get(this.real, key);
    return isViewed(value) ? viewOf(value) : value;
  }

  set(_: object, key: string | symbol, value: unknown, self: unknown): boolean {
    const { current } = ambient;
    if (self !== views.get(this.real)) return Reflect.set({}, key, value, self);
    if (current === null) return Reflect.set(this.real, key, value);
    const before = this.getOwnPropertyDescriptor(_, key);
    const setter = this.read(key)?.set;
    if (setter !== undefined) {
      Reflect.apply(setter, self, [value]);
      return true;
    }
    if (before !== undefined && before.writable !== true && before.set === undefined) return false;
    const enumerable = before?.enumerable ?? true;
    this.write(current, key, { value, writable: true, enumerable, configurable: true });
    return true;
  }

  has(target: object, key: string | symbol): boolean {
    const descriptor = this.read(key);
    if (descriptor === undefined) return Reflect.has(this.real, key);
    return descriptor !== null || Reflect.has(target, key);
  }

  deleteProperty(_: object, key: string | symbol): boolean {
    const { current } = ambient;
    if (current === null) return Reflect.deleteProperty(this.real, key);
    if (this.getOwnPropertyDescriptor(_, key) !== undefined) this.write(current, key, null);
    return true;
  }

  defineProperty(_: object, key: string | symbol, property: PropertyDescriptor): boolean {
    const { current } = ambient;
    if (current === null) return Reflect.defineProperty(this.real, key, property);
    this.write(current, key, { ...this.getOwnPropertyDescriptor(_, key), ...property });
    return true;
  }

  ownKeys(): (string | symbol)[] {
    const keys = new Set(Reflect.ownKeys(this.real));
    for (const [key, property] of this.values ?? []) {
      if (property === null) keys.delete(key);
      else keys.add(key);
    }
    return [...keys];
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    const descriptor = this.read(key);
    if (descriptor !== undefined)
      return descriptor === null ? undefined : { ...descriptor, configurable: true };
    const found = Reflect.getOwnPropertyDescriptor(this.real, key);
    if (found === undefined) return undefined;
    const value = isViewed(found.value) ? { value: viewOf(found.value) } : {};
    return { ...found, ...value, configurable: true };
  }

  preventExtensions(): boolean {
    return false;
  }

  setPrototypeOf(): boolean {
    return false;
  }
}
