/**
 * Finds modules that keep something from one run to the next, although they did nothing as they
 * were loaded: the seeds of a block are run with realms that are used again and with new ones, and
 * are to be the same. Where they are not, each package is taken out in turn: the one without which
 * they are is the one that keeps something.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examineEither } from '../../host/async/run-async.ts';
import type { ModuleGraph } from '../../host/realm/module-graph.ts';
import { graphToReuse, RealmBlock } from '../../host/realm/realm-blocks.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { BuildAsync } from '../../systems/protocol.ts';
import { traceDifference } from './examiner.ts';

export interface BlockToCompare {
  readonly scenario: Scenario;
  readonly system: string;
  /** The first of its seeds, which begins a block, and how many at most. */
  readonly from: number;
  readonly seeds: number;
}

/** What makes a system's runs differ where realms are used again. */
export interface Keeper {
  readonly seed: number;
  /** Of the package that keeps something; null where it is none alone. */
  readonly name: string | null;
  /** In words. */
  readonly what: string;
}

export interface BlockComparison {
  /** How many seeds were the same both ways. */
  readonly same: number;
  readonly keeper: Keeper | null;
}

/** Whether a system has modules that can be used again. */
export function canReuse(scenario: Scenario, system: string, catalogue: Catalogue): boolean {
  return graphToReuse(buildOf({ scenario, system }, catalogue)) !== null;
}

/** Runs the seeds of a block both ways, until `shouldStop`. */
export async function compareBlock(
  block: BlockToCompare,
  catalogue: Catalogue,
  shouldStop: () => boolean,
): Promise<BlockComparison> {
  const { scenario, system, from, seeds } = block;
  const graph = graphToReuse(buildOf(block, catalogue));
  const realms = new RealmBlock();
  let same = 0;
  if (graph === null) return { same, keeper: null };
  for (let seed = from; seed < from + seeds && !shouldStop(); seed += 1) {
    const plan = expand(scenario, system, seed);
    const fresh = await traceOf(plan, catalogue);
    const what = traceDifference(await traceOf(plan, catalogue, realms), fresh);
    if (what !== null) {
      const name = await keeperIn(
        graph,
        (): Promise<boolean> => isSame({ ...block, seeds: seed - from + 1 }, catalogue),
      );
      return { same, keeper: { seed, name, what } };
    }
    same += 1;
  }
  return { same, keeper: null };
}

function buildOf(
  { scenario, system }: Pick<BlockToCompare, 'scenario' | 'system'>,
  { locks }: Catalogue,
): BuildAsync | undefined {
  const lock = scenario.systems.find(({ name }) => name === system)?.lock ?? '';
  return locks.get(lock)?.buildAsync;
}

async function traceOf(plan: Plan, catalogue: Catalogue, realms?: RealmBlock): Promise<Trace> {
  const options = realms === undefined ? {} : { realms };
  return (await examineEither(plan, [], catalogue, options)).trace;
}

/** Whether the last seed of a block is the same both ways. */
async function isSame(
  { scenario, system, from, seeds }: BlockToCompare,
  catalogue: Catalogue,
): Promise<boolean> {
  const realms = new RealmBlock();
  const last = expand(scenario, system, from + seeds - 1);
  for (let seed = from; seed < from + seeds - 1; seed += 1) {
    await traceOf(expand(scenario, system, seed), catalogue, realms);
  }
  const used = await traceOf(last, catalogue, realms);
  return traceDifference(used, await traceOf(last, catalogue)) === null;
}

async function keeperIn(
  graph: ModuleGraph,
  isSameWithout: () => Promise<boolean>,
): Promise<string | null> {
  for (const name of graph.packages) {
    graph.keepers.add(name);
    const isKeeper = await isSameWithout();
    graph.keepers.delete(name);
    if (isKeeper) return name;
  }
  return null;
}
