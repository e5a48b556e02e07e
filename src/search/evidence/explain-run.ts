/**
 * Why a run breaks a claim, in words and as data, once the runs beside it are made. The words are
 * the claim's own (`check/explain.ts`), about the faults that those runs have shown to be needed;
 * what would have prevented it is said only where a run has shown that.
 */
import { builtIn } from '../../catalogue.ts';
import type { Causation } from '../../check/causation.ts';
import { explain } from '../../check/explain.ts';
import type { Explanation, Invalid } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examine } from '../../harness.ts';
import { pin } from '../../run.ts';
import { causationSteps, claimsWeighed } from './evidence.ts';

/** A breach, told. */
export interface ToldBreach {
  readonly explanation: Explanation;
  readonly causation: Causation;
}

/** A breach that a run has shown. */
export interface BrokenRun {
  readonly plan: Plan;
  readonly trace: Trace;
  readonly verdict: Invalid;
}

/** Makes the runs, and tells the breach: of a system of generators, all of it built in. */
export function explainRunNow(broken: BrokenRun): ToldBreach {
  const { claim } = broken.verdict;
  const steps = causationSteps({ plan: pin(broken.plan), claim, catalogue: builtIn });
  const claims = claimsWeighed(claim);
  let step = steps.next();
  while (step.done !== true) step = steps.next(examine(step.value, claims));
  return toldBy(broken, step.value);
}

/** The breach by what the runs beside it came to; null where the plan did not break it again. */
export function toldBy({ plan, trace, verdict }: BrokenRun, found: Causation | null): ToldBreach {
  const causation = found ?? unproven(verdict);
  const { causes, cure } = causation;
  const known = {
    system: plan.system.name,
    ttlUs: new Map(plan.clients.map(({ name, ttlUs }) => [name, ttlUs])),
    ...(causes.length === 0 ? {} : { causes: causes.map(({ event }) => event) }),
  };
  const explanation = explain(trace, verdict, known);
  return { explanation: { ...explanation, cure: cure?.text ?? explanation.cure }, causation };
}

function unproven({ evidence }: Invalid): Causation {
  return { causes: [], turn: null, neighbours: [], cure: null, evidence };
}
