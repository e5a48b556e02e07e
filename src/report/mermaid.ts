/**
 * Draws a shrunk trace as a Mermaid `sequenceDiagram`, which GitHub, GitLab and many wikis render.
 * Each process is a participant, each message an arrow, and each other event of the story a note. A
 * bar shows the time in which a process believes that it holds a lock.
 *
 * The steps of the trace become rows. The rows that fit become text without characters that are
 * special in Mermaid, Markdown or HTML.
 */
import type { ProcessInfo, Trace } from '../core/history/trace.ts';
import type { Finding } from '../search/campaign/result.ts';
import { countOf, millisecondsOf } from '../text/prose.ts';
import { clip, visible, wrap } from '../text/visible.ts';
import { flightText } from './event-phrases.ts';
import { evidenceShown } from './finding.ts';
import { type Flight, flightsOf, isReply } from './spans.ts';
import { violationText } from './state-phrases.ts';
import {
  laneOrder,
  lastOfStory,
  listSteps,
  type Step,
  type StepOptions,
  withPart,
} from './steps.ts';
import { byRank } from './story-steps.ts';

export interface DiagramOptions extends StepOptions {
  readonly title: string;
  /** The claim that breaks at the last piece of evidence, or null if none breaks. */
  readonly claim: string | null;
}

/** Maximum length of a diagram, in characters. Mermaid itself refuses more than 50,000. */
export const MOST_DIAGRAM = 40_000;
const TITLE_COLUMNS = 100;
const NAME_COLUMNS = 30;
const TEXT_COLUMNS = 36;

type Drawn = Pick<Finding, 'trace' | 'explanation' | 'verdict' | 'causation' | 'plan'>;

/** Renders the diagram of a finding's shrunk trace, without a final line break. */
export function findingDiagram(drawn: Drawn): string {
  const { trace, explanation, verdict } = drawn;
  const title = explanation.headline.replaceAll('`', '');
  const [{ claim }, evidence] = [verdict, evidenceShown(drawn)];
  return renderDiagram(trace, { title, claim, evidence });
}

/** Renders the diagram of a trace. If it is too long, omits less important and earlier rows. */
export function renderDiagram(trace: Trace, options: DiagramOptions): string {
  const rows = diagramRows(trace, options);
  const ranked = byRank(rows.map(({ rank }) => rank));
  const drawing = (kept: number): string => {
    const chosen = new Set(ranked.slice(0, kept));
    const shown = rows.filter((_, at) => chosen.has(at));
    return draw(shown, rows.length - kept, { trace, title: options.title });
  };
  const full = drawing(rows.length);
  if (full.length <= MOST_DIAGRAM) return full;
  let fits = 0;
  let exceeds = rows.length;
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    if (drawing(middle).length <= MOST_DIAGRAM) fits = middle;
    else exceeds = middle;
  }
  return drawing(fits);
}

interface Drawing {
  readonly trace: Trace;
  readonly title: string;
}

function draw(rows: readonly DiagramRow[], leftOut: number, { trace, title }: Drawing): string {
  const lanes = lanesOf(rows, trace.processes);
  const all = [...new Set([[...lanes.values()][0], [...lanes.values()].at(-1)])].join(',');
  const participants = [...lanes].map(
    ([name, id]) => `participant ${id} as ${mermaidText(clip(visible(name), NAME_COLUMNS))}`,
  );
  const more = `… ${countOf(leftOut, 'row')} omitted; the diagram shows the ${rows.length} that matter most`;
  const left = leftOut === 0 ? [] : [`Note over ${all}: ${mermaidLines(more, TEXT_COLUMNS)}`];
  const lines = [
    `title ${mermaidText(clip(visible(title), TITLE_COLUMNS))}`,
    ...participants,
    ...left,
    ...rowLines(rows, lanes, all),
  ];
  return ['sequenceDiagram', ...lines.map((line) => `  ${line}`)].join('\n');
}

/** Maps processes to generated identifiers, since a process name may be a Mermaid keyword. */
function lanesOf(
  rows: readonly DiagramRow[],
  processes: readonly ProcessInfo[],
): ReadonlyMap<string, string> {
  const used = new Set(
    rows.flatMap((row) => (row.kind === 'note' ? [row.process] : [row.from, row.to])),
  );
  const ordered = laneOrder(processes).map(({ name }) => name);
  const shown = ordered.filter((name) => used.has(name));
  const names = shown.length > 0 ? shown : ordered.slice(0, 1);
  return new Map(names.map((name, at) => [name, `p${at + 1}`]));
}

function rowLines(
  rows: readonly DiagramRow[],
  lanes: ReadonlyMap<string, string>,
  all: string,
): string[] {
  const held = new Map<string, number>();
  const lines: string[] = [];
  for (const row of rows) {
    if (row.kind === 'message') lines.push(...messageLines(row, lanes));
    else {
      const id = lanes.get(row.process);
      lines.push(`Note over ${id ?? all}: ${mermaidLines(row.text, TEXT_COLUMNS)}`);
      if (id !== undefined) lines.push(...bars(row.holds, id, held));
    }
  }
  for (const [id, bar] of held) lines.push(...ends(id, bar));
  return lines;
}

const SHAFTS = {
  handled: ['->>', '-->>'],
  lost: ['-x', '--x'],
  'under way': ['-)', '--)'],
} as const;

function messageLines(row: MessageRow, lanes: ReadonlyMap<string, string>): string[] {
  const from = lanes.get(row.from);
  const to = lanes.get(row.to);
  if (from === undefined || to === undefined) return [];
  const shaft = SHAFTS[row.fate][row.isReply ? 1 : 0];
  return [`${from}${shaft}${to}: ${mermaidLines(row.text, TEXT_COLUMNS)}`];
}

/** Returns the lines that begin or end a holder's bar. A bar ends only if one has begun. */
function bars(holds: NoteRow['holds'], id: string, held: Map<string, number>): string[] {
  const before = held.get(id) ?? 0;
  if (holds === 'more') {
    held.set(id, before + 1);
    return [`activate ${id}`];
  }
  if (holds === 'as before' || before === 0) return [];
  const ended = holds === 'none' ? before : 1;
  held.set(id, before - ended);
  return ends(id, ended);
}

function ends(id: string, times: number): string[] {
  return Array.from({ length: times }, () => `deactivate ${id}`);
}

type DiagramRow = NoteRow | MessageRow;

interface Common {
  /** Includes the time: `11 ms · grants token 1 to bob`. */
  readonly text: string;
  /** 0 for evidence or the violation; otherwise the weight of the step. */
  readonly rank: 0 | 1 | 2 | 3;
}

interface NoteRow extends Common {
  readonly kind: 'note';
  /** '' if the note belongs to no process. */
  readonly process: string;
  /** The change in the number of locks that the process holds: by one, or to none. */
  readonly holds: 'as before' | 'more' | 'less' | 'none';
}

interface MessageRow extends Common {
  readonly kind: 'message';
  readonly from: string;
  readonly to: string;
  readonly fate: 'handled' | 'lost' | 'under way';
  readonly isReply: boolean;
}

/** Returns the rows up to the last piece of evidence or, without evidence, up to the heal event. */
export function diagramRows(
  trace: Trace,
  options: Omit<DiagramOptions, 'title'>,
): readonly DiagramRow[] {
  const steps = listSteps(trace, options);
  const last = lastOfStory(trace, options.evidence);
  const shown = steps.slice(0, steps.findIndex(({ event }) => event === last) + 1);
  const times = shown.flatMap(({ atUs, weight }) => (weight < 3 ? [atUs] : []));
  const story = {
    trace,
    times,
    ...flightsIn(trace, last),
    byEvent: new Map(shown.map((step) => [step.event, step])),
  };
  const rows = shown.flatMap((step) => rowsOf(step, story));
  const final = shown.at(-1);
  if (options.claim === null || final === undefined || final.part === '') return rows;
  const { process, part } = final;
  const text = violationText(part, options.claim);
  return [...rows, { kind: 'note', process, text, rank: 0, holds: 'as before' }];
}

interface Story {
  readonly trace: Trace;
  /** The times of essential events, ascending, in microseconds. */
  readonly times: readonly number[];
  readonly byEvent: ReadonlyMap<number | null, Step>;
  /** Flights that end within the story, by the index of their last event. */
  readonly ended: ReadonlyMap<number, Flight>;
  /** The same flights without copies, by the index of their `send` event. */
  readonly sent: ReadonlyMap<number, Flight>;
}

function flightsIn(trace: Trace, last: number): Pick<Story, 'ended' | 'sent'> {
  const ended = new Map<number, Flight>();
  const sent = new Map<number, Flight>();
  for (const flight of flightsOf(trace)) {
    if (flight.end === null || flight.end > last) continue;
    ended.set(flight.end, flight);
    if (!flight.isCopy) sent.set(flight.sent, flight);
  }
  return { ended, sent };
}

function rowsOf(step: Step, story: Story): readonly DiagramRow[] {
  const event = step.event === null ? undefined : story.trace.events[step.event];
  switch (event?.kind) {
    case 'send':
      return sendRows(step, story);
    case 'receive':
    case 'lose':
      return endRows(step, story);
    case 'enter':
      return [noteOf(step, 'more')];
    case 'leave':
      return [noteOf(step, 'less')];
    case 'fault':
      return [noteOf(step, event.fault === 'crash' ? 'none' : 'as before')];
    case 'deny':
      return [noteOf(step)];
    default:
      return step.weight < 3 ? [noteOf(step)] : [];
  }
}

function noteOf(step: Step, holds: NoteRow['holds'] = 'as before'): NoteRow {
  const { process } = step;
  return { kind: 'note', process, text: timed(step, step.text), rank: step.weight, holds };
}

function timed(step: Step, text: string): string {
  return `${millisecondsOf(step.atUs)} ms · ${withPart(text, step)}`;
}

/**
 * Returns a note for a message that arrives much later, or an arrow for a message that does not
 * arrive within the story. Returns no row for any other message, since `endRows` draws its arrow.
 */
function sendRows(step: Step, story: Story): readonly DiagramRow[] {
  const at = step.event ?? 0;
  const event = story.trace.events[at];
  if (event?.kind !== 'send') return [];
  const flight = story.sent.get(at);
  if (flight !== undefined) return isFar(flight, story) ? [noteOf(step)] : [];
  const { from, to, message } = event;
  const words = flightText(step.label, { isCopy: false, sentAtUs: null, end: null });
  const text = timed(step, words);
  const arrow = { from, to, isReply: isReply(message), fate: 'under way' } as const;
  return [{ kind: 'message', text, rank: step.weight, ...arrow }];
}

function endRows(step: Step, story: Story): readonly DiagramRow[] {
  const flight = story.ended.get(step.event ?? -1);
  const sending = flight === undefined ? undefined : story.byEvent.get(flight.sent);
  if (flight === undefined || sending === undefined) return step.weight < 3 ? [noteOf(step)] : [];
  const isLate = isFar(flight, story);
  const label = flightText(sending.label, {
    isCopy: flight.isCopy,
    sentAtUs: isLate ? sending.atUs : null,
    end: story.trace.events[flight.end ?? -1] ?? null,
  });
  const { from, to, message, isLost } = flight;
  const weight = step.weight;
  const rank = isLate || weight < sending.weight ? weight : sending.weight;
  // If the `send` event has no note, the arrow shows the event's part in the evidence.
  const part = step.part === '' && !isLate ? sending.part : step.part;
  const text = timed({ ...step, part }, label);
  const fate = isLost ? 'lost' : 'handled';
  return [{ kind: 'message', from, to, text, rank, fate, isReply: isReply(message) }];
}

/** Returns true if an event of the story lies strictly between the two ends of a flight. */
function isFar({ sent, end }: Flight, { trace, times }: Story): boolean {
  const fromUs = trace.events[sent]?.atUs ?? 0;
  const untilUs = trace.events[end ?? sent]?.atUs ?? 0;
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((times[middle] ?? 0) > fromUs) high = middle;
    else low = middle + 1;
  }
  return (times[low] ?? untilUs) < untilUs;
}

const SAFE = "\\p{L}\\p{N}\\p{M} .,()'/=_+·…→←↻▶✖✕✗✓⊘◷?-";

/**
 * Matches all characters except letters, digits and harmless symbols. `°` and `¶` are not harmless,
 * since Mermaid's own escapes use them.
 */
const UNSAFE = new RegExp(`[^${SAFE}]`, 'gu');

/** Escapes a name or a text as one nonempty line; a semicolon becomes `#59;`. */
function mermaidText(text: string): string {
  const escaped = visible(text)
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .replace(UNSAFE, (character) => `#${character.codePointAt(0) ?? 0};`);
  return escaped.trim() === '' ? '#160;' : escaped;
}

/** Escapes a text as several short lines, so that notes stay narrow. */
function mermaidLines(text: string, columns: number): string {
  return wrap(visible(text), columns).map(mermaidText).join('<br/>');
}
