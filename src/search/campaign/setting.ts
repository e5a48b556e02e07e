/** The input of a campaign, its events, and its intermediate results per scenario. */
import type { Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ShrinkResult } from '../../core/shrink/shrink.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import type { KeptReplay } from '../corpus/kept-replay.ts';
import type { Chunk } from '../sweep/chunk.ts';
import type { SweepCounts } from '../sweep/counts.ts';
import type { FinishedChunk } from '../sweep/journal.ts';
import type { Pool } from '../sweep/pool.ts';
import type { KeptOutcome, RunDifference, SeedRange, Shard } from '../sweep/shards.ts';
import type { Progress } from '../sweep/sweep.ts';
import type { Named, TaskContext } from '../sweep/tasks.ts';
import type { ExhaustedPlans } from './count-plans.ts';
import type { Exit } from './exit-codes.ts';
import type { EarlyStop, Finding, ScenarioResult, StopReason } from './result.ts';
import type { Repeats, ReuseCheck } from './self-check.ts';

/** A scenario to examine. */
export interface Subject {
  readonly scenario: Scenario;
  /** The file of the scenario, as a user would type it. */
  readonly file: string;
  /** Resolves the names in the scenario. */
  readonly catalogue: Catalogue;
}

/** A kept plan, as read. If it is damaged, `lines` lists each problem and its place. */
export type KeptPlan =
  | {
      readonly kind: 'plan';
      readonly file: string;
      readonly plan: Plan;
      readonly catalogue: Catalogue;
      /** True if the code under test may have changed since the plan was kept. */
      readonly hasChanged: boolean;
      /** The differences from the modules that the plan was made with, one line each. */
      readonly moduleChanges: readonly string[];
    }
  | { readonly kind: 'damaged'; readonly file: string; readonly lines: readonly string[] };

/** The outcome of an unreadable kept plan. */
export const DAMAGED = 'damaged';

/** Records the finished chunks of a sweep, so that a later attempt can resume after them. */
export interface SweepJournal {
  readonly finished: readonly FinishedChunk[];
  /** The time that earlier attempts took. */
  readonly milliseconds: number;
  add(chunk: Chunk, counts: SweepCounts): void;
  /** Deletes the chunks of a system that is examined again. */
  forget(system: string): void;
}

/** The events of a campaign, in the order in which they occur. */
export type CampaignEvent =
  | { readonly kind: 'scenario'; readonly subject: Subject }
  | { readonly kind: 'not counted'; readonly system: string; readonly why: string | null }
  | {
      readonly kind: 'plans counted';
      readonly subject: Subject;
      readonly plans: ReadonlyMap<string, ExhaustedPlans>;
    }
  /** `replay` is null for a damaged plan. */
  | {
      readonly kind: 'kept plan';
      readonly kept: KeptPlan;
      readonly replay: KeptReplay | null;
      readonly outcome: KeptOutcome;
    }
  | {
      readonly kind: 'kept plans';
      readonly subject: Subject;
      readonly outcomes: readonly KeptOutcome[];
    }
  | {
      readonly kind: 'repeated';
      readonly subject: Subject;
      readonly runs: number;
      readonly difference: RunDifference | null;
      readonly lost: string | null;
    }
  | ({ readonly kind: 'modules' } & ReuseCheck)
  /** A system dies of the same error on each of its first seeds, so its other seeds are skipped. */
  | { readonly kind: 'dies'; readonly system: string }
  /** A system is examined again from its first seed. Modules are now loaded for each seed. */
  | {
      readonly kind: 'begun again';
      readonly system: string;
      readonly seed: number;
      readonly what: string;
    }
  | { readonly kind: 'examined'; readonly chunk: Chunk; readonly counts: SweepCounts }
  | ({ readonly kind: 'progress'; readonly runs: number; readonly seconds: number } & Progress)
  /** The first seed that broke a claim that should hold. */
  | ({ readonly kind: 'failure found' } & Pick<ShrunkFailure, 'system' | 'claim' | 'seed'>)
  | {
      readonly kind: 'swept';
      readonly part: SeedRange;
      readonly runs: number;
      readonly milliseconds: number;
      readonly killed: number;
      readonly cutShort: EarlyStop | null;
    }
  /** In an exhaustive search, the search for the shortest faults that break a claim starts. */
  | { readonly kind: 'edges'; readonly system: string }
  /** A run did not finish, so its plan is reported unshrunk, or its system without edges. */
  | { readonly kind: 'run lost'; readonly system: string; readonly what: string }
  | {
      readonly kind: 'other causes';
      readonly system: string;
      readonly claim: string;
      readonly seed: number;
      readonly causes: readonly string[];
    }
  /** The counterexamples of a claim. The first one is from the lowest seeds. */
  | {
      readonly kind: 'failure shrunk';
      readonly system: string;
      readonly claim: string;
      readonly findings: readonly [Finding, ...Finding[]];
      readonly milliseconds: number;
    }
  /** A claim broke in the sweep, but no seed breaks it again. */
  | ({ readonly kind: 'vanished' } & Pick<ShrunkFailure, 'subject' | 'system' | 'claim' | 'seed'>)
  | {
      readonly kind: 'conclusion';
      readonly subject: Subject;
      readonly examined: Examined;
      readonly concluded: Concluded;
    };

/** The results of a scenario once its seeds have been run. */
export interface Examined {
  /** The counts of each system, by name. */
  readonly countsBySystem: ReadonlyMap<string, SweepCounts>;
  /** The seeds that were requested. For a shard, the seeds of all shards. */
  readonly range: SeedRange;
  /** The reason why some requested seeds were not examined here, or null if all were. */
  readonly cutShort: EarlyStop | null;
  /** True for one shard of several, which leaves the conclusion to the merge. */
  readonly isPart: boolean;
  readonly milliseconds: number;
  readonly keptPlans: readonly KeptOutcome[];
  /** The number of runs repeated to check determinism, and the first difference or null. */
  readonly repeated: number;
  readonly difference: RunDifference | null;
  /** The plans of each system in an exhaustive search, or null if seeds are examined. */
  readonly plans: ReadonlyMap<string, ExhaustedPlans> | null;
}

export interface Concluded {
  readonly result: ScenarioResult;
  readonly findings: readonly Finding[];
  readonly exit: Exit;
  /** Seeds and events examined, over all systems, and the time this took. */
  readonly seeds: number;
  readonly events: number;
  readonly milliseconds: number;
}

/** A shrunk failure, which a report turns into a finding. */
export interface ShrunkFailure {
  readonly subject: Subject;
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  /** The number of this counterexample among the counterexamples of its claim, from 1. */
  readonly number: number;
  readonly original: Plan;
  readonly result: ShrunkPlan;
}

export type ShrunkPlan = Pick<ShrinkResult, 'plan' | 'boundary' | 'whyNoBoundary' | 'others'>;

/** Limits on the shrinking of one system. */
export interface ShrinkLimits {
  /** Returns the claims to shrink. All of them broke. */
  readonly claimsOf: (system: SystemScenario, counts: SweepCounts) => readonly string[];
  /** The number of seeds to shrink for the first kind of failure of a claim. */
  readonly seeds: number;
  /** The number of kinds of failure to shrink per claim. */
  readonly kinds: number;
  /** True to report a plan unshrunk, as written, if its scenario leaves nothing to chance. */
  readonly keepsWritten: boolean;
}

/** Reason to end a sweep early. `enough` means that the remaining seeds would add nothing. */
export type SweepEnd = StopReason | 'enough';

/** The options of a campaign. */
export interface CampaignSetting {
  /** The seeds to examine. In an exhaustive search, null means all plans. */
  readonly range: SeedRange | null;
  readonly shard: Shard | null;
  /** Runs user code; if null, this thread runs it. The caller closes the pool. */
  readonly pool: Pool | null;
  /** Returns the plans to replay first. They are read on demand. */
  readonly keptPlans: (subject: Subject) => AsyncIterable<KeptPlan> | Iterable<KeptPlan>;
  readonly repeats: Repeats;
  /** True to allow the reuse of realms between seeds if checks find no difference. */
  readonly reusesRealms: boolean;
  readonly journal: (subject: Subject, range: SeedRange) => SweepJournal | null;
  /** Seeds per chunk in this thread if there is no pool. The default is large enough for speed. */
  readonly chunkSeeds?: number;
  /** Called before each chunk. If it returns a reason, the sweep of the current scenario ends. */
  readonly stop: () => SweepEnd | null;
  /** True if the campaign should stop with the results it has. */
  readonly isInterrupted: () => boolean;
  /** True if the campaign should only report the failures found so far. Default: never. */
  readonly isOutOfTime?: () => boolean;
  readonly shrinking: ShrinkLimits;
  /** True if claims that should hold need not be exercised. By default, they must be exercised. */
  readonly isCalm?: boolean;
  /** True if an exhaustive search also reports the shortest fault that breaks each broken claim. */
  readonly findsEdges: boolean;
  /** Turns a failure into a finding, or null if the plan does not break the claim again. */
  readonly describe: (failure: ShrunkFailure) => Promise<Finding | null>;
  /** Receives each event. The campaign awaits the returned promise, except during the sweep. */
  readonly emit: (event: CampaignEvent) => void | Promise<void>;
  /** Labels the work that this thread does, for a watchdog. */
  readonly named?: Named;
  /** Returns results from elsewhere, for a merge. If absent, the seeds are examined here. */
  readonly examined?: (subject: Subject) => Promise<Examined>;
}

/** Returns true if the campaign must not start any more work. */
export function isOver({
  isInterrupted,
  isOutOfTime,
}: Pick<CampaignSetting, 'isInterrupted' | 'isOutOfTime'>): boolean {
  return isInterrupted() || isOutOfTime?.() === true;
}

/** Returns the context in which single tasks of the campaign run. */
export function tasksOf({ catalogue }: Subject, setting: CampaignSetting): TaskContext {
  const { pool, named } = setting;
  const isGivenUp = (): boolean => isOver(setting);
  return { pool, catalogue, isGivenUp, ...(named === undefined ? {} : { named }) };
}
