/**
 * Splits a range of seeds among machines by arithmetic alone, so that they need not talk to each
 * other, and puts what they came to together again. A shard is a run of consecutive seeds: seeds
 * cost the same wherever they lie, and what a shard did can be repeated anywhere with `--seeds
 * A..B`. Its file holds the tallies of its seeds, and some plans as they were drawn: whoever merges
 * shards judges and shrinks. A shard that is missing, is there twice, or belongs to another run is
 * refused.
 */
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import type { Data } from '../../core/plan/fields.ts';
import { renderPath } from '../../text/problem.ts';
import { type Form, originSchema, seal, unseal, whyForeign } from './sealed.ts';
import {
  countSchema,
  EMPTY_TALLY,
  isSameError,
  mergeTallies,
  rangeSchema,
  type Tally,
  tallySchema,
} from './tally.ts';

/** Seeds, both included; `to` is `from - 1` where there are none. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

/** Shard `index` of `of`; the first is 1. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** Far more than anybody has machines; what is missing of them can still be counted. */
export const MOST_SHARDS = 100_000;

/**
 * The seeds of one shard. All shards together are the range, none overlap, and no two differ by
 * more than one seed; the first ones have it. With more shards than seeds, the last are empty.
 */
export function rangeOfShard({ from, to }: SeedRange, { index, of }: Shard): SeedRange {
  const seeds = to - from + 1;
  const least = Math.floor(seeds / of);
  const longer = seeds % of;
  const first = from + (index - 1) * least + Math.min(index - 1, longer);
  return { from: first, to: first + least + (index <= longer ? 1 : 0) - 1 };
}

/** Of a system that dies of one error on so many first seeds, no others are run. */
export const FIRST_SEEDS = 8;

/** The part of the first seeds that is in a part of all. */
export function firstOf({ from }: SeedRange, part: SeedRange): SeedRange {
  const to = Math.min(part.to, from + FIRST_SEEDS - 1);
  return { from: part.from, to: Math.max(part.from - 1, to) };
}

/** How many seeds of the range were left out; 0 unless those that were run all died alike. */
export function seedsLeftOut({ seeds, failures, killed }: Tally, { from, to }: SeedRange): number {
  const left = to - from + 1 - FIRST_SEEDS;
  const [first] = failures;
  if (left <= 0 || seeds !== FIRST_SEEDS || failures.length !== FIRST_SEEDS) return 0;
  const isAlike = failures.every(
    ({ seed, error }, at) => seed === from + at && isSameError(error, first?.error ?? error),
  );
  return isAlike && killed === 0 ? left : 0;
}

/** A shard and the file that it was read from. */
export interface FiledShard {
  readonly file: string;
  readonly shard: ShardFile;
}

export type Merge =
  | { readonly kind: 'merged'; readonly merged: Merged }
  /** One line each, with the file that it is about. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }
  /** So many shards of all are not there; the numbers of the first ten. */
  | {
      readonly kind: 'missing';
      readonly first: readonly number[];
      readonly count: number;
      readonly of: number;
    };

/** Missing shards that are named. */
const MOST_NAMED = 10;

export interface Merged {
  readonly range: SeedRange;
  readonly scenarios: readonly MergedScenario[];
  /** Shards that ended before all their seeds were examined. */
  readonly cut: readonly CutShard[];
}

/** Of one system in one shard: how many of its seeds, or plans, were not examined. */
export interface CutShard {
  readonly file: string;
  readonly scenario: string;
  readonly system: string;
  readonly examined: number;
  readonly seeds: number;
  readonly trial: 'seed' | 'plan';
}

/** What all shards came to on one scenario. */
export interface MergedScenario
  extends Omit<ScenarioShard, 'tallies' | 'milliseconds' | 'repeated'> {
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Of all machines together. */
  readonly milliseconds: number;
  readonly repeated: number;
}

/** Merges at least one shard; their order does not matter. */
export function mergeShards(shards: readonly FiledShard[]): Merge {
  const sorted = [...shards].sort((a, b) => a.shard.shard.index - b.shard.shard.index);
  const [first] = sorted;
  if (first === undefined) return { kind: 'refused', problems: ['there is no shard to merge'] };
  const foreign = shards.flatMap((filed) => {
    const why = whyOfAnotherRun(filed.shard, first.shard);
    return why === null ? [] : [`${filed.file}: compared with ${first.file} it ${why}`];
  });
  if (foreign.length > 0) return { kind: 'refused', problems: foreign };
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
  const scenarios = first.shard.scenarios.map((one, at) => mergeScenario(one, partsAt(at)));
  const isLeftOut = ({ scenario, system }: CutShard): boolean => {
    const merged = scenarios.find(({ origin }) => origin.scenario === scenario);
    const tally = merged?.tallies.get(system) ?? EMPTY_TALLY;
    return seedsLeftOut(tally, first.shard.range) > 0;
  };
  const cut = counts.filter((one) => one.examined < one.seeds && !isLeftOut(one));
  return { kind: 'merged', merged: { range: first.shard.range, scenarios, cut } };
}

/** How many seeds of each system a shard examined, and how many are its share. */
function countsOf({ file, shard }: FiledShard): readonly CutShard[] {
  return shard.scenarios.flatMap(({ origin, tallies, exhausted }) =>
    Object.entries(tallies).map(([system, { seeds: examined }]): CutShard => {
      const range =
        exhausted === undefined ? shard.range : { from: 0, to: (exhausted.plans[system] ?? 0) - 1 };
      const { from, to } = rangeOfShard(range, shard.shard);
      const trial = exhausted === undefined ? 'seed' : 'plan';
      return { file, scenario: origin.scenario, system, examined, seeds: to - from + 1, trial };
    }),
  );
}

function tooManyText({ file, scenario, system, examined, seeds, trial }: CutShard): string {
  const has = `it has ${examined} ${trial}s of ${scenario}, ${system}`;
  return `${file}: ${has}, and its share are ${seeds}`;
}

/** What a shard is a part of. */
export interface ShardRunOrigin extends Pick<ShardFile, 'shard' | 'range'> {
  readonly scenarios: readonly Pick<ScenarioShard, 'origin' | 'exhausted'>[];
}

/** A clause; null where both are of one run. */
export function whyOfAnotherRun(theirs: ShardRunOrigin, ours: ShardRunOrigin): string | null {
  if (theirs.shard.of !== ours.shard.of) {
    return `is one of ${theirs.shard.of} shards, not of ${ours.shard.of}`;
  }
  const [range, other] = [theirs.range, ours.range].map(({ from, to }) => `${from}..${to}`);
  if (range !== other) return `is of the seeds ${range}, not ${other}`;
  const names = (shard: ShardRunOrigin): string =>
    shard.scenarios.map(({ origin }) => origin.scenario).join(', ');
  if (names(theirs) !== names(ours)) {
    return `is of the scenarios ${names(theirs)}, not ${names(ours)}`;
  }
  for (const [at, { origin, exhausted }] of ours.scenarios.entries()) {
    const their = theirs.scenarios[at];
    const why = their === undefined ? null : whyForeign(their.origin, origin);
    if (why !== null) return why;
    // How many plans there are follows from the scenario, or its code is not deterministic.
    const [plans, others] = [exhausted?.plans, their?.exhausted?.plans];
    const systems = Object.keys({ ...plans, ...others });
    if (systems.some((system) => plans?.[system] !== others?.[system])) {
      return `counted other plans of ${origin.scenario}`;
    }
  }
  return null;
}

/** Of neighbours with one number, both files. */
function doublesIn(sorted: readonly FiledShard[]): readonly string[] {
  return sorted.flatMap(({ file, shard }, at) => {
    const next = sorted[at + 1];
    if (next === undefined || next.shard.shard.index !== shard.shard.index) return [];
    return [`${file} and ${next.file} are both shard ${shard.shard.index} of ${shard.shard.of}`];
  });
}

/** Looks no further than the last that is named: a file may say that there are any number. */
function firstMissing(there: ReadonlySet<number>, of: number): readonly number[] {
  const missing: number[] = [];
  for (let index = 1; index <= of && missing.length < MOST_NAMED; index += 1) {
    if (!there.has(index)) missing.push(index);
  }
  return missing;
}

function mergeScenario(first: ScenarioShard, parts: readonly ScenarioShard[]): MergedScenario {
  const tallies = new Map<string, Tally>();
  for (const part of parts) {
    for (const [system, tally] of Object.entries(part.tallies)) {
      tallies.set(system, mergeTallies(tallies.get(system) ?? EMPTY_TALLY, tally));
    }
  }
  const sum = (of: (part: ScenarioShard) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  return {
    ...first,
    tallies,
    isWhole: parts.every(({ isWhole }) => isWhole),
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
    .describe('the name in the plan that found no match; null unless it diverged'),
});

export type KeptOutcome = Data<typeof keptOutcomeSchema>;

/** The schema of the first event that differed between two runs of one seed. */
export const runDifferenceSchema = z.strictObject({
  system: z.string(),
  seed: countSchema,
  what: z.string(),
});

export type RunDifference = Data<typeof runDifferenceSchema>;

const FORM: Form = { type: 'shard', version: 2 };

/** A seed that broke a claim which the scenario lists, and its plan as it was drawn. */
const counterexample = z.strictObject({
  system: z.string(),
  claim: z.string(),
  seed: countSchema,
  /** As the text of a plan file. */
  plan: z.string(),
});

export type Counterexample = Data<typeof counterexample>;

/** What one shard came to on one scenario. */
const scenarioShard = z.strictObject({
  origin: originSchema,
  /** As it was typed where the shard ran, and its text. */
  file: z.string(),
  text: z.string(),
  /** Whether every seed of the shard was examined. */
  isWhole: z.boolean(),
  milliseconds: countSchema,
  /** By the name of the system. */
  tallies: z.record(z.string(), tallySchema),
  counterexamples: z.array(counterexample),
  /** What became of the kept plans; only the first shard replays them. */
  keptPlans: z.array(keptOutcomeSchema),
  /** How many runs were repeated to see whether they are deterministic, and what differed. */
  repeated: countSchema,
  difference: runDifferenceSchema.nullable(),
  /** The folder of kept plans; null for `plans` beside the scenario. */
  corpus: z.string().nullable(),
  /** Every plan of a scope, by its number, in place of seeds; absent where these were examined. */
  exhausted: z
    .strictObject({
      scope: z.strictObject({
        faults: countSchema,
        ties: countSchema,
        clients: countSchema.nullable(),
        sections: countSchema.nullable(),
      }),
      /** How many there are of each system, in all shards together. */
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
    /** In the order in which they were asked for. */
    scenarios: z.array(scenarioShard),
  })
  .refine(({ shard }) => shard.index <= shard.of, {
    path: ['shard'],
    error: 'there is no such shard',
  });

export type ShardFile = Data<typeof shardFile>;

/** The text of a shard's file. */
export function renderShard(shard: ShardFile): string {
  return `${seal(FORM, shard)}\n`;
}

type ShardRead =
  | { readonly kind: 'shard'; readonly shard: ShardFile }
  /** `what` is a clause: `is damaged: …`. */
  | { readonly kind: 'problem'; readonly what: string };

/** A shard from its file's text, or why it cannot be relied on. */
export function readShard(text: string): ShardRead {
  const read = unseal(text, FORM);
  if (read.kind === 'problem') return read;
  const checked = check(shardFile, read.content);
  if (checked.kind === 'value') return { kind: 'shard', shard: checked.value };
  const [first] = checked.findings;
  const where = first === undefined ? '' : ` ${renderPath(first.path)} ${first.what}`;
  return { kind: 'problem', what: `is no shard that fencepost wrote:${where}` };
}
