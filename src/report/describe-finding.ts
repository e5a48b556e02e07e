/**
 * Turns a shrunk plan into a finding: runs it again, explains and measures it, and renders it as a
 * file. The caller provides the path and the replay command.
 */
import { builtIn, type Catalogue } from '../catalogue.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { Plan } from '../core/plan/plan.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import type { Boundary } from '../core/shrink/boundary.ts';
import { digitsOf, roundFrom } from '../core/shrink/round.ts';
import type { ShrinkResult } from '../core/shrink/shrink.ts';
import { expectsBreach } from '../harness.ts';
import { examineAsync } from '../host/async/run-async.ts';
import { digestOf } from '../run.ts';
import type { Finding, OtherRun, ShrunkSize } from '../search/campaign/result.ts';
import { explainRun } from '../search/evidence/explain-plan.ts';
import { claimsJudged } from '../search/sweep/examiner.ts';
import { evidenceShown } from './finding.ts';
import { countEvents, listSteps } from './steps.ts';

/** The result of shrinking a plan, with its origin. */
export interface Shrunk
  extends Pick<Finding, 'scenario' | 'scenarioFile' | 'seed' | 'claim' | 'exhaust'> {
  readonly original: Plan;
  readonly result: Pick<ShrinkResult, 'plan' | 'boundary' | 'whyNoBoundary'>;
  /** Resolves the names in the plan. Default: the built-in catalogue. */
  readonly catalogue?: Catalogue;
}

/** The files of a finding. */
export interface FindingPlace
  extends Pick<Finding, 'planFile' | 'pageFile' | 'keptIn' | 'scenarioTyped' | 'isExpected'> {
  /** The replay command on one line, for the comment above the plan. */
  readonly command: string;
}

/** Runs the shrunk plan again. Resolves to null if it does not break the claim. */
export async function describeShrunk(shrunk: Shrunk, place: FindingPlace): Promise<Finding | null> {
  const { claim, original, result, scenario, scenarioFile, seed, exhaust } = shrunk;
  const { catalogue = builtIn } = shrunk;
  const { command, ...files } = place;
  const judged = claimsJudged([claim], catalogue);
  const { trace, verdicts, causes } = await examineAsync(result.plan, judged, catalogue);
  const plan = expectsBreach(result.plan, claim, causes.get(claim));
  const verdict = verdicts.find((candidate) => candidate.claim === claim);
  if (verdict?.kind !== 'invalid') return null;
  const broken = { plan, trace, verdict };
  const { boundary } = result;
  const { explanation, causation } = await explainRun(broken, { catalogue, boundary });
  const digest = digestOf(trace);
  const comment = [explanation.headline, command, digest].join('\n');
  const before = await otherRun(original, claim, catalogue);
  const holdsPlan = boundary?.holdsPlan;
  const nearest = holdsPlan && (await otherRun(holdsPlan, claim, catalogue));
  return {
    type: 'finding',
    version: 1,
    scenario,
    scenarioFile,
    system: plan.system.name,
    claim,
    seed,
    ...(exhaust === undefined ? {} : { exhaust }),
    explanation,
    causation,
    verdict,
    verdicts,
    trace,
    digest,
    plan,
    planText: renderPlan(plan, comment),
    size: sizeOf(before, { plan, trace, evidence: evidenceShown({ verdict, causation, trace }) }),
    boundary: boundary === null ? result.whyNoBoundary : boundaryText(boundary),
    original: before,
    ...(nearest === undefined ? {} : { nearest }),
    ...files,
  };
}

/** Returns a run to compare with the counterexample, with its evidence against the same claim. */
async function otherRun(plan: Plan, claim: string, catalogue: Catalogue): Promise<OtherRun> {
  const { trace, verdicts } = await examineAsync(plan, [claim], catalogue);
  const [verdict] = verdicts;
  return { plan, trace, evidence: verdict?.kind === 'invalid' ? verdict.evidence : [] };
}

function sizeOf(before: OtherRun, after: OtherRun): ShrunkSize {
  const [originalEvents = 0, events = 0] = [before, after].map(({ trace, evidence }) =>
    countEvents(listSteps(trace, { evidence })),
  );
  const [originalFaults = 0, faults = 0] = [before, after].map(
    ({ trace }) => trace.events.filter(({ kind }) => kind === 'fault').length,
  );
  return { events, originalEvents, faults, originalFaults };
}

/**
 * Describes a boundary by the side with fewer digits: "breaks with any pause of alice over 10 ms",
 * "of 9 ms or more", "up to 2 ms" or "under 1 ms". Adds the plan's value if it is not the first
 * round value beyond the boundary: "; 10.5 ms drawn". If the value is 0: "with no think time of
 * bob". If the claim holds again farther beyond the boundary: "breaks with a pause of alice of
 * 10.001 ms, holds with 10 ms".
 */
export function boundaryText({ what, keepsUs, isOnlyOne, ...sides }: Boundary): string {
  const { breaksAtUs, holdsAtUs } = sides;
  const [breaks, holds] = [proseDuration(breaksAtUs), proseDuration(holdsAtUs)];
  if (!isOnlyOne) return `breaks with a ${what} of ${breaks}, holds with ${holds}`;
  const namesHeld = digitsOf(holdsAtUs) <= digitsOf(breaksAtUs);
  if (breaksAtUs === 0) return `breaks with no ${what}, holds with ${holds}`;
  if (breaksAtUs < holdsAtUs) {
    return `breaks with any ${what} ${namesHeld ? `under ${holds}` : `up to ${breaks}`}`;
  }
  const drawn = keepsUs === roundFrom(breaksAtUs) ? '' : `; ${proseDuration(keepsUs)} drawn`;
  return `breaks with any ${what} ${namesHeld ? `over ${holds}` : `of ${breaks} or more`}${drawn}`;
}
