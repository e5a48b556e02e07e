/**
 * Why a plan breaks a claim: one function for all that tell it, `run`, `replay`, `show`, `shrink`,
 * vitest and the library, so that one plan has one story. `explain-run.ts` has the words, and
 * `evidence.ts` the runs beside it.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Boundary } from '../../core/shrink/boundary.ts';
import { examineEither, pinAsync } from '../../host/async/run-async.ts';
import { causationSteps, claimsWeighed } from './evidence.ts';
import { type BrokenRun, type ToldBreach, toldBy } from './explain-run.ts';

export interface ExplainOptions {
  /** What the plan's words mean; built-in ones by default. */
  readonly catalogue?: Catalogue;
  /** What the shrinker found. */
  readonly boundary?: Boundary | null;
}

/**
 * Explains the breach of `claim` by `plan`; null where it does not break it. Rejects as `runAsync`
 * does. The stores must be prepared.
 */
export async function explainPlan(
  plan: Plan,
  claim: string,
  options: ExplainOptions = {},
): Promise<ToldBreach | null> {
  const { catalogue = builtIn } = options;
  const { trace, verdicts } = await examineEither(plan, [claim], catalogue);
  const verdict = verdicts[0];
  if (verdict?.kind !== 'invalid') return null;
  return await explainRun({ plan, trace, verdict }, options);
}

/** The same for a run that was made before. */
export async function explainRun(
  broken: BrokenRun,
  { catalogue = builtIn, boundary = null }: ExplainOptions = {},
): Promise<ToldBreach> {
  const { claim } = broken.verdict;
  const plan = await pinAsync(broken.plan, catalogue);
  const steps = causationSteps({ plan, claim, catalogue, boundary });
  const claims = claimsWeighed(claim);
  let step = steps.next();
  while (step.done !== true) {
    step = steps.next(await examineEither(step.value, claims, catalogue));
  }
  return toldBy(broken, step.value);
}
