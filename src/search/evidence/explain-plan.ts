/**
 * Explains why a plan breaks a claim. All commands, vitest and the library use this function, so
 * that they give the same explanation. `explain-run.ts` writes the explanation, and `evidence.ts`
 * chooses the neighboring runs.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Boundary } from '../../core/shrink/boundary.ts';
import { answerAllAsync } from '../../core/shrink/shrink.ts';
import { examineEither, pinAsync } from '../../host/async/run-async.ts';
import { causationSteps, claimsWeighed } from './evidence.ts';
import { type BrokenRun, type ExplainedBreach, explainBreach } from './explain-run.ts';

export interface ExplainOptions {
  /** Resolves the names in the plan. Default: the built-in catalogue. */
  readonly catalogue?: Catalogue;
  readonly boundary?: Boundary | null;
}

/**
 * Explains the breach of `claim` by `plan`. Resolves to null if the plan does not break the claim.
 * Rejects like `runAsync`. The stores must be prepared.
 */
export async function explainPlan(
  plan: Plan,
  claim: string,
  options: ExplainOptions = {},
): Promise<ExplainedBreach | null> {
  const { catalogue = builtIn } = options;
  const { trace, verdicts } = await examineEither(plan, [claim], catalogue);
  const verdict = verdicts[0];
  if (verdict?.kind !== 'invalid') return null;
  return await explainRun({ plan, trace, verdict }, options);
}

/** Explains a breach in a run that has already been executed. */
export async function explainRun(
  broken: BrokenRun,
  { catalogue = builtIn, boundary = null }: ExplainOptions = {},
): Promise<ExplainedBreach> {
  const { claim } = broken.verdict;
  const plan = await pinAsync(broken.plan, catalogue);
  const claims = claimsWeighed(claim);
  const found = await answerAllAsync(
    causationSteps({ plan, claim, catalogue, boundary }),
    ({ plan: beside, interventions = [] }) =>
      examineEither(beside, claims, catalogue, { interventions }),
  );
  return explainBreach(broken, found);
}
