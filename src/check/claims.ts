/**
 * Lists the built-in claims and judges traces by them. Each claim is one file, and one line here.
 * Continue with `claim.ts` (the form of a claim), then `fence-monotone.ts` (a short claim) and
 * `grant-order.ts` (the main claim). A claim reads `trace-index.ts` (the indexed trace),
 * `contents.ts` and `leases.ts` (the state of stores and lock services), `terms.ts` (the promises
 * of the plan) and, for `linearizable`, `store-models.ts`. It presents a breach with `evidence.ts`.
 * `breach-cause.ts` finds the cause of a breach, `verdict.ts` decides what is *not judged*, and
 * `custom-claim.ts` supports user-defined claims. `explain.ts` describes a breach by its rule:
 * `access-rules.ts` and `lock-rules.ts` contain a row for each rule, and `phrases.ts` contains the
 * clauses of the sentences.
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
import { noRevival } from './no-revival.ts';
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

/** All built-in claims by name, the main claim first. */
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
    noRevival,
  ].map((claim) => [claim.name, claim]),
);

/** Returns true if a claim is judged even on runs of scenarios that do not list it. */
export function isJudgedUnlisted(name: string): boolean {
  return !name.includes('(') && builtInClaims.get(name)?.isMeasured !== true;
}

/** Returns true for a built-in claim that does not apply to sections that run without acquiring. */
export function isAboutGrants(name: string): boolean {
  const claim = builtInClaims.get(name);
  return claim !== undefined && claim.needsNoLock !== true;
}

/** The checkers of the built-in claims, by name. */
export const claims: ReadonlyMap<string, Checker> = new Map(
  [...builtInClaims].map(([name, { judge: checker }]) => [name, checker]),
);

/**
 * Returns one verdict for each of `names`, in order. Every name must be a key of `known`. If a run
 * was truncated, failed or left a section open, a claim that did not break is unknown.
 */
export function judge(
  trace: Trace,
  terms: Terms,
  names: readonly string[],
  known: ReadonlyMap<string, Checker> = claims,
): readonly Verdict[] {
  return judgeIndexed(indexTrace(trace), terms, names, known);
}

/** Like `judge`, for a trace that is already indexed. */
export function judgeIndexed(
  indexed: TraceIndex,
  terms: Terms,
  names: readonly string[],
  known: ReadonlyMap<string, Checker> = claims,
): readonly Verdict[] {
  return names.map((name) => {
    const checker = known.get(name);
    assert(checker !== undefined, `${name} is not a claim`);
    countStep();
    return holdBack(checker(indexed, terms), indexed);
  });
}
