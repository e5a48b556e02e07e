/** Judges one claim; a pure function. Events that are not in the trace have not happened. */
import type { Words } from './explanation.ts';
import type { Terms } from './terms.ts';
import type { TraceIndex } from './trace-index.ts';
import { conclude, type Findings, type Verdict } from './verdict.ts';

export type Checker = (indexed: TraceIndex, terms: Terms) => Verdict;

/** A claim in the registry. The verdict of `judge` carries the claim's name. */
export interface Claim extends Omit<Definition<string>, 'judge'> {
  readonly judge: Checker;
}

/** A claim's statement, source and hazard, each in one line. */
export interface ClaimAbout {
  readonly about: string;
  /** The author of the statement, or the property of which it is an instance. */
  readonly source: string;
  /**
   * The hazard that can break it, in one line. `judge` counts how often a trace contains it
   * (`exercised`), even if a denial, a refusal or luck prevented the breach.
   */
  readonly hazard: string;
}

interface Definition<Rule extends string> extends ClaimAbout {
  /** The name used in scenarios. */
  readonly name: string;
  /** Measured on every run, but judged only if a scenario lists it. */
  readonly isMeasured?: true;
  /** Set if the claim also applies to runs that acquire no lock. By default, it is about grants. */
  readonly needsNoLock?: true;
  /** The rules that a run can break, each with the words that explain a breach. */
  readonly rules: Readonly<Record<Rule, Words>>;
  readonly judge: (indexed: TraceIndex, terms: Terms) => Findings<NoInfer<Rule>>;
}

/**
 * The rules of the built-in claims. Each needs an entry in the table of cures
 * (`search/evidence/cures.ts`), which otherwise does not compile.
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
 * Creates a claim. Does not compile if `judge` can find a rule without words, or if a rule is not
 * listed above.
 */
export function defineClaim<const Rule extends RuleName>(definition: Definition<Rule>): Claim {
  const { name, judge } = definition;
  return { ...definition, judge: (indexed, terms) => conclude(name, judge(indexed, terms)) };
}
