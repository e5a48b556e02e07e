/**
 * A realm: separate instances of a user's modules, as in a process that has just started. ES
 * modules and CommonJS import each other as in Node; `import()`, `createRequire` and `import.meta`
 * stay within the realm. Unlike in Node, imports that use top-level `await` run one after another.
 *
 * Begin with `Realm`. `module-graph.ts` compiles the code once for all realms, `rewrite-module.ts`
 * turns an ES module into a function, and `per-process-instances.ts` uses realms.
 */
import nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';
import { type Loading, outsideProcess } from '../async/ambient.ts';
import { viewOf } from '../async/builtin-views.ts';
import { type Asking, isTypeScript } from '../modules/resolve-module.ts';
import {
  type Binding,
  during,
  EsInstance,
  namespaceOf,
  reserveSlots,
  ScriptModule,
} from './instances.ts';
import {
  type ImportTarget,
  type JsonUnit,
  type ModuleGraph,
  type ModuleUnit,
  noExport,
  type ScriptUnit,
  type Unit,
} from './module-graph.ts';
import type { Import } from './rewrite-module.ts';

interface RealmOptions {
  readonly isRenewable?: boolean;
  /** Called with each module after its code has run to its end or to its first `await`. */
  readonly onLoaded?: ((loading: Loading) => void) | undefined;
}

export class Realm {
  private readonly graph: ModuleGraph;
  private readonly modules: Map<ModuleUnit, EsInstance> = new Map();
  private readonly scripts: Map<Unit, ScriptModule> = new Map();
  private readonly views: Map<ImportTarget, object> = new Map();
  /** Modules that need a new instance for each process and run. */
  private readonly impure: Set<Unit> = new Set();
  /** The targets that a module has requested, by the module's URL. */
  private readonly uses: Map<string, Set<ImportTarget>> = new Map();

  /** True if the effects of loading modules are recorded, so that the realm can be renewed. */
  private readonly isRenewable: boolean;
  private readonly onLoaded: RealmOptions['onLoaded'];

  constructor(graph: ModuleGraph, { isRenewable = false, onLoaded }: RealmOptions = {}) {
    this.graph = graph;
    this.isRenewable = isRenewable;
    this.onLoaded = onLoaded;
  }

  /**
   * Returns the exports of a module of the graph, by default the first module. Returns a promise
   * only if a module uses top-level `await`.
   */
  load(url: string = this.graph.rootUrl): object | Promise<object> {
    return this.importTarget(this.graph.unitAt(url));
  }

  /**
   * Discards the instances, as if the realm were new. Keeps a package's module if it drew, read and
   * started nothing while loading and uses only such modules.
   */
  renew(): void {
    const kept = this.reusable();
    const isKept = (target: ImportTarget): boolean => target.kind === 'host' || kept.has(target);
    for (const known of [this.modules, this.scripts, this.views]) forgetUnless(isKept, known);
    for (const instance of this.modules.values()) instance.keepWatchers(isKept);
    const urls = new Set([...kept].map((target) => (target.kind === 'host' ? '' : target.url)));
    for (const url of this.uses.keys()) if (!urls.has(url)) this.uses.delete(url);
    this.impure.clear();
  }

  private reusable(): ReadonlySet<ImportTarget> {
    const loaded = [...this.modules]
      .filter(([, { state, waiting, failure }]) => {
        return state === 'running' && waiting === null && failure === null;
      })
      .map(([unit]): Unit => unit);
    const units = [...loaded, ...this.scripts.keys()];
    const kept = new Set<ImportTarget>(
      units.filter((unit) => this.graph.mayReuse(unit) && !this.impure.has(unit)),
    );
    for (let before = -1; before !== kept.size; ) {
      before = kept.size;
      for (const unit of kept) {
        if (unit.kind === 'host') continue;
        const used = [...(this.uses.get(unit.url) ?? [])];
        if (used.some((target) => target.kind !== 'host' && !kept.has(target))) kept.delete(unit);
      }
    }
    return kept;
  }

  private resolve(specifier: string, parentUrl: string, asking: Asking): ImportTarget {
    const target = this.graph.resolve(specifier, parentUrl, asking);
    if (!this.isRenewable) return target;
    const known = this.uses.get(parentUrl);
    if (known === undefined) this.uses.set(parentUrl, new Set([target]));
    else known.add(target);
    return target;
  }

  private loadingOf(unit: Unit): Loading {
    const isAsync = unit.kind === 'module' && unit.rewritten.isAsync;
    return { name: unit.name, isPure: this.isRenewable && !isAsync, hasDrawn: false };
  }

  private ended(unit: Unit, loading: Loading): void {
    if (!loading.isPure) this.impure.add(unit);
    this.onLoaded?.(loading);
  }

  private importTarget(target: ImportTarget): object | Promise<object> {
    if (target.kind !== 'module') return this.viewOf(target);
    const instance = this.link(target);
    const waiting = this.evaluate(instance);
    return waiting === null ? instance.namespace : waiting.then(() => instance.namespace);
  }

  /** Instantiates a module and everything that it imports, without running any code. */
  private link(unit: ModuleUnit): EsInstance {
    const known = this.modules.get(unit);
    if (known !== undefined) return known;
    const instance = new EsInstance(unit, {
      load: (specifier) => this.loadLater(String(specifier), unit.url),
      resolve: (specifier) => {
        const found = this.graph.resolve(specifier, unit.url, 'import');
        return found.kind === 'host' ? `node:${found.name}` : found.url;
      },
    });
    this.modules.set(unit, instance);
    for (const specifier of unit.rewritten.requests) {
      const target = this.resolve(specifier, unit.url, 'import');
      if (target.kind === 'module') this.link(target);
    }
    instance.resolveExports = (name) => this.bindingIn(instance, name, new Set());
    instance.names = () => this.namesIn(instance, new Set());
    return instance;
  }

  /**
   * Runs a module once. Returns null, or a promise if the module waits. If the module has failed,
   * every call throws its error.
   */
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
          instance.waitsFor = null;
          instance.failure = { error };
          throw error;
        },
      );
      return instance.waiting;
    } catch (error) {
      instance.waitsFor = null;
      instance.failure = { error };
      throw error;
    }
  }

  /**
   * Runs the imported modules from index `from` on, and then the module. In an import cycle, a
   * module does not wait for a module that waits for it.
   */
  private evaluateFrom(instance: EsInstance, from: number): Promise<void> | null {
    const { requests } = instance.unit.rewritten;
    for (let at = from; at < requests.length; at += 1) {
      const target = this.targetOf(instance.unit, at);
      if (target.kind !== 'module') {
        this.exportsOf(target);
        continue;
      }
      const other = this.link(target);
      if (waitsFor(other, instance)) continue;
      instance.waitsFor = other;
      const waiting = this.evaluate(other);
      if (waiting !== null) {
        return waiting.then(() => this.evaluateFrom(instance, at + 1) ?? undefined);
      }
    }
    instance.waitsFor = null;
    this.connect(instance);
    const loading = this.loadingOf(instance.unit);
    const waiting = instance.run(loading);
    this.ended(instance.unit, loading);
    return waiting;
  }

  private targetOf({ rewritten, url }: ModuleUnit, request: number): ImportTarget {
    return this.graph.resolve(rewritten.requests[request] ?? '', url, 'import');
  }

  /** Sets the module's imports now, and again whenever they change. */
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
      if (binding !== null) binding.watch(setter, instance.unit);
      else if (!mayBeType(instance.unit, wanted)) throw this.missing(instance.unit, wanted);
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

  private allOf(target: ImportTarget): object {
    return target.kind === 'module' ? this.link(target).namespace : this.viewOf(target);
  }

  private bindingIn(instance: EsInstance, name: string, seen: Set<string>): Binding | null {
    const key = `${instance.unit.url}\n${name}`;
    if (seen.has(key)) return null;
    seen.add(key);
    const binding = instance.bindingOf(name);
    if (binding !== null) return binding;
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

  /** Runs a module that is not an ES module. Returns its exports as an ES module sees them. */
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
        if (!(loaded instanceof Promise)) {
          return 'module.exports' in loaded ? loaded['module.exports'] : loaded;
        }
        loaded.catch(() => {});
        const message = `cannot require() ${target.name}: it uses top-level await`;
        throw Object.assign(new Error(message), { code: 'ERR_REQUIRE_ASYNC_MODULE' });
      }
    }
  }

  private jsonOf(unit: JsonUnit): ScriptModule {
    const known = this.scripts.get(unit);
    if (known !== undefined) return known;
    const module = new ScriptModule(unit, () => undefined);
    module.exports = parsed(unit);
    this.scripts.set(unit, module);
    return module;
  }

  private scriptOf(unit: ScriptUnit): ScriptModule {
    const known = this.scripts.get(unit);
    if (known !== undefined) return known;
    const { file, folder } = unit;
    const require = this.requireFor(unit.url);
    const module = new ScriptModule(unit, require);
    this.scripts.set(unit, module);
    const load = (specifier: unknown): Promise<object> =>
      this.loadLater(String(specifier), unit.url);
    const { exports } = module;
    const loading = this.loadingOf(unit);
    try {
      during(loading, () =>
        Reflect.apply(unit.run, exports, [
          exports,
          require,
          module,
          file,
          folder,
          load,
          reserveSlots,
        ]),
      );
    } catch (error) {
      this.scripts.delete(unit);
      throw error;
    } finally {
      this.ended(unit, loading);
    }
    module.loaded = true;
    return module;
  }

  private requireFor(parentUrl: string): (specifier: unknown) => unknown {
    const resolve = (specifier: unknown): ImportTarget =>
      this.resolve(String(specifier), parentUrl, 'require');
    const require = (specifier: unknown): unknown => this.exportsOf(resolve(specifier));
    const nameOf = (specifier: unknown): string => {
      const target = resolve(specifier);
      return target.kind === 'host' ? target.name : target.file;
    };
    return Object.assign(require, {
      resolve: Object.assign(nameOf, { paths: () => null }),
      cache: {},
      extensions: {},
      main: undefined,
    });
  }

  private moduleView: object | null = null;

  /** Returns Node's `module` with a `createRequire` of this realm. */
  private moduleBuiltin(): object {
    const createRequire = (from: unknown): unknown => {
      const text = String(from);
      return this.requireFor(text.startsWith('file:') ? text : pathToFileURL(text).href);
    };
    const view = Object.create(nodeModule);
    this.moduleView ??= viewOf(
      Object.assign(view, nodeModule, { createRequire, default: undefined }),
    );
    return this.moduleView;
  }

  private async loadLater(specifier: string, parentUrl: string): Promise<object> {
    return await this.importTarget(this.resolve(specifier, parentUrl, 'import'));
  }
}

function parsed({ text, name }: JsonUnit): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new SyntaxError(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}

/** TypeScript can import a type for metadata or for a reexport. */
function mayBeType(
  { importsTypes, rewritten, url }: ModuleUnit,
  { request, name }: Import,
): boolean {
  if (importsTypes || !isTypeScript(url)) return importsTypes;
  return rewritten.reexports.some(
    (reexport) => reexport.request === request && reexport.name === name,
  );
}

function waitsFor(module: EsInstance, other: EsInstance): boolean {
  for (let current: EsInstance | null = module; current !== null; current = current.waitsFor) {
    if (current === other) return true;
  }
  return false;
}

function forgetUnless<T extends ImportTarget>(
  isKept: (target: T) => boolean,
  known: Map<T, unknown>,
): void {
  for (const target of known.keys()) if (!isKept(target)) known.delete(target);
}

const hostViews: WeakMap<ImportTarget, object> = new WeakMap();

function hasNames(exports: unknown): exports is object {
  return typeof exports === 'function' || (typeof exports === 'object' && exports !== null);
}

/** Reads the names outside any process, which may have added properties to a builtin module. */
function namesOf(exports: object): readonly string[] {
  return outsideProcess(() => {
    const names = new Set(Object.keys(exports));
    for (const name in exports) names.add(name);
    return [...names].filter((name) => name !== 'default');
  });
}

/** If a module is not an ES module, its default export is its complete exports. */
function valueIn(target: ImportTarget, exports: unknown, name: string): unknown {
  const isNamespace =
    target.kind === 'host' && Object.prototype.toString.call(exports) === '[object Module]';
  if (name === 'default' && !isNamespace) return exports;
  return hasNames(exports) ? Reflect.get(exports, name) : undefined;
}
