/** Names the claims and judges traces by them. */

import type { Trace } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import { acknowledgedDurable } from './acknowledged-durable.ts';
import { atMostOnce } from './at-most-once.ts';
import { crossKey } from './cross-key.ts';
import { fenceDurable } from './fence-durable.ts';
import { fenceMonotone } from './fence-monotone.ts';
import { grantOrder } from './grant-order.ts';
import { holderOrder } from './holder-order.ts';
import { holderOverlap } from './holder-overlap.ts';
import { leaseConservative } from './lease-conservative.ts';
import { linearizable, linearizableTo } from './linearizable.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import { noLostUpdate } from './no-lost-update.ts';
import { noWriteAfterRelease } from './no-write-after-release.ts';
import { ownerOnlyRelease } from './owner-only-release.ts';
import { progress } from './progress.ts';
import { readFence } from './read-fence.ts';
import { renewLive } from './renew-live.ts';
import { singleFlight } from './single-flight.ts';
import { type Survey, surveyTrace } from './survey.ts';
import type { Terms } from './terms.ts';
import { tokenBound } from './token-bound.ts';
import { tokenStable } from './token-stable.ts';
import { tokensIncrease } from './tokens-increase.ts';
import { tokensUnique } from './tokens-unique.ts';
import type { Verdict } from './verdict.ts';

/** Judges one claim; a pure function. What is not in the trace did not happen yet. */
export type Checker = (survey: Survey, terms: Terms) => Verdict;

/** Every claim by its name, the headline first. */
export const claims: ReadonlyMap<string, Checker> = new Map<string, Checker>([
  ['grant-order', grantOrder],
  ['mutual-exclusion', mutualExclusion],
  ['tokens-unique', tokensUnique],
  ['tokens-increase', tokensIncrease],
  ['token-stable', tokenStable],
  ['token-bound', tokenBound],
  ['fence-monotone', fenceMonotone],
  ['fence-durable', fenceDurable],
  ['read-fence', readFence],
  ['holder-order', holderOrder],
  ['no-lost-update', noLostUpdate],
  ['no-write-after-release', noWriteAfterRelease],
  ['owner-only-release', ownerOnlyRelease],
  ['renew-live', renewLive],
  ['lease-conservative', leaseConservative],
  ['cross-key', crossKey],
  ['at-most-once', atMostOnce],
  ['single-flight', singleFlight],
  ['progress', progress],
  ['acknowledged-durable', acknowledgedDurable],
  ['linearizable', linearizable],
  ['linearizable(register)', linearizableTo('register')],
  ['linearizable(counter)', linearizableTo('counter')],
  ['linearizable(fenced-register)', linearizableTo('fenced-register')],
  ['linearizable(fenced-register-with-reads)', linearizableTo('fenced-register-with-reads')],
  ['holder-overlap', holderOverlap],
]);

/**
 * One verdict for each of `names`, in their order; each must be a key of `known`. A run that was
 * cut or failed can break a claim, but not keep one: what is not broken in it is unknown.
 */
export function judge(
  trace: Trace,
  terms: Terms,
  names: readonly string[],
  known: ReadonlyMap<string, Checker> = claims,
): readonly Verdict[] {
  return judgeSurvey(surveyTrace(trace), terms, names, known);
}

/** The same for a trace that has been surveyed. */
export function judgeSurvey(
  survey: Survey,
  terms: Terms,
  names: readonly string[],
  known: ReadonlyMap<string, Checker> = claims,
): readonly Verdict[] {
  const { trace } = survey;
  return names.map((name) => {
    const checker = known.get(name);
    assert(checker !== undefined, `${name} is no claim`);
    const verdict = checker(survey, terms);
    const reason = whyIncomplete(trace);
    if (verdict.kind !== 'valid' || reason === null) return verdict;
    return { kind: 'unknown', claim: verdict.claim, exercised: verdict.exercised, reason };
  });
}

function whyIncomplete({ ending }: Trace): string | null {
  switch (ending.kind) {
    case 'complete':
      return null;
    case 'cut':
      return `the run was cut by its limit \`${ending.limit}\``;
    case 'failed':
      return `\`${ending.process}\` failed: ${ending.error}`;
  }
}
