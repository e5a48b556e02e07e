/**
 * What code of simulated processes gets for a builtin module: a view of its exports, in which each
 * start of a process has what it sets, defines or deletes there, `fs.cache = {}` or a function in
 * place of `fs.close` as `graceful-fs` and `shimmer` put, to itself. What no process has replaced
 * is read from the module, where virtual functions are. The objects in it are seen in the same way,
 * as far as they are plain or agents of HTTP; its functions and classes are those of all, and
 * changes of these are found by `GlobalObjects`.
 *
 * A view is one object for all processes and asks whose code runs, so all ways to import a module
 * agree, in a module that is used again too.
 */
import http from 'node:http';
import nodeModule, { createRequire, isBuiltin } from 'node:module';
import process from 'node:process';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient, asNobody, type Inhabitant, noteImpure } from './ambient.ts';
import { guardedModule } from './escapes.ts';
import { LEAVING_MODULES } from './exits.ts';
import { sharedState } from './global-objects.ts';
import { isFunction, type Patches } from './patches.ts';
import { isLoadedBuiltin } from './reachable.ts';

const hostRequire = createRequire(import.meta.url);

const known: Map<string, object> = new Map();

/** What simulated processes get for a builtin module, named without `node:`. */
export function builtinFor(name: string): object {
  return entryOf(known, name, () => {
    // As no process, for which `_load` would ask here again.
    const load = (): object => asNobody(() => hostRequire(`node:${name}`));
    const exports = isLoadedBuiltin(name) ? load() : sharedState.admit(name, load);
    const given = LEAVING_MODULES.has(name) ? guardedModule(name, exports) : exports;
    return isViewed(given) ? viewOf(given) : given;
  });
}

/** What gives builtin modules without asking a realm gives what an import does. */
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

/** What one process has put there; null where it has deleted something. */
type Own = Map<string | symbol, PropertyDescriptor | null>;

const views: WeakMap<object, object> = new WeakMap();
const behind: WeakMap<object, object> = new WeakMap();

/** The object that a view shows; undefined for what is no view. */
export function behindView(object: object): object | undefined {
  return behind.get(object);
}

function isViewed(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Reflect.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || value instanceof http.Agent;
}

/** An object as each process has it. */
export function viewOf(real: object): object {
  return entryOf(views, real, () => {
    // It has no property, so that nothing binds what the view says of those of the object.
    const view = new Proxy(Object.create(Reflect.getPrototypeOf(real)), new View(real));
    behind.set(view, real);
    return view;
  });
}

class View implements ProxyHandler<object> {
  private readonly real: object;
  private owns: WeakMap<Inhabitant, Own> | null = null;

  constructor(real: object) {
    this.real = real;
  }

  private get own(): Own | undefined {
    if (this.owns === null || ambient.current === null) return undefined;
    const own = this.owns.get(ambient.current);
    if (own !== undefined) noteImpure();
    return own;
  }

  private read(key: string | symbol): PropertyDescriptor | null | undefined {
    return this.own?.get(key);
  }

  private write(
    current: Inhabitant,
    key: string | symbol,
    property: PropertyDescriptor | null,
  ): void {
    noteImpure();
    this.owns ??= new WeakMap();
    entryOf(this.owns, current, () => new Map()).set(key, property);
  }

  get(target: object, key: string | symbol, self: unknown): unknown {
    const own = this.read(key);
    if (own === null) return Reflect.get(target, key, self);
    if (own !== undefined) return own.get ? Reflect.apply(own.get, self, []) : own.value;
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
    const own = this.read(key);
    if (own === undefined) return Reflect.has(this.real, key);
    return own !== null || Reflect.has(target, key);
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
    for (const [key, property] of this.own ?? []) {
      if (property === null) keys.delete(key);
      else keys.add(key);
    }
    return [...keys];
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    const own = this.read(key);
    if (own !== undefined) return own === null ? undefined : { ...own, configurable: true };
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
