/**
 * Puts the shards of a run together again, or says why that cannot be done: one is missing, is
 * there twice, or belongs to another run.
 */
import { whyForeign } from './origin.ts';
import { rangeOfShard, type SeedRange } from './shard.ts';
import type { ScenarioShard, ShardFile } from './shard-file.ts';
import { EMPTY_TALLY, mergeTallies, type Tally } from './tally.ts';

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

/** Of one system in one shard: how many of its seeds were not examined. */
export interface CutShard {
  readonly file: string;
  readonly scenario: string;
  readonly system: string;
  readonly examined: number;
  readonly seeds: number;
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
  const cut = counts.filter(({ examined, seeds }) => examined < seeds);
  const parts = sorted.map(({ shard }) => shard.scenarios);
  const scenarios = first.shard.scenarios.map((scenario, at) =>
    mergeScenario(
      scenario,
      parts.flatMap((part) => part.slice(at, at + 1)),
    ),
  );
  return { kind: 'merged', merged: { range: first.shard.range, scenarios, cut } };
}

/** How many seeds of each system a shard examined, and how many are its share. */
function countsOf({ file, shard }: FiledShard): readonly CutShard[] {
  const { from, to } = rangeOfShard(shard.range, shard.shard);
  const seeds = to - from + 1;
  return shard.scenarios.flatMap(({ origin, tallies }) =>
    Object.entries(tallies).map(([system, { seeds: examined }]) => {
      return { file, scenario: origin.scenario, system, examined, seeds };
    }),
  );
}

function tooManyText({ file, scenario, system, examined, seeds }: CutShard): string {
  return `${file}: it has ${examined} seeds of ${scenario}, ${system}, and its share are ${seeds}`;
}

/** A clause; null where both are of one run. */
function whyOfAnotherRun(theirs: ShardFile, ours: ShardFile): string | null {
  if (theirs.shard.of !== ours.shard.of) {
    return `is one of ${theirs.shard.of} shards, not of ${ours.shard.of}`;
  }
  const [range, other] = [theirs.range, ours.range].map(({ from, to }) => `${from}..${to}`);
  if (range !== other) return `is of the seeds ${range}, not ${other}`;
  const names = (shard: ShardFile): string =>
    shard.scenarios.map(({ origin }) => origin.scenario).join(', ');
  if (names(theirs) !== names(ours)) {
    return `is of the scenarios ${names(theirs)}, not ${names(ours)}`;
  }
  for (const [at, { origin }] of ours.scenarios.entries()) {
    const their = theirs.scenarios[at];
    const why = their === undefined ? null : whyForeign(their.origin, origin);
    if (why !== null) return why;
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
