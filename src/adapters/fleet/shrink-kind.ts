/** Shrinks the first seed of a kind of failure, in a thread of its own: see `shrink-apart.ts`. */
import { dirname } from 'node:path';
import type { Catalogue } from '../../catalogue.ts';
import { renderPlan } from '../../core/plan/plan-text.ts';
import { shrinkFailureAsync } from '../../host/async/examine-async.ts';
import { describeShrunk } from '../../report/describe-finding.ts';
import { replayCommand, shellWords } from '../../report/finding.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { idOf, signatureOf } from '../../search/corpus/signature.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { cutText } from '../../text/error-text.ts';
import type { ShrinkJob, ShrunkKind } from './jobs.ts';

/** What is to be shrunk, and of what. */
export interface ShrinkOrder {
  readonly job: ShrinkJob;
  readonly scenario: Scenario;
  /** The scenario's file, as its plans are to name it. */
  readonly file: string;
}

/** The answer to a job where there is no counterexample; `why` is a clause. */
export function noneShrunk({ system, claim, seed }: ShrinkJob, why: string): ShrunkKind {
  const nothing = { plan: null, boundary: null, whyNoBoundary: null, signature: '' };
  return { system, claim, seed, ...nothing, headline: cutText(why) };
}

/** The counterexample of a kind; its plan is null where the seed does not break the claim here. */
export async function shrinkKind(
  { job, scenario, file }: ShrinkOrder,
  catalogue: Catalogue,
): Promise<ShrunkKind> {
  const { system, claim, seed, planFile } = job;
  await prepare(scenario.systems, catalogue);
  const original = expand(scenario, system, seed);
  const result = await shrinkFailureAsync(original, claim, { catalogue });
  const none = noneShrunk(job, 'it does not break the claim again');
  if (result.reproduced !== true) return none;
  const found = { scenario: scenario.name, scenarioFile: file, seed, claim, original, result };
  const { plan, boundary, whyNoBoundary } = result;
  const command = shellWords(replayCommand({ plan, planFile, scenarioFile: file })).join(' ');
  const place = { planFile, pageFile: '', keptIn: `${dirname(file)}/plans/`, isKeptInNew: false };
  const finding = await describeShrunk({ ...found, catalogue }, { ...place, command });
  if (finding === null) return none;
  return {
    ...{ system, claim, seed },
    plan: finding.planText,
    boundary: boundary && { ...boundary, holdsPlan: renderPlan(boundary.holdsPlan) },
    whyNoBoundary: whyNoBoundary === null ? null : cutText(whyNoBoundary),
    headline: cutText(finding.explanation.headline),
    signature: idOf(signatureOf(plan, finding.verdict)),
  };
}
