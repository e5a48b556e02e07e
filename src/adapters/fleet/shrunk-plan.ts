/**
 * What a worker has shrunk, as the shrinker would have given it here: read from the text that came
 * over the queue, and believed only as far as it breaks the claim when it is run again.
 */

import type { Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import type { ShrinkResult } from '../../core/shrink/shrink.ts';
import { examineAsync } from '../../host/async/examine-async.ts';
import { whyRefused } from '../../run.ts';
import type { ShrunkKind } from './jobs.ts';

export type ShrunkPlan = Pick<ShrinkResult, 'plan' | 'boundary' | 'whyNoBoundary'>;

/** Null where there is no plan, it is of another system, or does not break the claim. */
export async function readShrunk(
  { system, claim, plan: text, boundary: near, whyNoBoundary }: ShrunkKind,
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
  return { plan, boundary, whyNoBoundary };
}
