/**
 * Turns a seed that broke a claim into a finding: shrunk, explained, ready to be replayed and kept.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { examineAsync, shrinkFailureAsync } from '../async/examine-async.ts';
import { runAsync } from '../async/run-async.ts';
import { builtIn, type Catalogue } from '../catalogue.ts';
import { explain } from '../check/explain.ts';
import type { Examination } from '../harness.ts';
import { proseDuration } from '../plan/duration.ts';
import type { Plan } from '../plan/plan.ts';
import { renderPlan } from '../plan/plan-text.ts';
import { replayCommand, shellWords } from '../report/commands.ts';
import type { Finding, Size } from '../report/finding.ts';
import { countSteps } from '../report/steps.ts';
import { digestOf } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { Boundary } from '../shrink/boundary.ts';
import type { ShrinkResult } from '../shrink/shrink.ts';
import { isSimpler } from '../shrink/simpler.ts';
import { claimsJudged } from '../sweep/examiner.ts';
import { breathe } from './breathe.ts';
import type { LoadedScenario } from './files.ts';

export interface Failing {
  readonly system: string;
  readonly claim: string;
  /** Seeds that broke it, at least one; the simplest counterexample of the first few is taken. */
  readonly seeds: readonly number[];
}

/**
 * Seeds that are shrunk to find the simplest counterexample; one seed may be stuck with two faults.
 */
const SEEDS_TRIED = 3;

/**
 * The simplest counterexample that the first few seeds shrink to; null when none broke it again.
 */
export async function findCounterexample(
  loaded: LoadedScenario,
  failing: Failing,
  output: string,
  shouldStop: () => boolean,
): Promise<Finding | null> {
  const { catalogue } = loaded;
  const options = { shouldStop, catalogue, breathe };
  let best: { seed: number; original: Plan; result: ShrinkResult } | null = null;
  for (const seed of failing.seeds.slice(0, SEEDS_TRIED)) {
    const original = expand(loaded.scenario, failing.system, seed);
    if (shouldStop()) break;
    const result = await shrinkFailureAsync(original, failing.claim, options);
    if (result.reproduced !== true) continue;
    if (best === null || isSimpler(result.plan, best.result.plan))
      best = { seed, original, result };
  }
  if (best === null) return null;
  const { seed, original, result } = best;
  const place = { scenario: loaded.scenario.name, scenarioFile: loaded.file, seed };
  return describeFinding({ ...place, original, result, claim: failing.claim, output, catalogue });
}

/** Runs the shrunk plan once more and puts everything together that a report needs. */
export async function describeFinding(found: {
  scenario: string;
  scenarioFile: string;
  seed: number;
  original: Plan;
  result: ShrinkResult;
  claim: string;
  output: string;
  /** What the plan's words mean; built-in ones by default. */
  catalogue?: Catalogue;
}): Promise<Finding | null> {
  const { claim, original, result, scenario, scenarioFile, seed, catalogue = builtIn } = found;
  const { plan } = result;
  const judged = claimsJudged([claim], catalogue);
  const { trace, verdicts } = await examineAsync(plan, judged, catalogue);
  const verdict = verdicts.find((candidate) => candidate.claim === claim);
  if (verdict?.kind !== 'invalid') return null;
  const explanation = explain(trace, verdict);
  const digest = digestOf(trace);
  const planFile = join(found.output, `${fileName([scenario, plan.system.name, claim])}.yaml`);
  const keptIn = `${join(dirname(scenarioFile), 'plans')}/`;
  const place = { plan, planFile, scenarioFile };
  const command = shellWords(replayCommand(place)).join(' ');
  const comment = [explanation.headline, command, digest].join('\n');
  const before = { plan: original, trace: await runAsync(original, catalogue) };
  const size = sizeOf(before, { plan, trace });
  return {
    ...{ scenario, scenarioFile, system: plan.system.name, claim, seed },
    ...{ explanation, verdict, verdicts, trace, digest, plan },
    planText: renderPlan(plan, comment),
    size,
    boundary: result.boundary === null ? result.whyNoBoundary : boundaryText(result.boundary),
    planFile,
    keptIn,
    isKeptInNew: !existsSync(keptIn),
    pageFile: pageFileOf(found.output, scenario),
  };
}

/** Where the page of a scenario is written. */
export function pageFileOf(output: string, scenario: string): string {
  return join(output, `${fileName([scenario])}.html`);
}

/** Names as one that any file system takes: `zombie-writer-unfenced-linearizable-register`. */
function fileName(parts: readonly string[]): string {
  return parts
    .map((part) => part.replace(/[^\p{L}\p{N}_.]+/gu, '-').replace(/^[-.]+|-+$/g, ''))
    .join('-');
}

type Sized = Pick<Examination, 'plan' | 'trace'>;

/**
 * What shrinking achieved: steps that a person would number until the world heals, and faults that
 * struck.
 */
function sizeOf(before: Sized, after: Sized): Size {
  return {
    events: stepsOf(after),
    originalEvents: stepsOf(before),
    faults: faultsIn(after),
    originalFaults: faultsIn(before),
  };
}

function stepsOf({ plan, trace }: Sized): number {
  return countSteps(trace, { evidence: [], faults: plan.faults });
}

function faultsIn({ trace }: Sized): number {
  return trace.events.filter((event) => event.kind === 'fault').length;
}

/** "breaks with a pause of alice of 10.001 ms, holds with 10 ms". */
export function boundaryText(boundary: Boundary): string {
  const { what, breaksAtUs, holdsAtUs } = boundary;
  return `breaks with a ${what} of ${proseDuration(breaksAtUs)}, holds with ${proseDuration(holdsAtUs)}`;
}
