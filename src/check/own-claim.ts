/** A claim as people define one of their own, and the claim that it becomes. */
import type { Trace } from '../core/history/trace.ts';
import { Defect } from '../core/kernel/assert.ts';
import { errorText } from '../text/error-text.ts';
import type { Checker, Claim } from './claim.ts';
import type { Terms } from './terms.ts';
import { conclude, type Evidence, type Verdict } from './verdict.ts';

/** A claim of your own. */
export interface ClaimDefinition {
  /** One line on what is promised. */
  readonly about: string;
  /** Who stated it. */
  readonly source?: string;
  /** What can break it, as what `judge` counts in `exercised`, in one line. */
  readonly hazard?: string;
  /**
   * Judges one run; a pure function of the trace. Events are in the order in which they happened,
   * their index is their number, all times are true time in microseconds. `terms` are what the
   * plan declares.
   */
  readonly judge: (trace: Trace, terms: Terms) => Ruling;
}

/** What a claim says of a trace: it was broken (`breach`), it cannot be told, or it held. */
export interface Ruling {
  /** How often the hazard arose that the claim is about; with 0 it was not tested. */
  readonly exercised: number;
  /** A contradiction; its texts are sentences or clauses without a final stop. */
  readonly breach?: {
    /** What broke: `Two holders of one permit`. */
    readonly headline: string;
    /** What happened, and what it contradicts. */
    readonly next?: string;
    readonly however?: string;
    /** What would have prevented it. */
    readonly cure?: string;
    /** The events that show it, as indices into `trace.events`, each with the part it plays. */
    readonly evidence: readonly Evidence[];
  } | null;
  /** Why it cannot be told, a clause. */
  readonly unknown?: string;
}

/** Throws an error that names the field where one is missing or wrong. */
export function ownClaim(name: string, definition: ClaimDefinition): Claim {
  const { about, source = '', hazard = '', judge } = definition;
  if (typeof about !== 'string') throw new Error(`claims.${name}.about is no text`);
  if (typeof judge !== 'function') throw new Error(`claims.${name}.judge is no function`);
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
  return { name, about, source, hazard, rules: {}, judge: judgeTrace };
}

/** The verdict has the words of the claim, which has no entry in the table of phrases. */
function verdictOf(name: string, { exercised, breach = null, unknown }: Ruling): Verdict {
  if (breach === null) return conclude(name, { exercised, unknown: unknown ?? null });
  const evidence = [...breach.evidence].sort((a, b) => a.event - b.event);
  const { headline, next = '', however = '', cure = '' } = breach;
  const explanation = { headline, given: '', next, however, cure };
  const counted = Math.max(exercised, 1);
  return { kind: 'invalid', claim: name, exercised: counted, rule: name, evidence, explanation };
}

/** What keeps an answer from being a ruling; null for nothing. */
function whyNoRuling(ruling: unknown, { events }: Trace): string | null {
  if (typeof ruling !== 'object' || ruling === null) return 'its judge returned no ruling';
  if (!('exercised' in ruling) || !Number.isSafeInteger(ruling.exercised)) {
    return 'its judge did not say how often the claim was exercised';
  }
  const breach: unknown = 'breach' in ruling ? (ruling.breach ?? null) : null;
  if (breach === null) return null;
  const isTold = typeof breach === 'object' && 'evidence' in breach && 'headline' in breach;
  if (!isTold || typeof breach.headline !== 'string' || !Array.isArray(breach.evidence)) {
    return 'its judge told a breach without a headline or without evidence';
  }
  const strange = breach.evidence.find((part: unknown) => !isEvidence(part, events.length));
  return strange === undefined
    ? null
    : `its judge names ${JSON.stringify(strange)} as evidence, which is no event of the trace`;
}

function isEvidence(part: unknown, events: number): boolean {
  if (typeof part !== 'object' || part === null || !('event' in part) || !('role' in part)) {
    return false;
  }
  const { event, role } = part;
  const isEvent = typeof event === 'number' && Number.isInteger(event);
  return isEvent && event >= 0 && event < events && typeof role === 'string';
}
