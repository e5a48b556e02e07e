/**
 * What travels over the queue: the jobs, what comes back of them, and what a sweep's record says.
 * All of it is data, never code: numbers, names and the scenario's text; whoever takes one checks
 * it before use.
 */

import { z } from 'zod';
import type { Boundary } from '../../core/shrink/boundary.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import { countSchema, cutTextSchema, type Tally, tallySchema } from '../../search/sweep/tally.ts';
import { type SweepRecord, sweepRecordSchema } from './sweep-record.ts';

/** Seeds of a sweep to examine. */
export interface ChunkJob {
  readonly kind: 'chunk';
  /** The id of its sweep, whose record says the rest. */
  readonly sweep: string;
  /** The version of fencepost that is to examine it. */
  readonly fencepost: string;
  readonly chunk: number;
  readonly from: number;
  readonly to: number;
}

/** A seed that broke a claim, the first of its kind, to shrink. */
export interface ShrinkJob {
  readonly kind: 'shrink';
  readonly sweep: string;
  readonly fencepost: string;
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  /** Where the plan will be written, and the folder of kept plans, as its text names them. */
  readonly planFile: string;
}

export type FleetJob = ChunkJob | ShrinkJob;

const ofSweep = { sweep: z.string(), fencepost: z.string() };

export const fleetJobSchema: z.ZodType<FleetJob> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('chunk'),
    ...ofSweep,
    chunk: countSchema,
    from: countSchema,
    to: countSchema,
  }),
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
export interface ShrunkKind {
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  /** As the text of a plan file; null where there is none. */
  readonly plan: string | null;
  /** The nearest plan that holds; null where there is none. */
  readonly boundary: ShrunkBoundary | null;
  /** Why there is no boundary, a clause; null where there is one. */
  readonly whyNoBoundary: string | null;
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
      holdsPlan: planText,
    })
    .nullable(),
  whyNoBoundary: cutTextSchema.nullable(),
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
  epoch: countSchema,
  beat: countSchema,
  done: countSchema,
  chunks: countSchema,
  runs: countSchema,
  total: countSchema,
  broken: countSchema,
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
  chunk: countSchema,
  from: countSchema,
  to: countSchema,
  tallies: z.record(z.string(), tallySchema),
  milliseconds: countSchema,
});
