/**
 * Gives every simulated process its own instances of the modules that define its lock, and loads
 * them again after each crash. Module state therefore belongs to one process. The values that a
 * module draws or reads while loading depend only on the seed, the process and the module.
 *
 * A definition is loaded once in a realm that belongs to no process and creates its servers for all
 * runs there. Each process loads the definition again and builds the same lock, but gets the
 * existing servers.
 */
import type { SystemDefinition } from '../../catalogue.ts';
import type { World } from '../../core/world/world.ts';
import type { Options } from '../../systems/options.ts';
import type {
  AsyncClient,
  BuildAsync,
  SectionProgram,
  SectionProgramOf,
} from '../../systems/protocol.ts';
import { ambient } from '../async/ambient.ts';
import type { AnyFunction } from '../async/patches.ts';
import { shareHosts } from '../network/hosts.ts';
import { makeOutsideProcess } from './load-apart.ts';
import type { ModuleGraph } from './module-graph.ts';
import { loadsFrom, realmsOf } from './realm-blocks.ts';

/** Returns the definition with its asynchronous locks built separately for each process. */
export function withInstances(definition: SystemDefinition, graph: ModuleGraph): SystemDefinition {
  const locks = [...definition.locks].map(([name, protocol]) => {
    const { buildAsync } = protocol;
    if (buildAsync === undefined) return [name, protocol] as const;
    const again = (namespace: object): BuildAsync => {
      const build = definitionIn(namespace)?.locks.get(name)?.buildAsync;
      if (build !== undefined) return build;
      throw new Error(`${graph.root.name} defines ${name} in one process but not in another`);
    };
    const perProcess = loadsFrom(buildPerProcess(buildAsync, { graph, again }), graph);
    return [name, { ...protocol, buildAsync: perProcess }] as const;
  });
  return { ...definition, locks: new Map(locks) };
}

interface Again {
  readonly graph: ModuleGraph;
  /** Returns the function that builds the lock, from another instance of the lock's module. */
  readonly again: (namespace: object) => BuildAsync;
}

function buildPerProcess(build: BuildAsync, { graph, again }: Again): BuildAsync {
  return (world, options) => {
    const servers: Servers = new Map();
    const realmFor = realmsOf(world, graph);
    const programOf: unknown = makeOutsideProcess(() => build(noting(world, servers), options));
    if (typeof programOf !== 'function') throw new Error('`buildAsync` did not return a function');
    const programIn = (namespace: object, client: AsyncClient): SectionProgram =>
      programOfAgain(again(namespace), { world: mirroring(world, servers), options })(client);
    return (client) => {
      const loaded = realmFor(client).load();
      if (!(loaded instanceof Promise)) return programIn(loaded, client);
      const { current } = ambient;
      const program = loaded.then((namespace) => programIn(namespace, client));
      program.catch((error: unknown) => current?.fail(error));
      return async (section) => (await program)(section);
    };
  };
}

function programOfAgain(
  build: BuildAsync,
  { world, options }: { readonly world: World; readonly options: Options },
): SectionProgramOf {
  const programOf: unknown = build(world, options);
  if (!isProgramOf(programOf)) throw new TypeError('`buildAsync` did not return a function');
  return programOf;
}

function isProgramOf(value: unknown): value is SectionProgramOf {
  return typeof value === 'function';
}

type Servers = Map<string, unknown>;

function noting(world: World, servers: Servers): World {
  return withAddServer(world, (...args) => {
    const host: unknown = Reflect.apply(world.addServer, world, args);
    servers.set(serverName(args), host);
    return host;
  });
}

/** Returns a world for another build of the lock. Its `addServer` returns existing servers. */
function mirroring(world: World, servers: Servers): World {
  return withAddServer(world, (...args) => {
    const name = serverName(args);
    if (servers.has(name)) return servers.get(name);
    throw new Error(`it adds the server ${name} for one process but not for another`);
  });
}

function serverName([info]: readonly unknown[]): string {
  return typeof info === 'object' && info !== null && 'name' in info ? String(info.name) : '';
}

function withAddServer(world: World, addServer: AnyFunction): World {
  const seen = new Proxy(world, {
    get(target, key): unknown {
      if (key === 'addServer') return addServer;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  shareHosts(world, seen);
  return seen;
}

/** Returns a module's default export if `defineSystem` created it, otherwise null. */
export function definitionIn(namespace: object): SystemDefinition | null {
  const exported: unknown = Reflect.get(namespace, 'default');
  return isDefinition(exported) ? exported : null;
}

/** Recognizes a definition by its shape, because several copies of this package may be loaded. */
function isDefinition(value: unknown): value is SystemDefinition {
  if (typeof value !== 'object' || value === null) return false;
  return 'kind' in value && value.kind === 'fencepost-system' && 'version' in value;
}
