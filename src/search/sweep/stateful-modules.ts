/**
 * Finds modules that keep state from one run to the next, although they did nothing suspicious when
 * they were loaded. The seeds of a block must give the same results with reused and with new
 * realms. If they do not, each package in turn is excluded from reuse. If the results then agree,
 * the excluded package keeps the state.
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
  /** The first seed, which begins a block, and the maximum number of seeds. */
  readonly from: number;
  readonly seeds: number;
}

/** The reason why results differ if realms are reused. */
export interface Keeper {
  readonly seed: number;
  /** The package that keeps state, or null if no single package explains the difference. */
  readonly name: string | null;
  readonly what: string;
}

export interface BlockComparison {
  /** The number of seeds that gave the same result both ways. */
  readonly same: number;
  readonly keeper: Keeper | null;
}

/** Returns true if a system has modules that can be reused. */
export function canReuse(scenario: Scenario, system: string, catalogue: Catalogue): boolean {
  return graphToReuse(buildOf({ scenario, system }, catalogue)) !== null;
}

/** Runs the seeds of a block both ways, until `shouldStop` returns true. */
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

/** Returns true if the last seed of a block gives the same result both ways. */
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
    graph.stateful.add(name);
    const isKeeper = await isSameWithout();
    graph.stateful.delete(name);
    if (isKeeper) return name;
  }
  return null;
}
