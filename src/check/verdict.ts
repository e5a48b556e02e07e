/**
 * What is said of one claim on one run: it held, it broke, or it was *not judged*. Three places
 * decide the last: the claim itself, where it cannot be asked (`unknown` in its findings);
 * `holdBack` below, for a run that stopped before its end, or in which a section never ended; and
 * over a sweep the search, where the hazard never arose (`exercised` is 0).
 */
import { sectionName } from '../core/history/trace.ts';
import { listOf } from '../text/prose.ts';
import type { TraceIndex } from './trace-index.ts';
import { unfinishedIn } from './unfinished.ts';

/**
 * The verdict on one claim. `exercised` counts how often the hazard arose that the claim is about:
 * a claim that was never exercised was not tested. Each claim says in its `hazard` what it counts.
 */
export type Verdict =
  | { readonly kind: 'valid'; readonly claim: string; readonly exercised: number }
  | {
      readonly kind: 'invalid';
      readonly claim: string;
      readonly exercised: number;
      /** Which rule of the claim broke; the claim has words for each. */
      readonly rule: string;
      /** The events that contradict the claim, in the order of the trace, each with its role. */
      readonly evidence: readonly Evidence[];
      /** The words of a claim that is not built in; all others have theirs by the rule. */
      readonly explanation?: Explanation;
    }
  | {
      readonly kind: 'unknown';
      readonly claim: string;
      readonly exercised: number;
      /** Why it was not judged, a clause. */
      readonly reason: string;
    };

export type Invalid = Extract<Verdict, { readonly kind: 'invalid' }>;

/** An event that shows a breach. */
export interface Evidence {
  /** The event's part, e.g. `earlier grant`, `later write`, `stale write`. */
  readonly role: string;
  /** Index into `trace.events`. */
  readonly event: number;
}

/** A breach in words. Every string is one sentence or one clause without its final stop. */
export interface Explanation {
  readonly headline: string;
  readonly given: string;
  readonly next: string;
  readonly however: string;
  /** What would have prevented it, '' where nothing short is to be said. */
  readonly cure: string;
}

/** One contradiction of a claim: the rule that broke and the events that show it. */
export interface Breach<Rule extends string> {
  readonly rule: Rule;
  readonly evidence: readonly Evidence[];
}

/** What a claim finds in a run. */
export interface Findings<Rule extends string> {
  /** How often the hazard arose. */
  readonly exercised: number;
  /** The first contradiction. */
  readonly breach?: Breach<Rule> | null;
  /** Why the claim cannot be judged, a clause; a breach counts all the same. */
  readonly unknown?: string | null;
}

/** The hazards of all `items` together, and the first breach and reason not to judge. */
export function inAll<T, Rule extends string>(
  items: Iterable<T>,
  examine: (item: T) => Findings<Rule>,
): Findings<Rule> {
  let exercised = 0;
  let first: Breach<Rule> | null = null;
  let reason: string | null = null;
  for (const item of items) {
    const { exercised: more, breach = null, unknown = null } = examine(item);
    exercised += more;
    first ??= breach;
    reason ??= unknown;
  }
  return { exercised, breach: first, unknown: reason };
}

/** What several judges of one claim found. */
export function allOf<Rule extends string>(...found: readonly Findings<Rule>[]): Findings<Rule> {
  return inAll(found, (one) => one);
}

/** A claim is broken if a breach was found, and valid otherwise, if it could be asked. */
export function conclude(claim: string, findings: Findings<string>): Verdict {
  const { exercised, breach = null, unknown = null } = findings;
  if (breach !== null) {
    const { rule, evidence } = breach;
    // What broke was tested, also where the hazard is counted by other signs.
    return { kind: 'invalid', claim, exercised: Math.max(exercised, 1), rule, evidence };
  }
  if (unknown !== null) return { kind: 'unknown', claim, exercised, reason: unknown };
  return { kind: 'valid', claim, exercised };
}

/**
/**
 * Returns the verdict, as far as the end of the run allows it: a run that was cut or failed, or in
 * which a section never ended, can break a claim, but not keep one. One whose code needs a server
 * that is not simulated does neither.
 */
export function holdBack(verdict: Verdict, indexed: TraceIndex): Verdict {
  if (verdict.kind === 'unknown' || indexed.isFinished) return verdict;
  const { ending } = indexed.trace;
  const isUnserved = ending.kind === 'failed' && ending.unserved !== undefined;
  if (verdict.kind === 'invalid' && !isUnserved) return verdict;
  const { claim, exercised } = verdict;
  return { kind: 'unknown', claim, exercised, reason: holdReason(indexed) };
}

function holdReason(indexed: TraceIndex): string {
  const { ending } = indexed.trace;
  if (ending.kind === 'cut') return `the run was cut by its limit \`${ending.limit}\``;
  if (ending.kind === 'failed') return `\`${ending.process}\` failed: ${ending.error}`;
  return `${listOf(unfinishedIn(indexed.trace, indexed.operations).map(sectionName))} never ended`;
}
