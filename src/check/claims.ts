/**
 * Names the claims and judges traces by them. Each is one file, with its name and its words in it,
 * and one line here. Read on in `claim.ts` (what a claim is), then `fence-monotone.ts` (a short
 * one) and `grant-order.ts` (the headline). A claim reads `trace-index.ts` (the trace, sorted
 * once), `contents.ts` and `leases.ts` (what stores and lock services held), `terms.ts` (what the
 * plan promised) and, for `linearizable`, `store-models.ts`. It shows a breach by `evidence.ts`,
 * and tells it by `explanation.ts` and `access-words.ts`. `breach-cause.ts` says what a breach came
 * from. `verdict.ts` decides what is *not judged*, `explain.ts` finds the words for a verdict,
 * `own-claim.ts` is for claims that people bring.
 */
import type { Trace } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import { countStep } from '../core/kernel/scheduler.ts';
import { acknowledgedDurable } from './acknowledged-durable.ts';
import { atMostOnce } from './at-most-once.ts';
import type { Checker, Claim } from './claim.ts';
import { crossKey } from './cross-key.ts';
import { fenceDurable } from './fence-durable.ts';
import { fenceMonotone } from './fence-monotone.ts';
import { grantOrder } from './grant-order.ts';
import { holderOrder } from './holder-order.ts';
import { holderOverlap } from './holder-overlap.ts';
import { leaseConservative } from './lease-conservative.ts';
import { linearizableClaims } from './linearizable.ts';
import { lossNoticed } from './loss-noticed.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import { noLostUpdate } from './no-lost-update.ts';
import { noOrphan } from './no-orphan.ts';
import { noWriteAfterRelease } from './no-write-after-release.ts';
import { ownerOnlyRelease } from './owner-only-release.ts';
import { progress } from './progress.ts';
import { readFence } from './read-fence.ts';
import { renewLive } from './renew-live.ts';
import { singleFlight } from './single-flight.ts';
import type { Terms } from './terms.ts';
import { tokenBound, tokenStable, tokensIncrease, tokensUnique } from './tokens.ts';
import { indexTrace, type TraceIndex } from './trace-index.ts';
import { holdBack, type Verdict } from './verdict.ts';

/** Every claim of fencepost's own by its name, the headline first. */
export const builtInClaims: ReadonlyMap<string, Claim> = new Map(
  [
    grantOrder,
    mutualExclusion,
    tokensUnique,
    tokensIncrease,
    tokenStable,
    tokenBound,
    fenceMonotone,
    fenceDurable,
    readFence,
    holderOrder,
    noLostUpdate,
    noWriteAfterRelease,
    ownerOnlyRelease,
    renewLive,
    leaseConservative,
    noOrphan,
    crossKey,
    atMostOnce,
    singleFlight,
    progress,
    acknowledgedDurable,
    ...linearizableClaims,
    holderOverlap,
    lossNoticed,
  ].map((claim) => [claim.name, claim]),
);

/** Whether a claim is judged on every run: it has no parameter, and is not merely measured. */
export function isJudgedUnlisted(name: string): boolean {
  return !name.includes('(') && builtInClaims.get(name)?.isMeasured !== true;
}

/** Whether a claim of fencepost's says nothing where sections run without acquiring. */
export function isAboutGrants(name: string): boolean {
  const claim = builtInClaims.get(name);
  return claim !== undefined && claim.needsNoLock !== true;
}

/** How each judges. */
export const claims: ReadonlyMap<string, Checker> = new Map(
  [...builtInClaims].map(([name, { judge: checker }]) => [name, checker]),
);

/**
 * One verdict for each of `names`, in their order; each must be a key of `known`. A run that was
 * cut or failed, or in which a section never ended, can break a claim, but not keep one: what is
 * not broken in it is unknown.
 */
export function judge(
  trace: Trace,
  terms: Terms,
  names: readonly string[],
  known: ReadonlyMap<string, Checker> = claims,
): readonly Verdict[] {
  return judgeIndexed(indexTrace(trace), terms, names, known);
}

/** The same for a trace that has been indexed. */
export function judgeIndexed(
  indexed: TraceIndex,
  terms: Terms,
  names: readonly string[],
  known: ReadonlyMap<string, Checker> = claims,
): readonly Verdict[] {
  return names.map((name) => {
    const checker = known.get(name);
    assert(checker !== undefined, `${name} is no claim`);
    countStep();
    return holdBack(checker(indexed, terms), indexed);
  });
}
