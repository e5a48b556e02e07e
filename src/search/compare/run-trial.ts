/** Runs one seed of one system under one condition, and measures it. */

import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Ending } from '../../core/history/trace.ts';
import { runAsync } from '../../host/async/run-async.ts';
import { expand } from '../../scenario/expand.ts';
import type { Trial } from './conditions.ts';
import { measureRun, type RunMeasures } from './measure-run.ts';

export interface TrialRun {
  readonly measures: RunMeasures;
  readonly ending: Ending;
}

/** The same trial, system and seed give the same numbers. */
export async function runTrial(
  { scenario }: Trial,
  system: string,
  seed: number,
  catalogue: Catalogue = builtIn,
): Promise<TrialRun> {
  const plan = expand(scenario, system, seed);
  const trace = await runAsync(plan, catalogue);
  return { measures: measureRun(plan, trace), ending: trace.ending };
}
