/**
 * Shrinks the first seed of a kind of failure, in a thread of its own (`shrink-thread.ts`), and
 * reads the answer where it arrives: it came over the queue, and is believed only as far as its
 * plan breaks the claim when it is run again.
 */
import { dirname } from 'node:path';
import type { Catalogue, LoadedModule } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { readPlan, renderPlan } from '../../core/plan/plan-text.ts';
import type { ShrinkResult } from '../../core/shrink/shrink.ts';
import { examineAsync, shrinkFailureAsync } from '../../host/async/run-async.ts';
import { describeShrunk } from '../../report/describe-finding.ts';
import { replayCommand, shellWords } from '../../report/finding.ts';
import { whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { idOf, signatureOf } from '../../search/corpus/signature.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { cutText } from '../../text/error-text.ts';
import type { ShrinkJob, ShrunkKind } from './sweep-queue.ts';

/** What is to be shrunk, and of what. */
export interface ShrinkOrder {
  readonly job: ShrinkJob;
  readonly scenario: Scenario;
  /** The scenario's file, as its plans are to name it. */
  readonly file: string;
}

/** What the thread is started with. */
export interface ShrinkSetting extends ShrinkOrder {
  /** Where the scenario's own words come from. */
  readonly modules: readonly LoadedModule[];
}

/** The answer to a job where there is no counterexample; `why` is a clause. */
export function noneShrunk({ system, claim, seed }: ShrinkJob, why: string): ShrunkKind {
  const nothing = { plan: null, boundary: null, whyNoBoundary: null, others: [] };
  return { system, claim, seed, ...nothing, headline: cutText(why), signature: '' };
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
  const { plan, boundary, whyNoBoundary, others } = result;
  const command = shellWords(replayCommand({ plan, planFile, scenarioFile: file })).join(' ');
  const place = { planFile, pageFile: '', keptIn: `${dirname(file)}/plans/` };
  const finding = await describeShrunk({ ...found, catalogue }, { ...place, command });
  if (finding === null) return none;
  return {
    ...{ system, claim, seed },
    plan: finding.planText,
    boundary: boundary && { ...boundary, holdsPlan: renderPlan(boundary.holdsPlan) },
    whyNoBoundary: whyNoBoundary === null ? null : cutText(whyNoBoundary),
    others: others.map(({ cause, plan }) => ({ cause: cutText(cause), plan: renderPlan(plan) })),
    headline: cutText(finding.explanation.headline),
    signature: idOf(signatureOf(plan, finding.verdict)),
  };
}

type ShrunkPlan = Pick<ShrinkResult, 'plan' | 'boundary' | 'whyNoBoundary' | 'others'>;

/**
 * Null where there is no plan, it is of another system, or does not break the claim. What is read
 * of `others` may break nothing: whoever takes it up runs it first.
 */
export async function readShrunk(
  { system, claim, plan: text, boundary: near, whyNoBoundary, others: besides }: ShrunkKind,
  catalogue: Catalogue,
): Promise<ShrunkPlan | null> {
  const readOwn = (from: string | null): Plan | null => {
    const read = from === null ? null : readPlan({ text: from, file: 'a plan of a worker' });
    if (read?.kind !== 'plan' || read.plan.system.name !== system) return null;
    return whyRefused(read.plan, catalogue) === null ? read.plan : null;
  };
  const plan = readOwn(text);
  if (plan === null || plan.expect?.claim !== claim) return null;
  const holdsPlan = readOwn(near?.holdsPlan ?? null);
  if (near !== null && holdsPlan === null) return null;
  const { verdicts } = await examineAsync(plan, [claim], catalogue);
  if (verdicts[0]?.kind !== 'invalid') return null;
  const boundary = near && holdsPlan && { ...near, holdsPlan };
  const others = besides.flatMap(({ cause, plan: from }) => {
    const other = readOwn(from);
    return other === null ? [] : [{ cause, plan: other }];
  });
  return { plan, boundary, whyNoBoundary, others };
}
