/**
 * Finds the causes of a breach by intervention: an event is a cause only if the claim holds in the
 * run without it. Each candidate is tested alone. Orders of calls, and expiries that no event
 * shows, are tested only if no other event is a cause, since an order usually matters only because
 * of a fault or an expiry. If no candidate alone prevents the breach, pairs are tested. The events
 * of the first pair that prevents the breach are causes, and either is enough for the breach.
 *
 * An intervention prevents the breach if the claim holds to the end of the run and the sections of
 * the breach ran. If one of these sections never ends, or all are denied the lock, the intervention
 * merely keeps the run from reaching the breach. The number of runs is limited, so the result
 * contains the number of tested candidates.
 */
import { isSameCause } from '../../check/breach-cause.ts';
import type { Causation, Neighbour, ProvenCause } from '../../check/causation.ts';
import { causePhrase } from '../../check/phrases.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { Invalid } from '../../check/verdict.ts';
import type { TraceEvent } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import { targetOf } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Intervention } from '../../core/world/interventions.ts';
import type { SeedResult } from '../../examine.ts';
import { haveRun } from './avoided.ts';
import { type PossibleCause, possibleCauses } from './candidates.ts';

/** A run to make. */
export interface RunToMake {
  readonly plan: Plan;
  readonly interventions?: readonly Intervention[];
}

export type EvidenceSteps<T> = Generator<RunToMake, T, SeedResult>;

/** A neighbor of the broken run, with its trace. */
export interface SeenRun {
  readonly neighbour: Neighbour;
  readonly trace: Trace;
}

export interface FoundCauses extends Pick<Causation, 'causes' | 'isPair' | 'tested'> {
  readonly seen: readonly SeenRun[];
}

/** Maximum number of runs, in total and per event of the broken run. */
const MOST_RUNS = 60;
const RUNS_PER_EVENT = 2;
/** Maximum number of events in all runs, as a multiple of the events in the broken run. */
const MOST_EVENTS = 20;

export interface Broken {
  readonly plan: Plan;
  readonly result: SeedResult;
  readonly breach: Invalid;
}

/** Yields the runs to make. */
export function* findCauses(broken: Broken): EvidenceSteps<FoundCauses> {
  const { plan, result, breach } = broken;
  const { trace } = result;
  const candidates = possibleCauses(plan, trace, breach.evidence);
  const budget = budgetFor(trace);
  const seen: SeenRun[] = [];
  const causes: ProvenCause[] = [];
  const tested = { tested: 0, of: 0 };
  for (const isRemote of [false, true]) {
    const group = candidates.filter((candidate) => candidate.isRemote === isRemote);
    if (causes.length === 0) tested.of += group.length;
    else break;
    for (const candidate of group) {
      if (!budget.allows()) break;
      const beside = yield* test(broken, [candidate]);
      budget.spend(beside.trace);
      seen.push(beside);
      tested.tested += 1;
      if (beside.neighbour.outcome !== 'holds') continue;
      causes.push(causeFrom(broken, candidate, beside.trace));
    }
  }
  if (causes.length > 0) return { seen, causes, isPair: false, tested };
  for (const [at, second] of candidates.entries()) {
    for (const first of candidates.slice(0, at)) {
      if (!budget.allows()) break;
      const beside = yield* test(broken, [first, second]);
      budget.spend(beside.trace);
      if (beside.neighbour.outcome !== 'holds') continue;
      seen.push(beside);
      const both = [first, second].map((one) => causeFrom(broken, one, beside.trace));
      return { seen, causes: both, isPair: true, tested };
    }
  }
  return { seen, causes, isPair: false, tested };
}

interface Budget {
  allows(): boolean;
  spend(trace: Trace): void;
}

function budgetFor({ events }: Trace): Budget {
  let runs = Math.min(MOST_RUNS, RUNS_PER_EVENT * events.length);
  let left = MOST_EVENTS * events.length;
  return {
    allows: () => runs > 0 && left > 0,
    spend: (trace) => {
      runs -= 1;
      left -= trace.events.length;
    },
  };
}

function* test(
  { plan, result, breach }: Broken,
  candidates: readonly PossibleCause[],
): EvidenceSteps<SeenRun> {
  const interventions = candidates.map(({ intervention }) => intervention);
  const beside = yield { plan, interventions };
  const outcome = outcomeOf(beside, result, breach);
  const what = interventions.map(interventionText).join(' and ');
  const fault = candidates.length === 1 ? (candidates[0]?.fault ?? null) : null;
  return { trace: beside.trace, neighbour: { kind: 'intervention', what, fault, outcome } };
}

/** Returns the outcome of the claim in a neighbor of the broken run. */
export function outcomeOf(
  beside: SeedResult,
  broken: SeedResult,
  breach: Invalid,
): Neighbour['outcome'] {
  const { claim } = breach;
  const [cause, original] = [beside.causes.get(claim), broken.causes.get(claim)];
  if (cause !== undefined && original !== undefined) {
    return isSameCause(cause, original) ? 'breaks' : 'otherwise';
  }
  const verdict = beside.verdicts.find((judged) => judged.claim === claim);
  const hasHeld = verdict?.kind === 'valid';
  const hasRun = haveRun(indexTrace(broken.trace), breach, indexTrace(beside.trace));
  return hasHeld && hasRun ? 'holds' : 'stalls';
}

function interventionText(intervention: Intervention): string {
  switch (intervention.kind) {
    case 'without fault':
      return `without the ${intervention.fault.kind} of ${targetOf(intervention.fault)}`;
    case 'message on time':
      return `with ${intervention.message} on time`;
    case 'timer on time':
      return `with the timer ${intervention.timer} at its base length`;
    case 'expiry postponed':
      return intervention.of === 'record'
        ? `without the expiry of the record left by ${intervention.message}`
        : `without the expiry set by ${intervention.message}`;
    case 'call not sent':
      return `without the call ${intervention.operation}`;
    case 'calls swapped':
      return `with ${intervention.first} handled after ${intervention.second}`;
    case 'reply replaced':
      return `with another reply ${intervention.message}`;
  }
}

function causeFrom(
  { result: { trace } }: Broken,
  { kind, event, fault, intervention }: PossibleCause,
  beside: Trace,
): ProvenCause {
  const shown = event ?? firstDifference(trace, beside);
  const named = namedIn(intervention);
  const isRecord = 'of' in intervention && intervention.of === 'record';
  const text = causePhrase(trace, { kind, event: shown, named, isRecord });
  return { kind, fault, event: shown, text };
}

/** Returns '' for a fault. */
function namedIn(intervention: Intervention): string {
  if ('message' in intervention) return intervention.message;
  if ('operation' in intervention) return intervention.operation;
  if ('timer' in intervention) return intervention.timer;
  return 'first' in intervention ? intervention.first : '';
}

function firstDifference({ events }: Trace, beside: Trace): number {
  const isAlike = (event: TraceEvent, at: number): boolean =>
    JSON.stringify(event) === JSON.stringify(beside.events[at]);
  return Math.max(
    0,
    events.findIndex((event, at) => !isAlike(event, at)),
  );
}
