/**
 * The flow of the whole tool on one page: a scenario and a seed give a plan, a plan gives a trace,
 * the trace is judged, and a plan that breaks a claim is shrunk to the few events that matter.
 * Every step is a pure function over plain data.
 */
import { builtIn, type Catalogue } from './catalogue.ts';
import { type BreachCause, causeText, isPartOf, isSameCause } from './check/breach-cause.ts';
import { wasInPlace } from './core/plan/places.ts';
import type { KeptCause, Plan } from './core/plan/plan.ts';
import type { Tried } from './core/shrink/search.ts';
import { type ShrinkOptions, type ShrinkResult, shrinkWith } from './core/shrink/shrink.ts';
import { type Examination, examine } from './examine.ts';
import { pin } from './run.ts';
import { expand } from './scenario/expand.ts';
import type { Scenario } from './scenario/scenario.ts';

export { type Examination, examine, judgeRun } from './examine.ts';

/**
 * Expands one seed of one system of a scenario, runs it and judges `claims`, on the caller's thread
 * and without a watchdog, as all here.
 */
export function examineSeed(
  scenario: Scenario,
  system: string,
  seed: number,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Examination {
  return examine(expand(scenario, system, seed), claims, catalogue);
}

/** Whether `plan` breaks `claim`. */
export function breaks(plan: Plan, claim: string, catalogue: Catalogue = builtIn): boolean {
  return examine(plan, [claim], catalogue).verdicts[0]?.kind === 'invalid';
}

/** How to shrink, and where the names in the plan are looked up: built-in ones by default. */
export interface ShrinkFailureOptions extends ShrinkOptions {
  readonly catalogue?: Catalogue;
}

/** Pins a plan that breaks `claim` and shrinks it; the result says what a replay should find. */
export function shrinkFailure(
  plan: Plan,
  claim: string,
  { catalogue = builtIn, ...options }: ShrinkFailureOptions = {},
): ShrinkResult {
  const answer = answersWith(claim);
  const stillBreaks = (candidate: Plan): Tried => answer(examine(candidate, [claim], catalogue));
  return shrinkWith(expectsBreach(pin(plan, catalogue), claim), stillBreaks, options);
}

/**
 * What a shrink is told of each examination: whether it breaks `claim` by the cause of the first
 * one that did. Where that has more faults than a later one, what the later one needs is the cause
 * from then on: the others were not needed. A plan in which a fault was injected at a point at a
 * time that the scenario does not allow is out of place, unless the first was so itself.
 */
export function answersWith(claim: string): (examination: Examination) => Tried {
  let cause: BreachCause | null = null;
  let isFirstInPlace = true;
  return (examination) => {
    const found = examination.causes.get(claim);
    if (found === undefined) return false;
    if (cause === null) isFirstInPlace = isInPlace(examination);
    else if (isFirstInPlace && !isInPlace(examination)) return 'out of place';
    cause ??= found;
    const own = { ...found, earlier: [] };
    if (!isSameCause(found, cause)) return { otherCause: `${found.rule}: ${causeText(own)}` };
    if (found.faults.length > 0 && isPartOf(found, cause)) cause = found;
    return true;
  };
}

/** Whether each fault was injected where the scenario of the plan allows it. */
function isInPlace({ plan, trace }: Pick<Examination, 'plan' | 'trace'>): boolean {
  if (plan.bounds.places === undefined) return true;
  return trace.events.every((event) => {
    const fault = event.kind === 'fault' ? plan.faults[event.index ?? -1] : undefined;
    return fault === undefined || wasInPlace(plan, fault, event.atUs);
  });
}

/** A plan that is expected to break `claim` when it is replayed, by this cause if one is known. */
export function expectsBreach(plan: Plan, claim: string, cause?: KeptCause): Plan {
  const expect = { claim, outcome: 'reproduced' } as const;
  if (cause === undefined) return { ...plan, expect };
  const { rule, isByForeignRelease, faults } = cause;
  return { ...plan, expect: { ...expect, cause: { rule, isByForeignRelease, faults } } };
}
