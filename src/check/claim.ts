/**
 * Defines claims. A `Checker` judges one claim as a pure function of a trace: an event that is not
 * in the trace did not happen.
 */
import type { Terms } from './terms.ts';
import type { TraceIndex } from './trace-index.ts';
import { conclude, type Findings, type Verdict } from './verdict.ts';

export type Checker = (indexed: TraceIndex, terms: Terms) => Verdict;

/** A claim in the registry. The verdict of `judge` contains the claim's name. */
export interface Claim extends Omit<Definition<string>, 'judge'> {
  readonly judge: Checker;
}

/** A claim's statement, source and hazard, each in one line. */
export interface ClaimAbout {
  readonly about: string;
  /** The author of the statement, or the property of which it is an instance. */
  readonly source: string;
  /**
   * The hazard that can break the claim, in one line. `judge` counts its occurrences in a trace
   * (`exercised`), even if a denial, a refusal or luck prevented the breach.
   */
  readonly hazard: string;
}

interface Definition<Rule extends string> extends ClaimAbout {
  /** The name used in scenarios. */
  readonly name: string;
  /** Set if the claim is measured on every run, but judged only if a scenario lists it. */
  readonly isMeasured?: true;
  /** Set if the claim also applies to runs that acquire no lock. By default, it is about grants. */
  readonly needsNoLock?: true;
  /** The rules that a run can break. Their words are in `access-rules.ts` and `lock-rules.ts`. */
  readonly rules: readonly Rule[];
  readonly judge: (indexed: TraceIndex, terms: Terms) => Findings<NoInfer<Rule>>;
}

/**
 * The rules of the built-in claims. Each rule needs words (in `access-rules.ts` or `lock-rules.ts`)
 * and an entry in the table of cures (`search/evidence/cures.ts`), or those files do not compile.
 */
export type RuleName = AccessRule | LockRule;

/** Rules about accesses to a store and about the work done under a grant. */
export type AccessRule =
  | 'applied-twice'
  | 'computed-at-once'
  | 'fence-forgotten'
  | 'holder-refused'
  | 'issue-order'
  | 'lost-in-recovery'
  | 'never-ended'
  | 'no-order'
  | 'probe-did-not-write'
  | 'probe-refused'
  | 'probe-unheard'
  | 'ran-again'
  | 'ran-at-once'
  | 'read-before-own-write'
  | 'read-of-later'
  | 'read-of-own-later'
  | 'stale-write'
  | 'sum-at-end'
  | 'sum-read'
  | 'token-foreign'
  | 'token-lower'
  | 'update-invented'
  | 'update-lost'
  | 'update-repeated'
  | 'write-after-read'
  | 'write-after-release'
  | 'wrong-value';

/** Rules about the locks themselves. */
export type LockRule =
  | 'believes-longer'
  | 'both-believe'
  | 'deadlock'
  | 'foreign-key-removal'
  | 'foreign-key-renewal'
  | 'foreign-release'
  | 'foreign-renewal'
  | 'granted-while-live'
  | 'left-past-end'
  | 'live-at-end'
  | 'live-past-end'
  | 'loss-unnoticed'
  | 'orphan-denies'
  | 'orphan-key-denies'
  | 'overwrote-key'
  | 'probe-granted-late'
  | 'probe-not-granted'
  | 'renewed-foreign-key'
  | 'renewed-successor'
  | 'revived-lease'
  | 'revived-while-live'
  | 'token-changed'
  | 'token-not-higher'
  | 'token-shared'
  | 'undid-release';

/** Creates a claim. The compiler checks that `rules` lists every rule that `judge` can find. */
export function defineClaim<const Rule extends RuleName>(definition: Definition<Rule>): Claim {
  const { name, judge } = definition;
  return { ...definition, judge: (indexed, terms) => conclude(name, judge(indexed, terms)) };
}
