/** What a checker says about one claim on one trace. */

export type Verdict = Valid | Invalid | Unknown;

/**
 * `exercised` counts how often the hazard arose that the claim is about: a claim that was never
 * exercised was not tested. Each checker's header says what it counts.
 */
export interface Valid {
  readonly kind: 'valid';
  readonly claim: string;
  readonly exercised: number;
}

export interface Invalid {
  readonly kind: 'invalid';
  readonly claim: string;
  readonly exercised: number;
  /** Which rule of the claim broke; `explain.ts` has a sentence for each. */
  readonly rule: string;
  /** The events that contradict the claim, in the order of the trace, each with its part in it. */
  readonly evidence: readonly Evidence[];
  /** The words of a claim that is not fencepost's own; all others have theirs by the rule. */
  readonly explanation?: Explanation;
}

export interface Unknown {
  readonly kind: 'unknown';
  readonly claim: string;
  readonly exercised: number;
  readonly reason: string;
}

export interface Evidence {
  /** The event's part, e.g. `earlier grant`, `later write`, `stale write`. */
  readonly role: string;
  /** Index into `trace.events`. */
  readonly event: number;
}

/** The same, in words. Every string is one sentence or one clause without its final stop. */
export interface Explanation {
  readonly headline: string;
  readonly given: string;
  readonly next: string;
  readonly however: string;
  /** What would have prevented it, '' where nothing short is to be said. */
  readonly cure: string;
}
