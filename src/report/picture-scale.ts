/**
 * Draws a finding at a glance: time runs to the right and is true to scale, a row a process.
 * Nothing is labelled that the sequence says better; what remains is who held what when, and what
 * came late.
 */
import type { Trace } from '../history/trace.ts';
import { proseDuration } from '../plan/duration.ts';
import { type Child, element, type Markup } from './markup.ts';
import { flightsOf, isReply } from './message.ts';
import { ink, type Role } from './palette.ts';
import { type Lane, type LayoutOptions, layOut } from './picture-layout.ts';
import { arrow, bar, flag, flagWidth, hatch, label } from './picture-shapes.ts';
import { slotsOf } from './picture-slots.ts';
import { ticksOf } from './picture-ticks.ts';
import { tokenText } from './prose.ts';
import { beliefSpans, faultSpans, leaseSpans, overlapSpans, type Span } from './spans.ts';
import { clip, displayWidth, visible } from './visible.ts';

export interface ScaleOptions extends LayoutOptions {
  readonly id: string;
  /** The accessible name. */
  readonly title: string;
}

const WIDTH = 1140;
const LEFT = 150;
const RIGHT = 1100;
const TOP = 64;
const ROW_PX = 64;
const BAR_PX = 18;
const COLUMN_PX = 6.6;

interface Row {
  readonly lane: Lane;
  readonly y: number;
}

interface Scene {
  readonly trace: Trace;
  readonly rows: ReadonlyMap<string, Row>;
  readonly fromUs: number;
  readonly untilUs: number;
  readonly height: number;
  readonly id: string;
  readonly isDrawn: (event: number) => boolean;
}

/** The picture as one SVG element. */
export function drawScale(trace: Trace, options: ScaleOptions): Markup {
  const scene = sceneOf(trace, options);
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${WIDTH} ${scene.height}`,
      width: WIDTH,
      height: scene.height,
      role: 'img',
      'aria-label': options.title,
      'font-family': "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
      class: 'scale',
    },
    element('defs', {}, hatchesOf(scene)),
    element('rect', { width: WIDTH, height: scene.height, ...ink({ fill: 'paper' }) }),
    drawAxis(scene),
    drawRows(scene),
    drawFaults(scene),
    drawLeases(scene),
    drawBeliefs(scene),
    drawFlights(scene),
    drawWrites(scene),
    drawViolation(scene, options),
  );
}

function sceneOf(trace: Trace, options: ScaleOptions): Scene {
  const layout = layOut(trace, options);
  const lanes = [...layout.lanes.values()];
  const rows = lanes.map(
    (lane, at) => [lane.process.name, { lane, y: TOP + 44 + at * ROW_PX }] as const,
  );
  const fromUs = layout.items[0]?.step.atUs ?? 0;
  const untilUs = Math.max(fromUs + 1, layout.items.at(-1)?.step.atUs ?? 0);
  return {
    trace,
    rows: new Map(rows),
    fromUs,
    untilUs,
    height: TOP + 12 + lanes.length * ROW_PX,
    id: options.id,
    isDrawn: (event) => layout.yOf.has(event),
  };
}

function xAt({ fromUs, untilUs }: Scene, atUs: number): number {
  const share = (atUs - fromUs) / (untilUs - fromUs);
  return LEFT + Math.max(0, Math.min(1, share)) * (RIGHT - LEFT);
}

function hatchesOf({ rows, id }: Scene): Child {
  const roles = new Set([...rows.values()].map(({ lane }) => lane.role));
  return [
    ...[...roles].map((role) => hatch(`${id}-${role}`, role, false)),
    hatch(`${id}-danger`, 'danger', true),
  ];
}

function drawAxis(scene: Scene): Child {
  return ticksOf(scene.fromUs, scene.untilUs, 12).map((atUs) => {
    const x = xAt(scene, atUs);
    return [
      element('line', { x1: x, x2: x, y1: TOP, y2: scene.height - 8, ...ink({ stroke: 'guide' }) }),
      label(proseDuration(atUs), { x, y: TOP - 10 }, { role: 'soft', anchor: 'middle', size: 11 }),
    ];
  });
}

function drawRows({ rows }: Scene): Child {
  return [...rows.values()].map(({ lane, y }) => {
    const name = clip(visible(lane.process.name), 13);
    const role = lane.role === 'soft' ? 'ink' : lane.role;
    const style = { anchor: 'end', hasHalo: false } as const;
    return element(
      'g',
      {},
      element('title', {}, lane.process.name),
      element('line', { x1: LEFT, x2: RIGHT, y1: y, y2: y, ...ink({ stroke: 'line' }) }),
      label(name, { x: LEFT - 16, y }, { ...style, role, size: 14, isBold: true }),
    );
  });
}

function boxOf(span: Span, scene: Scene): { readonly x: number; readonly width: number } {
  const x = xAt(scene, span.fromUs);
  return { x, width: xAt(scene, span.untilUs ?? scene.untilUs) - x };
}

function isInside(span: Span, { fromUs, untilUs }: Scene): boolean {
  return span.fromUs <= untilUs && (span.untilUs === null || span.untilUs >= fromUs);
}

interface Place {
  readonly box: { readonly x: number; readonly width: number };
  readonly y: number;
  readonly role: Role;
  readonly isLeft: boolean;
}

/** The text where the box has room for it. */
function fitted(text: string, { box, y, role, isLeft }: Place): Child {
  if (displayWidth(text) * COLUMN_PX + 12 > box.width) return [];
  const x = isLeft ? box.x + 8 : box.x + box.width / 2;
  return label(text, { x, y }, { role, anchor: isLeft ? 'start' : 'middle', hasHalo: false });
}

function drawFaults(scene: Scene): Child {
  return faultSpans(scene.trace).map((span) => {
    const row = scene.rows.get(span.process);
    if (row === undefined || !isInside(span, scene)) return [];
    const box = boxOf(span, scene);
    const long = proseDuration((span.untilUs ?? scene.untilUs) - span.fromUs);
    const names = { pause: `paused for ${long}`, partition: 'cut off', crash: 'down' };
    const paint = {
      pause: ink({ fill: 'idle', stroke: 'soft' }),
      partition: ink({ stroke: 'caution' }),
      crash: ink({ fill: 'paper', stroke: 'danger' }),
    }[span.kind];
    const dashes = span.kind === 'pause' ? {} : { 'stroke-dasharray': '3 3' };
    const shape = { ...box, y: row.y - 28, height: 42 };
    return [
      bar(shape, { ...paint, ...dashes }, names[span.kind]),
      fitted(names[span.kind], { box, y: row.y - 18, role: 'ink', isLeft: true }),
    ];
  });
}

function drawLeases(scene: Scene): Child {
  return slotsOf(leaseSpans(scene.trace)).map(({ span, offset }) => {
    const row = scene.rows.get(span.process);
    if (row === undefined || !isInside(span, scene)) return [];
    const role = scene.rows.get(span.client)?.lane.role ?? 'soft';
    const y = row.y - BAR_PX / 2 + offset * (BAR_PX + 2);
    const box = boxOf(span, scene);
    const text = `${visible(clip(span.client, 16))} holds it${tokenText(span.token)}`;
    return [
      bar({ ...box, y, height: BAR_PX }, ink({ fill: role }), text),
      fitted(text, { box, y: y + BAR_PX / 2, role: 'onClient', isLeft: false }),
    ];
  });
}

function drawBeliefs(scene: Scene): Child {
  const beliefs = beliefSpans(scene.trace);
  const overlaps = overlapSpans(beliefs, leaseSpans(scene.trace));
  const hatched = beliefs.map((span) => {
    const row = scene.rows.get(span.process);
    if (row === undefined || !isInside(span, scene)) return [];
    const shape = { ...boxOf(span, scene), y: row.y - BAR_PX / 2, height: BAR_PX };
    const fill = { fill: `url(#${scene.id}-${row.lane.role})`, 'stroke-width': 1.4 };
    const title = `${span.process} acts as holder${tokenText(span.token)}`;
    return bar(shape, { ...ink({ stroke: row.lane.role }), ...fill }, title);
  });
  return [hatched, overlaps.map((overlap) => drawOverlap(overlap, scene))];
}

function drawOverlap(span: Span & { readonly other: string }, scene: Scene): Child {
  const row = scene.rows.get(span.process);
  if (row === undefined || !isInside(span, scene)) return [];
  const box = boxOf(span, scene);
  const text = `still acts as holder, but ${clip(visible(span.other), 16)} holds it`;
  const fill = { fill: `url(#${scene.id}-danger)`, 'stroke-width': 1.6 };
  const shape = { ...box, y: row.y - BAR_PX / 2 - 1, height: BAR_PX + 2 };
  const needed = displayWidth(text) * COLUMN_PX;
  const x = Math.max(LEFT + needed / 2, Math.min(RIGHT - needed / 2, box.x + box.width / 2));
  return [
    bar(shape, { ...ink({ stroke: 'danger' }), ...fill }, text),
    label(text, { x, y: row.y + 22 }, { role: 'danger', anchor: 'middle', isBold: true }),
  ];
}

function drawFlights(scene: Scene): Child {
  const { trace, rows } = scene;
  return flightsOf(trace).map((flight) => {
    const from = rows.get(flight.from);
    const to = rows.get(flight.to);
    const sent = trace.events[flight.sent];
    const end = flight.end === null ? undefined : trace.events[flight.end];
    if (from === undefined || to === undefined || sent === undefined || end === undefined)
      return [];
    if (!scene.isDrawn(flight.sent) || flight.end === null || !scene.isDrawn(flight.end)) return [];
    const side = to.y > from.y ? 1 : -1;
    const role = from.lane.role === 'soft' ? to.lane.role : from.lane.role;
    const start = { x: xAt(scene, sent.atUs), y: from.y + side * 9 };
    const stop = { x: xAt(scene, end.atUs), y: to.y - side * 9 };
    const style = { role, isThin: true, isDashed: isReply(flight.message) };
    if (!flight.isLost) return arrow(start, stop, style);
    const cross = { x: (start.x + stop.x) / 2, y: (start.y + stop.y) / 2 };
    return [
      arrow(start, cross, { ...style, hasHead: false }),
      label('✕', cross, { role: 'danger', anchor: 'middle', size: 14, isBold: true }),
    ];
  });
}

function drawWrites(scene: Scene): Child {
  return scene.trace.events.map((event, at) => {
    if (event.kind !== 'write' || !scene.isDrawn(at)) return [];
    const row = scene.rows.get(event.process);
    if (row === undefined) return [];
    const { token, isAccepted } = event;
    const role = scene.rows.get(event.client)?.lane.role ?? 'soft';
    const x = xAt(scene, event.atUs);
    const sign = isAccepted ? '✓' : '⊘';
    const beside = { x: x + flagWidth(token) + 4, y: row.y };
    return [
      flag({ x, y: row.y }, { token, role, isAccepted }),
      label(sign, beside, { role: isAccepted ? 'good' : 'danger', size: 14, isBold: true }),
    ];
  });
}

function drawViolation(scene: Scene, { evidence, claim }: ScaleOptions): Child {
  const last = evidence.reduce((latest, { event }) => Math.max(latest, event), -1);
  const event = scene.trace.events[last];
  const role = evidence.find(({ event: at }) => at === last)?.role ?? '';
  if (event === undefined) return [];
  const x = xAt(scene, event.atUs);
  const text = `✗ ${role}: ${claim} breaks`;
  const isRight = x > WIDTH / 2;
  return [
    element('line', {
      x1: x,
      x2: x,
      y1: 30,
      y2: scene.height - 8,
      'stroke-dasharray': '2 3',
      'stroke-width': 1.5,
      ...ink({ stroke: 'danger' }),
    }),
    label(
      text,
      { x: x + (isRight ? 6 : -6), y: 20 },
      {
        role: 'danger',
        anchor: isRight ? 'end' : 'start',
        size: 13,
        isBold: true,
      },
    ),
  ];
}
