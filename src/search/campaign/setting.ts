/** What a campaign is given, what it emits, and what it knows of a scenario on the way. */
import type { Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ShrinkResult } from '../../core/shrink/shrink.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import type { KeptReplay } from '../corpus/kept-replay.ts';
import type { Chunk } from '../sweep/chunk.ts';
import type { FinishedChunk } from '../sweep/journal.ts';
import type { Pool } from '../sweep/pool.ts';
import type { KeptOutcome, RunDifference, SeedRange, Shard } from '../sweep/shards.ts';
import type { Progress } from '../sweep/sweep.ts';
import type { Tally } from '../sweep/tally.ts';
import type { Named, TaskContext } from '../sweep/tasks.ts';
import type { ExhaustedPlans } from './count-plans.ts';
import type { Exit } from './exit-codes.ts';
import type { CutReason, CutShort, Finding, ScenarioResult } from './result.ts';
import type { Repeats, ReuseCheck } from './self-check.ts';

/** A scenario that is examined. */
export interface Subject {
  readonly scenario: Scenario;
  /** Where it was read from, as a person types it. */
  readonly file: string;
  /** What its words mean. */
  readonly catalogue: Catalogue;
}

/** A kept plan as it was read; `lines` say what is wrong with a damaged one, and where. */
export type KeptPlan =
  | {
      readonly kind: 'plan';
      readonly file: string;
      readonly plan: Plan;
      readonly catalogue: Catalogue;
      /** Whether the code under test may have changed since the plan was kept. */
      readonly hasChanged: boolean;
      /** How the modules differ from those that the plan was made with, a line each. */
      readonly moduleChanges: readonly string[];
    }
  | { readonly kind: 'damaged'; readonly file: string; readonly lines: readonly string[] };

/** The outcome of a kept plan that cannot be read. */
export const DAMAGED = 'damaged';

/** Keeps the chunks of a sweep that are done, so that a later attempt goes on from there. */
export interface SweepJournal {
  readonly finished: readonly FinishedChunk[];
  /** How long earlier attempts took. */
  readonly milliseconds: number;
  add(chunk: Chunk, tally: Tally): void;
  /** Deletes what is known of a system, which is examined again. */
  forget(system: string): void;
}

/** What happens in a campaign, in the order in which it happens. */
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
  /** A system dies of one error on each of its first seeds, and the others are left out. */
  | { readonly kind: 'dies'; readonly system: string }
  /** A system is examined again from its first seed, with modules loaded for each seed. */
  | {
      readonly kind: 'begun again';
      readonly system: string;
      readonly seed: number;
      readonly what: string;
    }
  | { readonly kind: 'examined'; readonly chunk: Chunk; readonly tally: Tally }
  | ({ readonly kind: 'progress'; readonly runs: number; readonly seconds: number } & Progress)
  /** The first seed on which a claim broke that should hold. */
  | ({ readonly kind: 'failure found' } & Pick<ShrunkFailure, 'system' | 'claim' | 'seed'>)
  | {
      readonly kind: 'swept';
      readonly part: SeedRange;
      readonly runs: number;
      readonly milliseconds: number;
      /** Seeds that were ended from outside. */
      readonly killed: number;
      readonly cutShort: CutShort | null;
    }
  /** From which length on a fault breaks what broke is searched now, of an exhaustive search. */
  | { readonly kind: 'edges'; readonly system: string }
  /** A run that did not end while its plan was shrunk, which then stays as it is. */
  | { readonly kind: 'run lost'; readonly system: string; readonly what: string }
  | {
      readonly kind: 'other causes';
      readonly system: string;
      readonly claim: string;
      readonly seed: number;
      readonly causes: readonly string[];
    }
  /** One or more counterexamples of a claim, the first being that of its lowest seeds. */
  | {
      readonly kind: 'failure shrunk';
      readonly system: string;
      readonly claim: string;
      readonly findings: readonly [Finding, ...Finding[]];
      readonly milliseconds: number;
    }
  /** A claim broke in the sweep, and no seed breaks it again. */
  | ({ readonly kind: 'vanished' } & Pick<ShrunkFailure, 'subject' | 'system' | 'claim' | 'seed'>)
  | {
      readonly kind: 'conclusion';
      readonly subject: Subject;
      readonly examined: Examined;
      readonly concluded: Concluded;
    };

/** What is known of a scenario once its seeds are done. */
export interface Examined {
  /** By the name of the system. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** The seeds that were asked for; of a shard, those of all shards. */
  readonly range: SeedRange;
  /** Why not every seed was examined here that was to be; null if every one was. */
  readonly cutShort: CutShort | null;
  /** Whether this is one shard of several, which leaves the conclusion to the merge. */
  readonly isPart: boolean;
  readonly milliseconds: number;
  readonly keptPlans: readonly KeptOutcome[];
  /** How many runs were repeated to check determinism, and the first difference. */
  readonly repeated: number;
  readonly difference: RunDifference | null;
  /** The plans of each system in an exhaustive search; null where seeds are examined. */
  readonly plans: ReadonlyMap<string, ExhaustedPlans> | null;
}

/** The conclusion on one scenario. */
export interface Concluded {
  readonly result: ScenarioResult;
  readonly findings: readonly Finding[];
  readonly exit: Exit;
  /** Seeds and events that were examined, of all systems together, and how long that took. */
  readonly seeds: number;
  readonly events: number;
  readonly milliseconds: number;
}

/** A failure that was shrunk, from which a report makes a finding. */
export interface ShrunkFailure {
  readonly subject: Subject;
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  /** Which counterexample of its claim it is, from 1. */
  readonly number: number;
  readonly original: Plan;
  readonly result: ShrunkPlan;
}

export type ShrunkPlan = Pick<ShrinkResult, 'plan' | 'boundary' | 'whyNoBoundary' | 'others'>;

/** How much is shrunk of a system. */
export interface ShrinkLimits {
  /** The claims of it that are shrunk, all of which broke. */
  readonly claimsOf: (system: SystemScenario, tally: Tally) => readonly string[];
  /** Seeds of the first kind of failure of a claim. */
  readonly seeds: number;
  /** Kinds of failure of a claim. */
  readonly kinds: number;
  /** Whether a scenario that leaves nothing to chance is described as it is written, not shrunk. */
  readonly keepsWritten: boolean;
}

/** What ends the seeds of a scenario early; `enough` leaves nothing to learn from the rest. */
export type SweepEnd = CutReason | 'enough';

/** What the caller decides. */
export interface CampaignSetting {
  /** The seeds; of an exhaustive search null means all plans. */
  readonly range: SeedRange | null;
  readonly shard: Shard | null;
  /** Where users' code runs; null is this thread. The caller closes it. */
  readonly pool: Pool | null;
  /** The plans to replay first, read as they are asked for. */
  readonly keptPlans: (subject: Subject) => AsyncIterable<KeptPlan> | Iterable<KeptPlan>;
  readonly repeats: Repeats;
  /** Whether realms may be used again from seed to seed, if checks find no difference. */
  readonly reusesRealms: boolean;
  readonly journal: (subject: Subject, range: SeedRange) => SweepJournal | null;
  /** Seeds per chunk in this thread, where there is no pool; absent: enough for speed. */
  readonly chunkSeeds?: number;
  /** Asked before each chunk; a reason ends the seeds of the scenario at hand. */
  readonly stop: () => SweepEnd | null;
  /** Whether the campaign is to end with what it has. */
  readonly isInterrupted: () => boolean;
  /** Whether it is to begin nothing more but to describe what broke; absent: as `isInterrupted`. */
  readonly isOutOfTime?: () => boolean;
  readonly shrinking: ShrinkLimits;
  /** Whether no claim has to be exercised; absent: each that should hold has to. */
  readonly isCalm?: boolean;
  /** Whether an exhaustive search says from which length on a fault breaks what broke. */
  readonly findsEdges: boolean;
  /** Makes a finding of a failure; null if its plan does not break the claim once more. */
  readonly describe: (failure: ShrunkFailure) => Promise<Finding | null>;
  /** Gets each event; it is waited for, except during the sweep. */
  readonly emit: (event: CampaignEvent) => void | Promise<void>;
  /** Names what runs in this thread, for whoever watches it. */
  readonly named?: Named;
  /** What was examined elsewhere, by a merge; absent: examined here. */
  readonly examined?: (subject: Subject) => Promise<Examined>;
}

/** Whether nothing more is to be begun. */
export function isOver({
  isInterrupted,
  isOutOfTime,
}: Pick<CampaignSetting, 'isInterrupted' | 'isOutOfTime'>): boolean {
  return isInterrupted() || isOutOfTime?.() === true;
}

/** Returns where and how single pieces of work are done. */
export function tasksOf({ catalogue }: Subject, setting: CampaignSetting): TaskContext {
  const { pool, named } = setting;
  const isGivenUp = (): boolean => isOver(setting);
  return { pool, catalogue, isGivenUp, ...(named === undefined ? {} : { named }) };
}
