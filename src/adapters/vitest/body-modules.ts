/**
 * The modules that the body of a test is handed: own instances for each simulated process, and for
 * each start of one, as code has them in production. What a test file imports at its top is shared
 * by all processes and seeds.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { World } from '../../core/world/world.ts';
import { ModuleGraph } from '../../host/realm/module-graph.ts';
import { realmsOf } from '../../host/realm/realm-blocks.ts';
import type { AsyncClient } from '../../systems/protocol.ts';
import { errorText } from '../../text/error-text.ts';
import { SimTestError } from './test-place.ts';

/** What a module exports, by the name that the test gives it. */
export type LoadedModules = Readonly<Record<string, object>>;

export class BodyModules {
  private readonly paths: readonly (readonly [name: string, path: string])[];
  private graph: ModuleGraph | null = null;
  private urls: readonly (readonly [name: string, url: string])[] = [];

  /** Throws a `SimTestError` where they are no map from names to paths. */
  constructor(given: unknown) {
    if (typeof given !== 'object' || given === null) {
      throw new SimTestError(['modules: expected names with paths, { lock: "./my-lock.ts" }']);
    }
    this.paths = Object.entries(given).map(([name, path]: [string, unknown]) => {
      if (typeof path === 'string' && /^\.{1,2}\//.test(path)) return [name, path];
      const example = `modules: { ${name}: "./my-lock.ts" }`;
      throw new SimTestError([`modules.${name}: expected a path from the test, ${example}`]);
    });
  }

  /** Reads them and what they import, from the folder of the test; runs nothing of them. */
  async open(folder: string): Promise<void> {
    this.urls = this.paths.map(([name, path]) => [name, pathToFileURL(resolve(folder, path)).href]);
    const [first, ...others] = this.urls.map(([, url]) => url);
    if (first === undefined) return;
    try {
      this.graph = await ModuleGraph.open(first, others);
    } catch (error) {
      throw new SimTestError([`modules: ${errorText(error)}`]);
    }
  }

  /** New instances of all; a promise only where one of them awaits something at its top level. */
  loadFor(client: AsyncClient, world: World): LoadedModules | Promise<LoadedModules> {
    const { graph } = this;
    if (graph === null) return {};
    const realm = realmsOf(world, graph)(client);
    const loaded = this.urls.map(([name, url]) => [name, realm.load(url)] as const);
    if (!loaded.some(([, one]) => one instanceof Promise)) return Object.fromEntries(loaded);
    const waiting = loaded.map(async ([name, one]) => [name, await one] as const);
    return Promise.all(waiting).then((all) => Object.fromEntries(all));
  }
}
