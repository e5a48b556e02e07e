/**
 * Instances of modules in a realm: an ES module with its exported variables, and the `module`
 * object of a CommonJS module. The effects of loading a module are recorded, because a module
 * without effects may be reused.
 */
import { promiseHooks } from 'node:v8';
import { ambient, type Loading, loadsUntil, noteImpure } from '../async/ambient.ts';
import { defaultsNow } from '../async/virtual-process.ts';
import type { Getters, ModuleSteps, ModuleUnit, Setter, Unit } from './module-graph.ts';

// The original, which simulated processes may not call.
const { onInit } = promiseHooks;

/** An exported variable: its current value, and the importers to notify of a new value. */
export interface Binding {
  read(): unknown;
  watch(setter: Setter, by: ModuleUnit): void;
}

interface Watcher {
  readonly setter: Setter;
  readonly by: ModuleUnit;
}

/** The instance of an ES module in a realm. */
export class EsInstance {
  readonly unit: ModuleUnit;
  state: 'linked' | 'running' = 'linked';
  /** Settles when the module has run. Null if there is nothing to wait for. */
  waiting: Promise<void> | null = null;
  /** The module that must run before this one continues. */
  waitsFor: EsInstance | null = null;
  failure: { readonly error: unknown } | null = null;
  getters: Getters = {};
  setters: readonly Setter[] = [];
  resolveExports: (name: string) => Binding | null = () => null;
  names: () => readonly string[] = () => [];
  private readonly steps: ModuleSteps;
  private readonly watchers: Map<string, Watcher[]> = new Map();
  private made: object | null = null;

  constructor(
    unit: ModuleUnit,
    {
      load,
      resolve,
    }: {
      readonly load: (specifier: unknown) => Promise<object>;
      readonly resolve: (specifier: string) => string;
    },
  ) {
    this.unit = unit;
    const { url, file: filename, folder } = unit;
    const tools = {
      open: (getters: Getters, setters: readonly Setter[]): void => {
        this.getters = getters;
        this.setters = setters;
      },
      notify: (name: string): void => {
        for (const { setter } of this.watchers.get(name) ?? []) setter(this.getters[name]?.());
      },
      first: <T>(value: T): T => value,
      name: nameDefault,
      meta: { __proto__: null, url, filename, dirname: folder, resolve },
    };
    this.steps = unit.make()(tools, load, reserveSlots);
    void this.steps.next(); // runs up to its first line
  }

  run(loading: Loading): Promise<void> | null {
    const ended = during(loading, () => this.steps.next());
    return ended instanceof Promise ? loadsUntil(ended) : null;
  }

  keepWatchers(isThere: (unit: ModuleUnit) => boolean): void {
    for (const [name, watchers] of this.watchers) {
      this.watchers.set(
        name,
        watchers.filter(({ by }) => isThere(by)),
      );
    }
  }

  bindingOf(name: string): Binding | null {
    const read = Object.hasOwn(this.getters, name) ? this.getters[name] : undefined;
    if (read === undefined) return null;
    const watch = (setter: Setter, by: ModuleUnit): void => {
      this.watchers.set(name, [...(this.watchers.get(name) ?? []), { setter, by }]);
      setter(readable(read));
    };
    return { read, watch };
  }

  /** The result of `import * as all`. */
  get namespace(): object {
    this.made ??= liveNamespace(this.names(), (name) => this.resolveExports(name));
    return this.made;
  }
}

/** Returns undefined if a module in an import cycle has not defined the value yet. */
function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

function liveNamespace(
  names: readonly string[],
  bindingOf: (name: string) => Binding | null,
): object {
  const properties: [string, () => unknown][] = names.flatMap((name) => {
    const binding = bindingOf(name);
    return binding === null ? [] : [[name, () => binding.read()]];
  });
  return namespaceOf(Object.fromEntries(properties));
}

export function namespaceOf(getters: Getters): object {
  const namespace: object = Object.create(null);
  for (const [name, get] of Object.entries(getters)) {
    Object.defineProperty(namespace, name, { get, enumerable: true });
  }
  Object.defineProperty(namespace, Symbol.toStringTag, { value: 'Module' });
  return Object.preventExtensions(namespace);
}

/** Names an anonymous default export `default`. */
function nameDefault(value: unknown): unknown {
  if (typeof value === 'function' && /^\$f[p-v]_$/.test(value.name)) {
    Object.defineProperty(value, 'name', { value: 'default', configurable: true });
  }
  return value;
}

/** The `module` object of a CommonJS module. */
export class ScriptModule {
  exports: unknown = {};
  readonly id: string;
  readonly filename: string;
  readonly path: string;
  readonly require: (specifier: unknown) => unknown;
  readonly children: readonly unknown[] = [];
  readonly paths: readonly string[] = [];
  readonly parent: null = null;
  loaded = false;

  constructor({ file, folder }: Unit, require: (specifier: unknown) => unknown) {
    this.id = file;
    this.filename = file;
    this.path = folder;
    this.require = require;
  }
}

/** Runs the module's own code, attributing its random draws to the module. */
export function during<T>(loading: Loading, run: () => T): T {
  const before = ambient.loading;
  ambient.loading = loading;
  const defaults = defaultsNow();
  // A promise that the module creates belongs to this run only.
  const stop: unknown = loading.isPure && before === null ? onInit(noteImpure) : null;
  try {
    return run();
  } finally {
    if (typeof stop === 'function') stop();
    if (defaultsNow() !== defaults) noteImpure();
    ambient.loading = before;
  }
}

const PASSING: unique symbol = Symbol('passing');

/**
 * Adds and deletes a property, which makes V8 store a class's prototype as a hash table. Drivers
 * add a method to a prototype for each command of their server:
 *
 *     class Commander {
 *     };$fproom(Commander);
 *     for (const name of commands) Commander.prototype[name] = commandOf(name);
 *
 * By default, V8 copies the list of all properties when a property is added. Adding 574 methods
 * took 12 ms (Node 20.20 and 24), but 0.1 ms with a hash table. Every realm repeats this. Apart
 * from the time, only the source text of a function around the class changes. V8 restores the fast
 * form when methods are looked up.
 */
export function reserveSlots(made: unknown): void {
  const prototype: unknown = typeof made === 'function' ? made.prototype : null;
  if (typeof prototype !== 'object' || prototype === null) return;
  Reflect.defineProperty(prototype, PASSING, PASSES);
  Reflect.deleteProperty(prototype, PASSING);
}

/** Without a prototype, because modules may have added properties to `Object.prototype`. */
const PASSES: PropertyDescriptor = Object.assign(Object.create(null), { configurable: true });
