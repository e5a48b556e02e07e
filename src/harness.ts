/**
 * The flow of the tool on one page: a scenario and a seed give a plan, a plan gives a trace, the
 * trace is judged, and a plan that breaks a claim is shrunk to the few events that matter. Every
 * step is a pure function over plain data.
 */
import { builtIn, type Catalogue } from './catalogue.ts';
import {
  type BreachCause,
  breachPlace,
  causeText,
  isPartOf,
  isSameCause,
} from './check/breach-cause.ts';
import { wasInPlace } from './core/plan/places.ts';
import type { KeptCause, Plan } from './core/plan/plan.ts';
import { withoutFaults } from './core/shrink/change.ts';
import {
  type Excess,
  excessOf,
  isWithin,
  type OtherBreach,
  type Tried,
} from './core/shrink/search.ts';
import {
  answerAll,
  DEFAULT_MAX_RUNS,
  type ShrinkOptions,
  type ShrinkResult,
  shrink,
} from './core/shrink/shrink.ts';
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
  const steps = shrinkBreach(expectsBreach(pin(plan, catalogue), claim), claim, options);
  return answerAll(steps, (candidate) => examine(candidate, [claim], catalogue));
}

/** Yields plans to run, receives their results, and returns `T`. */
type RunSteps<T> = Generator<Plan, T, SeedResult>;

/** Runs kept for the removal of faults, so that it also ends a shrink that spent its budget. */
const REMOVAL_RUNS = 32;

/**
 * Shrinks a pinned plan that breaks `claim`. After that, each fault is removed without which the
 * claim still breaks in the same section and at the same key, by whatever cause, and the rest is
 * shrunk by that cause, until no such fault is left. If the claim then breaks elsewhere, the fault
 * stays, and the plan without it is among the `others`.
 */
export function* shrinkBreach(
  plan: Plan,
  claim: string,
  options: ShrinkOptions = {},
): RunSteps<ShrinkResult> {
  const { maxRuns = DEFAULT_MAX_RUNS, shouldStop = () => false } = options;
  const kept = Math.min(REMOVAL_RUNS, Math.floor(maxRuns / 8));
  const allowed = excessOf(plan);
  let result = yield* shrinkByCause(plan, claim, { ...options, maxRuns: maxRuns - kept });
  while (result.reproduced === true && result.plan.faults.length > 0) {
    const left = maxRuns - result.runs;
    const { isDone, runs, ...found } = yield* withoutNeedless(result.plan, claim, {
      allowed,
      isSpent: (made) => made >= left || shouldStop(),
    });
    const removed = result.plan.faults.length - found.plan.faults.length;
    const pass = { pass: 'drop needless faults', runs, accepted: removed };
    const before = { ...result, runs: result.runs + runs, passes: [...result.passes, pass] };
    if (removed === 0) {
      const isMinimal = result.isMinimal && isDone;
      const others = new Map(
        [...result.others, ...found.elsewhere].map((other) => [other.cause, other]),
      );
      return { ...before, isMinimal, others: [...others.values()] };
    }
    const next = { ...options, maxRuns: Math.max(0, left - runs - kept) };
    const shrunk = yield* shrinkByCause(found.plan, claim, next);
    result = {
      ...shrunk,
      reproduced: true,
      runs: before.runs + shrunk.runs,
      accepted: before.accepted + removed + shrunk.accepted,
      passes: [...before.passes, ...shrunk.passes],
    };
    if (shrunk.reproduced !== true) return result;
  }
  return result;
}

/** Shrinks a plan to one that breaks `claim` by the same cause. */
function* shrinkByCause(plan: Plan, claim: string, options: ShrinkOptions): RunSteps<ShrinkResult> {
  const answer = answersWith(claim);
  const steps = shrink(plan, options);
  let step = steps.next();
  while (step.done !== true) step = steps.next(answer(yield step.value));
  return step.value;
}

interface WithoutNeedless {
  readonly plan: Plan;
  /** False if the budget was spent before. */
  readonly isDone: boolean;
  readonly runs: number;
  /** The plans without one fault of `plan` that break the claim elsewhere. */
  readonly elsewhere: readonly OtherBreach[];
}

/** Removes the faults of a plan without which the claim breaks in the same place, one by one. */
function* withoutNeedless(
  original: Plan,
  claim: string,
  { allowed, isSpent }: { readonly allowed: Excess; readonly isSpent: (runs: number) => boolean },
): RunSteps<WithoutNeedless> {
  let plan = original;
  let runs = 0;
  let elsewhere: OtherBreach[] = [];
  const spent = (): WithoutNeedless => ({ plan, runs, elsewhere, isDone: false });
  if (isSpent(runs)) return spent();
  runs += 1;
  const breach = breachIn(yield plan, claim);
  for (const fault of original.faults) {
    const rest = withoutFaults(plan, [fault]);
    if (!isWithin(rest, allowed)) continue;
    if (isSpent(runs)) return spent();
    runs += 1;
    const found = breachIn(yield rest, claim);
    if (found === null || (breach?.isInPlace === true && !found.isInPlace)) continue;
    if (found.place === breach?.place) {
      plan = rest;
      elsewhere = [];
    } else elsewhere.push({ cause: found.cause, plan: rest, isElsewhere: true });
  }
  return { plan, runs, elsewhere, isDone: true };
}

interface BreachFound {
  readonly place: string;
  readonly cause: string;
  readonly isInPlace: boolean;
}

function breachIn(result: SeedResult, claim: string): BreachFound | null {
  const { trace, verdicts, causes } = result;
  const verdict = verdicts.find((one) => one.claim === claim);
  const cause = causes.get(claim);
  if (verdict?.kind !== 'invalid' || cause === undefined) return null;
  return {
    place: breachPlace(trace, verdict),
    cause: nameOf(cause),
    isInPlace: isInPlace(result),
  };
}

/**
 * Returns a function that gives the shrinker its verdicts. A run must break `claim` by the cause of
 * the first breach. If a later run needs fewer faults of that cause, its cause is required from
 * then on. The verdict is 'out of place' if a fault was injected where the scenario does not allow
 * it, unless the first run had such a fault too.
 */
function answersWith(claim: string): (result: SeedResult) => Tried {
  let cause: BreachCause | null = null;
  let isFirstInPlace = true;
  return (result) => {
    const found = result.causes.get(claim);
    if (found === undefined) return false;
    if (cause === null) isFirstInPlace = isInPlace(result);
    else if (isFirstInPlace && !isInPlace(result)) return 'out of place';
    cause ??= found;
    if (!isSameCause(found, cause)) return { otherCause: nameOf(found) };
    if (found.faults.length > 0 && isPartOf(found, cause)) cause = found;
    return true;
  };
}

function nameOf(cause: BreachCause): string {
  return `${cause.rule}: ${causeText({ ...cause, earlier: [] })}`;
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
