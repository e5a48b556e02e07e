/**
 * Draws an overview of a finding: time runs to the right and is true to scale, with a row per
 * process. The picture shows when each client held a lock, and what was late. It omits labels that
 * the sequence shows better. Each drawing function records the kinds of mark that it draws, so that
 * the key explains only the marks in the picture.
 */
import { proseDuration } from '../../core/plan/duration.ts';
import { type Child, element, type Markup, render } from '../../text/markup.ts';
import { clip, displayWidth, visible } from '../../text/visible.ts';
import { isReply, type LossSpan, type OverlapSpan, type Span } from '../spans.ts';
import {
  changeText,
  clientEndTitle,
  clockText,
  clockTitle,
  faultStateText,
  flagText,
  holderText,
  leaseTitle,
  lossTitle,
  type MarkKind,
  NO_ORDER,
  overlapText,
  refusalReason,
  viewTitle,
  violationText,
} from '../state-phrases.ts';
import { inSlots, type Lane, type Layout, type LayoutOptions } from './layout.ts';
import type { Linearization, LinearPoint } from './linearization.ts';
import {
  bar,
  cursor,
  drawMessage,
  flag,
  flagWidth,
  hatched,
  hatches,
  horizontal,
  ink,
  label,
  named,
  type Role,
  svgDocument,
  type TextStyle,
  vertical,
} from './shapes.ts';

export interface TimelineOptions extends Pick<LayoutOptions, 'claim' | 'evidence'> {
  /** The prefix of the ids of the hatches. */
  readonly id: string;
  /** The accessible name. */
  readonly title: string;
  /** Extends the picture beyond its last event, so that two pictures have the same scale. */
  readonly untilUs?: number;
  /** The order that the checker found, for a claim of linearizability. */
  readonly linearization?: Linearization | null;
  /** The time of the first difference from the run shown beside this picture. */
  readonly differsAtUs?: number | null;
}

interface Scale {
  readonly fromUs: number;
  readonly untilUs: number;
}

export interface TimelinePicture extends Scale {
  readonly svg: Markup;
  /** The kinds of mark in the picture. */
  readonly marks: ReadonlySet<MarkKind>;
}

const WIDTH = 1140;
const LEFT = 150;
const RIGHT = 1100;
const TOP = 64;
const BAR_PX = 18;
const LOSS_PX = 3;
const ROW_PX = 70;
const ROW_WITH_CLOCK_PX = 84;
const COLUMN_PX = 6.6;

/** Draws the picture, with the names of its lanes as an overlay for narrow screens. */
export function drawTimeline(layout: Layout, options: TimelineOptions): TimelinePicture {
  const scene = sceneOf(layout, options);
  const { rows, height, fromUs, untilUs, marks, id } = scene;
  const size = { width: WIDTH, height };
  const svg = svgDocument(
    size,
    named(options.title, 'scale'),
    hatches(id, layout.lanes.values()),
    cursor({ x: 0, y: TOP - 4, width: 3, height: height - TOP - 4 }),
    drawAxis(scene),
    [...rows.values()].map(drawRow),
    drawClocks(scene),
    drawFaults(scene),
    drawLeases(scene),
    drawClientViews(scene),
    drawClientEnds(scene),
    drawFlights(scene),
    drawWrites(scene, lastOf(options)),
    drawOrder(scene, options.linearization ?? null),
    drawDifference(scene, options.differsAtUs ?? null),
    drawViolation(scene, options),
  );
  // Repeat the names of the lanes in an overlay, which stays visible when the picture scrolls.
  const hidden = { class: 'lanes', 'aria-hidden': 'true' };
  const names = svgDocument({ width: LEFT, height }, hidden, [], [...rows.values()].map(drawName));
  return { svg: { markup: render([svg, names]) }, fromUs, untilUs, marks };
}

/** Returns the time range of the picture, which ends at `atLeastUs` or later. */
export function scaleOf({ items }: Layout, atLeastUs: number): Scale {
  const fromUs = items[0]?.step.atUs ?? 0;
  return { fromUs, untilUs: Math.max(fromUs + 1, items.at(-1)?.step.atUs ?? 0, atLeastUs) };
}

/** Returns the x coordinate of a time. Times outside the picture are placed at its edge. */
export function xAt({ fromUs, untilUs }: Scale, atUs: number): number {
  const share = (atUs - fromUs) / (untilUs - fromUs);
  return LEFT + Math.max(0, Math.min(1, share)) * (RIGHT - LEFT);
}

interface Row {
  readonly lane: Lane;
  readonly y: number;
}

interface Scene extends Scale, Pick<Layout, 'trace' | 'spans'> {
  readonly rows: ReadonlyMap<string, Row>;
  readonly height: number;
  readonly id: string;
  readonly isDrawn: (event: number) => boolean;
  readonly marks: Set<MarkKind>;
}

function sceneOf(layout: Layout, { id, untilUs = 0 }: TimelineOptions): Scene {
  const { trace, spans, yOf } = layout;
  const lanes = [...layout.lanes.values()];
  const isSkewed = trace.events.some((event) => event.kind === 'fault' && event.fault === 'clock');
  const rowPx = isSkewed ? ROW_WITH_CLOCK_PX : ROW_PX;
  const rows = lanes.map(
    (lane, at) => [lane.process.name, { lane, y: TOP + rowPx - 24 + at * rowPx }] as const,
  );
  return {
    trace,
    spans,
    rows: new Map(rows),
    id,
    marks: new Set(),
    ...scaleOf(layout, untilUs),
    height: TOP + 14 + lanes.length * rowPx,
    isDrawn: (event) => yOf.has(event),
  };
}

function drawAxis(scene: Scene): Child {
  const style = { role: 'soft', anchor: 'middle', size: 11, hasHalo: false } as const;
  const { fromUs, untilUs } = scene;
  // Between 2 and 12 ticks at round intervals.
  const step = roundStep((untilUs - fromUs) / 12);
  const ticks: number[] = [];
  for (let at = Math.ceil(fromUs / step) * step; at <= untilUs; at += step) ticks.push(at);
  return ticks.map((atUs) => {
    const x = xAt(scene, atUs);
    return [
      vertical(x, [TOP, scene.height - 8], ink({ stroke: 'guide' })),
      label(proseDuration(atUs), { x, y: TOP - 10 }, style),
    ];
  });
}

/** Returns the smallest of 1, 2, 5, 10, 20, 50, … that is not less than `us`. */
function roundStep(us: number): number {
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power >= us) return digit * power;
    }
  }
}

function drawRow(row: Row): Child {
  return element(
    'g',
    {},
    element('title', {}, row.lane.process.name),
    horizontal(row.y, [LEFT, RIGHT], ink({ stroke: 'line' })),
    drawName(row),
  );
}

function drawName({ lane, y }: Row): Markup {
  const name = clip(visible(lane.process.name), 13);
  const role = lane.role === 'soft' ? 'ink' : lane.role;
  const style = { role, anchor: 'end', hasHalo: false, size: 14, isBold: true } as const;
  return label(name, { x: LEFT - 16, y }, style);
}

/** The horizontal extent of a span, clipped to the picture. */
interface Extent {
  readonly x: number;
  readonly width: number;
}

function inRows<S extends Span>(
  spans: readonly S[],
  scene: Scene,
  draw: (span: S, row: Row, extent: Extent) => Child,
): Child {
  const { rows, fromUs, untilUs } = scene;
  return spans.map((span) => {
    const row = rows.get(span.process);
    const isInside = span.fromUs <= untilUs && (span.untilUs === null || span.untilUs >= fromUs);
    if (row === undefined || !isInside) return [];
    const x = xAt(scene, span.fromUs);
    return draw(span, row, { x, width: xAt(scene, span.untilUs ?? untilUs) - x });
  });
}

/** Draws the text if a bar of this extent has space for it. */
function fitted(text: string, { x, width }: Extent, y: number, style: TextStyle): Child {
  if (displayWidth(text) * COLUMN_PX + 12 > width) return [];
  const at = { x: style.anchor === 'start' ? x + 8 : x + width / 2, y };
  return label(text, at, { ...style, hasHalo: false });
}

/** Draws a strip with the offset above the row of each process whose clock is wrong. */
function drawClocks(scene: Scene): Child {
  const paint = ink({ fill: 'paper', stroke: 'caution' });
  return inRows(scene.spans.clocks, scene, (span, row, extent) => {
    scene.marks.add('skew');
    const text = `◷ ${clockText(span)}`;
    const x = Math.max(LEFT, Math.min(extent.x + 6, RIGHT - displayWidth(text) * COLUMN_PX));
    return [
      bar({ ...extent, y: row.y - 47, height: 15 }, paint, clockTitle(span)),
      label(text, { x, y: row.y - 39.5 }, { role: 'caution', size: 11, isBold: true }),
    ];
  });
}

const FAULT_INKS = {
  pause: ink({ fill: 'idle', stroke: 'soft' }),
  partition: ink({ stroke: 'caution' }),
  crash: ink({ fill: 'paper', stroke: 'danger' }),
};

/** Draws pauses as blocks, crashes as dashed blocks from ✖ to ↻, partitions as dashed outlines. */
function drawFaults(scene: Scene): Child {
  return inRows(scene.spans.faults, scene, (span, { y }, box) => {
    scene.marks.add(span.kind);
    const untilUs = span.kind === 'crash' ? span.untilUs : (span.untilUs ?? scene.untilUs);
    const isCrash = span.kind === 'crash';
    const isEver = span.untilUs === null;
    const text = faultStateText({ ...span, untilUs });
    const dashes = span.kind === 'pause' ? {} : { 'stroke-dasharray': '3 3' };
    const shape = { ...box, y: y - 28, height: 42 };
    const sign = { role: 'danger', anchor: 'middle', size: 15, isBold: true } as const;
    const end = { x: box.x + box.width, y };
    return [
      bar(shape, { ...FAULT_INKS[span.kind], ...dashes }, `${span.process}: ${text}`),
      fitted(text, box, y - 18, { role: 'ink', anchor: 'start' }),
      isCrash ? label('✖', { x: box.x, y }, sign) : [],
      isCrash && !isEver ? label('↻', end, { ...sign, role: 'good' }) : [],
    ];
  });
}

/** Returns the color of a process, or `soft` for servers and for processes without a row. */
function roleIn({ rows }: Scene, process: string): Role {
  return rows.get(process)?.lane.role ?? 'soft';
}

/** Draws leases in the rows of the lock services, in the colors of the holders. */
function drawLeases(scene: Scene): Child {
  return inRows(inSlots(scene.spans.holdings), scene, (span, { lane, y }, box) => {
    if (lane.process.role === 'lock') scene.marks.add('lease');
    const top = y - BAR_PX / 2 + span.slot * (BAR_PX + 2);
    const text = holderText(span);
    return [
      bar(
        { ...box, y: top, height: BAR_PX },
        ink({ fill: roleIn(scene, span.client) }),
        leaseTitle(span),
      ),
      fitted(text, box, top + BAR_PX / 2, { role: 'onClient', anchor: 'middle' }),
    ];
  });
}

/** Draws the sections in the rows of their clients, in red while another client holds the lock. */
function drawClientViews(scene: Scene): Child {
  const { clientViews, overlaps, losses } = scene.spans;
  const clientRects = inRows(clientViews, scene, (span, { lane, y }, box) => {
    scene.marks.add('client view');
    const shape = { ...box, y: y - BAR_PX / 2, height: BAR_PX };
    return bar(shape, hatched(scene.id, lane.role), viewTitle(span));
  });
  const lost = inRows(losses, scene, (span, { y }, box) => drawLoss(span, y, box, scene));
  const red = inRows(overlaps, scene, (span, row, box) => drawOverlap(span, row, box, scene));
  return [clientRects, red, lost];
}

/** Draws a thin line below a section while the client has not noticed the loss of the lock. */
function drawLoss(span: LossSpan, y: number, box: Extent, scene: Scene): Child {
  scene.marks.add('loss');
  const shape = { ...box, y: y + BAR_PX / 2 + 2, height: LOSS_PX };
  return bar(shape, ink({ fill: 'danger' }), lossTitle(span));
}

function drawOverlap(span: OverlapSpan, row: Row, box: Extent, { id, marks }: Scene): Child {
  marks.add('overlap');
  const text = overlapText(span);
  const shape = { ...box, y: row.y - BAR_PX / 2 - 1, height: BAR_PX + 2 };
  const needed = displayWidth(text) * COLUMN_PX;
  const x = Math.max(LEFT + needed / 2, Math.min(RIGHT - needed / 2, box.x + box.width / 2));
  return [
    bar(shape, hatched(id, 'danger'), text),
    label(text, { x, y: row.y + 23 }, { role: 'danger', anchor: 'middle', isBold: true }),
  ];
}

/** Marks the end of each lease by the holder's clock, unless the holder left earlier. */
function drawClientEnds(scene: Scene): Child {
  const { fromUs, untilUs, spans } = scene;
  return spans.clientViews.map((span) => {
    const row = scene.rows.get(span.process);
    const endUs = span.believedUntilUs;
    const isAfter = span.untilUs !== null && endUs > span.untilUs;
    if (row === undefined || endUs <= fromUs || endUs >= untilUs || isAfter) return [];
    scene.marks.add('own end');
    const box = { x: xAt(scene, endUs) - 1.5, y: row.y - 14, width: 3, height: 28 };
    return bar(box, ink({ fill: 'ink', stroke: 'paper' }), clientEndTitle(span));
  });
}

/** Draws messages. The arrow of a message in transit at the end of the picture has no head. */
function drawFlights(scene: Scene): Child {
  const { trace, spans, rows, untilUs, marks, isDrawn } = scene;
  return spans.flights.map((flight) => {
    const from = rows.get(flight.from);
    const to = rows.get(flight.to);
    if (from === undefined || to === undefined || !isDrawn(flight.sent)) return [];
    const isUnderWay = flight.end === null || !isDrawn(flight.end);
    const isAnswer = isReply(flight.message);
    marks.add(isAnswer ? 'answer' : 'request');
    if (!isUnderWay && flight.isLost) marks.add('lost');
    if (!isUnderWay && flight.isCopy) marks.add('duplicate');
    const atUs = (event: number | null): number => trace.events[event ?? -1]?.atUs ?? untilUs;
    const side = to.y > from.y ? 1 : -1;
    const start = { x: xAt(scene, atUs(flight.sent)), y: from.y + side * 9 };
    const stop = { x: xAt(scene, isUnderWay ? untilUs : atUs(flight.end)), y: to.y - side * 9 };
    return drawMessage({ ...flight, isUnderWay }, [start, stop], {
      role: from.lane.role === 'soft' ? to.lane.role : from.lane.role,
      isThin: true,
      isDashed: isAnswer,
      title: '',
      crossSize: 14,
      beside: { x: 4, y: 0 },
      tip: { x: (start.x + stop.x) / 2, y: (start.y + stop.y) / 2 },
    });
  });
}

const FLAG_LEVELS = 3;
/** The space for the sign beside a flag. */
const SIGN_PX = 18;

/** Draws a flag per write, stacked if they overlap. The event `violating` breaks the claim. */
function drawWrites(scene: Scene, violating: number): Child {
  const rightEnds = new Map<string, number>();
  const levels = new Map<string, number>();
  return scene.trace.events.map((event, at) => {
    if (event.kind !== 'write' || !scene.isDrawn(at)) return [];
    const row = scene.rows.get(event.process);
    if (row === undefined) return [];
    const { process, isAccepted } = event;
    const isViolating = isAccepted && at === violating;
    scene.marks.add(isViolating ? 'violating' : isAccepted ? 'accepted' : 'refused');
    const text = flagText(event);
    // At the right edge, move a wide flag slightly to the left to keep it inside.
    const x = Math.min(xAt(scene, event.atUs), WIDTH - flagWidth(text) - SIGN_PX);
    const isFree = x >= (rightEnds.get(process) ?? 0);
    const level = isFree ? 0 : ((levels.get(process) ?? 0) + 1) % FLAG_LEVELS;
    levels.set(process, level);
    rightEnds.set(process, Math.max(x + flagWidth(text) + SIGN_PX, rightEnds.get(process) ?? 0));
    const y = row.y - level * 19;
    const beside = { x: x + flagWidth(text) + 4, y };
    const isGood = isAccepted && !isViolating;
    const sign = { role: isGood ? 'good' : 'danger', size: 14, isBold: true } as const;
    const why = isAccepted ? changeText(event) : refusalReason(event);
    return element(
      'g',
      {},
      why === '' ? [] : element('title', {}, why),
      flag({ x, y }, { text, role: roleIn(scene, event.client), isAccepted }),
      label(isAccepted ? '✓' : '⊘', beside, sign),
    );
  });
}

const DOT_PX = 8;

/**
 * Draws the order found by the checker of `linearizable`: a numbered dot for the effect of each
 * operation, and a cross for the first return that no order satisfies.
 */
function drawOrder(scene: Scene, linearization: Linearization | null): Child {
  if (linearization === null) return [];
  scene.marks.add('order');
  const taken = new Map<string, number>();
  const dots = linearization.points.map((point) => {
    const row = scene.rows.get(point.process);
    const atUs = scene.trace.events[point.event]?.atUs;
    if (row === undefined || atUs === undefined || !scene.isDrawn(point.event)) return [];
    const place = `${point.process} ${atUs}`;
    const before = taken.get(place) ?? 0;
    taken.set(place, before + 1);
    return drawDot(point, xAt(scene, atUs) + before * (2 * DOT_PX + 2), row.y);
  });
  return [dots, drawBad(scene, linearization)];
}

function drawDot({ operation, rank }: LinearPoint, x: number, y: number): Markup {
  const style = { role: 'ink', anchor: 'middle', size: 11, isBold: true, hasHalo: false } as const;
  const paint = { r: DOT_PX, 'stroke-width': 1.5, ...ink({ fill: 'paper', stroke: 'ink' }) };
  return element(
    'g',
    {},
    element('title', {}, `${operation}: ${rank}. in the order found`),
    element('circle', { cx: x, cy: y, ...paint }),
    label(String(rank), { x, y }, style),
  );
}

function drawBad(scene: Scene, { bad }: Linearization): Child {
  const row = scene.rows.get(bad?.process ?? '');
  const event = scene.trace.events[bad?.event ?? -1];
  if (row === undefined || event === undefined) return [];
  const x = xAt(scene, event.atUs);
  const style = { role: 'danger', isBold: true } as const;
  return [
    label('✗', { x, y: row.y }, { ...style, anchor: 'middle', size: 17 }),
    label(NO_ORDER, { x: x + 8, y: row.y - 18 }, { ...style, anchor: 'end' }),
  ];
}

function drawDifference(scene: Scene, atUs: number | null): Child {
  if (atUs === null || atUs < scene.fromUs || atUs > scene.untilUs) return [];
  const line = { dashes: '7 3', extent: [TOP, scene.height - 4], y: scene.height - 10 } as const;
  const text = '≠ first difference';
  return drawInstant(scene, atUs, { text, role: 'caution', inset: 6, ...line });
}

/** Returns the last event of the evidence, or −1 if there is none. */
function lastOf({ evidence }: Pick<TimelineOptions, 'evidence'>): number {
  return evidence.reduce((latest, { event }) => Math.max(latest, event), -1);
}

function drawViolation(scene: Scene, { evidence, claim }: TimelineOptions): Child {
  const last = lastOf({ evidence });
  const event = scene.trace.events[last];
  if (event === undefined) return [];
  const part = evidence.find(({ event: at }) => at === last)?.role ?? '';
  const line = { dashes: '2 3', extent: [30, scene.height - 8], y: 20, size: 13 } as const;
  const text = violationText(part, claim);
  return drawInstant(scene, event.atUs, { text, role: 'danger', inset: -6, ...line });
}

interface Instant extends TextStyle {
  readonly text: string;
  readonly dashes: string;
  readonly extent: readonly [number, number];
  /** The y coordinate of the text. */
  readonly y: number;
  /** The offset of the text from the line, toward the more distant edge. */
  readonly inset: number;
}

/** Draws a dashed line across all rows, with a text beside it. */
function drawInstant(scene: Scene, atUs: number, instant: Instant): Child {
  const { text, dashes, extent, y, inset, ...style } = instant;
  const x = xAt(scene, atUs);
  const isRight = x > WIDTH / 2;
  const line = { 'stroke-dasharray': dashes, 'stroke-width': 1.5, ...ink({ stroke: style.role }) };
  const anchor = isRight ? 'end' : 'start';
  const at = { x: x + (isRight ? -inset : inset), y };
  return [vertical(x, extent, line), label(text, at, { ...style, anchor, isBold: true })];
}
