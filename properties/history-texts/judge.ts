/**
 * Writes one drawn history, reads it again, and compares the verdict on the text with that of
 * trying every order of the drawn history. Lines may be in any order if their times give the
 * intended one.
 */
import { checkHistory } from '../../src/linearizability/check-history.ts';
import {
  type HistoryRead,
  type ReadHistoryOptions,
  readHistory,
} from '../../src/linearizability/formats/formats.ts';
import { refuteOrder } from '../../src/linearizability/verify-order.ts';
import { Draw, type DrawnHistory, drawHistory, MODELS } from './draw.ts';
import { isExplained, type Meant } from './every-order.ts';
import { objectOf } from './objects.ts';
import {
  canHold,
  eventLines,
  FORMS,
  type Form,
  type Line,
  namingsOf,
  operationLines,
  type Recorded,
  record,
  textOf,
} from './write.ts';

/** The times of a text's events, and the order of its lines. */
type Timing = 'none' | 'in order' | 'disordered' | 'shuffled';
const TIMINGS: readonly Timing[] = ['none', 'in order', 'disordered', 'shuffled'];

/** A drawn history as text. */
export interface Written {
  readonly drawn: DrawnHistory;
  readonly records: readonly Recorded[];
  readonly form: Form;
  readonly text: string;
  readonly options: ReadHistoryOptions;
  /** The operations as drawn, with their positions or times. */
  readonly meant: readonly Meant[];
  /** The disorder of times that the reader must report. */
  readonly disorder: Disorder | null;
}

/** Draws a history and writes it. `change` may replace a record. */
export function writeSeed(
  draw: Draw,
  change: (one: Recorded, form: Form) => Recorded = (one) => one,
): Written {
  const model = draw.of(MODELS);
  const form = draw.of(FORMS.filter((one) => canHold(one, model)));
  const naming = draw.of(namingsOf(form, model));
  const objects = naming === 'none' ? [''] : draw.of([['db'], ['db', 'other']]);
  const drawn = drawHistory(draw, model, { objects, hasOwners: form.hasFields });
  const records = record(drawn, form, { naming, draw }).map((one) => change(one, form));
  const timing = form.hasTimes ? draw.of(TIMINGS) : 'none';
  const times = timesOf(drawn, timing, draw);
  const isFar = draw.chance(20) && times.every(Number.isSafeInteger);
  const timeOf = (at: number): string => {
    const time = times[at] ?? 0;
    return isFar ? `${1_700_000_000_000_000_000n + BigInt(time)}` : `${time}`;
  };
  const isOperations = form.name === 'operations';
  const inOrder = isOperations
    ? operationLines(drawn, records, timeOf)
    : eventLines(records, form, timing === 'none' ? undefined : timeOf);
  const lines = isOperations || timing === 'shuffled' ? draw.shuffled(inOrder) : inOrder;
  const text = textOf(lines, form, draw);
  const { initial } = drawn;
  const options = {
    model,
    ...(initial === undefined ? {} : { initial }),
    ...(timing === 'shuffled' ? { order: 'time' as const } : {}),
  };
  const isTimed = isOperations || timing === 'shuffled';
  const meant = drawn.operations.map((one) => (isTimed ? timed(one, times) : one));
  const disorder = timing === 'disordered' ? firstDisorder(lines, times, text) : null;
  return { drawn, records, form, text, options, meant, disorder };
}

export interface Judged extends Written {
  readonly isValid: boolean;
  /** The error in the history as read, or in its verdict; null if there is none. */
  readonly flaw: string | null;
}

export function judgeSeed(seed: number): Judged {
  const draw = new Draw(seed);
  const written = writeSeed(draw);
  const { drawn, text, options } = written;
  const read = readHistory(text, options);
  const failed = draw.chance(20) ? 'strict' : 'drop';
  const isHiding = read.kind === 'history' && hidesNil(read.format, drawn);
  const meant = written.meant
    .map((one) => (failed === 'strict' ? answeredFailure(one, drawn.model) : one))
    .map((one) => (isHiding ? unseen(one) : one));
  const isValid = isExplained(meant, objectOf(drawn.model, drawn.initial), drawn.initial);
  return { ...written, isValid, flaw: flawOf(read, { ...written, isValid, failed }) };
}

/** Times by event. Equal times define no order, so in a shuffled text no process has two. */
function timesOf(
  { events, operations }: DrawnHistory,
  timing: Timing,
  draw: Draw,
): readonly number[] {
  const scale = draw.of([1, 1, 0.5, 1_000_000]);
  const base = draw.of([0, 0, -50, 1_700_000_000_000]);
  const last = new Map<string, number>();
  let time = 0;
  return events.map(({ operation }) => {
    const process = operations[operation]?.process ?? '';
    const mayBeEqual = timing !== 'shuffled' || (last.get(process) ?? -1) < time;
    if (!(mayBeEqual && draw.chance(30))) time += 1 + draw.below(3);
    last.set(process, time);
    const isEarly = timing === 'disordered' && draw.chance(20);
    return base + scale * (isEarly ? time - 4 : time);
  });
}

function timed(one: Meant, times: readonly number[]): Meant {
  const end = times[one.end] ?? Number.POSITIVE_INFINITY;
  return { ...one, invoke: times[one.invoke] ?? 0, end };
}

/** Applies `failed: 'strict'`: a failed call found that it was impossible. */
function answeredFailure(one: Meant, model: string): Meant {
  const answers: Readonly<Record<string, string>> = { cas: 'missed' };
  const isLock = /mutex$|^semaphore$|^lease$/.test(model) && one.verb !== 'expire';
  const answer = isLock ? 'denied' : answers[one.verb];
  if (one.outcome !== 'fail' || answer === undefined) return one;
  return { ...one, outcome: 'ok', heard: { answer } };
}

/** Returns true if a read of nil has an unknown answer, which Knossos cannot write otherwise. */
function hidesNil(format: string, { model, initial, operations }: DrawnHistory): boolean {
  const isKnossos = ['edn', 'json', 'jepsen-log', 'jepsen-txt'].includes(format);
  const isPlain = model === 'register' || model === 'cas-register';
  const isWritten = operations.some(({ verb, args }) => verb !== 'read' && args['value'] === null);
  return isKnossos && isPlain && initial !== undefined && initial !== null && !isWritten;
}

function unseen(one: Meant): Meant {
  const isNil = one.verb === 'read' && one.heard['value'] === null;
  return isNil ? { ...one, heard: {} } : one;
}

interface Disorder {
  readonly line: number;
  readonly count: number;
}

/** Returns the first line whose time is before that of an earlier line, or null. */
function firstDisorder(
  lines: readonly Line[],
  times: readonly number[],
  text: string,
): Disorder | null {
  let latest = Number.NEGATIVE_INFINITY;
  let offset = 0;
  let first = 0;
  let count = 0;
  for (const { text: event, at } of lines) {
    const time = times[at] ?? 0;
    offset = text.indexOf(event, offset) + 1;
    if (time < latest && count++ === 0) first = text.slice(0, offset).split('\n').length;
    latest = Math.max(latest, time);
  }
  return count === 0 ? null : { line: first, count };
}

interface Expected extends Written {
  readonly isValid: boolean;
  readonly failed: 'strict' | 'drop';
}

function flawOf(read: HistoryRead, { form, isValid, failed, disorder }: Expected): string | null {
  if (read.kind === 'malformed') return `refused: ${read.line}:${read.column}: ${read.what}`;
  if (!form.formats.includes(read.format)) return `read as ${read.format}`;
  if (read.disorder?.line !== disorder?.line || read.disorder?.count !== disorder?.count) {
    return `disorder: ${JSON.stringify(read.disorder)}, not ${JSON.stringify(disorder)}`;
  }
  const verdict = checkHistory(read.history, read.model, { failed });
  if ((verdict.kind === 'valid') !== isValid) return `judged ${verdict.kind} (${failed})`;
  if (verdict.kind !== 'valid' || failed === 'strict') return null;
  const why = refuteOrder(read.history, read.model, verdict.order);
  return why === null ? null : `its order is refuted: ${why}`;
}

/** Returns the error and the text. */
export function messageOf({ drawn, options, text, flaw }: Judged): string {
  return `${flaw ?? ''}\n${JSON.stringify(options)} ${JSON.stringify(drawn.operations)}\n${text}`;
}
