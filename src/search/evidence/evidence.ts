/**
 * Finds the causes of a breach by comparing it with neighbors: one run without each fault that
 * fired, the other side of the boundary if it is known, and cures from the table until one holds.
 * Like the shrinker, `causationSteps` is a generator that yields plans and receives the result of
 * each, so asynchronous code and the page share it.
 *
 * If a neighbor holds, its difference from the plan is a cause (`check/turning-point.ts` finds the
 * event where it shows). A cure must do more than hold the claim. The faults that the breach
 * depends on must fire again. The sections involved in the breach must end or be stopped, and at
 * least one section must end, so that a lock which never grants is not a cure. Also, it must not
 * break `progress` unless the original plan did.
 */
import type { Catalogue } from '../../catalogue.ts';
import { isSameCause } from '../../check/breach-cause.ts';
import type { Causation, Neighbour, ProvenCause, ProvenCure } from '../../check/causation.ts';
import { faultPhrase } from '../../check/phrases.ts';
import { indexTrace } from '../../check/trace-index.ts';
import { turnBetween } from '../../check/turning-point.ts';
import type { Evidence, Invalid } from '../../check/verdict.ts';
import type { FaultInjected } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import { proseDuration } from '../../core/plan/duration.ts';
import { targetOf } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Boundary } from '../../core/shrink/boundary.ts';
import type { SeedResult } from '../../examine.ts';
import { whyRefused } from '../../run.ts';
import { isAvoided, sectionsEnded } from './avoided.ts';
import { type Candidate, curesFor } from './cures.ts';

export interface Sought {
  /** A pinned plan: it leaves nothing to chance. */
  readonly plan: Plan;
  readonly claim: string;
  readonly catalogue: Catalogue;
  /** The boundary that the shrinker found, if it was run. */
  readonly boundary?: Boundary | null;
}

export type EvidenceSteps<T> = Generator<Plan, T, SeedResult>;

/** Maximum number of faults to remove, one run each. A shrunk plan has few. */
const MOST_FAULTS = 12;

/** Returns the claims to judge in each run. */
export function claimsWeighed(claim: string): readonly string[] {
  return [...new Set([claim, 'progress'])];
}

/** Yields the plans to run. Returns null if the plan does not break the claim. */
export function* causationSteps(sought: Sought): EvidenceSteps<Causation | null> {
  const broken = yield sought.plan;
  const breach = broken.verdicts.find(({ claim }) => claim === sought.claim);
  if (breach?.kind !== 'invalid') return null;
  const seen: Seen[] = [];
  const causes: ProvenCause[] = [];
  for (const fired of faultsFired(broken.trace)) {
    const beside = yield* withoutFault(sought, broken, fired);
    seen.push(beside);
    const { fault, event } = fired;
    if (beside.neighbour.outcome === 'breaks') continue;
    causes.push({ fault, event, text: faultPhrase(broken.trace, fired.injected) });
  }
  if (sought.boundary) seen.push(yield* beyondBoundary(sought, broken, sought.boundary));
  const cured = yield* firstCure(sought, broken, breach);
  if (cured !== null) seen.push(cured.seen);
  return concluded(broken, breach, { seen, causes, cure: cured?.cure ?? null });
}

interface Seen {
  readonly neighbour: Neighbour;
  readonly trace: Trace;
}

interface Fired {
  readonly fault: number;
  readonly event: number;
  readonly injected: FaultInjected;
}

/** Returns the faults of the plan that fired, each at its first occurrence. */
function faultsFired({ events }: Trace): readonly Fired[] {
  const found = new Map<number, Fired>();
  for (const [event, injected] of events.entries()) {
    if (injected.kind !== 'fault' || injected.index === null) continue;
    if (found.has(injected.index)) continue;
    found.set(injected.index, { fault: injected.index, event, injected });
  }
  return [...found.values()].slice(0, MOST_FAULTS);
}

function* withoutFault(
  { plan, claim }: Sought,
  broken: SeedResult,
  { fault }: Fired,
): EvidenceSteps<Seen> {
  const taken = plan.faults[fault];
  const beside = yield { ...plan, faults: plan.faults.filter((_, at) => at !== fault) };
  const what = taken === undefined ? '' : `without the ${taken.kind} of ${targetOf(taken)}`;
  const outcome = outcomeOf(beside, broken, claim);
  return { trace: beside.trace, neighbour: { kind: 'without fault', what, fault, outcome } };
}

function* beyondBoundary(
  { claim }: Sought,
  broken: SeedResult,
  { holdsPlan, what, holdsAtUs }: Boundary,
): EvidenceSteps<Seen> {
  const beside = yield holdsPlan;
  const outcome = outcomeOf(beside, broken, claim);
  const moved = `with a ${what} of ${proseDuration(holdsAtUs)}`;
  return {
    trace: beside.trace,
    neighbour: { kind: 'boundary', what: moved, fault: null, outcome },
  };
}

function outcomeOf(beside: SeedResult, broken: SeedResult, claim: string): Neighbour['outcome'] {
  const [one, other] = [beside.causes.get(claim), broken.causes.get(claim)];
  if (one === undefined || other === undefined) return 'holds';
  return isSameCause(one, other) ? 'breaks' : 'otherwise';
}

interface Cured {
  readonly cure: ProvenCure;
  readonly seen: Seen;
}

/** Finds the first candidate with which the claim holds and work continues. */
function* firstCure(
  { plan, catalogue }: Sought,
  broken: SeedResult,
  breach: Invalid,
): EvidenceSteps<Cured | null> {
  for (const candidate of curesFor(plan, breach.rule, catalogue)) {
    if (whyRefused(candidate.plan, catalogue) !== null) continue;
    const cured = yield candidate.plan;
    if (!isCured({ broken, breach, cured, candidate })) continue;
    const { change, text } = candidate;
    const what = `with ${change}`;
    const neighbour: Neighbour = { kind: 'cure', what, fault: null, outcome: 'holds' };
    return {
      cure: { change, text: `${text} (\`${change}\`)` },
      seen: { trace: cured.trace, neighbour },
    };
  }
  return null;
}

function isCured(run: {
  readonly broken: SeedResult;
  readonly breach: Invalid;
  readonly cured: SeedResult;
  readonly candidate: Candidate;
}): boolean {
  const { broken, breach, cured, candidate } = run;
  const kindOf = ({ verdicts }: SeedResult, claim: string): string | undefined =>
    verdicts.find((verdict) => verdict.claim === claim)?.kind;
  if (kindOf(cured, breach.claim) !== 'valid') return false;
  const isStuck =
    kindOf(cured, 'progress') === 'invalid' && kindOf(broken, 'progress') !== 'invalid';
  if (breach.claim !== 'progress' && isStuck) return false;
  if (candidate.saysRefused && !refusesMore(broken.trace, cured.trace)) return false;
  const after = indexTrace(cured.trace);
  return isAvoided(indexTrace(broken.trace), breach, after) && sectionsEnded(after) > 0;
}

/** Returns true if a server refused or denied what it let through in the other run. */
function refusesMore(broken: Trace, cured: Trace): boolean {
  const taken = new Set(
    broken.events.flatMap((event) => {
      if (!('message' in event)) return [];
      const isTaken = event.kind === 'grant' || ('isAccepted' in event && event.isAccepted);
      return isTaken ? [event.message] : [];
    }),
  );
  return cured.events.some((event) => {
    if (!('message' in event && taken.has(event.message))) return false;
    return event.kind === 'deny' || ('isAccepted' in event && !event.isAccepted);
  });
}

function concluded(
  { trace }: SeedResult,
  { evidence }: Invalid,
  found: {
    readonly seen: readonly Seen[];
    readonly causes: readonly ProvenCause[];
    readonly cure: ProvenCure | null;
  },
): Causation {
  const { seen, causes, cure } = found;
  const neighbours = seen.map(({ neighbour }) => neighbour);
  let turn: Causation['turn'] = null;
  for (const [neighbour, beside] of seen.entries()) {
    if (turn !== null || beside.neighbour.outcome === 'breaks') continue;
    const first = turnBetween(trace, beside.trace, evidence);
    if (first !== null) turn = { ...first, neighbour };
  }
  return { causes, turn, neighbours, cure, evidence: allShown(trace, evidence, { causes, turn }) };
}

function allShown(
  { events }: Trace,
  evidence: readonly Evidence[],
  { causes, turn }: Pick<Causation, 'causes' | 'turn'>,
): readonly Evidence[] {
  const roles = new Map(evidence.map(({ role, event }) => [event, role]));
  for (const { event } of causes) {
    const injected = events[event];
    if (injected?.kind === 'fault' && !roles.has(event)) roles.set(event, injected.fault);
  }
  if (turn !== null && !roles.has(turn.event)) roles.set(turn.event, 'turning point');
  return [...roles].sort(([a], [b]) => a - b).map(([event, role]) => ({ role, event }));
}
