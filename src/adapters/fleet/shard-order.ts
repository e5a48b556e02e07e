/**
 * Defines the data of a job on the queue: one shard of a sweep, with digests instead of code. A
 * worker with another version of fencepost or of a module refuses the job, because its runs would
 * differ.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import type { ModuleSource } from '../../host/modules/load-catalogue.ts';
import { readScenarioSource } from '../../host/modules/load-files.ts';
import type { Subject } from '../../search/campaign/setting.ts';
import {
  mismatchReason,
  type Origin,
  originOf,
  originSchema,
} from '../../search/sweep/checksummed.ts';
import { rangeSchema } from '../../search/sweep/counts.ts';
import type { SeedRange, Shard } from '../../search/sweep/shards.ts';
import { renderPath, renderProblem } from '../../text/problem.ts';

export interface ShardOrder {
  /** The seeds of all shards together. */
  readonly range: SeedRange;
  readonly shard: Shard;
  readonly scenarios: readonly OrderedScenario[];
}

/** A scenario without its file path, which differs between machines. */
export interface OrderedScenario {
  readonly origin: Origin;
  readonly text: string;
}

/** Maximum number of jobs. More shards would not make the sweep faster. */
export const MOST_JOBS = 10_000;

const numberSchema = z.int().min(1).max(MOST_JOBS);

const orderSchema: z.ZodType<ShardOrder> = z.strictObject({
  range: rangeSchema.refine(({ from, to }) => from <= to, { error: 'is empty' }),
  shard: z
    .strictObject({ index: numberSchema, of: numberSchema })
    .refine(({ index, of }) => index <= of, { error: 'is above the number of shards' }),
  scenarios: z.array(z.strictObject({ origin: originSchema, text: z.string() })).min(1),
});

const ID_DIGITS = 16;

/**
 * Returns an id that is equal for equal scenarios, modules, seeds and versions of fencepost, on any
 * machine. A restarted sweep finds its jobs and their results by this id.
 */
export function sweepIdOf({ range, scenarios }: Omit<ShardOrder, 'shard'>): string {
  const parts = scenarios.map(({ origin, text }) => {
    const { fencepost, scenario, digest, modules } = origin;
    return [text, fencepost, scenario, digest, Object.entries(modules)];
  });
  const identity = JSON.stringify([range.from, range.to, parts]);
  return createHash('sha256').update(identity).digest('hex').slice(0, ID_DIGITS);
}

/** Returns, for example, `0123456789abcdef-3-of-8`. */
export function jobIdOf(sweepId: string, { index, of }: Shard): string {
  return `${sweepId}-${index}-of-${of}`;
}

/** Returns, for example, `shard 3 of 8`. */
export function shardName({ index, of }: Shard): string {
  return `shard ${index} of ${of}`;
}

/** Reads the order in a job, or returns a sentence that says why the data is invalid. */
export function readOrder(jobId: string | undefined, data: unknown): ShardOrder | string {
  const read = check(orderSchema, data);
  if (read.kind === 'value') {
    const order = read.value;
    const isSameJob = jobIdOf(sweepIdOf(order), order.shard) === jobId;
    return isSameJob ? order : 'the id of this job does not match its contents';
  }
  const [first] = read.findings;
  const where = first === undefined ? '' : `: ${renderPath(first.path)} ${first.what}`;
  return `not a job written by fencepost${where}`;
}

/** The modules and version of a worker, which determine whether it may run a shard. */
export interface WorkerCode {
  /**
   * The folder of the scenarios' modules on this machine. If null, the worker refuses scenarios
   * with modules.
   */
  readonly modules: string | null;
  readonly version: string;
}

export interface LoadedOrder extends Pick<OrderedScenario, 'text'>, Subject {
  /** Always empty: the coordinator prints the warnings of the scenario file. */
  readonly warnings: readonly [];
}

/** Loads a scenario of an order, or returns a sentence that says why this machine cannot. */
export async function loadOrdered(
  { origin, text }: OrderedScenario,
  { modules, version }: WorkerCode,
): Promise<LoadedOrder | string> {
  if (origin.fencepost !== version) {
    return `the sweep is from fencepost ${origin.fencepost}, not ${version}`;
  }
  const file = `${origin.scenario}.yaml`;
  // The modules run only if their digests equal those of the coordinator.
  const source: ModuleSource =
    modules === null
      ? {
          kind: 'refused',
          why: 'modules are not sent to workers; name their folder here with --modules',
        }
      : { kind: 'folder', folder: modules, digests: origin.modules };
  const read = await readScenarioSource({ file, text }, source);
  if (read.kind === 'problems') {
    const [first] = read.problems;
    const isModule = modules !== null && first !== undefined && /^use\b/.test(first.path);
    const where = isModule ? ` (looked for in ${resolve(modules)})` : '';
    return `${first === undefined ? 'it cannot be loaded' : renderProblem(first)}${where}`;
  }
  const { scenario, catalogue } = read;
  const why = mismatchReason(origin, originOf(scenario, version));
  return why === null ? { file, text, scenario, catalogue, warnings: [] } : `the sweep ${why}`;
}

/** Prefix of a worker's refusal. Another worker may be able to run the job. */
export const REFUSED = 'refused by the worker on';
