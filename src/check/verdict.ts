/**
 * The verdict on one claim in one run: it held, it broke, or it was *not judged*. A claim is not
 * judged if:
 * - it does not apply (`unknown` in its findings);
 * - the run stopped early, or a section never ended (`holdBack`);
 * - its hazard never arose in a sweep (`exercised` is 0).
 */
import { sectionName } from '../core/history/trace.ts';
import { listOf } from '../text/prose.ts';
import type { TraceIndex } from './trace-index.ts';
import { unfinishedIn } from './unfinished.ts';

/**
 * The verdict on one claim. `exercised` counts how often the hazard of the claim arose. A claim
 * that was never exercised was not tested.
 */
export type Verdict =
  | { readonly kind: 'valid'; readonly claim: string; readonly exercised: number }
  | {
      readonly kind: 'invalid';
      readonly claim: string;
      readonly exercised: number;
      /** The broken rule of the claim. `RULE_WORDS` of `explain.ts` describes its breaches. */
      readonly rule: string;
      /** The events that contradict the claim, in trace order, each with its role. */
      readonly evidence: readonly Evidence[];
      /** The explanation by a user-defined claim. `RULE_WORDS` covers only the built-in claims. */
      readonly explanation?: Explanation;
    }
  | {
      readonly kind: 'unknown';
      readonly claim: string;
      readonly exercised: number;
      /** The reason why it was not judged, as a clause. */
      readonly reason: string;
    };

export type Invalid = Extract<Verdict, { readonly kind: 'invalid' }>;

/** An event that shows a breach. */
export interface Evidence {
  /** The event's role, such as `earlier grant`, `later write`, `stale write`. */
  readonly role: string;
  /** Index into `trace.events`. */
  readonly event: number;
}

/** A breach in words. Every string is one sentence or clause without a period. */
export interface Explanation {
  readonly headline: string;
  readonly given: string;
  readonly next: string;
  readonly however: string;
  /** A change that would have prevented the breach, or '' if there is no short answer. */
  readonly cure: string;
}

/** One contradiction of a claim: the rule that broke and the events that show it. */
export interface Breach<Rule extends string> {
  readonly rule: Rule;
  readonly evidence: readonly Evidence[];
}

/** The findings of a claim in a run. */
export interface Findings<Rule extends string> {
  /** Number of times the hazard arose. */
  readonly exercised: number;
  /** The first contradiction. */
  readonly breach?: Breach<Rule> | null;
  /** The reason why the claim cannot be judged, as a clause. A breach takes precedence. */
  readonly unknown?: string | null;
}

/**
 * Adds up the hazards of all `items`. Returns the first breach and the first reason not to judge.
 */
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

/** Combines the findings of several judges of one claim. */
export function allOf<Rule extends string>(...found: readonly Findings<Rule>[]): Findings<Rule> {
  return inAll(found, (findings) => findings);
}

/** Returns the verdict: broken if a breach was found, otherwise unknown or valid. */
export function conclude(claim: string, findings: Findings<string>): Verdict {
  const { exercised, breach = null, unknown = null } = findings;
  if (breach !== null) {
    const { rule, evidence } = breach;
    // A broken claim was exercised, even if its count of hazards is 0.
    return { kind: 'invalid', claim, exercised: Math.max(exercised, 1), rule, evidence };
  }
  if (unknown !== null) return { kind: 'unknown', claim, exercised, reason: unknown };
  return { kind: 'valid', claim, exercised };
}

/**
 * Returns the verdict, or `unknown` if the end of the run does not permit this verdict. A run that
 * was truncated, failed, or has an unfinished section can break a claim but cannot confirm it. A
 * run that needed a server that is not simulated can do neither.
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
  if (ending.kind === 'cut') return `the run was truncated by its limit \`${ending.limit}\``;
  if (ending.kind === 'failed') return `\`${ending.process}\` failed: ${ending.error}`;
  return `${listOf(unfinishedIn(indexed.trace, indexed.operations).map(sectionName))} never ended`;
}
