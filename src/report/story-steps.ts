/**
 * Decides which steps of a run tell its story, and which of them stay where there is little room.
 * What the evidence shows always stays, and so does what the words speak of: each time and each
 * number of the sentences above a trace stands in its lines, so that whoever doubts a sentence
 * finds the line that it is about. Where no essential step says it, a detail is taken in that does,
 * `sent at 4 ms` brings the sending, or a step says more of itself than it does otherwise.
 */
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { lastOfStory, listSteps, type Step, type StepOptions, withPart } from './steps.ts';

export interface StoryOptions extends StepOptions {
  /** The sentences that stand above the steps; none if absent. */
  readonly words?: string;
}

/**
 * The steps that carry the story: up to the last piece of evidence, and without the details that
 * `words` do not need. Where there is no evidence, up to the instant at which the world heals.
 */
export function essentialSteps(trace: Trace, options: StoryOptions): readonly Step[] {
  const { evidence, words = '' } = options;
  const last = lastOfStory(trace, evidence);
  const steps = listSteps(trace, options);
  const told = steps.slice(0, steps.findIndex((step) => step.event === last) + 1);
  const needed = stepsSaid(told, { trace, evidence, words });
  return told.flatMap((step): readonly Step[] => {
    const text = needed.get(step);
    if (text !== undefined) return [{ ...step, text, weight: 0 }];
    return step.weight < 3 ? [step] : [];
  });
}

/** A time, or a number by itself: none inside a name, as of `lock-2` or `alice/1/write`. */
const SAID =
  /(?<![\w./-])(?:(?:token|grant) )?\d+(?:,\d{3})*(?:\.\d+)?(?: (?:us|ms|s|min|h)\b|(?![\w./%-]*\w))/g;

/** What `words` say in numbers, each once: `20 ms`, `token 2`, `1`. */
export function numbersSaid(words: string): readonly string[] {
  return [...new Set(words.replace(/`[^`]*`/g, '``').match(SAID) ?? [])];
}

/** Whether a line says a time or a number; `token 1` says `1`. */
export function isSaid(number: string, line: string): boolean {
  return numbersSaid(line).some((one) => one === number || one.replace(/^[a-z]+ /, '') === number);
}

interface Said {
  readonly trace: Trace;
  readonly evidence: StepOptions['evidence'];
  readonly words: string;
}

/**
 * The fewest steps beside the evidence without which a number of the words would stand nowhere, and
 * the text of each: with its aside, where that is what says it.
 */
function stepsSaid(steps: readonly Step[], said: Said): ReadonlyMap<Step, string> {
  const needed = new Map<Step, string>();
  const shown = steps.filter(({ weight }) => weight === 0);
  const messages = messagesOf(said);
  const distance = ({ event, process, weight }: Step): number => {
    const happened = said.trace.events[event ?? -1];
    const isCarried =
      happened !== undefined && 'message' in happened && messages.has(happened.message);
    return weight + (isCarried ? 0 : 4) + (said.words.includes(process) ? 0 : 8);
  };
  const nearest = (saying: (step: Step) => boolean): Step | undefined =>
    steps.filter(saying).sort((left, right) => distance(left) - distance(right))[0];
  for (const number of numbersSaid(said.words)) {
    const says = (step: Step, text = step.text): boolean =>
      proseDuration(step.atUs) === number || isSaid(number, withPart(text, step));
    if (shown.some((step) => says(step, needed.get(step)))) continue;
    if ([...needed].some(([step, text]) => says(step, text))) continue;
    const told = shown.find((step) => asideSaying(step, number) !== undefined);
    if (told !== undefined) {
      const aside = asideSaying(told, number) ?? '';
      needed.set(told, `${needed.get(told) ?? told.text}, ${aside}`);
      continue;
    }
    const found = nearest((step) => says(step));
    if (found !== undefined) needed.set(found, needed.get(found) ?? found.text);
  }
  return needed;
}

function asideSaying({ asides }: Step, number: string): string | undefined {
  return asides.find((aside) => isSaid(number, aside));
}

/** The messages that brought the evidence, as a server names what it handled. */
function messagesOf({ trace, evidence }: Said): ReadonlySet<string> {
  return new Set(
    evidence.flatMap(({ event: at }) => {
      const event = trace.events[at];
      return event !== undefined && 'message' in event ? [event.message] : [];
    }),
  );
}

/**
 * The steps that fit `room` lines; their numbers show where others are left out. What other lines
 * say too goes first: that a lease is over, its grant says. Where evidence alone is too much, what
 * one process does at one instant is one step.
 */
export function fitSteps(steps: readonly Step[], room: number): readonly Step[] {
  if (steps.length <= room) return steps;
  const withoutEnds = steps.filter(({ event }) => event !== null);
  if (withoutEnds.length <= room) return withoutEnds;
  const evidence = withoutEnds.filter(({ weight }) => weight === 0);
  const left = evidence.length > room ? merged(evidence) : withoutEnds;
  const chosen = new Set(byRank(left.map(({ weight }) => weight)).slice(0, Math.max(2, room)));
  return left.filter((_, at) => chosen.has(at));
}

/** Neighbours of one process and one instant as one step, by the number of the first. */
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

/** The rows by how much they are needed, as indices: of equals the late ones first. */
export function byRank(ranks: readonly number[]): readonly number[] {
  const ranked = ranks.map((rank, at) => ({ at, rank }));
  ranked.sort((left, right) => left.rank - right.rank || right.at - left.at);
  return ranked.map(({ at }) => at);
}
