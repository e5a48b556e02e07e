/**
 * The file that a shard leaves behind: all that a merge needs to come to the same result as a run
 * on one machine, and nothing that depends on the machine but how long it took.
 */
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import { renderPath } from '../../text/problem.ts';
import { type Origin, originSchema } from './origin.ts';
import { type Form, seal, unseal } from './sealed.ts';
import type { SeedRange, Shard } from './shard.ts';
import type { Tally } from './tally.ts';
import { count, tallySchema } from './tally-schema.ts';

export interface ShardFile {
  readonly shard: Shard;
  /** The seeds of all shards together. */
  readonly range: SeedRange;
  /** In the order in which they were asked for. */
  readonly scenarios: readonly ScenarioShard[];
}

/** What one shard came to on one scenario. */
export interface ScenarioShard {
  readonly origin: Origin;
  /** As it was typed where the shard ran, and its text. */
  readonly file: string;
  readonly text: string;
  /** Whether every seed of the shard was examined. */
  readonly isWhole: boolean;
  readonly milliseconds: number;
  /** By the name of the system. */
  readonly tallies: Readonly<Record<string, Tally>>;
  readonly counterexamples: readonly Counterexample[];
  /** What became of the kept plans; only the first shard replays them. */
  readonly keptPlans: readonly KeptOutcome[];
  /** How many runs were repeated to see whether they are deterministic, and what differed. */
  readonly repeated: number;
  readonly difference: Difference | null;
  /** The folder of kept plans; null for `plans` beside the scenario. */
  readonly corpus: string | null;
}

/** A seed that broke a claim which the scenario lists, and its plan as it was drawn. */
export interface Counterexample {
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  /** As the text of a plan file. */
  readonly plan: string;
}

export interface KeptOutcome {
  readonly file: string;
  readonly outcome: string;
  readonly expected: string;
  /** The name in the plan that found no match; null unless it diverged. */
  readonly divergedAt: string | null;
}

/** The first event that differed between two runs of one seed. */
export interface Difference {
  readonly system: string;
  readonly seed: number;
  readonly what: string;
}

const FORM: Form = { type: 'shard', version: 1 };

const counterexample: z.ZodType<Counterexample> = z.strictObject({
  system: z.string(),
  claim: z.string(),
  seed: count,
  plan: z.string(),
});

const keptOutcome: z.ZodType<KeptOutcome> = z.strictObject({
  file: z.string(),
  outcome: z.string(),
  expected: z.string(),
  divergedAt: z.string().nullable(),
});

const scenarioShard: z.ZodType<ScenarioShard> = z.strictObject({
  origin: originSchema,
  file: z.string(),
  text: z.string(),
  isWhole: z.boolean(),
  milliseconds: count,
  tallies: z.record(z.string(), tallySchema),
  counterexamples: z.array(counterexample),
  keptPlans: z.array(keptOutcome),
  repeated: count,
  difference: z.strictObject({ system: z.string(), seed: count, what: z.string() }).nullable(),
  corpus: z.string().nullable(),
});

const shardFile: z.ZodType<ShardFile> = z
  .strictObject({
    shard: z.strictObject({ index: z.int().min(1), of: z.int().min(1) }),
    range: z.strictObject({ from: count, to: count }),
    scenarios: z.array(scenarioShard),
  })
  .refine(({ shard }) => shard.index <= shard.of, { error: 'there is no such shard' });

/** The text of a shard's file. */
export function renderShard(shard: ShardFile): string {
  return `${seal(FORM, shard)}\n`;
}

export type ShardRead =
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
