/**
 * A realm: own instances of a user's modules, as a process has them that has just been started. ES
 * modules and CommonJS import each other as in Node; `import()`, `createRequire` and `import.meta`
 * stay inside. Begin with `Realm`; `module-graph.ts` has what is compiled once for all realms,
 * `rewrite-module.ts` how an ES module becomes a function, `own-instances.ts` who uses them.
 */
import nodeModule from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ambient } from '../async/ambient.ts';
import {
  type Getters,
  type ImportTarget,
  type JsonUnit,
  type ModuleGraph,
  type ModuleSteps,
  type ModuleUnit,
  noExport,
  type ScriptUnit,
  type Setter,
  type Unit,
} from './module-graph.ts';
import type { Import } from './rewrite-module.ts';

/** An exported variable: the value that it has now, and whoever wants to be told of another. */
interface Binding {
  read(): unknown;
  watch(setter: Setter): void;
}

export class Realm {
  private readonly graph: ModuleGraph;
  private readonly modules: Map<ModuleUnit, EsInstance> = new Map();
  private readonly scripts: Map<Unit, ScriptModule> = new Map();
  private readonly views: Map<ImportTarget, object> = new Map();

  constructor(graph: ModuleGraph) {
    this.graph = graph;
  }

  /**
   * What a module of the graph exports, its first if none is named; a promise only where some
   * module awaits something.
   */
  load(url: string = this.graph.rootUrl): object | Promise<object> {
    return this.importTarget(this.graph.unitAt(url));
  }

  private importTarget(target: ImportTarget): object | Promise<object> {
    if (target.kind !== 'module') return this.viewOf(target);
    const instance = this.link(target);
    const waiting = this.evaluate(instance);
    return waiting === null ? instance.namespace : waiting.then(() => instance.namespace);
  }

  /** Makes an instance of a module and of all that it imports, and runs nothing of them. */
  private link(unit: ModuleUnit): EsInstance {
    const known = this.modules.get(unit);
    if (known !== undefined) return known;
    const instance = new EsInstance(unit, {
      load: (specifier) => this.loadLater(String(specifier), unit.url),
      resolve: (specifier) => urlOf(this.graph.resolve(specifier, unit.url, 'import')),
    });
    this.modules.set(unit, instance);
    for (const specifier of unit.rewritten.requests) {
      const target = this.graph.resolve(specifier, unit.url, 'import');
      if (target.kind === 'module') this.link(target);
    }
    instance.resolveExports = (name) => this.bindingIn(instance, name, new Set());
    instance.names = () => this.namesIn(instance, new Set());
    return instance;
  }

  /** Null once it has run; a promise where it waits. Throws what its code throws, each time. */
  private evaluate(instance: EsInstance): Promise<void> | null {
    if (instance.failure !== null) throw instance.failure.error;
    if (instance.state !== 'linked') return instance.waiting;
    instance.state = 'running';
    try {
      const waiting = this.evaluateFrom(instance, 0);
      if (waiting === null) return null;
      instance.waiting = waiting.then(
        () => {
          instance.waiting = null;
        },
        (error: unknown) => {
          instance.failure = { error };
          throw error;
        },
      );
      return instance.waiting;
    } catch (error) {
      instance.failure = { error };
      throw error;
    }
  }

  /** The modules that it imports, from the `from`-th on, and then itself. */
  private evaluateFrom(instance: EsInstance, from: number): Promise<void> | null {
    const { requests } = instance.unit.rewritten;
    for (let at = from; at < requests.length; at += 1) {
      const target = this.targetOf(instance.unit, at);
      if (target.kind !== 'module') {
        this.exportsOf(target);
        continue;
      }
      const other = this.link(target);
      const waiting =
        other.state === 'running' && other.waiting === null ? null : this.evaluate(other);
      if (waiting !== null) {
        return waiting.then(() => this.evaluateFrom(instance, at + 1) ?? undefined);
      }
    }
    this.connect(instance);
    return instance.run();
  }

  private targetOf({ rewritten, url }: ModuleUnit, request: number): ImportTarget {
    return this.graph.resolve(rewritten.requests[request] ?? '', url, 'import');
  }

  /** Gives it the values that it imports, and will give it those that come later. */
  private connect(instance: EsInstance): void {
    instance.unit.rewritten.imports.forEach((wanted, at) => {
      const setter = instance.setters[at];
      if (setter === undefined) return;
      const target = this.targetOf(instance.unit, wanted.request);
      if (wanted.name === '*') {
        setter(this.allOf(target));
        return;
      }
      const binding = this.bindingOf(target, wanted.name, new Set());
      if (binding === null) throw this.missing(instance.unit, wanted);
      binding.watch(setter);
    });
  }

  private missing(unit: ModuleUnit, { request, name, place }: Import): Error {
    const specifier = unit.rewritten.requests[request] ?? '';
    return noExport(unit, { specifier, name }, place);
  }

  private bindingOf(target: ImportTarget, name: string, seen: Set<string>): Binding | null {
    if (target.kind === 'module') return this.bindingIn(this.link(target), name, seen);
    const exports = this.exportsOf(target);
    if (name !== 'default' && !(hasNames(exports) && name in exports)) return null;
    const read = (): unknown => valueIn(target, exports, name);
    return { read, watch: (setter) => setter(read()) };
  }

  /** What `import * as all` gives. */
  private allOf(target: ImportTarget): object {
    return target.kind === 'module' ? this.link(target).namespace : this.viewOf(target);
  }

  private bindingIn(instance: EsInstance, name: string, seen: Set<string>): Binding | null {
    const key = `${instance.unit.url}\n${name}`;
    if (seen.has(key)) return null;
    seen.add(key);
    const own = instance.bindingOf(name);
    if (own !== null) return own;
    for (const reexport of instance.unit.rewritten.reexports) {
      const target = this.targetOf(instance.unit, reexport.request);
      if (reexport.as === name) {
        if (reexport.name !== '*') return this.bindingOf(target, reexport.name, seen);
        const all = this.allOf(target);
        return { read: () => all, watch: (setter) => setter(all) };
      }
    }
    if (name === 'default') return null;
    for (const reexport of instance.unit.rewritten.reexports) {
      if (reexport.as !== null) continue;
      const found = this.bindingOf(this.targetOf(instance.unit, reexport.request), name, seen);
      if (found !== null) return found;
    }
    return null;
  }

  private namesIn(instance: EsInstance, seen: Set<EsInstance>): readonly string[] {
    if (seen.has(instance)) return [];
    seen.add(instance);
    const names = new Set(Object.keys(instance.getters));
    for (const { as, request } of instance.unit.rewritten.reexports) {
      if (as !== null) {
        names.add(as);
        continue;
      }
      const target = this.targetOf(instance.unit, request);
      const others =
        target.kind === 'module'
          ? this.namesIn(this.link(target), seen)
          : Object.keys(this.viewOf(target));
      for (const name of others) if (name !== 'default') names.add(name);
    }
    return [...names].sort();
  }

  /** All that an ES module can import of one that is none; runs it, where it has not run yet. */
  private viewOf(target: Exclude<ImportTarget, ModuleUnit>): object {
    const known = this.views.get(target) ?? hostViews.get(target);
    if (known !== undefined) return known;
    const exports = this.exportsOf(target);
    const names = hasNames(exports) ? namesOf(exports) : [];
    const view = namespaceOf(
      Object.fromEntries(
        [...names, 'default'].map((name) => [name, () => valueIn(target, exports, name)]),
      ),
    );
    if (target.kind === 'host' && target.name !== 'module') hostViews.set(target, view);
    else this.views.set(target, view);
    return view;
  }

  /** What `require` returns. */
  private exportsOf(target: ImportTarget): unknown {
    switch (target.kind) {
      case 'host':
        return target.name === 'module' ? this.moduleBuiltin() : target.exports;
      case 'json':
        return this.jsonOf(target).exports;
      case 'commonjs':
        return this.scriptOf(target).exports;
      case 'module': {
        const loaded = this.importTarget(target);
        if (!(loaded instanceof Promise)) return forRequire(loaded);
        loaded.catch(() => {});
        const what = `require() of ${target.name}, which awaits something at its top level`;
        throw Object.assign(new Error(what), { code: 'ERR_REQUIRE_ASYNC_MODULE' });
      }
    }
  }

  private jsonOf(unit: JsonUnit): ScriptModule {
    const known = this.scripts.get(unit);
    if (known !== undefined) return known;
    const module = new ScriptModule(fileURLToPath(unit.url), () => undefined);
    module.exports = JSON.parse(unit.text.replace(/^\uFEFF/, ''));
    this.scripts.set(unit, module);
    return module;
  }

  private scriptOf(unit: ScriptUnit): ScriptModule {
    const known = this.scripts.get(unit);
    if (known !== undefined) return known;
    const file = fileURLToPath(unit.url);
    const require = this.requireFor(unit.url);
    const module = new ScriptModule(file, require);
    this.scripts.set(unit, module);
    const load = (specifier: unknown): Promise<object> =>
      this.loadLater(String(specifier), unit.url);
    const { exports } = module;
    try {
      loading(unit.name, () =>
        Reflect.apply(unit.run, exports, [exports, require, module, file, dirname(file), load]),
      );
    } catch (error) {
      this.scripts.delete(unit);
      throw error;
    }
    module.loaded = true;
    return module;
  }

  /** `require` of a module, with what hangs on it. */
  private requireFor(parentUrl: string): (specifier: unknown) => unknown {
    const resolve = (specifier: unknown): ImportTarget =>
      this.graph.resolve(String(specifier), parentUrl, 'require');
    const require = (specifier: unknown): unknown => this.exportsOf(resolve(specifier));
    return Object.assign(require, {
      resolve: Object.assign((specifier: unknown) => nameForRequire(resolve(specifier)), {
        paths: () => null,
      }),
      cache: {},
      extensions: {},
      main: undefined,
    });
  }

  /** Node's `module`, but that what it makes stays in this realm. */
  private moduleBuiltin(): object {
    const createRequire = (from: unknown): unknown => {
      const text = String(from);
      return this.requireFor(text.startsWith('file:') ? text : pathToFileURL(text).href);
    };
    const own = Object.create(nodeModule);
    return Object.assign(own, nodeModule, { createRequire, default: undefined });
  }

  private async loadLater(specifier: string, parentUrl: string): Promise<object> {
    return await this.importTarget(this.graph.resolve(specifier, parentUrl, 'import'));
  }
}

/** Of what has one instance for all realms. */
const hostViews: WeakMap<ImportTarget, object> = new WeakMap();

function hasNames(exports: unknown): exports is object {
  return typeof exports === 'function' || (typeof exports === 'object' && exports !== null);
}

function namesOf(exports: object): readonly string[] {
  const names = new Set(Object.keys(exports));
  for (const name in exports) names.add(name);
  return [...names].filter((name) => name !== 'default');
}

/** The default export of what is no ES module is all that it exports. */
function valueIn(target: ImportTarget, exports: unknown, name: string): unknown {
  const isNamespace = target.kind === 'host' && isModuleNamespace(exports);
  if (name === 'default' && !isNamespace) return exports;
  return hasNames(exports) ? Reflect.get(exports, name) : undefined;
}

/** The instance of an ES module in a realm. */
class EsInstance {
  readonly unit: ModuleUnit;
  state: 'linked' | 'running' = 'linked';
  /** Until it has run. */
  waiting: Promise<void> | null = null;
  failure: { readonly error: unknown } | null = null;
  getters: Getters = {};
  setters: readonly Setter[] = [];
  resolveExports: (name: string) => Binding | null = () => null;
  names: () => readonly string[] = () => [];
  private readonly steps: ModuleSteps;
  private readonly watchers: Map<string, Setter[]> = new Map();
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
    const { url } = unit;
    const filename = fileURLToPath(url);
    const tools = {
      open: (getters: Getters, setters: readonly Setter[]): void => {
        this.getters = getters;
        this.setters = setters;
      },
      tell: (name: string): void => {
        for (const setter of this.watchers.get(name) ?? []) setter(this.getters[name]?.());
      },
      first: <T>(value: T): T => value,
      name: nameDefault,
      meta: { __proto__: null, url, filename, dirname: dirname(filename), resolve },
    };
    this.steps = unit.make()(tools, load);
    void this.steps.next(); // to before its first line
  }

  /** Runs it from its first line on. */
  run(): Promise<void> | null {
    const ended = loading(this.unit.name, () => this.steps.next());
    return ended instanceof Promise ? ended.then(() => {}) : null;
  }

  bindingOf(name: string): Binding | null {
    const read = Object.hasOwn(this.getters, name) ? this.getters[name] : undefined;
    if (read === undefined) return null;
    const watch = (setter: Setter): void => {
      this.watchers.set(name, [...(this.watchers.get(name) ?? []), setter]);
      setter(readable(read));
    };
    return { read, watch };
  }

  /** As `import * as all` sees it. */
  get namespace(): object {
    this.made ??= liveNamespace(this.names(), (name) => this.resolveExports(name));
    return this.made;
  }
}

/** Undefined where a module on a circle has not come so far; it is told when it has. */
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

function namespaceOf(getters: Getters): object {
  const namespace: object = Object.create(null);
  for (const [name, get] of Object.entries(getters)) {
    Object.defineProperty(namespace, name, { get, enumerable: true });
  }
  Object.defineProperty(namespace, Symbol.toStringTag, { value: 'Module' });
  return Object.preventExtensions(namespace);
}

function isModuleNamespace(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Module]';
}

/** What `require` gives of an ES module. */
function forRequire(namespace: object): unknown {
  return 'module.exports' in namespace ? namespace['module.exports'] : namespace;
}

/** A function or class that has no name but that of its variable is called `default`. */
function nameDefault(value: unknown): unknown {
  if (typeof value === 'function' && /^\$f[p-v]_$/.test(value.name)) {
    Object.defineProperty(value, 'name', { value: 'default', configurable: true });
  }
  return value;
}

/** The `module` of a CommonJS module. */
class ScriptModule {
  exports: unknown = {};
  readonly id: string;
  readonly filename: string;
  readonly path: string;
  readonly require: (specifier: unknown) => unknown;
  readonly children: readonly unknown[] = [];
  readonly paths: readonly string[] = [];
  readonly parent: null = null;
  loaded = false;

  constructor(file: string, require: (specifier: unknown) => unknown) {
    this.id = file;
    this.filename = file;
    this.path = dirname(file);
    this.require = require;
  }
}

function urlOf(target: ImportTarget): string {
  return target.kind === 'host' ? `node:${target.name}` : target.url;
}

function nameForRequire(target: ImportTarget): string {
  return target.kind === 'host' ? target.name : fileURLToPath(target.url);
}

/** Runs a module's own code; what it draws meanwhile is the module's. */
function loading<T>(name: string, run: () => T): T {
  const before = ambient.loading;
  ambient.loading = name;
  try {
    return run();
  } finally {
    ambient.loading = before;
  }
}
