/**
 * The flow of the tool on one page: a scenario and a seed give a plan, a plan gives a trace, the
 * trace is judged, and a plan that breaks a claim is shrunk to the few events that matter. Every
 * step is a pure function over plain data.
 */
import { builtIn, type Catalogue } from './catalogue.ts';
import { type BreachCause, causeText, isPartOf, isSameCause } from './check/breach-cause.ts';
import { wasInPlace } from './core/plan/places.ts';
import type { KeptCause, Plan } from './core/plan/plan.ts';
import type { Tried } from './core/shrink/search.ts';
import { type ShrinkOptions, type ShrinkResult, shrinkWith } from './core/shrink/shrink.ts';
import { examine, type SeedResult } from './examine.ts';
import { pin } from './run.ts';
import { expand } from './scenario/expand.ts';
import type { Scenario } from './scenario/scenario.ts';

export { examine, judgeRun, type SeedResult } from './examine.ts';

/**
 * Expands one seed for one system of a scenario, runs the plan and judges `claims`. Runs on the
 * caller's thread, without a watchdog.
 */
export function examineSeed(
  scenario: Scenario,
  system: string,
  seed: number,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): SeedResult {
  return examine(expand(scenario, system, seed), claims, catalogue);
}

/** Returns true if `plan` breaks `claim`. */
export function breaks(plan: Plan, claim: string, catalogue: Catalogue = builtIn): boolean {
  return examine(plan, [claim], catalogue).verdicts[0]?.kind === 'invalid';
}

/** Shrink options, and the catalogue for the names in the plan. Default: built-in. */
export interface ShrinkFailureOptions extends ShrinkOptions {
  readonly catalogue?: Catalogue;
}

/** Pins a plan that breaks `claim` and shrinks it. The result states what a replay should find. */
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
 * Returns a function that gives the shrinker its verdicts. A run must break `claim` by the cause of
 * the first breach. If a later run needs fewer faults of that cause, its cause is required from
 * then on. The verdict is 'out of place' if a fault was injected where the scenario does not allow
 * it, unless the first run had such a fault too.
 */
export function answersWith(claim: string): (result: SeedResult) => Tried {
  let cause: BreachCause | null = null;
  let isFirstInPlace = true;
  return (result) => {
    const found = result.causes.get(claim);
    if (found === undefined) return false;
    if (cause === null) isFirstInPlace = isInPlace(result);
    else if (isFirstInPlace && !isInPlace(result)) return 'out of place';
    cause ??= found;
    const thisCause = { ...found, earlier: [] };
    if (!isSameCause(found, cause)) return { otherCause: `${found.rule}: ${causeText(thisCause)}` };
    if (found.faults.length > 0 && isPartOf(found, cause)) cause = found;
    return true;
  };
}

/** Returns true if each fault was injected at a place that the plan's scenario allows. */
function isInPlace({ plan, trace }: Pick<SeedResult, 'plan' | 'trace'>): boolean {
  if (plan.bounds.places === undefined) return true;
  return trace.events.every((event) => {
    const fault = event.kind === 'fault' ? plan.faults[event.index ?? -1] : undefined;
    return fault === undefined || wasInPlace(plan, fault, event.atUs);
  });
}

/** Returns `plan` with the expectation that a replay breaks `claim`, by `cause` if given. */
export function expectsBreach(plan: Plan, claim: string, cause?: KeptCause): Plan {
  const expect = { claim, outcome: 'reproduced' } as const;
  if (cause === undefined) return { ...plan, expect };
  const { rule, isByNonOwnerRelease, faults } = cause;
  return { ...plan, expect: { ...expect, cause: { rule, isByNonOwnerRelease, faults } } };
}
