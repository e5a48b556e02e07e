/**
 * Decides what has become of a kept plan: does it still break its claim, or was it fixed, or does
 * it no longer test anything?
 */

import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Verdict } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Expectation, Plan } from '../../core/plan/plan.ts';
import { examineAsync } from '../../host/async/run-async.ts';
import { digestOf } from '../../run.ts';

export interface Replay {
  readonly claim: string;
  /**
   * `reproduced`: the claim breaks; `fixed`: its hazard arose and it held; `diverged`: a name in
   * the plan found no match in the run; `inert`: everything matched, but the hazard no longer
   * arises.
   */
  readonly outcome: Expectation['outcome'];
  /** The first name in the plan that found no match; null when all did. */
  readonly divergedAt: string | null;
  readonly digest: string;
  readonly trace: Trace;
  readonly verdict: Verdict;
}

/** The claim that a replay judges when neither the plan nor the caller names one. */
const DEFAULT_CLAIM = 'grant-order';

/**
 * Runs a plan and says what became of `claim`, by default the one that the plan expects to break.
 */
export async function replay(
  plan: Plan,
  claim: string = plan.expect?.claim ?? DEFAULT_CLAIM,
  catalogue: Catalogue = builtIn,
): Promise<Replay> {
  const { trace, verdicts } = await examineAsync(plan, [claim], catalogue);
  const verdict: Verdict = verdicts[0] ?? { kind: 'unknown', claim, exercised: 0, reason: '' };
  const divergedAt = trace.unmatched[0] ?? null;
  const digest = digestOf(trace);
  return { claim, outcome: outcomeOf(verdict, divergedAt), divergedAt, digest, trace, verdict };
}

function outcomeOf(verdict: Verdict, divergedAt: string | null): Expectation['outcome'] {
  if (verdict.kind === 'invalid') return 'reproduced';
  if (divergedAt !== null) return 'diverged';
  return verdict.kind === 'valid' && verdict.exercised > 0 ? 'fixed' : 'inert';
}
