/**
 * Reuses realms, so that a sweep need not load a driver for each process of each seed. The
 * reference is a new realm at each start of a process. A module may be reused only if that makes no
 * observable difference (`Realm#renew`). Some seeds run both ways to detect modules that
 * nevertheless keep state (`search/sweep/stateful-modules.ts`). A failing seed is always confirmed
 * with new realms (`search/sweep/examiner.ts`).
 *
 * Seeds run in blocks of 32 that begin at multiples of 32. Each block runs its seeds in order and
 * has its own realms. The state that a seed finds therefore depends only on its number, not on the
 * worker, the shard or the chunk.
 */
import type { World } from '../../core/world/world.ts';
import type { BuildAsync } from '../../systems/protocol.ts';
import type { ModuleGraph } from './module-graph.ts';
import { Realm } from './realm.ts';

export const BLOCK_SEEDS = 32;

/** The realms of a block of seeds: one per start of a process. */
export class RealmBlock {
  private readonly realms: Map<ModuleGraph, Map<string, Realm>> = new Map();

  take(graph: ModuleGraph, start: string): Realm {
    const realms = this.realms.get(graph) ?? new Map<string, Realm>();
    this.realms.set(graph, realms);
    const known = realms.get(start);
    if (known !== undefined) {
      known.renew();
      return known;
    }
    const made = new Realm(graph, { isRenewable: true });
    realms.set(start, made);
    return made;
  }
}

const graphs: WeakMap<BuildAsync, ModuleGraph> = new WeakMap();

/** Records the modules that the clients of a lock load. */
export function loadsFrom(build: BuildAsync, graph: ModuleGraph): BuildAsync {
  graphs.set(build, graph);
  return build;
}

/** Returns the modules that the clients of a lock load, or null if none can be reused. */
export function graphToReuse(build: BuildAsync | undefined): ModuleGraph | null {
  const graph = build === undefined ? undefined : graphs.get(build);
  return graph === undefined || graph.packages.length === 0 ? null : graph;
}

const blocks: WeakMap<World, RealmBlock> = new WeakMap();

/** Makes the processes of `world` take their realms from `block`. */
export function takeFrom(block: RealmBlock, world: World): void {
  blocks.set(world, block);
}

/** Returns a function that gives each process of a world a new or a renewed realm. */
export function realmsOf(
  world: World,
  graph: ModuleGraph,
): (client: { readonly name: string; readonly incarnation: number }) => Realm {
  const block = blocks.get(world);
  if (block === undefined) return () => new Realm(graph);
  return ({ name, incarnation }) => block.take(graph, `${name}/${incarnation}`);
}
