/**
 * The data of a job on the queue: one shard of a sweep, which any worker can check before it runs
 * it. Code does not travel, only its digests: a worker whose version of fencepost or whose modules
 * differ refuses the job, as its result would be of other runs.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import type { ModuleSource } from '../../host/modules/load-catalogue.ts';
import { readScenarioSource } from '../../host/modules/load-files.ts';
import type { Subject } from '../../search/campaign/setting.ts';
import { type Origin, originOf, originSchema, whyForeign } from '../../search/sweep/sealed.ts';
import type { SeedRange, Shard } from '../../search/sweep/shards.ts';
import { rangeSchema } from '../../search/sweep/tally.ts';
import { renderPath, renderProblem } from '../../text/problem.ts';

export interface ShardOrder {
  /** The seeds of all shards together. */
  readonly range: SeedRange;
  readonly shard: Shard;
  readonly scenarios: readonly OrderedScenario[];
}

/** A scenario without the path of its file, which is another one on each machine. */
export interface OrderedScenario {
  readonly origin: Origin;
  /** The text of its file. */
  readonly text: string;
}

/** More shards than this make the queue and the coordinator large, and no sweep faster. */
export const MOST_JOBS = 10_000;

const numberSchema = z.int().min(1).max(MOST_JOBS);

const orderSchema: z.ZodType<ShardOrder> = z.strictObject({
  range: rangeSchema.refine(({ from, to }) => from <= to, { error: 'is empty' }),
  shard: z
    .strictObject({ index: numberSchema, of: numberSchema })
    .refine(({ index, of }) => index <= of, { error: 'is not there' }),
  scenarios: z.array(z.strictObject({ origin: originSchema, text: z.string() })).min(1),
});

const ID_DIGITS = 16;

/**
 * The same for the same scenarios, modules, seeds and version of fencepost, on any machine: so a
 * sweep that is begun again finds its jobs, and what workers have made of them.
 */
export function sweepIdOf({ range, scenarios }: Omit<ShardOrder, 'shard'>): string {
  const parts = scenarios.map(({ origin, text }) => {
    const { fencepost, scenario, digest, modules } = origin;
    return [text, fencepost, scenario, digest, Object.entries(modules)];
  });
  const identity = JSON.stringify([range.from, range.to, parts]);
  return createHash('sha256').update(identity).digest('hex').slice(0, ID_DIGITS);
}

/** `0123456789abcdef-3-of-8`. */
export function jobIdOf(sweepId: string, { index, of }: Shard): string {
  return `${sweepId}-${index}-of-${of}`;
}

/** `shard 3 of 8`. */
export function shardName({ index, of }: Shard): string {
  return `shard ${index} of ${of}`;
}

/** The order of a job, or a clause that says why it is none. */
export function readOrder(jobId: string | undefined, data: unknown): ShardOrder | string {
  const read = check(orderSchema, data);
  if (read.kind === 'value') {
    const order = read.value;
    const isOwn = jobIdOf(sweepIdOf(order), order.shard) === jobId;
    return isOwn ? order : 'this job has not the id that fencepost gives it';
  }
  const [first] = read.findings;
  const where = first === undefined ? '' : `: ${renderPath(first.path)} ${first.what}`;
  return `this is no job that fencepost wrote${where}`;
}

/** What a worker has, on which it depends whether it may run a shard. */
export interface WorkerCode {
  /** The folder below which the scenarios' modules lie here; null takes none that uses any. */
  readonly modules: string | null;
  /** Of fencepost. */
  readonly version: string;
}

export interface LoadedOrder extends Pick<OrderedScenario, 'text'>, Subject {
  /** None: the coordinator prints those of its file. */
  readonly warnings: readonly [];
}

/** A scenario of an order; a sentence where here it is not what it is where the sweep was begun. */
export async function loadOrdered(
  { origin, text }: OrderedScenario,
  { modules, version }: WorkerCode,
): Promise<LoadedOrder | string> {
  if (origin.fencepost !== version) {
    return `the sweep is of fencepost ${origin.fencepost}, not ${version}`;
  }
  const file = `${origin.scenario}.yaml`;
  // No module is run before its file is known to be the one that the coordinator has.
  const source: ModuleSource =
    modules === null
      ? { kind: 'refused', why: 'code does not travel; name its folder here with --modules' }
      : { kind: 'folder', folder: modules, digests: origin.modules };
  const read = await readScenarioSource({ file, text }, source);
  if (read.kind === 'problems') {
    const [first] = read.problems;
    const isModule = modules !== null && first !== undefined && /^use\b/.test(first.path);
    const where = isModule ? ` (looked for in ${resolve(modules)})` : '';
    return `${first === undefined ? 'it cannot be loaded' : renderProblem(first)}${where}`;
  }
  const { scenario, catalogue } = read;
  const why = whyForeign(origin, originOf(scenario, version));
  return why === null ? { file, text, scenario, catalogue, warnings: [] } : `the sweep ${why}`;
}

/** How the reason begins for which a worker did not run a job that another may run. */
export const REFUSED = 'refused by the worker on';
