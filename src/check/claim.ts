/** Judges one claim; a pure function. What is not in the trace did not happen yet. */
import type { Words } from './explanation.ts';
import type { Terms } from './terms.ts';
import type { TraceIndex } from './trace-index.ts';
import { conclude, type Findings, type Verdict } from './verdict.ts';

export type Checker = (indexed: TraceIndex, terms: Terms) => Verdict;

/** A claim as the registry holds it: `judge` gives a verdict that carries the claim's name. */
export interface Claim extends Omit<Definition<string>, 'judge'> {
  readonly judge: Checker;
}

/** What a claim says, where it comes from and what can break it, each in one line. */
export interface ClaimAbout {
  /** What it says, in one line. */
  readonly about: string;
  /** Who stated it, or the property that it is an instance of. */
  readonly source: string;
  /**
   * What can break it, as what `judge` counts in a trace (`exercised`), in one line; whatever kept
   * it from doing so then, a denial, a refusal or luck.
   */
  readonly hazard: string;
}

interface Definition<Rule extends string> extends ClaimAbout {
  /** As scenarios call it. */
  readonly name: string;
  /** It is measured on every run, and judged only where a scenario lists it. */
  readonly isMeasured?: true;
  /** It says something also where nothing is acquired; absent: it is about grants. */
  readonly needsNoLock?: true;
  /** The rules that a run can break, each with the words that explain how one did. */
  readonly rules: Readonly<Record<Rule, Words>>;
  readonly judge: (indexed: TraceIndex, terms: Terms) => Findings<NoInfer<Rule>>;
}

/**
 * The rules of fencepost's own claims. Each has an entry in the table of cures
 * (`search/evidence/cures.ts`), which does not compile without it.
 */
export type RuleName =
  | 'applied-twice'
  | 'believes-longer'
  | 'both-believe'
  | 'computed-at-once'
  | 'deadlock'
  | 'fence-forgotten'
  | 'foreign-key-removal'
  | 'foreign-key-renewal'
  | 'foreign-release'
  | 'foreign-renewal'
  | 'granted-while-live'
  | 'holder-refused'
  | 'issue-order'
  | 'left-past-end'
  | 'live-at-end'
  | 'live-past-end'
  | 'loss-unnoticed'
  | 'lost-in-recovery'
  | 'never-ended'
  | 'no-order'
  | 'orphan-denies'
  | 'orphan-key-denies'
  | 'overwrote-key'
  | 'probe-did-not-write'
  | 'probe-granted-late'
  | 'probe-not-granted'
  | 'probe-refused'
  | 'probe-unheard'
  | 'ran-again'
  | 'ran-at-once'
  | 'read-before-own-write'
  | 'read-of-later'
  | 'read-of-own-later'
  | 'renewed-foreign-key'
  | 'renewed-successor'
  | 'revived-while-live'
  | 'stale-write'
  | 'sum-at-end'
  | 'sum-read'
  | 'token-changed'
  | 'token-foreign'
  | 'token-lower'
  | 'token-not-higher'
  | 'token-shared'
  | 'undid-release'
  | 'update-invented'
  | 'update-lost'
  | 'update-repeated'
  | 'write-after-read'
  | 'write-after-release'
  | 'wrong-value';

/**
 * A claim of this form. One whose judge can find a rule without words does not compile, nor does
 * one with a rule that is not listed above.
 */
export function defineClaim<const Rule extends RuleName>(definition: Definition<Rule>): Claim {
  const { name, judge } = definition;
  return { ...definition, judge: (indexed, terms) => conclude(name, judge(indexed, terms)) };
}
