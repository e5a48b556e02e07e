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

/** A kept plan from a file. If it is damaged, `lines` lists each problem and its place. */
export type KeptPlan =
  | {
      readonly kind: 'plan';
      readonly file: string;
      readonly plan: Plan;
      readonly catalogue: Catalogue;
      /** True if the code under test may have changed since the plan was kept. */
      readonly hasChanged: boolean;
      /** One line per module that differs from the module of the kept plan. */
      readonly moduleChanges: readonly string[];
    }
  | { readonly kind: 'damaged'; readonly file: string; readonly lines: readonly string[] };

/** The outcome of an unreadable kept plan. */
export const DAMAGED = 'damaged';

/** Records the finished chunks of a sweep. A later attempt resumes after them. */
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
  /** Each of the system's first seeds died of the same error, so the others are skipped. */
  | { readonly kind: 'dies'; readonly system: string }
  /** A system starts again from its first seed. Each seed now loads its modules. */
  | {
      readonly kind: 'begun again';
      readonly system: string;
      readonly seed: number;
      readonly what: string;
    }
  | { readonly kind: 'examined'; readonly chunk: Chunk; readonly counts: SweepCounts }
  | ({ readonly kind: 'progress'; readonly runs: number; readonly seconds: number } & Progress)
  /** The first seed that broke a `holds` claim. */
  | ({ readonly kind: 'failure found' } & Pick<ShrunkFailure, 'system' | 'claim' | 'seed'>)
  | {
      readonly kind: 'swept';
      readonly part: SeedRange;
      readonly runs: number;
      readonly milliseconds: number;
      readonly killed: number;
      readonly cutShort: EarlyStop | null;
    }
  /** The search for the shortest faults that break a claim starts. */
  | { readonly kind: 'edges'; readonly system: string }
  /** A run did not finish. Its plan is reported unshrunk, or its system without edges. */
  | { readonly kind: 'run lost'; readonly system: string; readonly what: string }
  | {
      readonly kind: 'other causes';
      readonly system: string;
      readonly claim: string;
      readonly seed: number;
      readonly causes: readonly string[];
    }
  /** The counterexamples of a claim, from the lowest seeds first. */
  | {
      readonly kind: 'failure shrunk';
      readonly system: string;
      readonly claim: string;
      readonly findings: readonly [Finding, ...Finding[]];
      readonly milliseconds: number;
    }
  /** A claim broke in the sweep, but not in any later run of its seeds. */
  | ({ readonly kind: 'vanished' } & Pick<ShrunkFailure, 'subject' | 'system' | 'claim' | 'seed'>)
  | {
      readonly kind: 'conclusion';
      readonly subject: Subject;
      readonly examined: Examined;
      readonly concluded: Concluded;
    };

/** The results of a scenario after the sweep. */
export interface Examined {
  /** The counts of each system, by name. */
  readonly countsBySystem: ReadonlyMap<string, SweepCounts>;
  /** The requested seeds. A shard has the seeds of all shards here. */
  readonly range: SeedRange;
  /** The reason why some seeds were not examined. Null if all were. */
  readonly cutShort: EarlyStop | null;
  /** True for one of several shards. The merge then draws the conclusion. */
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

/** A shrunk failure, before it is described as a finding. */
export interface ShrunkFailure {
  readonly subject: Subject;
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  /** The number of this counterexample, from 1 for each claim. */
  readonly number: number;
  readonly original: Plan;
  readonly result: ShrunkPlan;
}

export type ShrunkPlan = Pick<ShrinkResult, 'plan' | 'boundary' | 'whyNoBoundary' | 'others'>;

/** Limits on the shrinking of one system. */
export interface ShrinkLimits {
  /** Returns which broken claims to shrink. */
  readonly claimsOf: (system: SystemScenario, counts: SweepCounts) => readonly string[];
  /** The number of seeds to shrink for the first kind of failure of a claim. */
  readonly seeds: number;
  /** The number of kinds of failure to shrink per claim. */
  readonly kinds: number;
  /** True to report a plan unshrunk if its scenario draws nothing. */
  readonly keepsWritten: boolean;
}

/** Reason to end a sweep early. `enough`: the remaining seeds would add nothing. */
export type SweepEnd = StopReason | 'enough';

/** The options of a campaign. */
export interface CampaignSetting {
  /** The seeds to examine. In an exhaustive search, null means all plans. */
  readonly range: SeedRange | null;
  readonly shard: Shard | null;
  /** Runs user code. If null, this thread runs it. The caller closes the pool. */
  readonly pool: Pool | null;
  /** Returns the plans to replay first. Plans are read on demand. */
  readonly keptPlans: (subject: Subject) => AsyncIterable<KeptPlan> | Iterable<KeptPlan>;
  readonly repeats: Repeats;
  /** True to allow seeds to share realms if checks find no difference. */
  readonly reusesRealms: boolean;
  readonly journal: (subject: Subject, range: SeedRange) => SweepJournal | null;
  /** Seeds per chunk, if there is no pool. The default is large, for speed. */
  readonly chunkSeeds?: number;
  /** Called before each chunk. A reason ends the sweep of the current scenario. */
  readonly stop: () => SweepEnd | null;
  /** True if the campaign should stop with the results so far. */
  readonly isInterrupted: () => boolean;
  /** True if the campaign should only report the failures found so far. Default: never. */
  readonly isOutOfTime?: () => boolean;
  readonly shrinking: ShrinkLimits;
  /** True if `holds` claims need not be exercised. Default false. */
  readonly isCalm?: boolean;
  /** True to report the shortest fault that breaks each broken claim of an exhaustive search. */
  readonly findsEdges: boolean;
  /** Returns a finding, or null if the plan does not break the claim again. */
  readonly describe: (failure: ShrunkFailure) => Promise<Finding | null>;
  /** Receives each event. The campaign awaits the promise, except during the sweep. */
  readonly emit: (event: CampaignEvent) => void | Promise<void>;
  /** Labels the work of this thread, for a watchdog. */
  readonly named?: Named;
  /** Returns results that shards produced. If absent, this process examines the seeds. */
  readonly examined?: (subject: Subject) => Promise<Examined>;
}

/** Returns true if the campaign must not start more work. */
export function isOver({
  isInterrupted,
  isOutOfTime,
}: Pick<CampaignSetting, 'isInterrupted' | 'isOutOfTime'>): boolean {
  return isInterrupted() || isOutOfTime?.() === true;
}

export function tasksOf({ catalogue }: Subject, setting: CampaignSetting): TaskContext {
  const { pool, named } = setting;
  const isGivenUp = (): boolean => isOver(setting);
  return { pool, catalogue, isGivenUp, ...(named === undefined ? {} : { named }) };
}
