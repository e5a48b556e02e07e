/**
 * The flow of the whole tool on one page: a scenario and a seed give a plan, a plan gives a trace,
 * the trace is judged, and a plan that breaks a claim is shrunk to the few events that matter.
 * Every step is a pure function over plain data.
 */
import { judgeSurvey } from './check/claims.ts';
import { type HolderOverlap, measureHolderOverlap } from './check/measure.ts';
import { measureStampede, type Stampede } from './check/stampede.ts';
import { surveyTrace } from './check/survey.ts';
import { termsOf } from './check/terms.ts';
import type { Verdict } from './check/verdict.ts';
import type { Trace } from './history/trace.ts';
import type { Plan } from './plan/plan.ts';
import { pin, run } from './run.ts';
import { expand } from './scenario/expand.ts';
import type { Scenario } from './scenario/scenario.ts';
import {
  type ShrinkOptions,
  type ShrinkResult,
  shrinkWith,
  shrinkWithAsync,
} from './shrink/shrink.ts';
import { isFenced, modelOf } from './systems/assemble.ts';

export interface Examination {
  readonly plan: Plan;
  readonly trace: Trace;
  /** One for each claim asked for, in that order. */
  readonly verdicts: readonly Verdict[];
  /** How often, and how long, two programs believed at once: measured, never judged. */
  readonly overlap: HolderOverlap;
  /** How many programs computed one memoized value at once: measured, never judged. */
  readonly stampede: Stampede;
}

/**
 * Configurations that a linearizability search may visit; counted, so the same on every machine.
 */
const MAX_CONFIGURATIONS = 100_000;

/** Expands one seed of one system of a scenario, runs it and judges `claims`. */
export function examineSeed(
  scenario: Scenario,
  system: string,
  seed: number,
  claims: readonly string[],
): Examination {
  return examine(expand(scenario, system, seed), claims);
}

/** Runs a plan and judges `claims`. */
export function examine(plan: Plan, claims: readonly string[]): Examination {
  const trace = run(plan);
  const survey = surveyTrace(trace);
  const terms = termsOf(
    plan,
    { model: modelOf(plan), isFenced: isFenced(plan) },
    MAX_CONFIGURATIONS,
  );
  const verdicts = judgeSurvey(survey, terms, claims);
  const overlap = measureHolderOverlap(survey);
  return { plan, trace, verdicts, overlap, stampede: measureStampede(survey) };
}

/** Whether `plan` breaks `claim`. */
export function breaks(plan: Plan, claim: string): boolean {
  return examine(plan, [claim]).verdicts[0]?.kind === 'invalid';
}

/** Pins a plan that breaks `claim` and shrinks it; the result says what a replay should find. */
export function shrinkFailure(
  plan: Plan,
  claim: string,
  options: ShrinkOptions = {},
): ShrinkResult {
  return shrinkWith(pinFailure(plan, claim), (candidate) => breaks(candidate, claim), options);
}

/** The same, waiting for `breathe` before each run, so that others get a turn. */
export function shrinkFailureAsync(
  plan: Plan,
  claim: string,
  options: ShrinkOptions,
  breathe: () => Promise<void>,
): Promise<ShrinkResult> {
  const stillBreaks = async (candidate: Plan): Promise<boolean> => {
    await breathe();
    return breaks(candidate, claim);
  };
  return shrinkWithAsync(pinFailure(plan, claim), stillBreaks, options);
}

function pinFailure(plan: Plan, claim: string): Plan {
  return { ...pin(plan), expect: { claim, outcome: 'reproduced' } };
}
