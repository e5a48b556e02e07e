/**
 * Finds the causes of a breach by intervention: an event is a cause only if the run without it does
 * not break. All single candidates are tested, and pairs of them only if no single one prevents the
 * breach; then both of the first pair are causes, and either of them is enough for the breach.
 *
 * An intervention prevents the breach if the claim holds to the end of the run and the sections of
 * the breach ran. If one of these never ends, or all of them are denied, it only keeps the run from
 * reaching the breach, and its event is not a cause. The number of runs is limited; if it does not suffice, the result
 * states how many candidates were tested.
 */
import { isSameCause } from '../../check/breach-cause.ts';
import type { Causation, Neighbour, ProvenCause } from '../../check/causation.ts';
import { causePhrase } from '../../check/cause-phrases.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { Invalid } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import { targetOf } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Intervention } from '../../core/world/interventions.ts';
import type { SeedResult } from '../../examine.ts';
import { canonical } from '../../run.ts';
import { standsBeside } from './avoided.ts';
import { type PossibleCause, possibleCauses } from './candidates.ts';

/** A run to make: a plan, and the interventions in it. */
export interface Step {
  readonly plan: Plan;
  readonly interventions?: readonly Intervention[];
}

export type EvidenceSteps<T> = Generator<Step, T, SeedResult>;

/** A run beside the broken one. */
export interface Seen {
  readonly neighbour: Neighbour;
  readonly trace: Trace;
}

export interface FoundCauses extends Pick<Causation, 'causes' | 'isPair' | 'tested'> {
  readonly seen: readonly Seen[];
}

/** Maximum number of runs, in total and per event of the broken run. */
const MOST_RUNS = 60;
const RUNS_PER_EVENT = 2;
/** Maximum number of events in all runs, as a multiple of those in the broken run. */
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
  const seen: Seen[] = [];
  const causes: ProvenCause[] = [];
  let tested = 0;
  for (const candidate of candidates) {
    if (!budget.allows()) break;
    const beside = yield* test(broken, [candidate]);
    budget.spend(beside.trace);
    seen.push(beside);
    tested += 1;
    if (beside.neighbour.outcome !== 'holds') continue;
    causes.push(causeFrom(broken, candidate, beside.trace));
  }
  const counts = { tested, of: candidates.length };
  if (causes.length > 0) return { seen, causes: inOrder(causes), isPair: false, tested: counts };
  for (const [first, second] of pairsOf(candidates)) {
    if (!budget.allows()) break;
    const beside = yield* test(broken, [first, second]);
    budget.spend(beside.trace);
    if (beside.neighbour.outcome !== 'holds') continue;
    seen.push(beside);
    const both = [first, second].map((one) => causeFrom(broken, one, beside.trace));
    return { seen, causes: inOrder(both), isPair: true, tested: counts };
  }
  return { seen, causes, isPair: false, tested: counts };
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

function* pairsOf(
  candidates: readonly PossibleCause[],
): Generator<readonly [PossibleCause, PossibleCause]> {
  for (const [at, second] of candidates.entries()) {
    for (const first of candidates.slice(0, at)) yield [first, second];
  }
}

function* test(
  { plan, result, breach }: Broken,
  candidates: readonly PossibleCause[],
): EvidenceSteps<Seen> {
  const interventions = candidates.map(({ intervention }) => intervention);
  const beside = yield { plan, interventions };
  const outcome = outcomeOf(beside, result, breach);
  const what = interventions.map(interventionText).join(' and ');
  const fault = candidates.length === 1 ? (candidates[0]?.fault ?? null) : null;
  return { trace: beside.trace, neighbour: { kind: 'intervention', what, fault, outcome } };
}

/** Returns how a run beside the broken one ended for the claim. */
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
  const hasRun = standsBeside(indexTrace(broken.trace), breach, indexTrace(beside.trace));
  return hasHeld && hasRun ? 'holds' : 'stalls';
}

function interventionText(intervention: Intervention): string {
  switch (intervention.kind) {
    case 'without fault':
      return `without the ${intervention.fault.kind} of ${targetOf(intervention.fault)}`;
    case 'message on time':
      return `with ${intervention.message} on time`;
    case 'timer on time':
      return `with ${intervention.timer} on time`;
    case 'expiry postponed':
      return `without the expiry of ${intervention.message}`;
    case 'call not sent':
      return `without ${intervention.operation}`;
    case 'calls swapped':
      return `with ${intervention.second} before ${intervention.first}`;
    case 'reply replaced':
      return `with another ${intervention.message}`;
  }
}

function causeFrom(
  { result: { trace } }: Broken,
  { kind, event, fault, intervention }: PossibleCause,
  beside: Trace,
): ProvenCause {
  const shown = event ?? firstDifference(trace, beside);
  const named = 'timer' in intervention ? intervention.timer : messageIn(intervention);
  return { kind, fault, event: shown, text: causePhrase(trace, { kind, event: shown, named }) };
}

function messageIn(intervention: Intervention): string {
  if ('message' in intervention) return intervention.message;
  return intervention.kind === 'calls swapped' ? intervention.first : '';
}

/** Returns the number of the first event that differs between two runs. */
function firstDifference({ events }: Trace, beside: Trace): number {
  const at = events.findIndex((event, index) => {
    const there = beside.events[index];
    return there === undefined || canonical(event) !== canonical(there);
  });
  return Math.max(0, at);
}

/** Returns faults first, each group in order of time. */
function inOrder(causes: readonly ProvenCause[]): readonly ProvenCause[] {
  const rank = ({ kind }: ProvenCause): number => (kind === 'fault' ? 0 : 1);
  return [...causes].sort((a, b) => rank(a) - rank(b) || a.event - b.event);
}
