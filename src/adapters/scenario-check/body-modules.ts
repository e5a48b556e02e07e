/**
 * Loads the modules that are passed to the body of a test. As in production, each simulated process
 * gets its own instances, and new instances at each start. By contrast, modules that a test file
 * imports at its top are shared by all processes and seeds.
 */
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { World } from '../../core/world/world.ts';
import { importsIn, readModule } from '../../host/modules/read-module.ts';
import { isUserFile, resolveModule } from '../../host/modules/resolve-module.ts';
import { drawersIn, requireApart } from '../../host/realm/load-apart.ts';
import { ModuleGraph } from '../../host/realm/module-graph.ts';
import { realmsOf } from '../../host/realm/realm-blocks.ts';
import type { AsyncClient } from '../../systems/protocol.ts';
import { errorText } from '../../text/error-text.ts';
import { TestRefused } from './test-place.ts';

/** The exports of each module, by the name that the test gives it. */
export type LoadedModules = Readonly<Record<string, object>>;

export class BodyModules {
  private readonly paths: readonly (readonly [name: string, path: string])[];
  private graph: ModuleGraph | null = null;
  private urls: readonly (readonly [name: string, url: string])[] = [];

  /** Throws a `TestRefused` if `given` does not map names to paths. */
  constructor(modules: unknown) {
    if (typeof modules !== 'object' || modules === null) {
      throw new TestRefused(['modules: expected names with paths, { lock: "./my-lock.ts" }']);
    }
    this.paths = Object.entries(modules).map(([name, path]: [string, unknown]) => {
      if (typeof path === 'string' && /^\.{1,2}\//.test(path)) return [name, path];
      const example = `modules: { ${name}: "./my-lock.ts" }`;
      throw new TestRefused([`modules.${name}: expected a path from the test, ${example}`]);
    });
  }

  /** Reads the modules and their imports without running them. `folder` contains the test. */
  async open(folder: string): Promise<void> {
    this.urls = this.paths.map(([name, path]) => [name, pathToFileURL(resolve(folder, path)).href]);
    const [first, ...others] = this.urls.map(([, url]) => url);
    if (first === undefined) return;
    try {
      this.graph = await ModuleGraph.open(first, others);
      await requireApart(this.graph, [first, ...others]);
    } catch (error) {
      throw new TestRefused([`modules: ${errorText(error)}`]);
    }
  }

  /** Returns new instances of all modules, as a promise if one of them has a top-level await. */
  loadFor(client: AsyncClient, world: World): LoadedModules | Promise<LoadedModules> {
    const { graph } = this;
    if (graph === null) return {};
    const realm = realmsOf(world, graph)(client);
    const loaded = this.urls.map(([name, url]) => [name, realm.load(url)] as const);
    if (!loaded.some(([, result]) => result instanceof Promise)) return Object.fromEntries(loaded);
    const waiting = loaded.map(async ([name, result]) => [name, await result] as const);
    return Promise.all(waiting).then((all) => Object.fromEntries(all));
  }
}

/** Problems by file. They are the same for all tests of a file. */
const known: Map<string, Promise<readonly string[]>> = new Map();

/**
 * Throws a `TestRefused` if an import of a test file draws random values when loaded. The test
 * runner loaded it before globals were virtualized, so the values differ between runs.
 */
export async function requireCalmImports(file: string): Promise<void> {
  const found = known.get(file) ?? problemsIn(file);
  known.set(file, found);
  const lines = await found;
  if (lines.length > 0) throw new TestRefused(lines);
}

async function problemsIn(file: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { specifier, url } of importsOf(file)) {
    const [drawer] = await drawersOf(url);
    if (drawer === undefined) continue;
    const subject = basename(url) === drawer ? 'it' : drawer;
    const alias = basename(url).replace(/\W.*$/, '') || 'own';
    lines.push(
      `import '${specifier}': ${subject} draws a random value while it is loaded, and all simulated processes share that value;`,
      `  to give each process its own: modules: { ${alias}: '${specifier}' }`,
    );
  }
  return lines;
}

interface Imported {
  readonly specifier: string;
  readonly url: string;
}

/**
 * Returns the user files that `file` imports statically, or an empty list if Node cannot parse it.
 */
function importsOf(file: string): readonly Imported[] {
  const parent = pathToFileURL(file).href;
  try {
    const read = readModule(parent);
    if (read.kind === 'problem') return [];
    return importsIn(read.text).flatMap(({ n: specifier = '', d: at, ss: from, se: to }) => {
      // Skip dynamic imports, such as `import('./a.ts')`. For a static import, `d` is -1.
      if (at !== -1 || !/^\.{1,2}\//.test(specifier)) return [];
      // Skip type-only imports, which were erased to an empty list.
      if (/^import\s*\{\s*\}/.test(read.text.slice(from, to))) return [];
      const found = resolveModule(specifier, parent, 'import');
      return found.kind === 'file' && isUserFile(found.url) ? [{ specifier, url: found.url }] : [];
    });
  } catch {
    return [];
  }
}

/**
 * Returns the modules that draw random values when loaded. Ignores modules that only vitest can
 * load.
 */
async function drawersOf(url: string): Promise<readonly string[]> {
  try {
    return await drawersIn(await ModuleGraph.open(url), [url]);
  } catch {
    return [];
  }
}
