/**
 * Compares a broken run with its neighbors: runs without one event that may be a cause
 * (`find-causes.ts`), the run on the other side of the boundary, and possible cures (`cures.ts`).
 * `causationSteps` is a generator that yields the runs to make and receives their results, so that
 * asynchronous code and the page can share it.
 *
 * If the claim holds without an event, that event is a cause. `check/turning-point.ts` finds the
 * first event at which a neighbor differs. A cure must do more than keep the claim. The faults on
 * which the breach depends must be injected again. The sections of the breach must end or be
 * stopped, and at least one must end: a lock that never grants is not a cure. Also, the cure must
 * not break `progress` unless the original plan does.
 */
import type { Catalogue } from '../../catalogue.ts';
import {
  type Causation,
  type Neighbour,
  type ProvenCure,
  reportedCauses,
} from '../../check/causation.ts';
import { isChangeByNonOwner } from '../../check/leases.ts';
import { indexTrace } from '../../check/trace-index.ts';
import { turnBetween } from '../../check/turning-point.ts';
import type { Evidence, Invalid } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import { proseDuration } from '../../core/plan/duration.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Boundary } from '../../core/shrink/boundary.ts';
import type { SeedResult } from '../../examine.ts';
import { whyRefused } from '../../run.ts';
import { isAvoided, sectionsEnded } from './avoided.ts';
import { type Candidate, curesFor } from './cures.ts';
import {
  type EvidenceSteps,
  type FoundCauses,
  findCauses,
  outcomeOf,
  type SeenRun,
} from './find-causes.ts';

export interface Sought {
  /** A pinned plan, which leaves nothing to chance. */
  readonly plan: Plan;
  readonly claim: string;
  readonly catalogue: Catalogue;
  /** The boundary that the shrinker found, if it ran. */
  readonly boundary?: Boundary | null;
}

export function claimsWeighed(claim: string): readonly string[] {
  return [...new Set([claim, 'progress'])];
}

/** Yields the runs to make. Returns null if the plan does not break the claim. */
export function* causationSteps(sought: Sought): EvidenceSteps<Causation | null> {
  const { plan } = sought;
  const result = yield { plan };
  const breach = result.verdicts.find(({ claim }) => claim === sought.claim);
  if (breach?.kind !== 'invalid') return null;
  const found = yield* findCauses({ plan, result, breach });
  const seen = [...found.seen];
  if (sought.boundary) seen.push(yield* beyondBoundary(result, breach, sought.boundary));
  const cured = yield* firstCure(sought, result, breach);
  if (cured !== null) seen.push(cured.seen);
  return concluded(result, breach, { ...found, seen, cure: cured?.cure ?? null });
}

function* beyondBoundary(
  broken: SeedResult,
  breach: Invalid,
  { holdsPlan, what, holdsAtUs }: Boundary,
): EvidenceSteps<SeenRun> {
  const beside = yield { plan: holdsPlan };
  const outcome = outcomeOf(beside, broken, breach);
  const moved = `with a ${what} of ${proseDuration(holdsAtUs)}`;
  return {
    trace: beside.trace,
    neighbour: { kind: 'boundary', what: moved, fault: null, outcome },
  };
}

interface Cured {
  readonly cure: ProvenCure;
  readonly seen: SeenRun;
}

function* firstCure(
  { plan, catalogue }: Sought,
  broken: SeedResult,
  breach: Invalid,
): EvidenceSteps<Cured | null> {
  for (const candidate of curesFor(plan, breach.rule, catalogue)) {
    if (whyRefused(candidate.plan, catalogue) !== null) continue;
    const cured = yield { plan: candidate.plan };
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

/**
 * Returns true if a server refused a request in the cured run that it accepted in the broken run.
 */
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
  found: FoundCauses & { readonly cure: ProvenCure | null },
): Causation {
  const { seen, causes, isPair, tested, cure } = found;
  const neighbours = seen.map(({ neighbour }) => neighbour);
  let turn: Causation['turn'] = null;
  for (const [neighbour, beside] of seen.entries()) {
    if (turn !== null || beside.neighbour.outcome === 'breaks') continue;
    const first = turnBetween(trace, beside.trace, evidence);
    if (first !== null) turn = { ...first, neighbour };
  }
  const shown = allShown(trace, evidence, { causes, turn });
  return { causes, isPair, tested, turn, neighbours, cure, evidence: shown };
}

function allShown(
  trace: Trace,
  evidence: readonly Evidence[],
  { causes, turn }: Pick<Causation, 'causes' | 'turn'>,
): readonly Evidence[] {
  const roles = new Map(evidence.map(({ role, event }) => [event, role]));
  for (const { kind, event } of reportedCauses(trace, causes)) {
    const shown = trace.events[event];
    if (shown === undefined || roles.has(event)) continue;
    if (shown.kind === 'fault') roles.set(event, shown.fault);
    else {
      const isTheft = kind === 'release' && isChangeByNonOwner(shown);
      roles.set(event, isTheft ? 'foreign release' : kind);
    }
  }
  if (turn !== null && !roles.has(turn.event)) roles.set(turn.event, 'turning point');
  return [...roles].sort(([a], [b]) => a - b).map(([event, role]) => ({ role, event }));
}
