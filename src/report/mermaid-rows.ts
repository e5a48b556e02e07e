/**
 * Decides which rows a diagram of messages has: an arrow where a message is handled or lost, a note
 * for what else the story needs. They are made of the steps that the terminal and the page number.
 */
import type { Trace } from '../core/history/trace.ts';
import { millisecondsOf } from '../text/prose.ts';
import { type Flight, flightsOf, isReply } from './message.ts';
import { lastOfStory, listSteps, type Step, type StepOptions } from './steps.ts';

export type Row = NoteRow | MessageRow;

interface Common {
  /** With its time: `11 ms · grants token 1 to bob`. */
  readonly text: string;
  /** 0: evidence, or the violation; else the step's weight. */
  readonly rank: 0 | 1 | 2 | 3;
}

export interface NoteRow extends Common {
  readonly kind: 'note';
  /** '' for what happens to the whole world. */
  readonly process: string;
  /** What becomes of the process as a holder: one more lock, one less, or none at all. */
  readonly holds: 'as before' | 'more' | 'less' | 'none';
}

export interface MessageRow extends Common {
  readonly kind: 'message';
  readonly from: string;
  readonly to: string;
  readonly fate: 'handled' | 'lost' | 'under way';
  readonly isReply: boolean;
}

export interface RowOptions extends StepOptions {
  /** The claim that breaks at the last piece of evidence; null where none does. */
  readonly claim: string | null;
}

/** The rows up to the last piece of evidence; without any, until the world heals. */
export function diagramRows(trace: Trace, options: RowOptions): readonly Row[] {
  const steps = listSteps(trace, options);
  const last = lastOfStory(trace, options.evidence);
  const told = steps.slice(0, steps.findIndex(({ event }) => event === last) + 1);
  const times = told.flatMap(({ atUs, weight }) => (weight < 3 ? [atUs] : []));
  const story = { trace, times, ...flightsIn(trace, last), byEvent: stepsByEvent(told) };
  const rows = told.flatMap((step) => rowsOf(step, story));
  const final = told.at(-1);
  if (options.claim === null || final === undefined || final.part === '') return rows;
  const { process, part } = final;
  const text = `✗ ${part}: ${options.claim} breaks`;
  return [...rows, { kind: 'note', process, text, rank: 0, holds: 'as before' }];
}

interface Story {
  readonly trace: Trace;
  /** When something happens that the story needs, ascending, in microseconds. */
  readonly times: readonly number[];
  readonly byEvent: ReadonlyMap<number, Step>;
  /** Flights that end in the story, by the index of their last event. */
  readonly ended: ReadonlyMap<number, Flight>;
  /** Those by the index of their sending; copies have no place here. */
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

function stepsByEvent(steps: readonly Step[]): ReadonlyMap<number, Step> {
  const byEvent = new Map<number, Step>();
  for (const step of steps) if (step.event !== null) byEvent.set(step.event, step);
  return byEvent;
}

function rowsOf(step: Step, story: Story): readonly Row[] {
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
  return { kind: 'note', process, text: withPart(step, step.text), rank: rankOf(step), holds };
}

function rankOf({ part, weight }: Step): Row['rank'] {
  return part === '' ? weight : 0;
}

function withPart({ atUs, part }: Step, text: string): string {
  return `${millisecondsOf(atUs)} ms · ${text}${part === '' ? '' : ` ← ${part}`}`;
}

/** A message is drawn where it ends; its sending stands by itself where it is far from that. */
function sendRows(step: Step, story: Story): readonly Row[] {
  const at = step.event ?? 0;
  const event = story.trace.events[at];
  if (event?.kind !== 'send') return [];
  const flight = story.sent.get(at);
  if (flight !== undefined) return isFar(flight, story) ? [noteOf(step)] : [];
  const { from, to, message } = event;
  const text = withPart(step, `${asked(step)}, under way`);
  const arrow = { from, to, isReply: isReply(message), fate: 'under way' } as const;
  return [{ kind: 'message', text, rank: rankOf(step), ...arrow }];
}

function endRows(step: Step, story: Story): readonly Row[] {
  const flight = story.ended.get(step.event ?? -1);
  const sending = flight === undefined ? undefined : story.byEvent.get(flight.sent);
  if (flight === undefined || sending === undefined) return step.weight < 3 ? [noteOf(step)] : [];
  const end = story.trace.events[flight.end ?? -1];
  const cause = end?.kind === 'lose' ? `, lost (${end.cause})` : '';
  const isLate = isFar(flight, story);
  const since = isLate ? `, sent at ${millisecondsOf(sending.atUs)} ms` : '';
  const what = `${flight.isCopy ? 'a copy of ' : ''}${asked(sending)}${since}${cause}`;
  const { from, to, message, isLost } = flight;
  const rank = isLate ? rankOf(step) : smaller(rankOf(step), rankOf(sending));
  // Where its sending has no note of its own, the arrow says which part it has in the evidence.
  const part = step.part === '' && !isLate ? sending.part : step.part;
  const text = withPart({ ...step, part }, what);
  const fate = isLost ? 'lost' : 'handled';
  return [{ kind: 'message', from, to, text, rank, fate, isReply: isReply(message) }];
}

function smaller(left: Row['rank'], right: Row['rank']): Row['rank'] {
  return left < right ? left : right;
}

/** `sends write x = 1 → store` without what the arrow shows. */
function asked({ text }: Step): string {
  return text.replace(/^sends /, '').replace(/ → [^→]*$/, '');
}

/** Whether something of the story lies strictly between the two ends of a flight. */
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
