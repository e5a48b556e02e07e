/** The definition of a user-defined claim, and its conversion to a `Claim`. */
import type { Trace } from '../core/history/trace.ts';
import { Defect } from '../core/kernel/assert.ts';
import { errorText } from '../text/error-text.ts';
import type { Checker, Claim } from './claim.ts';
import type { Terms } from './terms.ts';
import { conclude, type Evidence, type Verdict } from './verdict.ts';

/** A user-defined claim. */
export interface ClaimDefinition {
  /** The promise, in one line. */
  readonly about: string;
  /** The author of the claim. */
  readonly source?: string;
  /** The hazard that can break the claim, in one line. `judge` counts it in `exercised`. */
  readonly hazard?: string;
  /**
   * Judges one run. Must be a pure function of the trace and of `terms`, which are the plan's
   * declarations. Events are in the order in which they happened, and are numbered by their index.
   * All times are true time in microseconds.
   */
  readonly judge: (trace: Trace, terms: Terms) => Ruling;
}

/** The judgment of a trace: broken (`breach`), unknown, or held. */
export interface Ruling {
  /** Number of times the claim's hazard arose; 0 means that the claim was not exercised. */
  readonly exercised: number;
  /** A contradiction. Its texts are sentences or clauses without a period. */
  readonly breach?: {
    /** The broken promise: `Two holders of one permit`. */
    readonly headline: string;
    /** The events that led to the breach. */
    readonly next?: string;
    /** The contradiction. */
    readonly however?: string;
    /** A change that would have prevented the breach. */
    readonly cure?: string;
    /** The events that show the breach, as indices into `trace.events`, each with its role. */
    readonly evidence: readonly Evidence[];
  } | null;
  /** The reason for an unknown result, as a clause. */
  readonly unknown?: string;
}

/** Converts a definition to a claim. Throws an error that names a missing or wrong field. */
export function customClaim(name: string, definition: ClaimDefinition): Claim {
  const { about, source = '', hazard = '', judge } = definition;
  if (typeof about !== 'string') throw new Error(`claims.${name}.about is not a string`);
  if (typeof judge !== 'function') throw new Error(`claims.${name}.judge is not a function`);
  const judgeTrace: Checker = ({ trace }, terms) => {
    try {
      const ruling = judge(trace, terms);
      const wrong = whyNoRuling(ruling, trace);
      return wrong === null
        ? verdictOf(name, ruling)
        : conclude(name, { exercised: 0, unknown: wrong });
    } catch (error) {
      if (error instanceof Defect) throw error;
      return conclude(name, { exercised: 0, unknown: `its judge threw: ${errorText(error)}` });
    }
  };
  return { name, about, source, hazard, rules: [], judge: judgeTrace };
}

/** Includes the explanation in the verdict, since no rule describes a user-defined claim. */
function verdictOf(name: string, { exercised, breach = null, unknown }: Ruling): Verdict {
  if (breach === null) return conclude(name, { exercised, unknown: unknown ?? null });
  const evidence = [...breach.evidence].sort((a, b) => a.event - b.event);
  const { headline, next = '', however = '', cure = '' } = breach;
  const explanation = { headline, given: '', next, however, cure };
  const counted = Math.max(exercised, 1);
  return { kind: 'invalid', claim: name, exercised: counted, rule: name, evidence, explanation };
}

function whyNoRuling(ruling: unknown, { events }: Trace): string | null {
  if (typeof ruling !== 'object' || ruling === null) return 'its judge returned no ruling';
  if (!('exercised' in ruling) || !Number.isSafeInteger(ruling.exercised)) {
    return 'its judge did not return `exercised`, a count of hazards';
  }
  const breach: unknown = 'breach' in ruling ? (ruling.breach ?? null) : null;
  if (breach === null) return null;
  const isBreach = typeof breach === 'object' && 'evidence' in breach && 'headline' in breach;
  if (!isBreach || typeof breach.headline !== 'string' || !Array.isArray(breach.evidence)) {
    return 'its judge returned a breach without a headline or without evidence';
  }
  const strange = breach.evidence.find((part: unknown) => !isEvidence(part, events.length));
  return strange === undefined
    ? null
    : `its judge returned evidence that is not an event of the trace: ${JSON.stringify(strange)}`;
}

function isEvidence(part: unknown, events: number): boolean {
  if (typeof part !== 'object' || part === null || !('event' in part) || !('role' in part)) {
    return false;
  }
  const { event, role } = part;
  const isEvent = typeof event === 'number' && Number.isInteger(event);
  return isEvent && event >= 0 && event < events && typeof role === 'string';
}
