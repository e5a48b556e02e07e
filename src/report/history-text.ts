/**
 * Sets what was found out about a history as text: a line for the whole, and for each bad part why,
 * with its core as lanes: a column a process, a line an event of the file.
 */
import { type Paint, paintFor } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { clip, displayWidth, pad, visible, wrap } from '../text/visible.ts';
import type { HistoryReport, PartReport, ReportedOperation } from './history-report.ts';

export interface HistoryTextOptions {
  readonly colour: boolean;
  /** Columns of the terminal; lines are never longer than 100, whatever it is. */
  readonly width: number;
}

interface Setting {
  readonly width: number;
  readonly paint: Paint;
}

const MOST_COLUMNS = 100;
const MOST_BLOCKS = 3;
const MOST_NAMED = 20;
const MOST_EVENTS = 12;
const MOST_STORY_LINES = 5;

/** The lines, without a final line end. */
export function renderHistory(report: HistoryReport, options: HistoryTextOptions): string {
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

function headlineOf(report: HistoryReport, { width, paint }: Setting): readonly string[] {
  const { verdict, file, model, isTold, format, operations, processes, configurations } = report;
  const tone = { valid: paint.green, invalid: paint.red, unknown: paint.yellow }[verdict];
  const first = clip(visible(`${SIGNS[verdict]} ${verdict.padEnd(7)} ${file}`), width);
  const told = isTold ? `${model}, as its operations tell` : model;
  const counts = [
    told,
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

function blockOf(part: PartReport, { width, paint }: Setting): readonly string[] {
  const sign = SIGNS[part.verdict];
  const tone = part.verdict === 'invalid' ? paint.red : paint.yellow;
  const subject = part.key === '' ? '' : `key ${part.key}: `;
  const said = wrap(visible(`${subject}${part.because}`), width - 2);
  const cut =
    said.slice(MOST_STORY_LINES).length > 0 ? ['… (the whole of it: --html, --json)'] : [];
  const story = [...said.slice(0, MOST_STORY_LINES), ...cut].map((line, at) => {
    return `${at === 0 ? sign : ' '} ${line}`;
  });
  const [first = '', ...rest] = story;
  const lines = [paint.bold(tone(first)), ...rest];
  if (part.core.length === 0) return lines;
  const size = wrap(sizeOf(part), width).map((line) => paint.faint(line));
  return [...lines, '', ...renderCore(part.core, { width, paint }), ...size];
}

function sizeOf(part: PartReport): string {
  const minimal = part.isMinimal ? 'none of which can be spared' : 'perhaps more than is needed';
  const core = `core: ${groupDigits(part.core.length)} of ${countOf(part.operations, 'operation')}, ${minimal}`;
  if (part.isPerhapsLate) return core;
  return `${core}; an order satisfies the ${countOf(part.satisfied, 'return')} before it`;
}

function othersOf(parts: readonly PartReport[], { width, paint }: Setting): readonly string[] {
  if (parts.length === 0) return [];
  const lines = parts.slice(0, MOST_NAMED).map((part) => {
    const text = `${SIGNS[part.verdict]} key ${part.key}: ${part.because}`;
    return clip(visible(text), width);
  });
  const left = parts.length - lines.length;
  const more = left === 0 ? [] : [paint.faint(`… ${countOf(left, 'more key')}, in --json`)];
  return ['', ...lines, ...more];
}

interface LaneEvent {
  readonly line: number;
  readonly position: number;
  readonly operation: ReportedOperation;
  readonly isReturn: boolean;
}

/** A head of names, then one line an event; a lane is thick while its process has a call open. */
function renderCore(core: readonly ReportedOperation[], setting: Setting): readonly string[] {
  const all = eventsOf(core);
  const events = all.slice(-MOST_EVENTS);
  const names = [...new Set(events.map(({ operation }) => operation.process))].sort(byName);
  const numbers = Math.max(4, ...events.map(({ line }) => String(line).length));
  const room = setting.width - numbers - 2;
  const columns = columnsOf(names, events, room);
  const { paint } = setting;
  const head = columns.map(({ name, width }) => pad(visible(name), width)).join('');
  const hidden = all.length - events.length;
  const cut =
    hidden === 0
      ? []
      : [paint.faint(`${'…'.padStart(numbers)}  ${countOf(hidden, 'event')} before`)];
  const open = openBefore(all.slice(0, hidden));
  const lines = events.map((event) => {
    const line = laneLine(event, { columns, open, room, paint });
    return `${paint.faint(String(event.line).padStart(numbers))}  ${line}`;
  });
  return [paint.faint(`${'line'.padStart(numbers)}  ${head.trimEnd()}`), ...cut, ...lines];
}

function eventsOf(core: readonly ReportedOperation[]): readonly LaneEvent[] {
  const bad = core.find(({ role }) => role === 'first bad');
  const end = bad?.return ?? Number.POSITIVE_INFINITY;
  return core
    .flatMap((operation): LaneEvent[] => {
      const { invoke, invokeLine, returnLine } = operation;
      const called = { line: invokeLine, position: invoke, operation, isReturn: false };
      const at = operation.return;
      if (at === null || at > end || returnLine === null) return [called];
      return [called, { line: returnLine, position: at, operation, isReturn: true }];
    })
    .sort((left, right) => left.position - right.position);
}

function openBefore(events: readonly LaneEvent[]): Map<string, number> {
  const open = new Map<string, number>();
  for (const event of events) step(open, event);
  return open;
}

/** How many calls each process has open. */
function step(open: Map<string, number>, { operation, isReturn }: LaneEvent): void {
  open.set(operation.process, (open.get(operation.process) ?? 0) + (isReturn ? -1 : 1));
}

interface Column {
  readonly name: string;
  readonly start: number;
  readonly width: number;
}

/** As wide as their texts where all fit, else even, so that a text may run over its neighbours. */
function columnsOf(
  names: readonly string[],
  events: readonly LaneEvent[],
  room: number,
): readonly Column[] {
  const needs = names.map((name) => {
    const texts = events.filter(({ operation }) => operation.process === name).map(textOf);
    return Math.max(displayWidth(visible(name)), ...texts.map(displayWidth)) + 2;
  });
  const total = needs.reduce((sum, need) => sum + need, 0);
  const last = Math.min(needs.at(-1) ?? 0, Math.floor(room / 2));
  const even = Math.max(3, Math.floor((room - last) / Math.max(1, names.length - 1)));
  let start = 0;
  return names.map((name, at) => {
    const width = total <= room ? (needs[at] ?? 0) : even;
    const column = { name, start, width };
    start += width;
    return column;
  });
}

function textOf({ operation, isReturn }: LaneEvent): string {
  const isBad = operation.role === 'first bad';
  if (isReturn) return isBad ? '┗ ✗ no order satisfies this return' : '┗';
  const unknown = operation.return === null ? ' ← may have happened' : '';
  return visible(`┏ ${operation.text}${unknown}`);
}

interface LaneSetting {
  readonly columns: readonly Column[];
  readonly open: Map<string, number>;
  readonly room: number;
  readonly paint: Paint;
}

function laneLine(event: LaneEvent, { columns, open, room, paint }: LaneSetting): string {
  step(open, event);
  const { process, role } = event.operation;
  const own = columns.find(({ name }) => name === process);
  const start = Math.min(own?.start ?? 0, room - 2);
  const text = clip(textOf(event), room - start);
  const rail = ({ name }: Column): string => ((open.get(name) ?? 0) > 0 ? '┃' : '·');
  let before = '';
  for (const column of columns.filter((one) => one.start < start)) {
    before = `${before.padEnd(column.start)}${rail(column)}`;
  }
  let after = '';
  const end = start + displayWidth(text);
  for (const column of columns.filter((one) => one.start > end && one.start < room)) {
    after = `${after.padEnd(column.start - end)}${rail(column)}`;
  }
  const shown = role === 'first bad' ? paint.red(text) : text;
  return `${paint.faint(before.padEnd(start))}${shown}${paint.faint(after)}`;
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** Numbers by their size, then names: a total order. */
export function byName(left: string, right: string): number {
  const [isNumber, isOther] = [NUMBER.test(left), NUMBER.test(right)];
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  const difference = isNumber ? Number(left) - Number(right) : 0;
  if (difference !== 0) return difference;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
