/** Runs and judges one plan, or judges an existing trace. */
import { builtIn, type Catalogue } from './catalogue.ts';
import { type BreachCause, causeOf } from './check/breach-cause.ts';
import { judgeIndexed } from './check/claims.ts';
import { type Lasted, measureHolderOverlap } from './check/holder-overlap.ts';
import { measureLossNoticed } from './check/loss-noticed.ts';
import { measureStampede, type Stampede } from './check/single-flight.ts';
import { termsOf } from './check/terms.ts';
import { indexTrace, type TraceIndex } from './check/trace-index.ts';
import type { Verdict } from './check/verdict.ts';
import type { Trace } from './core/history/trace.ts';
import type { Plan } from './core/plan/plan.ts';
import type { Intervention } from './core/world/interventions.ts';
import { run } from './run.ts';
import { addsItself, hasGrants, isFenced, modelOf } from './systems/assemble.ts';

export interface SeedResult {
  readonly plan: Plan;
  readonly trace: Trace;
  /** One verdict per requested claim, in the same order. */
  readonly verdicts: readonly Verdict[];
  /** The cause of each breach, by the claim's name. */
  readonly causes: ReadonlyMap<string, BreachCause>;
  /**
   * Overlaps in which two clients believed that they held a lock: number and duration. Not judged.
   */
  readonly overlap: Lasted;
  /** Number of lost locks on which programs still relied, and the time until they noticed. */
  readonly losses: Lasted;
  /** Number of programs that computed the same memoized value at once. Not judged. */
  readonly stampede: Stampede;
}

/**
 * Maximum number of configurations that a linearizability search visits. Unlike a time limit, it
 * has the same effect on every machine.
 */
const MAX_CONFIGURATIONS = 100_000;

/** Runs a plan and judges `claims`. The catalogue resolves the names of the plan and the claims. */
export function examine(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
  interventions: readonly Intervention[] = [],
): SeedResult {
  return judgeRun(plan, run(plan, catalogue, interventions), claims, catalogue);
}

/** Judges the trace of a run of `plan`. */
export function judgeRun(
  plan: Plan,
  trace: Trace,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): SeedResult {
  const indexed = indexTrace(trace);
  const { models } = catalogue;
  const store = {
    model: modelOf(plan, catalogue),
    models,
    isFenced: isFenced(plan, catalogue),
    hasGrants: hasGrants(plan, catalogue),
    addsItself: addsItself(plan, catalogue),
  };
  const terms = termsOf(plan, store, MAX_CONFIGURATIONS);
  const verdicts = judgeIndexed(indexed, terms, claims, catalogue.claims);
  const overlap = measureHolderOverlap(indexed);
  const [losses, stampede] = [measureLossNoticed(indexed), measureStampede(indexed)];
  const causes = causesOf(indexed, verdicts);
  return { plan, trace, verdicts, causes, overlap, losses, stampede };
}

function causesOf(
  indexed: TraceIndex,
  verdicts: readonly Verdict[],
): ReadonlyMap<string, BreachCause> {
  const causes = new Map<string, BreachCause>();
  for (const verdict of verdicts) {
    if (verdict.kind === 'invalid') causes.set(verdict.claim, causeOf(indexed, verdict));
  }
  return causes;
}
