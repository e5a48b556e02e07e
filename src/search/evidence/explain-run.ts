/**
 * Explains why a run breaks a claim, in words and as data, from the results of its neighbors. The
 * sentences come from `check/explain.ts`. They mention only causes and cures that a run has proven.
 */
import { builtIn } from '../../catalogue.ts';
import type { Causation } from '../../check/causation.ts';
import { explain } from '../../check/explain.ts';
import type { Known } from '../../check/explanation.ts';
import { endedUnasked, keysUnder } from '../../check/leases.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { Explanation, Invalid } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examine } from '../../examine.ts';
import { pin } from '../../run.ts';
import { causationSteps, claimsWeighed } from './evidence.ts';

export interface ExplainedBreach {
  readonly explanation: Explanation;
  readonly causation: Causation;
}

export interface BrokenRun {
  readonly plan: Plan;
  readonly trace: Trace;
  readonly verdict: Invalid;
}

/** Runs the neighbors synchronously. The system must be built in and use generators. */
export function explainRunNow(broken: BrokenRun): ExplainedBreach {
  const { claim } = broken.verdict;
  const steps = causationSteps({ plan: pin(broken.plan), claim, catalogue: builtIn });
  const claims = claimsWeighed(claim);
  // Without `answerAll`, whose module would bring the shrinker into the page's script.
  let step = steps.next();
  while (step.done !== true) {
    const { plan, interventions } = step.value;
    step = steps.next(examine(plan, claims, builtIn, interventions));
  }
  return explainBreach(broken, step.value);
}

/** Explains the breach. `found` is null if the plan did not break the claim again. */
export function explainBreach(
  { plan, trace, verdict }: BrokenRun,
  found: Causation | null,
): ExplainedBreach {
  const { evidence } = verdict;
  const none = {
    causes: [],
    isPair: false,
    tested: { tested: 0, of: 0 },
    turn: null,
    neighbours: [],
    cure: null,
  };
  const causation = withNamed(found ?? { ...none, evidence }, { trace, verdict });
  const { causes, cure } = causation;
  const known: Known = {
    system: plan.system.name,
    ttlUs: new Map(plan.clients.map(({ name, ttlUs }) => [name, ttlUs])),
    ...(found === null ? {} : { causes }),
  };
  const explanation = explain(trace, verdict, known);
  const { isPair, tested } = causation;
  const pair = isPair ? '; either of the two alone causes the breach' : '';
  const untested = `; ${tested.tested} of ${tested.of} possible causes were tested`;
  const however = `${explanation.however}${pair}${tested.tested < tested.of ? untested : ''}`;
  return {
    explanation: { ...explanation, however, cure: cure?.text ?? explanation.cure },
    causation,
  };
}

/** Adds the events that the explanation mentions to the evidence. */
function withNamed(
  causation: Causation,
  { trace, verdict }: Pick<BrokenRun, 'trace' | 'verdict'>,
): Causation {
  const { events } = trace;
  const roles = new Map(causation.evidence.map(({ role, event }) => [event, role]));
  const show = (role: string, event: number): void => {
    if (event >= 0 && !roles.has(event)) roles.set(event, role);
  };
  const indexed = indexTrace(trace);
  const grants = verdict.evidence.flatMap(({ event: index }) => {
    const event = events[index];
    return event?.kind === 'grant' ? [event] : [];
  });
  const lastUs = Math.max(...verdict.evidence.map(({ event }) => events[event]?.atUs ?? 0));
  for (const key of keysUnder(indexed, grants, lastUs)) {
    if (key !== null) show('key', events.indexOf(key));
  }
  for (const [place, next] of grants.slice(1).entries()) {
    const grant = grants[place];
    if (grant === undefined) continue;
    const end = endedUnasked(trace, grant, next);
    if (end !== null) show('unasked end', events.indexOf(end));
  }
  const evidence = [...roles].map(([event, role]) => ({ role, event }));
  return { ...causation, evidence: evidence.sort((one, other) => one.event - other.event) };
}
