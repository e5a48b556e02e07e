/**
 * Renders the result of checking a recorded history as text or as one line of JSON. The text has a
 * line for the complete history. For each invalid part, the text adds the reason, and the core as
 * lanes: a column per process, a line per event.
 */
import { paintFor, type Screen, type TerminalText } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import {
  type Column,
  clip,
  displayWidth,
  hang,
  pad,
  railsBeside,
  visible,
  wrap,
} from '../text/visible.ts';

export interface HistoryReport {
  readonly file: string;
  readonly format: string;
  readonly model: string;
  /** True if the model was inferred from the operations, not named by the user. */
  readonly isDetected: boolean;
  readonly operations: number;
  readonly processes: number;
  readonly verdict: PartReport['verdict'];
  readonly configurations: number;
  /** Ordered by the first completed operation of each part. */
  readonly parts: readonly PartReport[];
  /** Sentences to read before trusting the verdict. */
  readonly notes: readonly string[];
}

/** One independent object of the history. */
export interface PartReport {
  /** The name of the object, or '' if there is only one. */
  readonly key: string;
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  readonly operations: number;
  readonly configurations: number;
  /** The reason why the part is not valid, as one sentence, or '' if it is valid. */
  readonly because: string;
  /**
   * Operations that contradict each other, in call order; empty unless the part is invalid. The
   * contradiction does not depend on the initial value or on other operations.
   */
  readonly core: readonly ReportedOperation[];
  /** True if every operation of the core is known to be needed. */
  readonly isMinimal: boolean;
  readonly returns: number;
  /** Number of returns before the bad return. Some order satisfies them unless `isPerhapsLate`. */
  readonly satisfied: number;
  /** True if an earlier return may be the first that no order satisfies. */
  readonly isPerhapsLate: boolean;
  /** The operations to draw: the core and the operations around it, in call order. May be empty. */
  readonly drawn: readonly ReportedOperation[];
  /** Faults that the recorder injected during the drawn operations. */
  readonly marks: readonly ReportedMark[];
}

export interface ReportedOperation {
  /** Its index in the part. */
  readonly index: number;
  readonly process: string;
  /** The call with its answer: `cas(4→4)=ok`. */
  readonly text: string;
  readonly isKnown: boolean;
  /** Positions in the common order of events. `return` is null if the outcome is unknown. */
  readonly invoke: number;
  readonly return: number | null;
  /** Lines of both events in the file. `returnLine` is null if the operation never completed. */
  readonly invokeLine: number;
  readonly returnLine: number | null;
  readonly role: 'first bad' | 'core' | 'other';
  /** Place in the order that was found, or null if not placed. */
  readonly effect: ReportedEffect | null;
}

export interface ReportedEffect {
  /** From 1. */
  readonly rank: number;
  readonly position: number;
  /** The state of the object afterwards: `it is 2`; '' if not shown. */
  readonly state: string;
}

export interface ReportedMark {
  readonly text: string;
  readonly position: number;
  readonly line: number;
}

/** Returns `line 12` or `lines 12–15`. */
export function linesOf({ invokeLine, returnLine }: ReportedOperation): string {
  if (returnLine === null || returnLine === invokeLine) return `line ${invokeLine}`;
  // The file does not list the events in order.
  if (returnLine < invokeLine) return `lines ${invokeLine} and ${returnLine}`;
  return `lines ${invokeLine}–${returnLine}`;
}

/** A call or a return, at its position in the common order of events. */
export interface ReportedEvent {
  readonly position: number;
  readonly line: number;
  readonly operation: ReportedOperation;
  readonly isReturn: boolean;
}

/** Lists all calls, and the returns up to the position `end`, in order. */
export function eventsUpTo(
  operations: readonly ReportedOperation[],
  end: number,
): readonly ReportedEvent[] {
  return operations
    .flatMap((operation): ReportedEvent[] => {
      const { invoke, invokeLine, returnLine } = operation;
      const called = { position: invoke, line: invokeLine, operation, isReturn: false };
      const at = operation.return;
      if (at === null || at > end) return [called];
      return [called, { position: at, line: returnLine ?? 0, operation, isReturn: true }];
    })
    .sort((left, right) => left.position - right.position);
}

/** Returns the operation whose return no order satisfies, or undefined if there is none. */
export function badReturn(operations: readonly ReportedOperation[]): ReportedOperation | undefined {
  return operations.find(({ role }) => role === 'first bad');
}

const MOST_COLUMNS = 100;
const MOST_BLOCKS = 3;
const MOST_NAMED = 20;
const MOST_EVENTS = 12;
const MOST_STORY_LINES = 5;

/** Renders the lines without a final line break. Lines have at most 100 columns on any terminal. */
export function renderHistory(report: HistoryReport, options: TerminalText): string {
  const width = Math.max(40, Math.min(MOST_COLUMNS, options.width));
  const setting = { width, paint: paintFor(options.colour) };
  const bad = report.parts.filter(({ verdict }) => verdict !== 'valid');
  const blocks = bad.slice(0, MOST_BLOCKS).map((part) => ['', ...blockOf(part, setting)]);
  const notes = report.notes.flatMap((note) =>
    wrap(visible(note), width).map((line) => setting.paint.faint(line)),
  );
  return [
    ...headlineOf(report, setting),
    ...notes,
    ...blocks.flat(),
    ...othersOf(bad.slice(MOST_BLOCKS), setting),
  ].join('\n');
}

const SIGNS = { valid: '✓', invalid: '✗', unknown: '?' } as const;

function headlineOf(report: HistoryReport, { width, paint }: Screen): readonly string[] {
  const { verdict, file, model, isDetected, format, operations, processes, configurations } =
    report;
  const tone = { valid: paint.green, invalid: paint.red, unknown: paint.yellow }[verdict];
  const first = clip(visible(`${SIGNS[verdict]} ${verdict.padEnd(7)} ${file}`), width);
  const modelText = isDetected ? `${model}, detected from its operations` : model;
  const counts = [
    modelText,
    format,
    `${countOf(operations, 'operation')} by ${groupDigits(processes)} process${processes === 1 ? '' : 'es'}`,
    ...partCounts(report),
    countOf(configurations, 'configuration'),
  ];
  const facts = wrap(visible(counts.join(' · ')), width - 2).map((line) =>
    paint.faint(`  ${line}`),
  );
  return [paint.bold(tone(first)), ...facts];
}

function partCounts({ parts }: HistoryReport): readonly string[] {
  if (parts.length === 1 && parts[0]?.key === '') return [];
  const count = (verdict: PartReport['verdict']): number =>
    parts.filter((part) => part.verdict === verdict).length;
  const counts = (['invalid', 'unknown'] as const).flatMap((verdict) =>
    count(verdict) === 0 ? [] : [`${groupDigits(count(verdict))} ${verdict}`],
  );
  const keys = countOf(parts.length, 'key');
  return [counts.length === 0 ? keys : `${keys}, ${counts.join(', ')}`];
}

function blockOf(part: PartReport, { width, paint }: Screen): readonly string[] {
  const sign = SIGNS[part.verdict];
  const tone = part.verdict === 'invalid' ? paint.red : paint.yellow;
  const subject = part.key === '' ? '' : `key ${part.key}: `;
  const story = hang(visible(`${subject}${part.because}`), width - 2, `${sign} `, '  ');
  const [first = '', ...rest] = story.slice(0, MOST_STORY_LINES);
  const truncated = story.length > MOST_STORY_LINES ? ['  … (full text: --html, --json)'] : [];
  const lines = [paint.bold(tone(first)), ...rest, ...truncated];
  if (part.core.length === 0) return lines;
  const size = wrap(sizeOf(part), width).map((line) => paint.faint(line));
  return [...lines, '', ...renderCore(part.core, { width, paint }), ...size];
}

function sizeOf(part: PartReport): string {
  const minimal = part.isMinimal ? 'minimal' : 'perhaps not minimal';
  const core = `core: ${groupDigits(part.core.length)} of ${countOf(part.operations, 'operation')}, ${minimal}`;
  if (part.isPerhapsLate) return core;
  return `${core}; a valid order exists for the ${countOf(part.satisfied, 'earlier return')}`;
}

function othersOf(parts: readonly PartReport[], { width, paint }: Screen): readonly string[] {
  if (parts.length === 0) return [];
  const lines = parts.slice(0, MOST_NAMED).map((part) => {
    const text = `${SIGNS[part.verdict]} key ${part.key}: ${part.because}`;
    return clip(visible(text), width);
  });
  const left = parts.length - lines.length;
  const more = left === 0 ? [] : [paint.faint(`… ${countOf(left, 'more key')} (see --json)`)];
  return ['', ...lines, ...more];
}

/** Renders names, then a line per event. A lane shows `┃` while its process has an open call. */
function renderCore(core: readonly ReportedOperation[], setting: Screen): readonly string[] {
  const end = badReturn(core)?.return ?? Number.POSITIVE_INFINITY;
  const all = eventsUpTo(core, end).filter(({ isReturn, line }) => !isReturn || line > 0);
  const events = all.slice(-MOST_EVENTS);
  const names = [...new Set(events.map(({ operation }) => operation.process))].sort(byName);
  const numbers = Math.max(4, ...events.map(({ line }) => String(line).length));
  const space = setting.width - numbers - 2;
  const columns = columnsOf(names, events, space);
  const { paint } = setting;
  const head = columns.map(({ name, width }) => pad(visible(name), width)).join('');
  const hidden = all.length - events.length;
  const omitted =
    hidden === 0
      ? []
      : [paint.faint(`${'…'.padStart(numbers)}  ${countOf(hidden, 'event')} before`)];
  const open = new Map<string, number>();
  for (const event of all.slice(0, hidden)) count(open, event);
  const lines = events.map((event) => {
    const line = laneLine(event, { columns, open, space, paint });
    return `${paint.faint(String(event.line).padStart(numbers))}  ${line}`;
  });
  return [paint.faint(`${'line'.padStart(numbers)}  ${head.trimEnd()}`), ...omitted, ...lines];
}

function count(open: Map<string, number>, { operation, isReturn }: ReportedEvent): void {
  open.set(operation.process, (open.get(operation.process) ?? 0) + (isReturn ? -1 : 1));
}

/** Sizes columns by their texts if all fit; otherwise equally, so that texts may overlap. */
function columnsOf(
  names: readonly string[],
  events: readonly ReportedEvent[],
  space: number,
): readonly Column[] {
  const needs = names.map((name) => {
    const texts = events.filter(({ operation }) => operation.process === name).map(textOf);
    return Math.max(displayWidth(visible(name)), ...texts.map(displayWidth)) + 2;
  });
  const total = needs.reduce((sum, need) => sum + need, 0);
  const last = Math.min(needs.at(-1) ?? 0, Math.floor(space / 2));
  const even = Math.max(3, Math.floor((space - last) / Math.max(1, names.length - 1)));
  let start = 0;
  return names.map((name, at) => {
    const width = total <= space ? (needs[at] ?? 0) : even;
    const column = { name, start, width };
    start += width;
    return column;
  });
}

function textOf({ operation, isReturn }: ReportedEvent): string {
  const isBad = operation.role === 'first bad';
  if (isReturn) return isBad ? '┗ ✗ no order satisfies this return' : '┗';
  const unknown = operation.return === null ? ' ← may have happened' : '';
  return visible(`┏ ${operation.text}${unknown}`);
}

interface LaneSetting extends Pick<Screen, 'paint'> {
  readonly columns: readonly Column[];
  readonly open: Map<string, number>;
  readonly space: number;
}

function laneLine(event: ReportedEvent, { columns, open, space, paint }: LaneSetting): string {
  count(open, event);
  const { process, role } = event.operation;
  const column = columns.find(({ name }) => name === process);
  const start = Math.min(column?.start ?? 0, space - 2);
  const text = clip(textOf(event), space - start);
  const rail = ({ name }: Column): string => ((open.get(name) ?? 0) > 0 ? '┃' : '·');
  const shown = role === 'first bad' ? paint.red(text) : text;
  const end = start + displayWidth(text);
  const [before, after] = railsBeside(
    columns.filter((column) => column.start < space),
    { start, end },
    rail,
  );
  return `${paint.faint(before)}${shown}${paint.faint(after)}`;
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** Compares numbers by value, then names. This is a total order. */
export function byName(left: string, right: string): number {
  const [isNumber, isOther] = [NUMBER.test(left), NUMBER.test(right)];
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  const difference = isNumber ? Number(left) - Number(right) : 0;
  if (difference !== 0) return difference;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Returns one line of JSON without a line break. */
export function historyLine(report: HistoryReport): string {
  const { file, format, model, operations, verdict, configurations, notes, parts } = report;
  const head = { type: 'check', version: 1, file, format, model, operations };
  return JSON.stringify({ ...head, verdict, configurations, parts: parts.map(partOf), notes });
}

function partOf(part: PartReport): object {
  const { key, verdict, operations, configurations, returns, because, isPerhapsLate } = part;
  const satisfied = isPerhapsLate ? null : part.satisfied;
  const counts = { operations, configurations, returns, satisfied };
  const isMinimal = part.core.length === 0 ? null : part.isMinimal;
  return { key, verdict, ...counts, core: part.core.map(coreEntry), isMinimal, because };
}

function coreEntry(operation: ReportedOperation): object {
  const { process, text, invokeLine, returnLine, role } = operation;
  return { process, operation: text, invokeLine, returnLine, role };
}
