/**
 * Draws a finding at a glance: time runs to the right and is true to scale, a row a process.
 * Nothing is labelled that the sequence says better; what remains is who held what when, and what
 * came late.
 */
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { type Child, element, type Markup } from '../text/markup.ts';
import { changeText, flagText, isReply, whyRefused } from './access-text.ts';
import type { Linearization } from './linearization.ts';
import { ink } from './palette.ts';
import { type Mark, marksOf } from './picture-marks.ts';
import { drawPoints } from './picture-points.ts';
import {
  drawBeliefs,
  drawClocks,
  drawFaults,
  drawLeases,
  drawOwnEnds,
  drawRows,
} from './picture-scale-bars.ts';
import {
  type Row,
  roleIn,
  type ScaleScene,
  type ScaleSceneOptions,
  scaleScene,
  TOP,
  WIDTH,
  xAt,
} from './picture-scale-scene.ts';
import { arrow, cursor, flag, flagWidth, hatch, label } from './picture-shapes.ts';
import { ticksOf } from './picture-ticks.ts';
import { type Flight, flightsOf } from './spans.ts';

export interface ScaleOptions extends ScaleSceneOptions {
  /** The accessible name. */
  readonly title: string;
  /** The order that the checker found, where the claim is one of linearizability. */
  readonly linearization?: Linearization | null;
  /** An instant to mark: where this run begins to differ from the one beside it. */
  readonly differsAtUs?: number | null;
}

export interface ScalePicture {
  readonly svg: Markup;
  readonly fromUs: number;
  readonly untilUs: number;
  /** The kinds of mark in it. */
  readonly marks: ReadonlySet<Mark>;
}

/** The picture as one SVG element, and from when to when it goes. */
export function drawScale(trace: Trace, options: ScaleOptions): ScalePicture {
  const scene = scaleScene(trace, options);
  const { height, fromUs, untilUs } = scene;
  const svg = element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${WIDTH} ${height}`,
      width: WIDTH,
      height,
      role: 'img',
      'aria-label': options.title,
      'font-family': "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
      class: 'scale',
    },
    element('defs', {}, hatchesOf(scene)),
    element('rect', { width: WIDTH, height, ...ink({ fill: 'paper' }) }),
    cursor({ x: 0, y: TOP - 4, width: 3, height: height - TOP - 4 }),
    drawAxis(scene),
    drawRows(scene),
    drawClocks(scene),
    drawFaults(scene),
    drawLeases(scene),
    drawBeliefs(scene),
    drawOwnEnds(scene),
    drawFlights(scene),
    drawWrites(scene),
    drawPoints(scene, options.linearization ?? null),
    drawDifference(scene, options.differsAtUs ?? null),
    drawViolation(scene, options),
  );
  return { svg, fromUs, untilUs, marks: marksOf(scene, options.linearization ?? null) };
}

function hatchesOf({ rows, id }: ScaleScene): Child {
  const roles = new Set([...rows.values()].map(({ lane }) => lane.role));
  return [
    ...[...roles].map((role) => hatch(`${id}-${role}`, role, false)),
    hatch(`${id}-danger`, 'danger', true),
  ];
}

function drawAxis(scene: ScaleScene): Child {
  return ticksOf(scene.fromUs, scene.untilUs, 12).map((atUs) => {
    const x = xAt(scene, atUs);
    return [
      element('line', { x1: x, x2: x, y1: TOP, y2: scene.height - 8, ...ink({ stroke: 'guide' }) }),
      label(proseDuration(atUs), { x, y: TOP - 10 }, { role: 'soft', anchor: 'middle', size: 11 }),
    ];
  });
}

function drawFlights(scene: ScaleScene): Child {
  return flightsOf(scene.trace).map((flight) => {
    const from = scene.rows.get(flight.from);
    const to = scene.rows.get(flight.to);
    if (from === undefined || to === undefined || !scene.isDrawn(flight.sent)) return [];
    const isEndDrawn = flight.end !== null && scene.isDrawn(flight.end);
    return drawFlight(flight, scene, { from, to, isEndDrawn });
  });
}

interface Ends {
  readonly from: Row;
  readonly to: Row;
  readonly isEndDrawn: boolean;
}

/** One that is still under way where the picture ends leaves it without a head. */
function drawFlight(flight: Flight, scene: ScaleScene, { from, to, isEndDrawn }: Ends): Child {
  const sentUs = scene.trace.events[flight.sent]?.atUs ?? 0;
  const endUs = scene.trace.events[flight.end ?? -1]?.atUs ?? scene.untilUs;
  const side = to.y > from.y ? 1 : -1;
  const role = from.lane.role === 'soft' ? to.lane.role : from.lane.role;
  const start = { x: xAt(scene, sentUs), y: from.y + side * 9 };
  const stop = { x: xAt(scene, isEndDrawn ? endUs : scene.untilUs), y: to.y - side * 9 };
  const style = { role, isThin: true, isDashed: isReply(flight.message) };
  const middle = { x: (start.x + stop.x) / 2, y: (start.y + stop.y) / 2 };
  if (!isEndDrawn) return arrow(start, middle, { ...style, hasHead: false, isDashed: true });
  if (flight.isLost) {
    const cross = { role: 'danger', anchor: 'middle', size: 14, isBold: true } as const;
    return [arrow(start, middle, { ...style, hasHead: false }), label('✕', middle, cross)];
  }
  if (!flight.isCopy) return arrow(start, stop, style);
  const beside = [
    { ...start, x: start.x + 4 },
    { ...stop, x: stop.x + 4 },
  ] as const;
  return [arrow(start, stop, style), arrow(beside[0], beside[1], { ...style, hasHead: false })];
}

/** Flags of one moment stand above each other. */
function drawWrites(scene: ScaleScene): Child {
  const rightEnds = new Map<string, number>();
  const levels = new Map<string, number>();
  return scene.trace.events.map((event, at) => {
    if (event.kind !== 'write' || !scene.isDrawn(at)) return [];
    const row = scene.rows.get(event.process);
    if (row === undefined) return [];
    const { process, isAccepted } = event;
    const text = flagText(event);
    // A wide flag at the right edge stands a little too early rather than outside.
    const x = Math.min(xAt(scene, event.atUs), WIDTH - flagWidth(text) - SIGN_PX);
    const isFree = x >= (rightEnds.get(process) ?? 0);
    const level = isFree ? 0 : ((levels.get(process) ?? 0) + 1) % FLAG_LEVELS;
    levels.set(process, level);
    rightEnds.set(process, Math.max(x + flagWidth(text) + SIGN_PX, rightEnds.get(process) ?? 0));
    const y = row.y - level * 19;
    const sign = isAccepted ? '✓' : '⊘';
    const beside = { x: x + flagWidth(text) + 4, y };
    const why = isAccepted ? changeText(event) : whyRefused(event);
    return element(
      'g',
      {},
      why === '' ? [] : element('title', {}, why),
      flag({ x, y }, { text, role: roleIn(scene, event.client), isAccepted }),
      label(sign, beside, { role: isAccepted ? 'good' : 'danger', size: 14, isBold: true }),
    );
  });
}

const FLAG_LEVELS = 3;
/** What the sign beside a flag needs. */
const SIGN_PX = 18;

function drawDifference(scene: ScaleScene, atUs: number | null): Child {
  if (atUs === null || atUs < scene.fromUs || atUs > scene.untilUs) return [];
  const x = xAt(scene, atUs);
  const isRight = x > WIDTH / 2;
  const dashes = { 'stroke-dasharray': '7 3', 'stroke-width': 1.5 };
  const anchor = isRight ? 'end' : 'start';
  const at = { x: x + (isRight ? -6 : 6), y: scene.height - 10 };
  return [
    element('line', {
      ...{ x1: x, x2: x, y1: TOP, y2: scene.height - 4 },
      ...{ ...dashes, ...ink({ stroke: 'caution' }) },
    }),
    label('≠ first difference', at, { role: 'caution', anchor, isBold: true }),
  ];
}

function drawViolation(scene: ScaleScene, { evidence, claim }: ScaleOptions): Child {
  const last = evidence.reduce((latest, { event }) => Math.max(latest, event), -1);
  const event = scene.trace.events[last];
  const role = evidence.find(({ event: at }) => at === last)?.role ?? '';
  if (event === undefined) return [];
  const x = xAt(scene, event.atUs);
  const isRight = x > WIDTH / 2;
  const at = { x: x + (isRight ? 6 : -6), y: 20 };
  const anchor = isRight ? 'end' : 'start';
  const dashes = { 'stroke-dasharray': '2 3', 'stroke-width': 1.5 };
  return [
    element('line', {
      ...{ x1: x, x2: x, y1: 30, y2: scene.height - 8 },
      ...{ ...dashes, ...ink({ stroke: 'danger' }) },
    }),
    label(`✗ ${role}: ${claim} breaks`, at, { role: 'danger', anchor, size: 13, isBold: true }),
  ];
}
