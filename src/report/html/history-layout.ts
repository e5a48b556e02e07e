/**
 * Decides where the operations of a history stand in its picture: a lane a client, events from left
 * to right. Only their order is drawn, since that is all that counts; every event gets a place of
 * its own, and every bar is wide enough for its words.
 */
import { clip, displayWidth, visible } from '../../text/visible.ts';
import {
  badReturn,
  byName,
  eventsUpTo,
  type ReportedEvent,
  type ReportedMark,
  type ReportedOperation,
} from '../history-report.ts';
import { clientRole, type Point, type Role } from '../pictures/shapes.ts';

const EVENT_PX = 15;
const COLUMN_PX = 6.8;
/** Bold letters are wider. */
const BOLD_COLUMN_PX = 7.5;
const BAR_PADDING_PX = 20;
/** For the cross at its end. */
const BAD_PADDING_PX = 32;
const WIDEST_TEXT = 34;
const OPEN_PX = 46;
const LEFT_PX = 14;
const NARROWEST_PX = 240;

export const ROW_PX = 34;
export const BAR_HEIGHT_PX = 22;
export const TOP_PX = 46;
export const NAME_COLUMNS = 14;

export interface Bar {
  readonly operation: ReportedOperation;
  readonly text: string;
  readonly x: number;
  readonly width: number;
  readonly y: number;
  /** Its right end is no return: nobody knows how it ended, or it did so after the picture. */
  readonly isOpen: boolean;
  readonly role: Role;
}

export interface HistoryLane {
  readonly process: string;
  readonly role: Role;
  readonly y: number;
  readonly height: number;
}

/** Where an operation takes effect. */
export interface EffectPoint extends Point {
  readonly operation: ReportedOperation;
}

export interface Tick {
  readonly x: number;
  readonly line: number;
  readonly isCore: boolean;
}

export interface HistoryLayout {
  readonly lanes: readonly HistoryLane[];
  readonly bars: readonly Bar[];
  /** Where operations take effect, in the order that was found. */
  readonly points: readonly EffectPoint[];
  readonly ticks: readonly Tick[];
  readonly marks: readonly (ReportedMark & { readonly x: number })[];
  /** The return that no order satisfies. */
  readonly badX: number | null;
  readonly width: number;
  readonly height: number;
}

export interface HistoryLayoutOptions {
  readonly marks: readonly ReportedMark[];
  /** The colour of each client, the same in every picture of a part. */
  readonly roles: ReadonlyMap<string, Role>;
}

/** A colour for each client, as long as there are colours. */
export function colourClients(operations: readonly ReportedOperation[]): ReadonlyMap<string, Role> {
  const names = [...new Set(operations.map(({ process }) => process))].sort(byName);
  return new Map(names.map((name, at) => [name, clientRole(at)]));
}

export function layOutHistory(
  operations: readonly ReportedOperation[],
  { marks, roles }: HistoryLayoutOptions,
): HistoryLayout {
  const axis = new Axis(operations);
  const { lanes, rows, bottom } = lanesOf(operations, axis.end, roles);
  const laneOf = new Map(lanes.map((lane) => [lane.process, lane]));
  const bars = operations.map((operation): Bar => {
    const lane = laneOf.get(operation.process);
    const row = rows.get(operation) ?? 0;
    const x = axis.at(operation.invoke);
    const closes = operation.return !== null && operation.return <= axis.end;
    const right = closes ? axis.at(operation.return ?? 0) : axis.width - LEFT_PX;
    return {
      operation,
      text: labelOf(operation),
      x,
      width: right - x,
      y: (lane?.y ?? 0) + row * ROW_PX + (ROW_PX - BAR_HEIGHT_PX) / 2,
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

/** Where each position of the common order of events stands. */
class Axis {
  /** The last position that is drawn: that of the bad return, where there is one. */
  readonly end: number;
  readonly width: number;
  private readonly events: readonly ReportedEvent[];
  private readonly xs: Map<number, number> = new Map();

  constructor(operations: readonly ReportedOperation[]) {
    const last = Math.max(0, ...operations.map((one) => one.return ?? one.invoke));
    this.end = badReturn(operations)?.return ?? last;
    this.events = [...eventsUpTo(operations, this.end)].sort(callsFirst);
    this.place();
    const right = Math.max(0, ...this.xs.values());
    const open = operations.filter((one) => one.return === null || one.return > this.end);
    const needs = open.map((one) => this.at(one.invoke) + widthOf(one));
    this.width = Math.max(NARROWEST_PX, right + OPEN_PX, ...needs) + LEFT_PX;
  }

  at(position: number): number {
    return this.xs.get(position) ?? this.after(position);
  }

  /** Just right of the last event up to a position. */
  after(position: number): number {
    const before = this.events.findLast((event) => event.position <= position);
    return before === undefined ? LEFT_PX / 2 : this.at(before.position) + EVENT_PX / 2;
  }

  /** The room right of the last event up to a position, for what happens between events. */
  roomAfter(position: number): { readonly from: number; readonly to: number } {
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

  /** In their order, so that a bar can push its return, and all after it, to the right. */
  private place(): void {
    let x = LEFT_PX - EVENT_PX;
    let last = Number.NEGATIVE_INFINITY;
    const points = countBetween(this.events);
    for (const { position, operation, isReturn } of this.events) {
      // The effects between two events need room too.
      if (position > last) x += Math.max(EVENT_PX, ((points.get(last) ?? 0) + 1) * POINT_PX);
      if (isReturn) x = Math.max(x, (this.xs.get(operation.invoke) ?? 0) + widthOf(operation));
      this.xs.set(position, x);
      last = position;
    }
  }
}

const POINT_PX = 13;

/** What is called where something else returns overlaps with it. */
function callsFirst(left: ReportedEvent, right: ReportedEvent): number {
  return left.position - right.position || Number(left.isReturn) - Number(right.isReturn);
}

/** By the position of an event: how many operations take effect right after it. */
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

/** A lane has several rows where operations of one client overlap. */
function lanesOf(
  operations: readonly ReportedOperation[],
  end: number,
  roles: ReadonlyMap<string, Role>,
): {
  readonly lanes: readonly HistoryLane[];
  readonly rows: ReadonlyMap<ReportedOperation, number>;
  readonly bottom: number;
} {
  const rows = new Map<ReportedOperation, number>();
  const freeFrom = new Map<string, number[]>();
  for (const operation of operations) {
    const ends = freeFrom.get(operation.process) ?? [];
    const free = ends.findIndex((position) => position <= operation.invoke);
    const row = free < 0 ? ends.length : free;
    const isClosed = operation.return !== null && operation.return <= end;
    ends[row] = isClosed ? (operation.return ?? 0) : Number.POSITIVE_INFINITY;
    freeFrom.set(operation.process, ends);
    rows.set(operation, row);
  }
  let y = TOP_PX;
  const lanes = [...freeFrom.keys()].sort(byName).map((process): HistoryLane => {
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
  const rooms = placed.map(({ operation }) => axis.roomAfter(operation.effect?.position ?? 0));
  return placed.map(({ operation, y }, at) => {
    const room = rooms[at] ?? { from: 0, to: 0 };
    const sharing = rooms.flatMap((other, index) => (other.from === room.from ? [index] : []));
    const share = (sharing.indexOf(at) + 1) / (sharing.length + 1);
    return { operation, x: room.from + (room.to - room.from) * share, y: y + BAR_HEIGHT_PX };
  });
}

function rankOf({ effect }: ReportedOperation): number {
  return effect?.rank ?? 0;
}
