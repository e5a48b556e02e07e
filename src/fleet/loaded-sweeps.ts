/**
 * The sweeps that a worker has met: each is loaded once from its record, or refused with a reason
 * where this worker would not come to the same results as the coordinator expects.
 */
import type { Catalogue } from '../catalogue.ts';
import type { ModuleSource } from '../modules/load-catalogue.ts';
import { readScenarioSource } from '../modules/load-files.ts';
import { renderProblem } from '../plan/problem.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { originOf, whyForeign } from '../sweep/origin.ts';
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
  const read = await readScenarioSource({ file, text }, moduleSource(options));
  if (read.kind === 'problems') {
    const [first] = read.problems;
    return refused(`cannot be loaded here: ${first === undefined ? '' : renderProblem(first)}`);
  }
  const { scenario, catalogue } = read;
  const why = whyForeign(origin, originOf(scenario, options.version));
  return why === null ? { kind: 'loaded', sweep, scenario, catalogue } : refused(why);
}

function refused(why: string): LoadedSweep {
  return { kind: 'refused', why };
}

function moduleSource({ modules }: LoadOptions): ModuleSource {
  if (modules !== null) return { kind: 'folder', folder: modules };
  return { kind: 'refused', why: 'code does not travel; name its folder here with --modules' };
}
