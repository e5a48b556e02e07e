/** A claim as people define one of their own, and the claim that it becomes. */
import type { Trace } from '../core/history/trace.ts';
import { Defect } from '../core/kernel/assert.ts';
import { errorText } from '../text/error-text.ts';
import type { Checker, Claim } from './claim.ts';
import { type Contradiction, explainBy, type Sentences } from './explanation.ts';
import type { Terms } from './terms.ts';
import { type Breach, conclude, type Evidence, type Explanation, type Verdict } from './verdict.ts';

export interface ClaimDefinition {
  /** One line on what is promised. */
  readonly about: string;
  /** Who stated it. */
  readonly source?: string;
  /** What can break it, as what `judge` counts in `exercised`, in one line. */
  readonly hazard?: string;
  /**
   * The rules that a run can break, each with the words that explain how one did; a breach of one
   * needs no headline of its own.
   */
  readonly rules?: Readonly<Record<string, (shown: Contradiction) => OwnSentences>>;
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
  readonly breach?: OwnBreach | Breach<string> | null;
  /** Why it cannot be told, a clause. */
  readonly unknown?: string;
}

/** A contradiction; its texts are sentences or clauses without a final stop. */
export interface OwnBreach extends OwnSentences {
  /** The events that show it, as indices into `trace.events`, each with the part it plays. */
  readonly evidence: readonly Evidence[];
}

interface OwnSentences {
  /** What broke: `Two holders of one permit`. */
  readonly headline: string;
  /** What happened, and what it contradicts. */
  readonly next?: string;
  readonly however?: string;
  /** What would have prevented it. */
  readonly cure?: string;
}

/** Throws an error that names the field where one is missing or wrong. */
export function ownClaim(name: string, definition: ClaimDefinition): Claim {
  const { about, source = '', hazard = '', rules: given = {}, judge } = definition;
  if (typeof about !== 'string') throw new Error(`claims.${name}.about is no text`);
  if (typeof judge !== 'function') throw new Error(`claims.${name}.judge is no function`);
  const rules = Object.fromEntries(
    Object.entries(given).map(([rule, words]) => {
      if (typeof words !== 'function') {
        throw new Error(`claims.${name}.rules.${rule} is no function`);
      }
      return [rule, (shown: Contradiction) => allSentences(words(shown))];
    }),
  );
  const judgeTrace: Checker = ({ trace }, terms) => {
    try {
      const ruling = judge(trace, terms);
      const wrong = whyNoRuling(ruling, trace);
      if (wrong !== null) return conclude(name, { exercised: 0, unknown: wrong });
      return verdictOf({ name, rules }, ruling, trace);
    } catch (error) {
      if (error instanceof Defect) throw error;
      return conclude(name, { exercised: 0, unknown: `its judge threw: ${errorText(error)}` });
    }
  };
  return { name, about, source, hazard, rules, judge: judgeTrace };
}

function allSentences({
  headline,
  next = '',
  however = '',
  cure = '',
}: OwnSentences): Required<Sentences> {
  return { headline, next, however, cure };
}

/** In the order in which every explanation is written. */
function ownExplanation(sentences: OwnSentences): Explanation {
  const { headline, next, however, cure } = allSentences(sentences);
  return { headline, given: '', next, however, cure };
}

/** The verdict brings its words along, since who prints it may not know the claim. */
function verdictOf(
  { name, rules }: Pick<Claim, 'name' | 'rules'>,
  { exercised, breach = null, unknown }: Ruling,
  trace: Trace,
): Verdict {
  if (breach === null) return conclude(name, { exercised, unknown: unknown ?? null });
  const evidence = [...breach.evidence].sort((a, b) => a.event - b.event);
  const rule = 'headline' in breach ? name : breach.rule;
  const explanation =
    'headline' in breach
      ? ownExplanation(breach)
      : explainBy(rules, trace, { claim: name, rule, evidence });
  const counted = Math.max(exercised, 1);
  return { kind: 'invalid', claim: name, exercised: counted, rule, evidence, explanation };
}

/** What keeps an answer from being a ruling; null for nothing. */
function whyNoRuling(ruling: unknown, { events }: Trace): string | null {
  if (typeof ruling !== 'object' || ruling === null) return 'its judge returned no ruling';
  if (!('exercised' in ruling) || !Number.isSafeInteger(ruling.exercised)) {
    return 'its judge did not say how often the claim was exercised';
  }
  const breach: unknown = 'breach' in ruling ? (ruling.breach ?? null) : null;
  if (breach === null) return null;
  const isTold = typeof breach === 'object' && 'evidence' in breach;
  if (!isTold || !isNamed(breach) || !Array.isArray(breach.evidence)) {
    return 'its judge told a breach without a headline or without evidence';
  }
  const strange = breach.evidence.find((part: unknown) => !isEvidence(part, events.length));
  return strange === undefined
    ? null
    : `its judge names ${JSON.stringify(strange)} as evidence, which is no event of the trace`;
}

function isNamed(breach: object): boolean {
  if ('headline' in breach) return typeof breach.headline === 'string';
  return 'rule' in breach && typeof breach.rule === 'string';
}

function isEvidence(part: unknown, events: number): boolean {
  if (typeof part !== 'object' || part === null || !('event' in part) || !('role' in part)) {
    return false;
  }
  const { event, role } = part;
  const isEvent = typeof event === 'number' && Number.isInteger(event);
  return isEvent && event >= 0 && event < events && typeof role === 'string';
}
