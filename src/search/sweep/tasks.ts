/**
 * Single pieces of work that run code of users, for a thread that can be ended: whether a seed
 * gives the same twice, how many plans there are, from which length on a fault breaks a claim, and
 * what a plan shrinks to. Without a pool this thread does them.
 */
import type { Catalogue, LoadedModule } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ShrinkResult } from '../../core/shrink/shrink.ts';
import { failureText } from '../../core/world/failure.ts';
import type { Examination } from '../../harness.ts';
import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { examineEither, shrinkFailureAsync, watchAsync } from '../../host/async/run-async.ts';
import { entitled, runName } from '../../host/async/whereabouts.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { errorText } from '../../text/error-text.ts';
import type { SystemEdges } from '../campaign/result.ts';
import { type EdgeQuestion, findEdges } from '../exhaust/edge.ts';
import { countPlans, type PlanCount } from '../exhaust/exhaust.ts';
import { prepareScenario, repeatSeed } from './examiner.ts';
import { type BlockComparison, type BlockToCompare, compareBlock } from './keepers.ts';

export type PoolTask =
  /** Whether two runs of a seed differ. */
  | {
      readonly kind: 'repeat';
      readonly scenario: Scenario;
      readonly system: string;
      readonly seed: number;
    }
  /** Whether a block of seeds is the same with realms that are used again and with new ones. */
  | (BlockToCompare & { readonly kind: 'compare' })
  /** How many plans of a system of a narrowed scenario there are. */
  | { readonly kind: 'count'; readonly scenario: Scenario; readonly system: string }
  /** From which length on a fault breaks the claims of a system of a narrowed scenario. */
  | (EdgeQuestion & { readonly kind: 'edges' })
  /** Whether the run of a plan fails, and what it prints. */
  | { readonly kind: 'run'; readonly plan: Plan }
  /** What a plan shrinks to; `title` is what its runs are called where they do not end. */
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

/** What a worker answers. */
export type TaskDone =
  /** `difference` says what differs first, in words; null for nothing. */
  | { readonly kind: 'repeated'; readonly difference: string | null }
  | (BlockComparison & { readonly kind: 'compared' })
  | { readonly kind: 'counted'; readonly count: PlanCount }
  | { readonly kind: 'edges'; readonly edges: SystemEdges }
  /** `failure` is null where it does not fail. */
  | { readonly kind: 'ran'; readonly failure: string | null; readonly output: readonly string[] }
  | { readonly kind: 'shrunk'; readonly result: ShrinkResult }
  | { readonly kind: 'threw'; readonly error: string };

export type TaskEnd =
  | TaskDone
  /** Its thread had to be ended: `where` it was, a noun, and `why`, a clause. */
  | { readonly kind: 'lost'; readonly where: string; readonly why: string }
  | { readonly kind: 'given up' };

export interface TaskContext {
  /** Null does it in this thread, which a run without an end would stop. */
  readonly pool: TaskPool | null;
  readonly catalogue: Catalogue;
  /** True ends a task with what it has; a second later without that. */
  readonly isGivenUp: () => boolean;
  /** Names what runs in this thread; absent: shrinking has its title, and the rest no name. */
  readonly named?: Named;
}

/** A piece of work that runs users' code in this thread, for whoever watches it. */
export interface Piece {
  /** What it is, a noun: `seed 3 of unfenced`. */
  readonly what: string;
  /** The seed that it is about; absent: none. */
  readonly seed?: number;
  /** The kept plan that it is about; absent: none. */
  readonly file?: string;
}

/** Runs `work` under the name of a piece. */
export type Named = <R>(piece: Piece, work: () => Promise<R>) => Promise<R>;

/** Has tasks done by threads that it can end. */
interface TaskPool {
  readonly workers: number;
  perform(order: TaskOrder, isGivenUp: () => boolean): Promise<TaskEnd>;
}

/** Has a task done. */
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

/** The same, in this thread. */
export async function performHere(
  task: PoolTask,
  catalogue: Catalogue,
  shouldStop: () => boolean,
  named: Named = ({ what }, work) => (task.kind === 'shrink' ? entitled(what, work) : work()),
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
      const examine = async (): Promise<Examination> => examineEither(plan, [], catalogue);
      const { ending, output = [] } = (await named({ what: runName(plan) }, examine)).trace;
      const failure = ending.kind === 'failed' ? failureText(ending) : null;
      return { kind: 'ran', failure, output };
    }
    const { claim, title, seed } = task;
    const options = { catalogue, shouldStop, breathe: yieldToEventLoop };
    const shrink = (): Promise<ShrinkResult> => shrinkFailureAsync(plan, claim, options);
    return { kind: 'shrunk', result: await named({ what: title, seed }, shrink) };
  } catch (error) {
    return { kind: 'threw', error: errorText(error) };
  }
}
