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
import { createRequire } from 'node:module';
import process from 'node:process';
import { ambient, type Inhabitant, noteImpure } from './ambient.ts';
import { guardedModule } from './escapes.ts';
import { LEAVING_MODULES } from './exits.ts';
import { sharedState } from './global-objects.ts';
import type { Patches } from './patches.ts';
import { isLoadedBuiltin } from './reachable.ts';

const hostRequire = createRequire(import.meta.url);

const known: Map<string, object> = new Map();

/** What simulated processes get for a builtin module, named without `node:`. */
export function builtinFor(name: string): object {
  const found = known.get(name);
  if (found !== undefined) return found;
  const load = (): object => hostRequire(`node:${name}`);
  const exports = isLoadedBuiltin(name) ? load() : sharedState.admit(name, load);
  const given = LEAVING_MODULES.has(name) ? guardedModule(name, exports) : exports;
  const viewed = isViewed(given) ? viewOf(given) : given;
  known.set(name, viewed);
  return viewed;
}

/** `process.getBuiltinModule` gives what an import does. */
export function patchBuiltins(patches: Patches): void {
  const real: unknown = Reflect.get(process, 'getBuiltinModule');
  if (typeof real !== 'function') return;
  patches.set(process, 'getBuiltinModule', (id: unknown) => {
    const exports: unknown = Reflect.apply(real, process, [id]);
    if (ambient.current === null || exports === undefined) return exports;
    return builtinFor(String(id).replace(/^node:/, ''));
  });
}

/** What one process has put there; null where it has deleted something. */
type Own = Map<PropertyKey, PropertyDescriptor | null>;

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
  const made = views.get(real);
  if (made !== undefined) return made;
  // It has no property, so that nothing binds what the view says of those of the object.
  const view = new Proxy(Object.create(Reflect.getPrototypeOf(real)), new View(real));
  views.set(real, view);
  behind.set(view, real);
  return view;
}

class View implements ProxyHandler<object> {
  private readonly real: object;
  private owns: WeakMap<Inhabitant, Own> | null = null;

  constructor(real: object) {
    this.real = real;
  }

  private read(key: PropertyKey): PropertyDescriptor | null | undefined {
    if (this.owns === null || ambient.current === null) return undefined;
    const own = this.owns.get(ambient.current);
    if (own !== undefined) noteImpure();
    return own?.get(key);
  }

  private write(current: Inhabitant, key: PropertyKey, property: PropertyDescriptor | null): void {
    noteImpure();
    this.owns ??= new WeakMap();
    const own: Own = this.owns.get(current) ?? new Map();
    this.owns.set(current, own.set(key, property));
  }

  get(target: object, key: PropertyKey, self: unknown): unknown {
    const own = this.read(key);
    if (own === null) return Reflect.get(target, key, self);
    if (own !== undefined) return own.get ? Reflect.apply(own.get, self, []) : own.value;
    const value: unknown = Reflect.get(this.real, key);
    return isViewed(value) ? viewOf(value) : value;
  }

  set(_: object, key: PropertyKey, value: unknown, self: unknown): boolean {
    const { current } = ambient;
    if (self !== views.get(this.real)) return Reflect.set({}, key, value, self);
    if (current === null) return Reflect.set(this.real, key, value);
    const before = this.descriptorOf(key);
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

  has(target: object, key: PropertyKey): boolean {
    const own = this.read(key);
    if (own === undefined) return Reflect.has(this.real, key);
    return own !== null || Reflect.has(target, key);
  }

  deleteProperty(_: object, key: PropertyKey): boolean {
    const { current } = ambient;
    if (current === null) return Reflect.deleteProperty(this.real, key);
    if (this.descriptorOf(key) !== undefined) this.write(current, key, null);
    return true;
  }

  defineProperty(_: object, key: PropertyKey, property: PropertyDescriptor): boolean {
    const { current } = ambient;
    if (current === null) return Reflect.defineProperty(this.real, key, property);
    this.write(current, key, { ...this.descriptorOf(key), ...property });
    return true;
  }

  ownKeys(): (string | symbol)[] {
    return [...new Set([...Reflect.ownKeys(this.real), ...this.ownNames()])].filter(
      (key) => this.read(key) !== null,
    );
  }

  private ownNames(): readonly (string | symbol)[] {
    const own = ambient.current === null ? undefined : this.owns?.get(ambient.current);
    return [...(own?.keys() ?? [])].filter((key) => typeof key !== 'number');
  }

  getOwnPropertyDescriptor(_: object, key: PropertyKey): PropertyDescriptor | undefined {
    return this.descriptorOf(key);
  }

  private descriptorOf(key: PropertyKey): PropertyDescriptor | undefined {
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
