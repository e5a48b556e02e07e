/**
 * Reads and compiles each of the user's modules once for all realms, and resolves their imports.
 * `fencepost` itself and Node's modules are not part of the graph, because all realms share one
 * instance of them.
 */
import { createRequire } from 'node:module';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { countStep } from '../../core/kernel/scheduler.ts';
import { outsideProcess } from '../async/ambient.ts';
import { trackContexts } from '../async/async-context.ts';
import { builtinFor } from '../async/builtin-views.ts';
import { keepPlaces } from '../async/call-site.ts';
import { inRealFolder } from '../async/disk-reads.ts';
import { isObject, shareExports } from '../async/reachable.ts';
import type { SourcePlace } from '../async/source-places.ts';
import { readModule } from '../modules/read-module.ts';
import { type Asking, isUserFile, resolveModule } from '../modules/resolve-module.ts';
import {
  type RewrittenModule,
  rewriteModule,
  rewriteScript,
  syntaxErrorAt,
  toolNameFor,
} from './rewrite-module.ts';

/** The functions that a realm passes to the code of a module. */
export interface ModuleTools {
  /** Called first, with a getter per export and a setter per import. */
  open(getters: Getters, setters: readonly Setter[]): void;
  /** Notifies importers of a new value of an exported variable. */
  notify(name: string): void;
  /** Returns `value` after the call has evaluated its further arguments. */
  first<T>(value: T): T;
  /** Names an anonymous default export `default`. */
  name(value: unknown): unknown;
  readonly meta: object;
}

export type Getters = Readonly<Record<string, () => unknown>>;
export type Setter = (value: unknown) => void;
export type DynamicImport = (specifier: unknown) => Promise<object>;

/** The code of a module. The first step runs up to its first line, the second step to its end. */
export type ModuleSteps = Generator<void, void, void> | AsyncGenerator<void, void, void>;
/** Called with each class to which methods are added later. */
type ReserveSlots = (made: unknown) => void;
type MakeModule = (
  tools: ModuleTools,
  load: DynamicImport,
  reserveSlots: ReserveSlots,
) => ModuleSteps;

type RunScript = (
  this: unknown,
  exports: unknown,
  require: unknown,
  module: unknown,
  file: string,
  folder: string,
  load: DynamicImport,
  reserveSlots: ReserveSlots,
) => void;

interface UnitPlace {
  readonly url: string;
  readonly file: string;
  readonly folder: string;
  /** Path relative to the first module's folder or to `node_modules`; the same on every machine. */
  readonly name: string;
}

export interface ModuleUnit extends UnitPlace {
  readonly kind: 'module';
  readonly rewritten: RewrittenModule;
  /** True if an import may name a type, which the other module does not export. */
  readonly importsTypes: boolean;
  readonly make: () => MakeModule;
}

export interface ScriptUnit extends UnitPlace {
  readonly kind: 'commonjs';
  readonly run: RunScript;
}

export interface JsonUnit extends UnitPlace {
  readonly kind: 'json';
  readonly text: string;
}

/** A module that is instantiated per realm. */
export type Unit = ModuleUnit | ScriptUnit | JsonUnit;

/** A module with one instance for all realms. `exports` are its exports as CommonJS sees them. */
interface HostModule {
  readonly kind: 'host';
  readonly name: string;
  readonly exports: unknown;
}

export type ImportTarget = Unit | HostModule;

type Targets = Map<string, Map<string, ImportTarget>>;

const hostRequire = createRequire(import.meta.url);

const PACKAGE_NAME = /^fencepost(?:\/|$)/;

export class ModuleGraph {
  readonly rootUrl: string;
  private readonly folder: string;
  private readonly units: Map<string, Unit> = new Map();
  /** Targets by parent, then by specifier. A combined key took longer to build than to look up. */
  private readonly targets: Readonly<Record<Asking, Targets>> = {
    import: new Map(),
    require: new Map(),
  };
  private readonly values: Map<string, unknown> = new Map();

  private constructor(rootUrl: string) {
    this.rootUrl = rootUrl;
    this.folder = posix.dirname(new URL(rootUrl).pathname);
  }

  /** Reads a module and everything that it imports statically. Throws if a module is invalid. */
  static async open(rootUrl: string, others: readonly string[] = []): Promise<ModuleGraph> {
    const graph = new ModuleGraph(rootUrl);
    const seen = new Set<Unit>();
    for (const url of [rootUrl, ...others]) await graph.reach(graph.unitAt(url), seen);
    return graph;
  }

  get root(): Unit {
    return this.unitAt(this.rootUrl);
  }

  /** Packages whose modules keep state between runs. */
  readonly stateful: Set<string> = new Set();

  /**
   * Returns true if a later run may reuse an instance of this module, provided that loading it had
   * no effect. Only packages qualify, because user modules tend to keep state and to load fast.
   */
  mayReuse({ url, name }: Unit): boolean {
    return !isUserFile(url) && !this.stateful.has(packageIn(name));
  }

  /** The packages whose modules were read so far. */
  get packages(): readonly string[] {
    const units = [...this.units.values()].filter(({ url }) => !isUserFile(url));
    return [...new Set(units.map(({ name }) => packageIn(name)))].sort();
  }

  private async reach(unit: Unit, seen: Set<Unit>): Promise<void> {
    if (unit.kind !== 'module' || seen.has(unit)) return;
    seen.add(unit);
    for (const specifier of unit.rewritten.requests) {
      if (PACKAGE_NAME.test(specifier) && !this.values.has(specifier)) {
        this.values.set(specifier, await import(/* @vite-ignore */ specifier));
      }
      const target = this.resolve(specifier, unit.url, 'import');
      if (target.kind !== 'host') await this.reach(target, seen);
    }
  }

  /** Resolves `specifier` in a module. Throws if there is no such module or it cannot be loaded. */
  resolve(specifier: string, parentUrl: string, asking: Asking): ImportTarget {
    const ofParent = this.targets[asking].get(parentUrl) ?? new Map<string, ImportTarget>();
    const known = ofParent.get(specifier);
    if (known !== undefined) return known;
    const target = outsideProcess(() => this.find(specifier, parentUrl, asking));
    ofParent.set(specifier, target);
    this.targets[asking].set(parentUrl, ofParent);
    return target;
  }

  private find(specifier: string, parentUrl: string, asking: Asking): ImportTarget {
    if (PACKAGE_NAME.test(specifier)) {
      const exports: unknown = this.values.get(specifier) ?? hostRequire(specifier);
      if (isObject(exports)) shareExports(specifier, exports);
      return { kind: 'host', name: specifier, exports };
    }
    const resolution = resolveModule(inRealFolder(specifier), inRealFolder(parentUrl), asking);
    switch (resolution.kind) {
      case 'problem':
        // Node's code for a missing module: packages catch it and continue without the module.
        throw Object.assign(new Error(resolution.what), {
          code: asking === 'import' ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND',
        });
      case 'builtin': {
        const name = resolution.name.replace(/^node:/, '');
        if (name === 'async_hooks') trackContexts();
        return { kind: 'host', name, exports: builtinFor(name) };
      }
      case 'file':
        return this.unitAt(resolution.url);
    }
  }

  unitAt(fullUrl: string): Unit {
    const url = fullUrl.replace(/[?#].*$/, '');
    const known = this.units.get(url);
    if (known !== undefined) return known;
    const unit = outsideProcess(() => this.compile(url));
    countStep(); // compiling a large package takes long and has no events
    this.units.set(url, unit);
    return unit;
  }

  private compile(url: string): Unit {
    const file = fileURLToPath(url);
    const place = { url, file, folder: dirname(file), name: this.nameFor(url) };
    const read = readModule(url);
    if (read.kind === 'problem') throw new Error(read.what);
    const { text } = read;
    keepPlaces(read.form === 'module' ? url : file, read.places);
    switch (read.form) {
      case 'json':
        return { kind: 'json', ...place, text };
      case 'module': {
        const rewritten = rewriteModule(text, url);
        let made: MakeModule | null = null;
        const make = (): MakeModule => {
          made ??= compiled(this.isOnCircle(url) ? rewriteModule(text, url, true) : rewritten, url);
          return made;
        };
        return { kind: 'module', ...place, rewritten, importsTypes: read.compiler !== null, make };
      }
      case 'commonjs':
        return { kind: 'commonjs', ...place, run: compileScript(text, file) };
    }
  }

  private isOnCircle(url: string): boolean {
    const seen = new Set<string>();
    const reaches = (from: Unit): boolean => {
      if (from.kind !== 'module') return false;
      return from.rewritten.requests.some((specifier) => {
        const target = this.resolve(specifier, from.url, 'import');
        if (target.kind !== 'module') return false;
        if (target.url === url) return true;
        if (seen.has(target.url)) return false;
        seen.add(target.url);
        return reaches(target);
      });
    };
    return reaches(this.unitAt(url));
  }

  private nameFor(url: string): string {
    const path = decodeURIComponent(new URL(url).pathname);
    const inPackage = path.lastIndexOf('/node_modules/');
    if (inPackage !== -1) return path.slice(inPackage + '/node_modules/'.length);
    return posix.relative(decodeURIComponent(this.folder), path);
  }
}

function packageIn(name: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
}

function compiled({ text }: RewrittenModule, url: string): MakeModule {
  return new vm.Script(text, { filename: url, lineOffset: -1 }).runInThisContext();
}

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

function compileScript(text: string, file: string): RunScript {
  const tools = toolNameFor(text);
  const source = rewriteScript(text.replace(/^#!/, '//'), file, tools);
  const parameters = [...PARAMETERS, `${tools}imp`, `${tools}room`];
  const run: unknown = vm.compileFunction(source, parameters, { filename: file });
  if (!isScript(run)) throw new Error(`${file} cannot be compiled`);
  return run;
}

function isScript(run: unknown): run is RunScript {
  return typeof run === 'function';
}

/** Returns the error for a module that has no export of this name. */
export function noExport(
  unit: ModuleUnit,
  wanted: { specifier: string; name: string },
  place: SourcePlace,
): Error {
  const { specifier, name } = wanted;
  const message = `The requested module '${specifier}' does not provide an export named '${name}'`;
  return syntaxErrorAt(message, unit.url, place);
}
