/**
 * Adds up the results of many seeds of one system. The counts are plain data. Merging is
 * commutative, so neither the split into chunks nor the speed of the workers affects the result.
 * The schemas validate counts and other sweep data from files.
 */
import { z } from 'zod';
import { FAULT_KINDS, type FaultKind } from '../../core/plan/fault.ts';
import { MOST_TEXT } from '../../text/error-text.ts';
import { withoutIds } from '../../text/output-lines.ts';
import { type CauseCounts, causesSchema, mergeCauses } from './causes.ts';
import { type CoverageCounts, mergeCoverage, NO_COVERAGE } from './coverage.ts';
import { type FaultStages, faultStagesSchema, mergeFaultStages } from './fault-positions.ts';
import { type LeaseCounts, leasesSchema, mergeLeases, NO_LEASES } from './leases.ts';
import { KEPT_ERRORS, mergeSections, NO_SECTIONS, type SectionCounts } from './sections.ts';
import {
  ALL_SIMULATED,
  mergeUnsimulated,
  type UnsimulatedCounts,
  unsimulatedSchema,
} from './unsimulated.ts';

export interface SweepCounts {
  readonly seeds: number;
  readonly events: number;
  /** Seeds that broke at least one listed claim. */
  readonly broken: number;
  /** Seeds on which a listed claim could not be judged. */
  readonly unknown: number;
  readonly claims: Readonly<Record<string, ClaimCounts>>;
  readonly faults: Readonly<Partial<Record<FaultKind, FaultCounts>>>;
  readonly overlap: OverlapCounts;
  readonly losses: OverlapCounts;
  readonly stampede: StampedeCounts;
  readonly sections: SectionCounts;
  readonly coverage: CoverageCounts;
  readonly leases: LeaseCounts;
  readonly unsimulated: UnsimulatedCounts;
  /** Seeds that the system under test did not survive: it threw, hung or ran out of memory. */
  readonly failures: readonly SeedFailure[];
  readonly failed: number;
  /**
   * The number of failed seeds that did not finish. Their thread was killed, because it stopped
   * producing events or filled its memory.
   */
  readonly killed: number;
}

/** All fields except `times` count seeds. */
export interface ClaimCounts {
  readonly broken: number;
  /** The lowest seeds that broke the claim, in ascending order, at most `KEPT_BROKEN`. */
  readonly brokenSeeds: readonly number[];
  /** The causes of the breaches of a listed claim. Absent if no seed broke the claim. */
  readonly causes?: readonly CauseCounts[] | undefined;
  readonly unknown: number;
  /** The lowest seed on which the verdict was unknown, with the reason. */
  readonly firstUnknown: { readonly seed: number; readonly reason: string } | null;
  readonly exercised: number;
  /** Number of times that the claim was exercised, over all seeds. */
  readonly times: number;
}

/**
 * The number of seeds on which a kind of fault fired, the number on which it affected a held grant,
 * and the stages at which it fired.
 */
export interface FaultCounts {
  readonly fired: number;
  readonly overlapped: number;
  readonly strikes: FaultStages;
}

/** Seeds on which something was measured, and the longest duration. */
export interface OverlapCounts {
  readonly seeds: number;
  readonly longestUs: number;
}

export interface StampedeCounts {
  /** Seeds on which several clients computed the same value simultaneously. */
  readonly seeds: number;
  /** Sum over all seeds. */
  readonly computations: number;
  readonly most: number;
}

export interface SeedFailure {
  readonly seed: number;
  readonly error: string;
}

/** Maximum number of seeds of one kind to list. The others are only counted. */
export const KEPT_SEEDS = 10;

/** Maximum number of seeds to list on which a claim broke. */
export const KEPT_BROKEN = 50;

export const NO_COUNTS: SweepCounts = {
  seeds: 0,
  events: 0,
  broken: 0,
  unknown: 0,
  claims: {},
  faults: {},
  overlap: { seeds: 0, longestUs: 0 },
  losses: { seeds: 0, longestUs: 0 },
  stampede: { seeds: 0, computations: 0, most: 0 },
  sections: NO_SECTIONS,
  coverage: NO_COVERAGE,
  leases: NO_LEASES,
  unsimulated: ALL_SIMULATED,
  failures: [],
  failed: 0,
  killed: 0,
};

const EMPTY_CLAIM: ClaimCounts = {
  broken: 0,
  brokenSeeds: [],
  unknown: 0,
  firstUnknown: null,
  exercised: 0,
  times: 0,
};

function mergeSpans(a: OverlapCounts, b: OverlapCounts): OverlapCounts {
  return { seeds: a.seeds + b.seeds, longestUs: Math.max(a.longestUs, b.longestUs) };
}

export function mergeCounts(a: SweepCounts, b: SweepCounts): SweepCounts {
  return {
    seeds: a.seeds + b.seeds,
    events: a.events + b.events,
    broken: a.broken + b.broken,
    unknown: a.unknown + b.unknown,
    claims: mergeRecords(a.claims, b.claims, mergeClaims),
    faults: mergeFaults(a.faults, b.faults),
    overlap: mergeSpans(a.overlap, b.overlap),
    losses: mergeSpans(a.losses, b.losses),
    stampede: {
      seeds: a.stampede.seeds + b.stampede.seeds,
      computations: a.stampede.computations + b.stampede.computations,
      most: Math.max(a.stampede.most, b.stampede.most),
    },
    sections: mergeSections(a.sections, b.sections),
    coverage: mergeCoverage(a.coverage, b.coverage),
    leases: mergeLeases(a.leases, b.leases),
    unsimulated: mergeUnsimulated(a.unsimulated, b.unsimulated),
    failures: [...a.failures, ...b.failures].sort((x, y) => x.seed - y.seed).slice(0, KEPT_SEEDS),
    failed: a.failed + b.failed,
    killed: a.killed + b.killed,
  };
}

/** Returns the first failure of each error. The same error in two processes counts as one. */
export function distinctFailures({ failures }: SweepCounts): readonly SeedFailure[] {
  return failures.filter(
    ({ error }, at) => !failures.slice(0, at).some((before) => isSameError(before.error, error)),
  );
}

/** Returns true if two errors differ only in their process and in words that contain a digit. */
export function isSameError(one: string, other: string): boolean {
  const [first, second] = [one, other].map((error) => withoutIds(error.replace(/^[\w-]+:? /, '')));
  return first === second;
}

/** Sorts kinds by name, since the kind that fired first depends on the chunks. */
function mergeFaults(a: SweepCounts['faults'], b: SweepCounts['faults']): SweepCounts['faults'] {
  const merged = mergeRecords(a, b, (x, y) => ({
    fired: x.fired + y.fired,
    overlapped: x.overlapped + y.overlapped,
    strikes: mergeFaultStages(x.strikes, y.strikes),
  }));
  return Object.fromEntries(Object.entries(merged).sort(([x], [y]) => (x < y ? -1 : 1)));
}

function mergeClaims(a: ClaimCounts, b: ClaimCounts): ClaimCounts {
  return {
    broken: a.broken + b.broken,
    brokenSeeds: [...a.brokenSeeds, ...b.brokenSeeds].sort((x, y) => x - y).slice(0, KEPT_BROKEN),
    ...((a.causes ?? b.causes) === undefined
      ? {}
      : { causes: mergeCauses(a.causes ?? [], b.causes ?? []) }),
    unknown: a.unknown + b.unknown,
    firstUnknown:
      (a.firstUnknown?.seed ?? Infinity) < (b.firstUnknown?.seed ?? Infinity)
        ? a.firstUnknown
        : b.firstUnknown,
    exercised: a.exercised + b.exercised,
    times: a.times + b.times,
  };
}

/** Uses a `Map`, so that a name such as `constructor` is not special. */
function mergeRecords<T>(
  a: Readonly<Record<string, T>>,
  b: Readonly<Record<string, T>>,
  merge: (x: T, y: T) => T,
): Record<string, T> {
  const merged = new Map(Object.entries(a));
  for (const [name, value] of Object.entries(b)) {
    const known = merged.get(name);
    merged.set(name, known === undefined ? value : merge(known, value));
  }
  return Object.fromEntries(merged);
}

/** Returns the counts of a claim, which are all 0 if the claim was never judged. */
export function claimCounts(counts: SweepCounts, claim: string): ClaimCounts {
  const known = Object.hasOwn(counts.claims, claim) ? counts.claims[claim] : undefined;
  return known ?? EMPTY_CLAIM;
}

/** A count or a seed. */
export const countSchema: z.ZodType<number> = z.int().min(0);

type Counts<Name extends string> = Readonly<Record<Name, typeof countSchema>>;

/** Returns schema fields for counts. */
export function counts<const Name extends string>(...names: readonly Name[]): Counts<Name>;
export function counts(...names: readonly string[]): Counts<string> {
  return Object.fromEntries(names.map((name) => [name, countSchema]));
}

/** Text that was truncated before storage. */
export const truncatedTextSchema: z.ZodType<string> = z.string().max(MOST_TEXT);

const claimCountsSchema: z.ZodType<ClaimCounts> = z.strictObject({
  broken: countSchema,
  brokenSeeds: z.array(countSchema).max(KEPT_BROKEN),
  causes: causesSchema.optional(),
  unknown: countSchema,
  firstUnknown: z.strictObject({ seed: countSchema, reason: truncatedTextSchema }).nullable(),
  ...counts('exercised', 'times'),
});

const sectionsSchema: z.ZodType<SectionCounts> = z.strictObject({
  ...counts('planned', 'began', 'ended', 'open', 'entered', 'gaveUp', 'refused', 'crashed'),
  ...counts('unguarded', 'otherFailed'),
  failed: z
    .array(
      z.strictObject({
        error: truncatedTextSchema,
        place: truncatedTextSchema.nullable(),
        ...counts('count', 'firstSeed'),
      }),
    )
    .max(KEPT_ERRORS),
});

export const countsSchema: z.ZodType<SweepCounts> = z.strictObject({
  ...counts('seeds', 'events', 'broken', 'unknown'),
  claims: z.record(z.string(), claimCountsSchema),
  faults: z.partialRecord(
    z.enum(FAULT_KINDS),
    z.strictObject({ ...counts('fired', 'overlapped'), strikes: faultStagesSchema }),
  ),
  overlap: z.strictObject(counts('seeds', 'longestUs')),
  losses: z.strictObject(counts('seeds', 'longestUs')),
  stampede: z.strictObject(counts('seeds', 'computations', 'most')),
  sections: sectionsSchema,
  coverage: z.strictObject(
    counts('contested', 'shared', 'toWrite', 'written', 'readAfter', 'readBack'),
  ),
  leases: leasesSchema,
  unsimulated: unsimulatedSchema,
  failures: z
    .array(z.strictObject({ seed: countSchema, error: truncatedTextSchema }))
    .max(KEPT_SEEDS),
  ...counts('failed', 'killed'),
});

/** Seeds, both ends inclusive. */
export const rangeSchema: z.ZodType<{ readonly from: number; readonly to: number }> =
  z.strictObject(counts('from', 'to'));

/** The modules of a scenario, from path to digest. */
export const modulesSchema: z.ZodType<Readonly<Record<string, string>>> = z.record(
  z.string(),
  z.string(),
);
