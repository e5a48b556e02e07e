/**
 * Draws a finding as a sequence: time runs downwards, a lane a process. Leases stand twice, solid
 * as the service has them and hatched as their holders believe; the red part is where both
 * contradict.
 */
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { type Child, element, type Markup } from '../text/markup.ts';
import { clip, visible } from '../text/visible.ts';
import { flagText, isReply } from './access-text.ts';
import { ink, type Role } from './palette.ts';
import { drawBeliefs, drawClocks, drawFaults, drawLeases, type Scene } from './picture-bars.ts';
import {
  axisOf,
  HEAD_COLUMNS,
  type Item,
  type Lane,
  type Layout,
  type LayoutOptions,
  layOut,
} from './picture-layout.ts';
import { arrow, bar, cursor, flag, flagWidth, hatch, label } from './picture-shapes.ts';
import { type Flight, flightsOf } from './spans.ts';

export interface Picture {
  readonly svg: Markup;
  /** Events that are drawn. */
  readonly drawn: number;
  /** Where each event that is drawn stands, by its index. */
  readonly yOf: ReadonlyMap<number, number>;
  /** Where the lane of each process that is drawn stands, by its name. */
  readonly xOf: ReadonlyMap<string, number>;
}

export interface PictureOptions extends LayoutOptions {
  /** Begins every id in the picture, so that several fit one page. */
  readonly id: string;
  /** The accessible name. */
  readonly title: string;
}

const LANE_TOP = 58;

/** The sequence as one SVG element. */
export function drawSequence(trace: Trace, options: PictureOptions): Picture {
  const layout = layOut(trace, options);
  const scene = { trace, layout, id: options.id, faults: options.faults };
  const { width, height } = layout;
  const svg = element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
      width: Math.ceil(width),
      height: Math.ceil(height),
      role: 'img',
      'aria-label': options.title,
      'font-family': "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
      class: 'sequence',
    },
    element('defs', {}, hatchesOf(scene)),
    element('rect', {
      width: Math.ceil(width),
      height: Math.ceil(height),
      ...ink({ fill: 'paper' }),
    }),
    violationBand(layout),
    cursor({ x: 6, y: 0, width: width - 12, height: 22 }),
    drawAxis(layout),
    drawLanes(layout),
    drawFaults(scene),
    drawClocks(scene),
    drawLeases(scene),
    drawBeliefs(scene),
    drawFlights(scene),
    layout.items.map((item) => drawItem(item, scene)),
    drawHeads(layout),
  );
  const xOf = new Map([...layout.lanes].map(([name, { x }]) => [name, x]));
  return { svg, drawn: layout.drawn, yOf: layout.yOf, xOf };
}

function hatchesOf({ layout, id }: Scene): Child {
  const roles = new Set([...layout.lanes.values()].map(({ role }) => role));
  return [
    ...[...roles].map((role) => hatch(`${id}-${role}`, role, false)),
    hatch(`${id}-danger`, 'danger', true),
  ];
}

const BAND_PX = 50;

/** The band lies behind the last piece of evidence and the line that names the violation. */
function violationBand(layout: Layout): Child {
  const y = bandTop(layout);
  if (y === Number.POSITIVE_INFINITY) return [];
  const box = { x: 6, y, width: layout.width - 12, height: BAND_PX };
  return bar(box, { ...ink({ fill: 'tint', stroke: 'danger' }), 'stroke-width': 1 }, '');
}

function bandTop({ items }: Layout): number {
  const item = items.find(({ step }) => step.part === 'violation');
  return item === undefined ? Number.POSITIVE_INFINITY : item.y - 36;
}

function drawAxis(layout: Layout): Child {
  const times = axisOf(layout).map(({ y, text }) => [
    element('line', {
      x1: 72,
      x2: layout.width - 12,
      y1: y,
      y2: y,
      ...ink({ stroke: 'guide' }),
    }),
    label(text, { x: 66, y }, { role: 'soft', anchor: 'end', hasHalo: false }),
  ]);
  const waits = layout.waits.map(({ y, forUs }) =>
    label(
      `⋮ ${proseDuration(forUs)}`,
      { x: 66, y },
      {
        role: 'soft',
        anchor: 'end',
        size: 10,
        hasHalo: false,
      },
    ),
  );
  return [times, waits];
}

function drawLanes({ lanes, bottom }: Layout): Child {
  return [...lanes.values()].map(({ x }) =>
    element('line', {
      x1: x,
      x2: x,
      y1: LANE_TOP,
      y2: bottom + 14,
      'stroke-width': 1.5,
      ...ink({ stroke: 'line' }),
    }),
  );
}

const ROLE_NAMES = {
  lock: 'lock service',
  client: 'client',
  probe: 'probe',
  store: 'store',
} as const;

function drawHeads({ lanes }: Layout): Child {
  return [...lanes.values()].map(({ process, x, role }) => {
    const name = clip(visible(process.name), HEAD_COLUMNS);
    const style = { anchor: 'middle', hasHalo: false } as const;
    return element(
      'g',
      {},
      element('title', {}, process.name),
      label(
        name,
        { x, y: 24 },
        { ...style, role: role === 'soft' ? 'ink' : role, size: 15, isBold: true },
      ),
      label(ROLE_NAMES[process.role], { x, y: 43 }, { ...style, role: 'soft', size: 11 }),
    );
  });
}

function drawFlights({ trace, layout }: Scene): Child {
  return flightsOf(trace).map((flight) => {
    const from = layout.lanes.get(flight.from);
    const to = layout.lanes.get(flight.to);
    const y = layout.yOf.get(flight.sent);
    if (from === undefined || to === undefined || y === undefined) return [];
    const endY = flight.end === null ? undefined : layout.yOf.get(flight.end);
    return drawFlight(flight, { from, to, y, endY: endY ?? null, bottom: layout.bottom });
  });
}

interface Ends {
  readonly from: Lane;
  readonly to: Lane;
  readonly y: number;
  /** Null when it is still under way where the drawing ends. */
  readonly endY: number | null;
  readonly bottom: number;
}

function drawFlight(flight: Flight, { from, to, y, endY, bottom }: Ends): Child {
  const side = to.x > from.x ? 1 : -1;
  const start = { x: from.x + side * 10, y };
  const role = from.process.role === 'client' ? from.role : to.role;
  const style = { role, isDashed: isReply(flight.message), isThin: isReply(flight.message) };
  const share = (part: number): number => from.x + (to.x - from.x) * part;
  if (endY === null) {
    const end = { x: share(0.6), y: Math.max(y + 6, bottom + 8) };
    return arrow(start, end, { ...style, hasHead: false, isDashed: true });
  }
  if (flight.isLost) {
    const end = { x: share(0.55), y: y + (endY - y) * 0.55 };
    const cross = { role: 'danger', anchor: 'middle', size: 16, isBold: true } as const;
    return [arrow(start, end, { ...style, hasHead: false }), label('✕', end, cross)];
  }
  const end = { x: to.x - side * 10, y: endY };
  const shaft = element('g', {}, element('title', {}, flight.message), arrow(start, end, style));
  if (!flight.isCopy) return shaft;
  const beside = [
    { ...start, y: start.y + 4 },
    { ...end, y: end.y + 4 },
  ] as const;
  return [shaft, arrow(beside[0], beside[1], { ...style, hasHead: false })];
}

const TONES: Readonly<Record<Item['tone'], Role>> = {
  plain: 'ink',
  faint: 'soft',
  danger: 'danger',
};

function drawItem(item: Item, { trace, layout }: Scene): Child {
  const { step, y } = item;
  const event = step.event === null ? undefined : trace.events[step.event];
  if (event?.kind === 'healed') return drawHealed(y, item.label, layout);
  const lane = layout.lanes.get(step.process);
  if (lane === undefined || item.label === '') return [];
  const isLeft =
    lane.labelSide === 'left' || (event?.kind === 'send' && isLeftwards(event.to, lane, layout));
  const isSend = event?.kind === 'send';
  const isWrite = event?.kind === 'write';
  const inset = isWrite ? 16 + flagWidth(flagText(event)) : 26;
  const at = { x: lane.x + (isLeft ? -inset : inset), y: isSend ? y - 8 : y };
  const role = isSend ? lane.role : TONES[item.tone];
  const isInBand = step.part !== '' && y >= bandTop(layout);
  const ground = isInBand ? 'tint' : 'paper';
  const style = { role, ground, anchor: isLeft ? 'end' : 'start' } as const;
  const text = label(item.label, at, { ...style, isBold: step.part !== '' });
  const client = isWrite ? layout.lanes.get(event.client) : undefined;
  const flown = isWrite
    ? flag(
        { x: lane.x + 9, y },
        { text: flagText(event), role: client?.role ?? 'soft', isAccepted: event.isAccepted },
      )
    : [];
  return element('g', {}, element('title', {}, step.text), flown, text);
}

function isLeftwards(to: string, lane: Lane, layout: Layout): boolean {
  const target = layout.lanes.get(to);
  return target !== undefined && target.x < lane.x;
}

function drawHealed(y: number, text: string, { width }: Layout): Child {
  const line = { x1: 72, x2: width - 12, y1: y, y2: y, 'stroke-dasharray': '6 4' };
  return [
    element('line', { ...line, ...ink({ stroke: 'good' }) }),
    label(text, { x: width - 16, y: y - 9 }, { role: 'good', anchor: 'end' }),
  ];
}
