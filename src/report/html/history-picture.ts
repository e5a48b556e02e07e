/**
 * Draws a part of a history, and the key to the picture. Each client has a lane. Each operation is
 * a bar from call to return: solid in the contradiction, faint otherwise. A dot marks where an
 * operation takes effect in the order that was found. A cross marks the return that no order
 * satisfies. Only the order of events is drawn, from left to right, not their times. Every bar is
 * wide enough for its text.
 */
import { entryOf } from '../../core/kernel/entries.ts';
import { type Child, element, type Markup } from '../../text/markup.ts';
import { clip, displayWidth, visible } from '../../text/visible.ts';
import {
  badReturn,
  byName,
  eventsUpTo,
  linesOf,
  type PartReport,
  type ReportedEvent,
  type ReportedMark,
  type ReportedOperation,
} from '../history-report.ts';
import {
  bar,
  clientRole,
  FONT,
  horizontal,
  ink,
  label,
  type Point,
  type Role,
  svgDocument,
  vertical,
} from '../pictures/shapes.ts';
import { NO_ORDER } from '../state-phrases.ts';
import { key, scrolling } from './parts.ts';

export interface HistoryPictureOptions {
  /** The prefix of every id in the picture, so that several pictures fit on one page. */
  readonly id: string;
  /** The accessible name. */
  readonly title: string;
  readonly part: PartReport;
  readonly marks: readonly ReportedMark[];
  /** True if the end of the picture should be visible first. */
  readonly isLate: boolean;
}

const HEAD_PX = 7.4;

/** Draws the lanes, which scroll, and their names, which stay visible. */
export function drawHistory(
  operations: readonly ReportedOperation[],
  options: HistoryPictureOptions,
): Markup {
  const layout = layOut(operations, options);
  const { id, title, isLate } = options;
  const size = { width: Math.ceil(layout.width), height: Math.ceil(layout.height) };
  return scrolling(isLate ? 'scroll history late' : 'scroll history', title, [
    svgDocument(
      size,
      { 'font-family': FONT, role: 'img', 'aria-label': title },
      [],
      element('defs', {}, fade(id)),
      drawGround(layout),
      drawMarks(layout),
      drawOrder(layout),
      layout.bars.map((operationBar) => drawBar(operationBar, id)),
      drawPoints(layout),
      drawBad(layout),
      drawTicks(layout),
    ),
    drawHeads(layout),
  ]);
}

const EVENT_PX = 15;
const COLUMN_PX = 6.8;
/** Bold letters are wider. */
const BOLD_COLUMN_PX = 7.5;
const BAR_PADDING_PX = 20;
/** Leaves space for the cross at the end. */
const BAD_PADDING_PX = 32;
const WIDEST_TEXT = 34;
const OPEN_PX = 46;
const LEFT_PX = 14;
const NARROWEST_PX = 240;

const ROW_PX = 34;
const BAR_HEIGHT_PX = 22;
const TOP_PX = 46;
const NAME_COLUMNS = 14;

interface Bar {
  readonly operation: ReportedOperation;
  readonly text: string;
  readonly x: number;
  readonly width: number;
  readonly y: number;
  /** True if the right end is not a return: the return is unknown, or beyond the picture. */
  readonly isOpen: boolean;
  readonly role: Role;
}

interface Lane {
  readonly process: string;
  readonly role: Role;
  readonly y: number;
  readonly height: number;
}

interface EffectPoint extends Point {
  readonly operation: ReportedOperation;
}

interface Tick {
  readonly x: number;
  readonly line: number;
  readonly isCore: boolean;
}

interface Layout {
  readonly lanes: readonly Lane[];
  readonly bars: readonly Bar[];
  /** The points at which operations take effect, in the order that was found. */
  readonly points: readonly EffectPoint[];
  readonly ticks: readonly Tick[];
  readonly marks: readonly (ReportedMark & { readonly x: number })[];
  /** The return that no order satisfies. */
  readonly badX: number | null;
  readonly width: number;
  readonly height: number;
}

function layOut(
  operations: readonly ReportedOperation[],
  { marks, part }: HistoryPictureOptions,
): Layout {
  const axis = new Axis(operations);
  // One color per client, the same in every picture of a part.
  const names = new Set([...part.drawn, ...part.core].map(({ process }) => process));
  const roles = new Map([...names].sort(byName).map((name, at) => [name, clientRole(at)]));
  const { lanes, rows, bottom } = lanesOf(operations, axis.end, roles);
  const laneOf = new Map(lanes.map((lane) => [lane.process, lane]));
  const bars = operations.map((operation): Bar => {
    const lane = laneOf.get(operation.process);
    const row = rows.get(operation) ?? 0;
    const x = axis.at(operation.invoke);
    const closes = operation.return !== null && operation.return <= axis.end;
    const right = closes ? axis.at(operation.return ?? 0) : axis.width - LEFT_PX;
    const y = (lane?.y ?? 0) + row * ROW_PX + (ROW_PX - BAR_HEIGHT_PX) / 2;
    const box = { x, width: right - x, y };
    return {
      operation,
      text: labelOf(operation),
      ...box,
      isOpen: !closes,
      role: lane?.role ?? 'soft',
    };
  });
  const bad = bars.find(({ operation }) => operation.role === 'first bad');
  return {
    lanes,
    bars,
    points: pointsOf(bars, axis),
    ticks: axis.ticks(),
    marks: marks.map((mark) => ({ ...mark, x: axis.after(mark.position) })),
    badX: bad === undefined || bad.isOpen ? null : bad.x + bad.width,
    width: axis.width,
    height: bottom + 34,
  };
}

function labelOf(operation: ReportedOperation): string {
  const answer = operation.isKnown ? '' : ' ?';
  return clip(visible(operation.text), WIDEST_TEXT) + answer;
}

/** Maps positions in the common order of events to coordinates. */
class Axis {
  /** The last position to draw: the bad return, or the last event if no return is bad. */
  readonly end: number;
  readonly width: number;
  private readonly events: readonly ReportedEvent[];
  private readonly xs: Map<number, number> = new Map();

  constructor(operations: readonly ReportedOperation[]) {
    const last = Math.max(
      0,
      ...operations.map((operation) => operation.return ?? operation.invoke),
    );
    this.end = badReturn(operations)?.return ?? last;
    this.events = [...eventsUpTo(operations, this.end)].sort(callsFirst);
    this.place();
    const right = Math.max(0, ...this.xs.values());
    const open = operations.filter(
      (operation) => operation.return === null || operation.return > this.end,
    );
    const needs = open.map((operation) => this.at(operation.invoke) + widthOf(operation));
    this.width = Math.max(NARROWEST_PX, right + OPEN_PX, ...needs) + LEFT_PX;
  }

  at(position: number): number {
    return this.xs.get(position) ?? this.after(position);
  }

  /** Returns a coordinate just to the right of the last event at or before a position. */
  after(position: number): number {
    const before = this.events.findLast((event) => event.position <= position);
    return before === undefined ? LEFT_PX / 2 : this.at(before.position) + EVENT_PX / 2;
  }

  /**
   * Returns the space after the last event at or before a position, for points between two events.
   */
  slotAfter(position: number): { readonly from: number; readonly to: number } {
    const before = this.events.findLast((event) => event.position <= position);
    const next = this.events.find((event) => event.position > position);
    const from = before === undefined ? 0 : this.at(before.position);
    return { from, to: next === undefined ? from + OPEN_PX : this.at(next.position) };
  }

  ticks(): readonly Tick[] {
    return this.events.map(({ position, line, operation }) => {
      return { x: this.at(position), line, isCore: operation.role !== 'other' };
    });
  }

  /** Places events in order. A wide bar pushes its return and all later events to the right. */
  private place(): void {
    let x = LEFT_PX - EVENT_PX;
    let last = Number.NEGATIVE_INFINITY;
    const points = countBetween(this.events);
    for (const { position, operation, isReturn } of this.events) {
      // Points between two events need space, too.
      if (position > last) x += Math.max(EVENT_PX, ((points.get(last) ?? 0) + 1) * POINT_PX);
      if (isReturn) x = Math.max(x, (this.xs.get(operation.invoke) ?? 0) + widthOf(operation));
      this.xs.set(position, x);
      last = position;
    }
  }
}

const POINT_PX = 13;

/** Orders a call before a return at the same position, since the two operations overlap. */
function callsFirst(left: ReportedEvent, right: ReportedEvent): number {
  return left.position - right.position || Number(left.isReturn) - Number(right.isReturn);
}

/** Returns, by position of an event, the number of operations that take effect right after it. */
function countBetween(events: readonly ReportedEvent[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { operation, isReturn } of events) {
    const { effect } = operation;
    if (isReturn || effect === null) continue;
    const before = events.findLast((event) => event.position <= effect.position)?.position;
    if (before !== undefined) counts.set(before, (counts.get(before) ?? 0) + 1);
  }
  return counts;
}

function widthOf(operation: ReportedOperation): number {
  const column = operation.role === 'other' ? COLUMN_PX : BOLD_COLUMN_PX;
  const padding = operation.role === 'first bad' ? BAD_PADDING_PX : BAR_PADDING_PX;
  return displayWidth(labelOf(operation)) * column + padding;
}

/** A lane has several rows if operations of one client overlap. */
function lanesOf(
  operations: readonly ReportedOperation[],
  end: number,
  roles: ReadonlyMap<string, Role>,
): {
  readonly lanes: readonly Lane[];
  readonly rows: ReadonlyMap<ReportedOperation, number>;
  readonly bottom: number;
} {
  const rows = new Map<ReportedOperation, number>();
  const freeFrom = new Map<string, number[]>();
  for (const operation of operations) {
    const ends = entryOf(freeFrom, operation.process, () => []);
    const free = ends.findIndex((position) => position <= operation.invoke);
    const row = free < 0 ? ends.length : free;
    const isClosed = operation.return !== null && operation.return <= end;
    ends[row] = isClosed ? (operation.return ?? 0) : Number.POSITIVE_INFINITY;
    rows.set(operation, row);
  }
  let y = TOP_PX;
  const lanes = [...freeFrom.keys()].sort(byName).map((process): Lane => {
    const height = (freeFrom.get(process)?.length ?? 1) * ROW_PX;
    const lane = { process, role: roles.get(process) ?? 'client5', y, height };
    y += height;
    return lane;
  });
  return { lanes, rows, bottom: y };
}

function pointsOf(bars: readonly Bar[], axis: Axis): readonly EffectPoint[] {
  const placed = bars
    .flatMap(({ operation, y }) => (operation.effect === null ? [] : [{ operation, y }]))
    .sort((left, right) => rankOf(left.operation) - rankOf(right.operation));
  const slots = placed.map(({ operation }) => axis.slotAfter(operation.effect?.position ?? 0));
  return placed.map(({ operation, y }, at) => {
    const slot = slots[at] ?? { from: 0, to: 0 };
    const sharing = slots.flatMap((other, index) => (other.from === slot.from ? [index] : []));
    const share = (sharing.indexOf(at) + 1) / (sharing.length + 1);
    return { operation, x: slot.from + (slot.to - slot.from) * share, y: y + BAR_HEIGHT_PX };
  });
}

function rankOf({ effect }: ReportedOperation): number {
  return effect?.rank ?? 0;
}

function drawHeads({ lanes, height }: Layout): Markup {
  const names = lanes.map(({ process }) => clip(visible(process), NAME_COLUMNS));
  const width = Math.max(52, ...names.map((name) => displayWidth(name) * HEAD_PX + 24));
  const heads = lanes.map((lane, at) => {
    const at_ = { x: width - 10, y: lane.y + lane.height / 2 };
    const style = { role: lane.role, anchor: 'end', isBold: true, size: 13 } as const;
    return element(
      'g',
      {},
      element('title', {}, lane.process),
      laneLine(lane.y, width),
      label(names[at] ?? '', at_, { ...style, hasHalo: false }),
    );
  });
  const line = { x: width - 10, y: height - 15 };
  const axis = label('line', line, { role: 'soft', anchor: 'end', size: 11, hasHalo: false });
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  const hidden = { 'font-family': FONT, 'aria-hidden': 'true', class: 'heads' };
  return svgDocument(size, hidden, [], heads, axis);
}

function laneLine(y: number, width: number): Markup {
  return horizontal(y, [0, width], ink({ stroke: 'guide' }));
}

/** Defines a mask that fades out the right end of open bars, in any color scheme. */
function fade(id: string): Child {
  return [
    element(
      'linearGradient',
      { id: `${id}-fade` },
      element('stop', { offset: '45%', 'stop-color': '#fff' }),
      element('stop', { offset: '100%', 'stop-color': '#fff', 'stop-opacity': '0' }),
    ),
    element(
      'mask',
      { id: `${id}-open`, maskContentUnits: 'objectBoundingBox' },
      element('rect', { width: 1, height: 1, fill: `url(#${id}-fade)` }),
    ),
  ];
}

function drawGround({ lanes, width, ticks, height }: Layout): Child {
  const rows = lanes.map(({ y }) => laneLine(y, width));
  const dotted = { 'stroke-dasharray': '1 4', ...ink({ stroke: 'line' }) };
  const core = ticks
    .filter(({ isCore }) => isCore)
    .map(({ x }) => vertical(x, [TOP_PX, height - 26], dotted));
  return [rows, laneLine(height - 34, width), core];
}

function drawMarks({ marks, height }: Layout): Child {
  const dashed = { 'stroke-dasharray': '5 3', ...ink({ stroke: 'caution' }) };
  return marks.map(({ x, text, line }) => {
    const top = { x: x + 4, y: 34 };
    const words = clip(visible(text), 18);
    return element(
      'g',
      {},
      element('title', {}, `fault in line ${line}: ${text}`),
      vertical(x, [28, height - 34], dashed),
      label(`⚡ ${words}`, top, { role: 'caution', size: 10.5 }),
    );
  });
}

const BAD = { ...ink({ fill: 'tint', stroke: 'danger' }), 'stroke-width': 2 };
const FAINT = { ...ink({ fill: 'guide', stroke: 'line' }), 'stroke-width': 1 };
const UNKNOWN = { 'stroke-dasharray': '4 3' };

function drawBar(operationBar: Bar, id: string): Markup {
  const { operation, x, y, width, isOpen, role, text } = operationBar;
  const isCore = operation.role === 'core';
  const isBad = operation.role === 'first bad';
  const solid = { ...ink({ fill: role, stroke: role }), 'stroke-width': 1 };
  const paint = isBad ? BAD : isCore ? solid : FAINT;
  const dashes = operation.isKnown ? {} : UNKNOWN;
  const mask = isOpen ? { mask: `url(#${id}-open)` } : {};
  const words = isBad ? 'danger' : isCore ? 'onClient' : 'ink';
  const style = { role: words, size: 12, isBold: isBad || isCore, hasHalo: false } as const;
  const box = { x, y, width, height: BAR_HEIGHT_PX };
  return element(
    'g',
    {},
    element('title', {}, wordsOf(operation)),
    bar(box, { ...paint, ...dashes, ...mask }, ''),
    label(text, { x: x + 9, y: y + BAR_HEIGHT_PX / 2 - 0.5 }, style),
  );
}

function wordsOf(operation: ReportedOperation): string {
  const { effect, process, text } = operation;
  const state = effect === null || effect.state === '' ? '' : `, then ${effect.state}`;
  const order = effect === null ? '' : `\n${effect.rank}. in the order found${state}`;
  return `${text} by ${process}, ${linesOf(operation)}${order}`;
}

/** Joins the points in order, below the bars, so that the line does not cross text. */
function drawOrder({ points }: Layout): Markup {
  const path = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const line = { points: path, 'stroke-width': 1.2, 'stroke-linejoin': 'round', opacity: '0.45' };
  return element('polyline', { ...line, ...ink({ stroke: 'ink' }) });
}

const DOT = { r: 3.6, 'stroke-width': 1.6, ...ink({ fill: 'paper', stroke: 'ink' }) };

function drawPoints({ points }: Layout): Child {
  return points.map(({ x, y, operation }) =>
    element('circle', { cx: x, cy: y, ...DOT }, element('title', {}, wordsOf(operation))),
  );
}

const BAD_LABEL_PX = 206;
/** Width of the text to the right of the line. A narrow screen shows this part first. */
const BEYOND_PX = 60;

function drawBad({ badX, bars, width, height }: Layout): Child {
  const bad = bars.find(({ operation }) => operation.role === 'first bad');
  if (badX === null || bad === undefined) return [];
  const text = NO_ORDER;
  const style = { role: 'danger', size: 12.5, isBold: true } as const;
  const x = Math.max(BAD_LABEL_PX, Math.min(width - 6, badX + BEYOND_PX));
  return [
    vertical(badX, [24, height - 26], { 'stroke-width': 2, ...ink({ stroke: 'danger' }) }),
    label(`✗ ${text}`, { x, y: 14 }, { ...style, anchor: 'end' }),
    label(
      '✗',
      { x: badX - 11, y: bad.y + BAR_HEIGHT_PX / 2 },
      { role: 'danger', size: 15, isBold: true, anchor: 'middle', hasHalo: false },
    ),
  ];
}

/** Draws the line numbers of core operations, and other line numbers if there is space. */
function drawTicks({ ticks, height }: Layout): Child {
  const taken: { readonly from: number; readonly to: number }[] = [];
  const ranked = [...ticks].sort((left, right) => Number(right.isCore) - Number(left.isCore));
  return ranked.map(({ x, line, isCore }) => {
    const half = String(line).length * 3.4 + 3;
    if (taken.some(({ from, to }) => x - half < to && x + half > from)) return [];
    taken.push({ from: x - half, to: x + half });
    const role = isCore ? 'ink' : 'soft';
    const style = { role, size: 11, isBold: isCore, anchor: 'middle', hasHalo: false } as const;
    return label(String(line), { x, y: height - 15 }, style);
  });
}

/** Renders the key to the picture. `hasCore` is true if there is a contradiction. */
export function renderHistoryKey(hasCore: boolean): Markup {
  const box = { x: 1, y: 2, width: 32, height: 14 };
  const cross = { role: 'danger', size: 13, isBold: true, anchor: 'middle' } as const;
  const solid = bar(box, ink({ fill: 'client0' }), '');
  const bad = [bar(box, BAD, ''), label('✗', { x: 24, y: 9 }, { ...cross, hasHalo: false })];
  const unknown = bar(box, { ...FAINT, ...UNKNOWN }, '');
  return key({ width: 40, height: 18 }, [
    ...(hasCore ? [[solid, 'part of the contradiction, from call to return'] as const] : []),
    ...(hasCore ? [[bad, 'its return no order satisfies its return'] as const] : []),
    [bar(box, FAINT, ''), hasCore ? 'any other operation' : 'an operation, from call to return'],
    [unknown, '? unknown whether it took effect'],
    [element('circle', { cx: 17, cy: 9, ...DOT }), 'where it takes effect, in the order found'],
  ]);
}
