/** Builds verdicts: a claim is broken if a breach was found, and valid otherwise. */
import type { Evidence, Verdict } from './verdict.ts';

/** One contradiction of a claim: the rule that broke and the events that show it. */
export interface Breach {
  readonly rule: string;
  readonly evidence: readonly Evidence[];
}

/** What a checker found out. */
export interface Findings {
  readonly exercised: number;
  /** The first contradiction, null if there is none. */
  readonly breach: Breach | null;
}

/** An event's number with the part that it plays; an event that was not found is null. */
export type Part = readonly [role: string, found: { readonly index: number } | null | undefined];

/** The verdict on `claim` that follows from the findings. */
export function conclude(claim: string, { exercised, breach }: Findings): Verdict {
  if (breach === null) return { kind: 'valid', claim, exercised };
  const { rule, evidence } = breach;
  // What broke was tested, also where the hazard is counted by other signs.
  return { kind: 'invalid', claim, exercised: Math.max(exercised, 1), rule, evidence };
}

/**
 * The parts that were found, in the order of the trace; an event keeps the first part it is given.
 */
export function evidenceOf(parts: readonly Part[]): readonly Evidence[] {
  const roles = new Map<number, string>();
  for (const [role, found] of parts) {
    if (found && !roles.has(found.index)) roles.set(found.index, role);
  }
  return [...roles]
    .map(([event, role]) => ({ role, event }))
    .sort((one, other) => one.event - other.event);
}
