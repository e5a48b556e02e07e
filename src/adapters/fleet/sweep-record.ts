/**
 * What a sweep on a queue is, as data that any worker can check: the scenario's text, where its
 * results come from, its seeds and how they are cut. Code never travels, only its digests; so a
 * worker loads the sweep from its record, or refuses it with a reason where it would not come to
 * the same results as the coordinator expects.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Catalogue } from '../../catalogue.ts';
import type { ModuleSource } from '../../host/modules/load-catalogue.ts';
import { readScenarioSource } from '../../host/modules/load-files.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Origin, originOf, originSchema, whyForeign } from '../../search/sweep/sealed.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import { rangeSchema } from '../../search/sweep/tally.ts';
import { type Problem, renderProblem } from '../../text/problem.ts';
import { chunksIn, MOST_CHUNKS } from './chunks.ts';

export interface SweepRecord {
  readonly origin: Origin;
  /** The scenario's file, as it was typed where the sweep was begun, and its text. */
  readonly file: string;
  readonly text: string;
  readonly range: SeedRange;
  /** Seeds of a chunk, each of all systems; the last chunk may have fewer. */
  readonly chunkSeeds: number;
}

export const sweepRecordSchema: z.ZodType<SweepRecord> = z
  .strictObject({
    origin: originSchema,
    file: z.string(),
    text: z.string(),
    range: rangeSchema,
    chunkSeeds: z.int().min(1),
  })
  .refine(({ range }) => range.from <= range.to, { error: 'the range ends before it begins' })
  .refine((sweep) => chunksIn(sweep) <= MOST_CHUNKS, { error: 'there are too many chunks' });

/** All that makes two sweeps the same one; how the seeds are cut is not part of it. */
type SweepIdentity = Pick<SweepRecord, 'origin' | 'text' | 'range'>;

const ID_DIGITS = 15;

/** `s` and 15 hexadecimal digits: the same command gives the same sweep, on any machine. */
export function sweepIdOf({ origin, text, range }: SweepIdentity): string {
  const modules = Object.entries(origin.modules).sort(([a], [b]) => (a < b ? -1 : 1));
  const identity = [text, origin.digest, modules, origin.fencepost, range.from, range.to];
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  return `s${digest.slice(0, ID_DIGITS)}`;
}

export type LoadedSweep =
  | {
      readonly kind: 'loaded';
      readonly sweep: SweepRecord;
      readonly scenario: Scenario;
      readonly catalogue: Catalogue;
    }
  /** `why` is a clause about the sweep. */
  | { readonly kind: 'refused'; readonly why: string };

export interface LoadOptions {
  /** The folder below which the scenarios' modules lie here; null where there are none. */
  readonly modules: string | null;
  /** Of fencepost, here. */
  readonly version: string;
}

/** The scenario of a record, if here it is what it is there. */
export async function loadSweep(
  id: string,
  sweep: SweepRecord,
  options: LoadOptions,
): Promise<LoadedSweep> {
  if (sweepIdOf(sweep) !== id) return refused('is not the one that its record is about');
  const { origin, file, text } = sweep;
  if (origin.fencepost !== options.version) {
    return refused(`is of fencepost ${origin.fencepost}, not ${options.version}`);
  }
  // Nothing of a module is run before its file is known to be the one that the coordinator has.
  const source: ModuleSource =
    options.modules === null
      ? { kind: 'refused', why: 'code does not travel; name its folder here with --modules' }
      : { kind: 'folder', folder: options.modules, digests: origin.modules };
  const read = await readScenarioSource({ file, text }, source);
  if (read.kind === 'problems') {
    const [first] = read.problems;
    const what = first === undefined ? '' : renderProblem(first);
    return refused(`cannot be loaded here: ${what}${lookedIn(first, options)}`);
  }
  const { scenario, catalogue } = read;
  const why = whyForeign(origin, originOf(scenario, options.version));
  return why === null ? { kind: 'loaded', sweep, scenario, catalogue } : refused(why);
}

function refused(why: string): LoadedSweep {
  return { kind: 'refused', why };
}

/** Where the modules were looked for, if it is one of them that is wrong. */
function lookedIn(problem: Problem | undefined, { modules }: LoadOptions): string {
  if (problem === undefined || modules === null || !/^use\b/.test(problem.path)) return '';
  return ` (looked for in ${resolve(modules)})`;
}
