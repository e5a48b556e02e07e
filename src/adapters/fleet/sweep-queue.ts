/**
 * What a coordinator needs of a queue, and what travels over it: the jobs, what comes back of them,
 * and what a sweep's record says. All of that is data, never code: numbers, names and the text of
 * the scenario; whoever takes one checks it before use.
 */
import { z } from 'zod';
import type { Boundary } from '../../core/shrink/boundary.ts';
import { MAX_OTHERS } from '../../core/shrink/search.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import {
  countSchema,
  counts,
  cutTextSchema,
  type Tally,
  tallySchema,
} from '../../search/sweep/tally.ts';
import { type SweepRecord, sweepRecordSchema } from './sweep-record.ts';

interface JobOfSweep {
  /** The id of its sweep, whose record says the rest. */
  readonly sweep: string;
  /** The version of fencepost that is to do it. */
  readonly fencepost: string;
}

/** Seeds of a sweep to examine. */
export interface ChunkJob extends JobOfSweep, SeedRange {
  readonly kind: 'chunk';
  readonly chunk: number;
}

/** A claim of a system, and a seed that broke it. */
export interface FailureKind {
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
}

/** The first seed of a kind of failure, to shrink. */
export interface ShrinkJob extends JobOfSweep, FailureKind {
  readonly kind: 'shrink';
  /** Where the plan will be written, and the folder of kept plans, as its text names them. */
  readonly planFile: string;
}

export type FleetJob = ChunkJob | ShrinkJob;

const ofSweep = { sweep: z.string(), fencepost: z.string() };

export const fleetJobSchema: z.ZodType<FleetJob> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('chunk'), ...ofSweep, ...counts('chunk', 'from', 'to') }),
  z.strictObject({
    kind: z.literal('shrink'),
    ...ofSweep,
    system: z.string(),
    claim: z.string(),
    seed: countSchema,
    planFile: z.string(),
  }),
]);

/** A shrunk plan is some kilobytes; a longer one is none that is worth showing. */
const planText = z.string().max(1_000_000);

/** The shrinker's boundary, its plan as the text of a file. */
interface ShrunkBoundary extends Omit<Boundary, 'holdsPlan'> {
  readonly holdsPlan: string;
}

const MOST_SIGNATURE = 64;

/** The first counterexample of a kind of failure. */
export interface ShrunkKind extends FailureKind {
  /** As the text of a plan file; null where there is none. */
  readonly plan: string | null;
  /** The nearest plan that holds; null where there is none. */
  readonly boundary: ShrunkBoundary | null;
  /** Why there is no boundary, a clause; null where there is one. */
  readonly whyNoBoundary: string | null;
  /** Plans, as the text of a file, that broke the claim too, each by another cause. */
  readonly others: readonly { readonly cause: string; readonly plan: string }[];
  /** What happened, in one sentence; why there is no plan, a clause. */
  readonly headline: string;
  /** The id of the failure's signature. */
  readonly signature: string;
}

export const shrunkKindSchema: z.ZodType<ShrunkKind> = z.strictObject({
  system: cutTextSchema,
  claim: cutTextSchema,
  seed: countSchema,
  plan: planText.nullable(),
  boundary: z
    .strictObject({
      what: cutTextSchema,
      parameter: cutTextSchema,
      breaksAtUs: z.int(),
      holdsAtUs: z.int(),
      keepsUs: z.int(),
      isOnlyOne: z.boolean(),
      holdsPlan: planText,
    })
    .nullable(),
  whyNoBoundary: cutTextSchema.nullable(),
  others: z.array(z.strictObject({ cause: cutTextSchema, plan: planText })).max(MAX_OTHERS),
  headline: cutTextSchema,
  signature: z.string().max(MOST_SIGNATURE),
});

/** What a sweep's record on the queue says: the sweep, and whether it is to go on. */
export interface SweepEntry {
  readonly sweep: SweepRecord;
  readonly state: 'running' | 'stopped';
}

export const sweepEntrySchema: z.ZodType<SweepEntry> = z.strictObject({
  sweep: sweepRecordSchema,
  state: z.enum(['running', 'stopped']),
});

/** How far a sweep is, as its coordinator last told; the beat shows that it is alive. */
export interface SweepProgress {
  readonly coordinator: string;
  /** How often the sweep was taken over: the highest one owns it. */
  readonly epoch: number;
  readonly beat: number;
  /** Chunks that are counted, of how many. */
  readonly done: number;
  readonly chunks: number;
  /** Examinations, a seed of one system each: done, of how many. */
  readonly runs: number;
  readonly total: number;
  readonly broken: number;
  /** Of about the last minute; 0 while unknown. */
  readonly runsPerSecond: number;
  /** Seeds that broke a listed claim, by system and claim. */
  readonly kinds: Readonly<Record<string, number>>;
}

export const sweepProgressSchema: z.ZodType<SweepProgress> = z.strictObject({
  coordinator: cutTextSchema,
  ...counts('epoch', 'beat', 'done', 'chunks', 'runs', 'total', 'broken'),
  runsPerSecond: z.number().min(0),
  kinds: z.record(z.string(), countSchema),
});

export interface ChunkResult extends SeedRange {
  readonly chunk: number;
  /** By the name of the system. */
  readonly tallies: Readonly<Record<string, Tally>>;
  /** How long the worker took; no part of what it came to. */
  readonly milliseconds: number;
}

export const chunkResultSchema: z.ZodType<ChunkResult> = z.strictObject({
  ...counts('chunk', 'from', 'to'),
  tallies: z.record(z.string(), tallySchema),
  milliseconds: countSchema,
});

/** A job that ended, as the queue tells it; what it says is checked by whoever reads it. */
export interface EndedJob {
  readonly id: string;
  /** What the worker returned; null where it cannot be read. */
  readonly returned: unknown;
}

/** A job that was given up: tried, or lost by workers, too often. */
export interface FailedJob {
  readonly id: string;
  readonly why: string;
}

/** Jobs of a sweep, or of all; and the workers that take them. */
export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly ended: number;
  readonly workers: number;
}

/** A record on the queue, and what its coordinator last told; null where it told nothing yet. */
export interface ListedSweep {
  readonly id: string;
  readonly entry: SweepEntry;
  readonly progress: SweepProgress | null;
}

/** Which jobs are read: at most so many, and none of those that are known. */
export interface Wanted {
  readonly atMost: number;
  readonly known: ReadonlySet<string>;
}

export interface AddedJob {
  readonly id: string;
  readonly job: ChunkJob | ShrinkJob;
}

/**
 * Everything here may be repeated without harm: that is how it survives a queue, or a coordinator,
 * that goes away in the middle. Each sweep has its own jobs.
 */
export interface SweepQueue {
  /** Adds a record where there is none, and gives the one that is there now. */
  announce(id: string, sweep: SweepRecord): Promise<ListedSweep>;
  /** Null where there is no record that can be read. */
  sweep(id: string): Promise<ListedSweep | null>;
  sweeps(): Promise<readonly ListedSweep[]>;
  setState(id: string, state: SweepEntry['state']): Promise<void>;
  tell(id: string, progress: SweepProgress): Promise<void>;
  /** Takes off all there is of a sweep: its record, its jobs, also those at work, its results. */
  end(id: string): Promise<void>;
  /** Adds jobs of one sweep; one whose id is there already is left as it is. */
  add(jobs: readonly AddedJob[]): Promise<void>;
  /** Jobs of this sweep that ended. */
  ended(id: string, wanted: Wanted): Promise<readonly EndedJob[]>;
  /** Jobs of this sweep that were given up. */
  failed(id: string): Promise<readonly FailedJob[]>;
  /** Results that workers had after their job was given to another. */
  late(id: string, wanted: Wanted): Promise<readonly EndedJob[]>;
  /** Takes jobs off the queue, whatever became of them; one that a worker holds stays. */
  remove(id: string, jobIds: readonly string[]): Promise<void>;
  removeLate(id: string, jobIds: readonly string[]): Promise<void>;
  /** Takes every job of a sweep off the queue that no worker holds and that has no result. */
  clear(id: string): Promise<void>;
  /** Of one sweep: its jobs, and the workers that take them. */
  counts(id: string): Promise<QueueCounts>;
  /** Of all sweeps that have a record; all workers that are connected. */
  total(): Promise<QueueCounts>;
  /** What workers last said of why they leave the sweep to others: few lines, each once. */
  refusals(id: string): Promise<readonly string[]>;
  close(): Promise<void>;
}
