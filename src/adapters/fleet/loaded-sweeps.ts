/**
 * The sweeps that a worker has met: each is loaded once from its record, or refused with a reason
 * where this worker would not come to the same results as the coordinator expects.
 */
import { resolve } from 'node:path';
import type { Catalogue } from '../../catalogue.ts';
import type { ModuleDigests } from '../../core/plan/plan.ts';
import type { ModuleSource } from '../../host/modules/load-catalogue.ts';
import { readScenarioSource } from '../../host/modules/load-files.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { originOf, whyForeign } from '../../search/sweep/origin.ts';
import { type Problem, renderProblem } from '../../text/problem.ts';
import { type SweepRecord, sweepIdOf } from './sweep-record.ts';

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
  const read = await readScenarioSource({ file, text }, moduleSource(options, origin.modules));
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

/** Nothing of a module is run before its file is known to be the one that the coordinator has. */
function moduleSource({ modules }: LoadOptions, digests: ModuleDigests): ModuleSource {
  if (modules !== null) return { kind: 'folder', folder: modules, digests };
  return { kind: 'refused', why: 'code does not travel; name its folder here with --modules' };
}

/** Where the modules were looked for, if it is one of them that is wrong. */
function lookedIn(problem: Problem | undefined, { modules }: LoadOptions): string {
  if (problem === undefined || modules === null || !/^use\b/.test(problem.path)) return '';
  return ` (looked for in ${resolve(modules)})`;
}
