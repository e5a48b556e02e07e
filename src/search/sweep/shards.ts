/**
 * Splits a range of seeds among machines that need not communicate, and merges their results. A
 * shard is a range of consecutive seeds, because all seeds cost about the same. Any machine can
 * repeat a shard with `--seeds A..B`. The file of a shard contains the counts of its seeds and some
 * plans as drawn; the merge judges and shrinks. A merge is refused if a shard is missing,
 * duplicated, or from another run.
 */
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import type { Data } from '../../core/plan/fields.ts';
import { renderPath } from '../../text/problem.ts';
import { type Form, mismatchReason, originSchema, seal, unseal } from './checksummed.ts';
import {
  countSchema,
  countsSchema,
  isSameError,
  mergeCounts,
  NO_COUNTS,
  rangeSchema,
  type SweepCounts,
} from './counts.ts';

/** Seeds, both ends inclusive. If there are none, `to` is `from - 1`. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

/** Shard `index` of `of`, numbered from 1. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** Maximum number of shards: more than any user has machines, but few enough to count. */
export const MOST_SHARDS = 100_000;

/**
 * Returns the seeds of one shard. The sizes of shards differ by at most one seed; the first shards
 * are larger. If there are more shards than seeds, the last shards are empty.
 */
export function rangeOfShard({ from, to }: SeedRange, { index, of }: Shard): SeedRange {
  const seeds = to - from + 1;
  const least = Math.floor(seeds / of);
  const longer = seeds % of;
  const first = from + (index - 1) * least + Math.min(index - 1, longer);
  return { from: first, to: first + least + (index <= longer ? 1 : 0) - 1 };
}

/** If a system fails with the same error on this many first seeds, its other seeds are skipped. */
export const FIRST_SEEDS = 8;

/** Returns the first seeds of the whole range that lie in `part`. */
export function firstOf({ from }: SeedRange, part: SeedRange): SeedRange {
  const to = Math.min(part.to, from + FIRST_SEEDS - 1);
  return { from: part.from, to: Math.max(part.from - 1, to) };
}

/** Returns the number of skipped seeds: 0 unless all other seeds failed with the same error. */
export function seedsLeftOut(
  { seeds, failures, killed }: SweepCounts,
  { from, to }: SeedRange,
): number {
  const left = to - from + 1 - FIRST_SEEDS;
  const [first] = failures;
  if (left <= 0 || seeds !== FIRST_SEEDS || failures.length !== FIRST_SEEDS) return 0;
  const isAlike = failures.every(
    ({ seed, error }, at) => seed === from + at && isSameError(error, first?.error ?? error),
  );
  return isAlike && killed === 0 ? left : 0;
}

/** A shard and its file. */
export interface FiledShard {
  readonly file: string;
  readonly shard: ShardFile;
}

export type Merge =
  | { readonly kind: 'merged'; readonly merged: Merged }
  /** One line per problem, with its file. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }
  /** The number of missing shards, and the indexes of the first ten. */
  | {
      readonly kind: 'missing';
      readonly first: readonly number[];
      readonly count: number;
      readonly of: number;
    };

const MOST_NAMED = 10;

export interface Merged {
  readonly range: SeedRange;
  readonly scenarios: readonly MergedScenario[];
  /** Shards that ended before all their seeds were examined. */
  readonly truncated: readonly TruncatedShard[];
}

/** The number of examined seeds (or plans) of a system in one shard, and the size of its share. */
export interface TruncatedShard {
  readonly file: string;
  readonly scenario: string;
  readonly system: string;
  readonly examined: number;
  readonly seeds: number;
  readonly trial: 'seed' | 'plan';
}

/** The merged results of all shards for one scenario. */
export interface MergedScenario
  extends Omit<ScenarioShard, 'countsBySystem' | 'milliseconds' | 'repeated'> {
  readonly countsBySystem: ReadonlyMap<string, SweepCounts>;
  /** Sum over all machines. */
  readonly milliseconds: number;
  readonly repeated: number;
}

/** Merges at least one shard, in any order. */
export function mergeShards(shards: readonly FiledShard[]): Merge {
  const sorted = [...shards].sort((a, b) => a.shard.shard.index - b.shard.shard.index);
  const [first] = sorted;
  if (first === undefined) return { kind: 'refused', problems: ['no shard to merge'] };
  const mismatches = shards.flatMap((filed) => {
    const why = whyOfAnotherRun(filed.shard, first.shard);
    return why === null ? [] : [`${filed.file}: differs from ${first.file}: ${why}`];
  });
  if (mismatches.length > 0) return { kind: 'refused', problems: mismatches };
  const doubled = doublesIn(sorted);
  if (doubled.length > 0) return { kind: 'refused', problems: doubled };
  const { of } = first.shard.shard;
  const there = new Set(sorted.map(({ shard }) => shard.shard.index));
  const count = of - there.size;
  if (count > 0) return { kind: 'missing', first: firstMissing(there, of), count, of };
  const counts = sorted.flatMap(countsOf);
  const tooMany = counts.filter(({ examined, seeds }) => examined > seeds);
  if (tooMany.length > 0) return { kind: 'refused', problems: tooMany.map(tooManyText) };
  const partsAt = (at: number): readonly ScenarioShard[] =>
    sorted.flatMap(({ shard }) => shard.scenarios.slice(at, at + 1));
  const scenarios = first.shard.scenarios.map((part, at) => mergeScenario(part, partsAt(at)));
  const isLeftOut = ({ scenario, system }: TruncatedShard): boolean => {
    const merged = scenarios.find(({ origin }) => origin.scenario === scenario);
    const counts = merged?.countsBySystem.get(system) ?? NO_COUNTS;
    return seedsLeftOut(counts, first.shard.range) > 0;
  };
  const truncated = counts.filter((shard) => shard.examined < shard.seeds && !isLeftOut(shard));
  return { kind: 'merged', merged: { range: first.shard.range, scenarios, truncated } };
}

function countsOf({ file, shard }: FiledShard): readonly TruncatedShard[] {
  return shard.scenarios.flatMap(({ origin, countsBySystem, exhausted }) =>
    Object.entries(countsBySystem).map(([system, { seeds: examined }]): TruncatedShard => {
      const range =
        exhausted === undefined ? shard.range : { from: 0, to: (exhausted.plans[system] ?? 0) - 1 };
      const { from, to } = rangeOfShard(range, shard.shard);
      const trial = exhausted === undefined ? 'seed' : 'plan';
      return { file, scenario: origin.scenario, system, examined, seeds: to - from + 1, trial };
    }),
  );
}

function tooManyText({ file, scenario, system, examined, seeds, trial }: TruncatedShard): string {
  const share = `${seeds} ${trial}s of ${scenario}, ${system}`;
  return `${file}: too many results: ${examined}, but its share is ${share}`;
}

/** Identifies the run of a shard. */
export interface ShardRunOrigin extends Pick<ShardFile, 'shard' | 'range'> {
  readonly scenarios: readonly Pick<ScenarioShard, 'origin' | 'exhausted'>[];
}

/** Returns the first difference as a clause, or null if both belong to the same run. */
export function whyOfAnotherRun(theirs: ShardRunOrigin, ours: ShardRunOrigin): string | null {
  if (theirs.shard.of !== ours.shard.of) {
    return `is one of ${theirs.shard.of} shards, not one of ${ours.shard.of}`;
  }
  const [range, other] = [theirs.range, ours.range].map(({ from, to }) => `${from}..${to}`);
  if (range !== other) return `is for the seeds ${range}, not ${other}`;
  const names = (shard: ShardRunOrigin): string =>
    shard.scenarios.map(({ origin }) => origin.scenario).join(', ');
  if (names(theirs) !== names(ours)) {
    return `is for the scenarios ${names(theirs)}, not ${names(ours)}`;
  }
  for (const [at, { origin, exhausted }] of ours.scenarios.entries()) {
    const their = theirs.scenarios[at];
    const why = their === undefined ? null : mismatchReason(their.origin, origin);
    if (why !== null) return why;
    // The number of plans follows from the scenario, unless its code is nondeterministic.
    const [plans, others] = [exhausted?.plans, their?.exhausted?.plans];
    const systems = Object.keys({ ...plans, ...others });
    if (systems.some((system) => plans?.[system] !== others?.[system])) {
      return `has different plan counts for ${origin.scenario}`;
    }
  }
  return null;
}

function doublesIn(sorted: readonly FiledShard[]): readonly string[] {
  return sorted.flatMap(({ file, shard }, at) => {
    const next = sorted[at + 1];
    if (next === undefined || next.shard.shard.index !== shard.shard.index) return [];
    return [`${file} and ${next.file} are both shard ${shard.shard.index} of ${shard.shard.of}`];
  });
}

/** Returns at most `MOST_NAMED` missing indexes, since a file may declare any number of shards. */
function firstMissing(there: ReadonlySet<number>, of: number): readonly number[] {
  const missing: number[] = [];
  for (let index = 1; index <= of && missing.length < MOST_NAMED; index += 1) {
    if (!there.has(index)) missing.push(index);
  }
  return missing;
}

function mergeScenario(first: ScenarioShard, parts: readonly ScenarioShard[]): MergedScenario {
  const countsBySystem = new Map<string, SweepCounts>();
  for (const part of parts) {
    for (const [system, counts] of Object.entries(part.countsBySystem)) {
      countsBySystem.set(system, mergeCounts(countsBySystem.get(system) ?? NO_COUNTS, counts));
    }
  }
  const sum = (of: (part: ScenarioShard) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  return {
    ...first,
    countsBySystem,
    isComplete: parts.every(({ isComplete }) => isComplete),
    milliseconds: sum(({ milliseconds }) => milliseconds),
    repeated: sum(({ repeated }) => repeated),
    counterexamples: parts.flatMap(({ counterexamples }) => counterexamples),
    keptPlans: parts.flatMap(({ keptPlans }) => keptPlans),
    difference: parts.find(({ difference }) => difference !== null)?.difference ?? null,
  };
}

/** The schema of the outcome of replaying one kept plan. */
export const keptOutcomeSchema = z.strictObject({
  file: z.string(),
  outcome: z.string(),
  expected: z.string(),
  divergedAt: z
    .string()
    .nullable()
    .describe('the name in the plan without a match; null unless it diverged'),
});

export type KeptOutcome = Data<typeof keptOutcomeSchema>;

/** The schema of the first event that differed between two runs of one seed. */
export const runDifferenceSchema = z.strictObject({
  system: z.string(),
  seed: countSchema,
  what: z.string(),
});

export type RunDifference = Data<typeof runDifferenceSchema>;

const FORM: Form = { type: 'shard', version: 3 };

/** A seed that broke a listed claim, with its plan as drawn. */
const counterexample = z.strictObject({
  system: z.string(),
  claim: z.string(),
  seed: countSchema,
  plan: z.string(),
});

export type Counterexample = Data<typeof counterexample>;

const scenarioShard = z.strictObject({
  origin: originSchema,
  /** The path of the scenario, as typed on the machine of the shard, and the scenario's text. */
  file: z.string(),
  text: z.string(),
  /** True if every seed of the shard was examined. */
  isComplete: z.boolean(),
  milliseconds: countSchema,
  /** By name of the system. */
  countsBySystem: z.record(z.string(), countsSchema),
  counterexamples: z.array(counterexample),
  /** The outcomes of the kept plans. Only the first shard replays them. */
  keptPlans: z.array(keptOutcomeSchema),
  /** The number of runs repeated to check determinism, and the first difference. */
  repeated: countSchema,
  difference: runDifferenceSchema.nullable(),
  /** The folder of kept plans, or null for `plans` beside the scenario. */
  corpus: z.string().nullable(),
  /** The scope of an exhaustive search and the number of plans. Absent if seeds were examined. */
  exhausted: z
    .strictObject({
      scope: z.strictObject({
        faults: countSchema,
        ties: countSchema,
        clients: countSchema.nullable(),
        sections: countSchema.nullable(),
      }),
      /** The number of plans of each system, over all shards. */
      plans: z.record(z.string(), countSchema),
    })
    .exactOptional(),
});

export type ScenarioShard = Data<typeof scenarioShard>;

const shardFile = z
  .strictObject({
    shard: z.strictObject({ index: z.int().min(1), of: z.int().min(1) }),
    /** The seeds of all shards together. */
    range: rangeSchema,
    /** In the order in which they were requested. */
    scenarios: z.array(scenarioShard),
  })
  .refine(({ shard }) => shard.index <= shard.of, {
    path: ['shard'],
    error: 'no such shard',
  });

export type ShardFile = Data<typeof shardFile>;

/** Returns the text of a shard file. */
export function renderShard(shard: ShardFile): string {
  return `${seal(FORM, shard)}\n`;
}

type ShardRead =
  | { readonly kind: 'shard'; readonly shard: ShardFile }
  /** `what` is a clause: `is damaged: …`. */
  | { readonly kind: 'problem'; readonly what: string };

/** Reads a shard from the text of its file, or returns why it cannot be trusted. */
export function readShard(text: string): ShardRead {
  const read = unseal(text, FORM);
  if (read.kind === 'problem') return read;
  const checked = check(shardFile, read.content);
  if (checked.kind === 'value') return { kind: 'shard', shard: checked.value };
  const [first] = checked.findings;
  const where = first === undefined ? '' : ` ${renderPath(first.path)} ${first.what}`;
  return { kind: 'problem', what: `is not a shard written by fencepost:${where}` };
}
