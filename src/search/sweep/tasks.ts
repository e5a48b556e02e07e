/**
 * Performs single tasks that run user code, on a thread that can be killed. Without a pool, tasks
 * run on this thread.
 */
import type { Catalogue, LoadedModule } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ShrinkResult } from '../../core/shrink/shrink.ts';
import { failureText } from '../../core/world/failure.ts';
import type { SeedResult } from '../../harness.ts';
import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { runName, withLabel } from '../../host/async/progress-beacon.ts';
import { examineEither, shrinkFailureAsync, watchAsync } from '../../host/async/run-async.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { errorText } from '../../text/error-text.ts';
import type { SystemEdges } from '../campaign/result.ts';
import { type EdgeQuestion, findEdges } from '../exhaust/edge.ts';
import { countPlans, type PlanCount } from '../exhaust/exhaust.ts';
import { prepareScenario, repeatSeed } from './examiner.ts';
import { type BlockComparison, type BlockToCompare, compareBlock } from './stateful-modules.ts';

export type PoolTask =
  /** Checks whether two runs of a seed differ. */
  | {
      readonly kind: 'repeat';
      readonly scenario: Scenario;
      readonly system: string;
      readonly seed: number;
    }
  /** Compares a block of seeds with reused realms and with new ones. */
  | (BlockToCompare & { readonly kind: 'compare' })
  /** Counts the plans of a system of a narrowed scenario. */
  | { readonly kind: 'count'; readonly scenario: Scenario; readonly system: string }
  /** Finds the shortest faults that break the claims of a system of a narrowed scenario. */
  | (EdgeQuestion & { readonly kind: 'edges' })
  /** Runs a plan, to find out if it fails and what it prints. */
  | { readonly kind: 'run'; readonly plan: Plan }
  /** Shrinks a plan. `title` labels its runs in case they do not finish. */
  | {
      readonly kind: 'shrink';
      readonly plan: Plan;
      readonly claim: string;
      readonly title: string;
      readonly seed: number;
    };

export interface TaskOrder {
  readonly task: PoolTask;
  readonly modules: readonly LoadedModule[];
}

/** The answer of a worker. */
export type TaskDone =
  /** `difference` describes the first difference, or is null if there is none. */
  | { readonly kind: 'repeated'; readonly difference: string | null }
  | (BlockComparison & { readonly kind: 'compared' })
  | { readonly kind: 'counted'; readonly count: PlanCount }
  | { readonly kind: 'edges'; readonly edges: SystemEdges }
  /** `failure` is null if the run does not fail. */
  | { readonly kind: 'ran'; readonly failure: string | null; readonly output: readonly string[] }
  | { readonly kind: 'shrunk'; readonly result: ShrinkResult }
  | { readonly kind: 'threw'; readonly error: string };

export type TaskEnd =
  | TaskDone
  /** The thread had to be killed. `where` is a noun phrase for its activity, and `why` a clause. */
  | { readonly kind: 'lost'; readonly where: string; readonly why: string }
  | { readonly kind: 'given up' };

export interface TaskContext {
  /** Null means this thread, which a run that never ends would block. */
  readonly pool: TaskPool | null;
  readonly catalogue: Catalogue;
  /**
   * If it returns true, the task ends with its results so far. One second later, the task is
   * killed.
   */
  readonly isGivenUp: () => boolean;
  /** Labels the work on this thread. By default, only shrinking has a label: its title. */
  readonly named?: Named;
}

/** A unit of work that runs user code on this thread, for a watchdog. */
export interface Piece {
  /** A noun phrase: `seed 3 of unfenced`. */
  readonly what: string;
  /** The seed of this work, if any. */
  readonly seed?: number;
  /** The kept plan of this work, if any. */
  readonly file?: string;
}

/** Runs `work` with the label of a piece. */
export type Named = <R>(piece: Piece, work: () => Promise<R>) => Promise<R>;

interface TaskPool {
  readonly workers: number;
  perform(order: TaskOrder, isGivenUp: () => boolean): Promise<TaskEnd>;
}

/** Performs a task, in the pool if there is one. */
export async function performTask(
  task: PoolTask,
  { pool, catalogue, isGivenUp, named }: TaskContext,
): Promise<TaskEnd> {
  const { modules, isLoadable } = catalogue;
  if (pool !== null && pool.workers > 0 && isLoadable)
    return await pool.perform({ task, modules }, isGivenUp);
  await yieldToEventLoop();
  return await performHere(task, catalogue, isGivenUp, named);
}

/** Performs a task on this thread. */
export async function performHere(
  task: PoolTask,
  catalogue: Catalogue,
  shouldStop: () => boolean,
  named: Named = ({ what }, work) => (task.kind === 'shrink' ? withLabel(what, work) : work()),
): Promise<TaskDone> {
  try {
    if (task.kind === 'repeat') {
      const { scenario, system, seed } = task;
      await prepareScenario(scenario, catalogue);
      const piece = { what: `seed ${seed} of ${system}`, seed };
      const repeat = (): Promise<string | null> => repeatSeed(scenario, system, seed, catalogue);
      const difference = await named(piece, repeat);
      return { kind: 'repeated', difference };
    }
    if (task.kind === 'compare') {
      await prepareScenario(task.scenario, catalogue);
      return { kind: 'compared', ...(await compareBlock(task, catalogue, shouldStop)) };
    }
    if (task.kind === 'count') {
      const { scenario, system } = task;
      await prepareScenario(scenario, catalogue);
      const options = { catalogue, watch: watchAsync, shouldStop };
      const piece = { what: `plans of ${system}, counted by running them,` };
      const count = await named(piece, () => countPlans(scenario, system, options));
      return { kind: 'counted', count };
    }
    if (task.kind === 'edges') {
      await prepareScenario(task.scenario, catalogue);
      const stopsAfterTurn = async (): Promise<boolean> => {
        await yieldToEventLoop();
        return shouldStop();
      };
      const edges = await findEdges(task, { catalogue, shouldStop: stopsAfterTurn });
      return { kind: 'edges', edges };
    }
    const { plan } = task;
    await prepare([plan.system], catalogue);
    if (task.kind === 'run') {
      const examine = async (): Promise<SeedResult> => examineEither(plan, [], catalogue);
      const { ending, output = [] } = (await named({ what: runName(plan) }, examine)).trace;
      const failure = ending.kind === 'failed' ? failureText(ending) : null;
      return { kind: 'ran', failure, output };
    }
    const { claim, title, seed } = task;
    const options = { catalogue, shouldStop, yieldToEventLoop: yieldToEventLoop };
    const shrink = (): Promise<ShrinkResult> => shrinkFailureAsync(plan, claim, options);
    return { kind: 'shrunk', result: await named({ what: title, seed }, shrink) };
  } catch (error) {
    return { kind: 'threw', error: errorText(error) };
  }
}
