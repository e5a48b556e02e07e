/**
 * Selects the steps that carry the story of a run, shortens them to the available space, and writes
 * the story as sentences.
 *
 * Evidence is always kept. Every number in the sentences above a trace must occur in the lines of
 * the trace, so that a reader can verify the sentences. If no essential step contains a number, a
 * detail is added, or a step gets a longer text.
 */
import type { Evidence } from '../check/verdict.ts';
import type { Write } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { listOf } from '../text/prose.ts';
import { environmentOf } from './environment.ts';
import { type Clause, eventSentence, leaseEndClause, placeWritten } from './event-phrases.ts';
import { leaseSpans } from './spans.ts';
import { quoted } from './state-phrases.ts';
import { lastOfStory, listSteps, type Step, type StepOptions, withPart } from './steps.ts';

export interface StoryOptions extends StepOptions {
  /** The sentences above the steps. Default: none. */
  readonly words?: string;
}

/**
 * Returns the essential steps, and the details that `words` needs. The story ends with the last
 * piece of evidence or, without evidence, with the `healed` event.
 */
export function essentialSteps(trace: Trace, options: StoryOptions): readonly Step[] {
  const { evidence, words = '' } = options;
  const last = lastOfStory(trace, evidence);
  const steps = listSteps(trace, options);
  const shown = steps.slice(0, steps.findIndex((step) => step.event === last) + 1);
  const needed = stepsSaid(shown, { trace, evidence, words });
  return shown.flatMap((step): readonly Step[] => {
    const text = needed.get(step);
    if (text !== undefined) return [{ ...step, text, weight: 0 }];
    return step.weight < 3 ? [step] : [];
  });
}

/** Matches a time or a number that is not part of a name such as `lock-2` or `alice/1/write`. */
const SAID =
  /(?<![\w./-])(?:(?:token|grant) )?\d+(?:,\d{3})*(?:\.\d+)?(?: (?:us|ms|s|min|h)\b|(?![\w./%-]*\w))/g;

/** Returns the distinct numbers in `words`: `20 ms`, `token 2`, `1`. */
export function numbersSaid(words: string): readonly string[] {
  return [...new Set(words.replace(/`[^`]*`/g, '``').match(SAID) ?? [])];
}

/** Returns true if a line contains a number. The line `token 1` contains `1`. */
export function isSaid(number: string, line: string): boolean {
  return numbersSaid(line).some(
    (found) => found === number || found.replace(/^[a-z]+ /, '') === number,
  );
}

interface Said {
  readonly trace: Trace;
  readonly evidence: StepOptions['evidence'];
  readonly words: string;
}

/**
 * Returns the steps that show the numbers in `words`, with their texts, unless the evidence shows
 * them. A piece of evidence may itself get a longer text.
 */
function stepsSaid(steps: readonly Step[], context: Said): ReadonlyMap<Step, string> {
  const needed = new Map<Step, string>();
  const shown = steps.filter(({ weight }) => weight === 0);
  const messages = messagesOf(context);
  const distance = ({ event, process, weight }: Step): number => {
    const happened = context.trace.events[event ?? -1];
    const isCarried =
      happened !== undefined && 'message' in happened && messages.has(happened.message);
    return weight + (isCarried ? 0 : 4) + (context.words.includes(process) ? 0 : 8);
  };
  const nearest = (setting: (step: Step) => boolean): Step | undefined =>
    steps.filter(setting).sort((left, right) => distance(left) - distance(right))[0];
  for (const number of numbersSaid(context.words)) {
    const says = (step: Step, text = step.text): boolean =>
      proseDuration(step.atUs) === number || isSaid(number, withPart(text, step));
    if (shown.some((step) => says(step, needed.get(step)))) continue;
    if ([...needed].some(([step, text]) => says(step, text))) continue;
    const carrier = shown.find((step) => asideText(step, number) !== undefined);
    if (carrier !== undefined) {
      const aside = asideText(carrier, number) ?? '';
      needed.set(carrier, `${needed.get(carrier) ?? carrier.text}, ${aside}`);
      continue;
    }
    const found = nearest((step) => says(step));
    if (found !== undefined) needed.set(found, needed.get(found) ?? found.text);
  }
  return needed;
}

function asideText({ asides }: Step, number: string): string | undefined {
  return asides.find((aside) => isSaid(number, aside));
}

function messagesOf({ trace, evidence }: Said): ReadonlySet<string> {
  return new Set(
    evidence.flatMap(({ event: at }) => {
      const event = trace.events[at];
      return event !== undefined && 'message' in event ? [event.message] : [];
    }),
  );
}

/**
 * Returns the steps that fit in `mostRows` lines. Expiries of leases are omitted first, since they
 * follow from grants. If even the evidence does not fit, the steps of one process at one instant
 * are merged.
 */
export function fitSteps(steps: readonly Step[], mostRows: number): readonly Step[] {
  if (steps.length <= mostRows) return steps;
  const withoutEnds = steps.filter(({ event }) => event !== null);
  if (withoutEnds.length <= mostRows) return withoutEnds;
  const evidence = withoutEnds.filter(({ weight }) => weight === 0);
  const left = evidence.length > mostRows ? merged(evidence) : withoutEnds;
  const chosen = new Set(byRank(left.map(({ weight }) => weight)).slice(0, Math.max(2, mostRows)));
  return left.filter((_, at) => chosen.has(at));
}

function merged(steps: readonly Step[]): readonly Step[] {
  const lines: Step[] = [];
  for (const step of steps) {
    const last = lines.at(-1);
    if (last === undefined || last.process !== step.process || last.atUs !== step.atUs) {
      lines.push(step);
      continue;
    }
    const text = `${withPart(last.text, last)}; ${step.text}`;
    lines[lines.length - 1] = { ...last, text, part: step.part };
  }
  return lines;
}

/** Returns the indexes by rank. Of equal ranks, later ones come first. */
export function byRank(ranks: readonly number[]): readonly number[] {
  const ranked = ranks.map((rank, at) => ({ at, rank }));
  ranked.sort((left, right) => left.rank - right.rank || right.at - left.at);
  return ranked.map(({ at }) => at);
}

/** Maximum number of sentences. The middle ones are omitted. */
const MOST_SENTENCES = 9;
const KEPT_AT_START = 3;

export interface PlainSentence {
  /** Includes the final period. Names are in backticks. */
  readonly text: string;
  readonly atUs: number;
  /** Index into `trace.events`. Null for an expired lease and for omitted sentences. */
  readonly event: number | null;
}

type Timed = Clause & Omit<PlainSentence, 'text'>;

/** Returns the sentences in order of time. */
export function describePlainly(
  trace: Trace,
  evidence: readonly Evidence[],
): readonly PlainSentence[] {
  const events = trace.events.slice(0, lastOfStory(trace, evidence) + 1);
  const leases = leaseSpans(trace);
  const clauses: Timed[] = [];
  const endUs = events.at(-1)?.atUs ?? 0;
  for (const lease of leases) {
    const { client, ordinal, ending, untilUs: atUs } = lease;
    if (ending !== 'expired' || atUs === null || atUs > endUs) continue;
    const left = events.find(
      (event) => event.kind === 'leave' && event.process === client && event.ordinal === ordinal,
    );
    // Omit the expiry if the client had already left the section.
    if (left !== undefined && left.atUs <= atUs) continue;
    clauses.push({ ...leaseEndClause(lease, quoted), atUs, event: null });
  }
  const around = environmentOf(trace);
  const written = new Map<string, Write>();
  const hasReads = evidence.some(({ event }) => trace.events[event]?.kind === 'read');
  for (const [at, event] of events.entries()) {
    if (event.kind === 'read' && !hasReads) continue;
    const clause = eventSentence(event, around, { leases, written });
    if (clause !== null) clauses.push({ ...clause, atUs: event.atUs, event: at });
    if (event.kind === 'write' && event.isAccepted) written.set(placeWritten(event), event);
  }
  clauses.sort((left, right) => left.atUs - right.atUs);
  return shortened(joined(clauses).map(sentenceOf));
}

/** Joins clauses about replicas that accept one write at one time. */
function joined(clauses: readonly Timed[]): readonly (Timed & { readonly subjects: string[] })[] {
  const groups: (Timed & { readonly subjects: string[] })[] = [];
  for (const clause of clauses) {
    const last = groups.at(-1);
    const isSame = last?.atUs === clause.atUs && last.predicate === clause.predicate;
    if (isSame && clause.predicate.startsWith('accepts ')) last.subjects.push(clause.subject);
    else groups.push({ ...clause, subjects: [clause.subject] });
  }
  return groups;
}

function sentenceOf(group: Timed & { readonly subjects: readonly string[] }): PlainSentence {
  const { subjects, predicate, atUs, event } = group;
  const said = subjects.length > 1 ? predicate.replace(/^accepts/, 'accept') : predicate;
  const subject = listOf(subjects);
  return {
    text: `At ${proseDuration(atUs)} ${subject === '' ? '' : `${subject} `}${said}.`,
    atUs,
    event,
  };
}

function shortened(sentences: readonly PlainSentence[]): readonly PlainSentence[] {
  const excess = sentences.length - MOST_SENTENCES;
  if (excess <= 0) return sentences;
  return [
    ...sentences.slice(0, KEPT_AT_START),
    { text: `… (${excess + 1} more events) …`, atUs: -1, event: null },
    ...sentences.slice(KEPT_AT_START + excess + 1),
  ];
}
