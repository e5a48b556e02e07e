/**
 * The harness for every system: what `harness.ts` does for clients that are generators, here also
 * for those that are real asynchronous code.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { type ShrinkResult, shrinkWithAsync } from '../../core/shrink/shrink.ts';
import {
  type Examination,
  examine,
  expectsBreach,
  judgeRun,
  type ShrinkFailureOptions,
} from '../../harness.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { isAsync } from '../../systems/assemble.ts';
import { pinAsync, runAsync } from './run-async.ts';

/** Runs a plan and judges `claims`; a promise only where clients are asynchronous code. */
export function examineEither(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Examination | Promise<Examination> {
  if (!isAsync(plan, catalogue)) return examine(plan, claims, catalogue);
  return runAsync(plan, catalogue).then((trace) => judgeRun(plan, trace, claims, catalogue));
}

/** Runs a plan and judges `claims`; what both name is looked up in the catalogue. */
export async function examineAsync(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Promise<Examination> {
  return await examineEither(plan, claims, catalogue);
}

/** Expands one seed of one system of a scenario, runs it and judges `claims`. */
export function examineSeedAsync(
  scenario: Scenario,
  system: string,
  seed: number,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Promise<Examination> {
  return examineAsync(expand(scenario, system, seed), claims, catalogue);
}

export interface ShrinkAsyncOptions extends ShrinkFailureOptions {
  /** Waited for before each run, so that others get a turn. */
  readonly breathe?: () => Promise<void>;
}

/** Pins a plan that breaks `claim` and shrinks it; the result says what a replay should find. */
export async function shrinkFailureAsync(
  plan: Plan,
  claim: string,
  { catalogue = builtIn, breathe, ...options }: ShrinkAsyncOptions = {},
): Promise<ShrinkResult> {
  const stillBreaks = async (candidate: Plan): Promise<boolean> => {
    await breathe?.();
    const { verdicts } = await examineEither(candidate, [claim], catalogue);
    return verdicts[0]?.kind === 'invalid';
  };
  const pinned = await pinAsync(plan, catalogue);
  return shrinkWithAsync(expectsBreach(pinned, claim), stillBreaks, options);
}
