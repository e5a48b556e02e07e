/**
 * Draws a finding as a sequence: time runs downward, with a lane per process. Each lease is drawn
 * twice: as a solid bar for the lock service's record, and as a hatched bar for the client's
 * belief. The bars are red while they contradict each other. Pauses, crashes and partitions are
 * drawn behind the bars. `layout.ts` computes all positions.
 */
import { proseDuration } from '../../core/plan/duration.ts';
import { type Child, element, type Markup } from '../../text/markup.ts';
import { clip, visible } from '../../text/visible.ts';
import { type FaultSpan, isReply, type LossSpan, type OverlapSpan, type Span } from '../spans.ts';
import {
  clockTitle,
  faultStateText,
  flagText,
  leaseTitle,
  lossTitle,
  overlapText,
  viewTitle,
} from '../state-phrases.ts';
import { axisOf, HEAD_COLUMNS, type Item, inSlots, type Lane, type Layout, yAt } from './layout.ts';
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
  vertical,
} from './shapes.ts';

export interface SequencePicture {
  readonly svg: Markup;
  /** The number of numbered events that are drawn. */
  readonly drawn: number;
  /** The y coordinate of each event that is drawn, by index. */
  readonly yOf: ReadonlyMap<number, number>;
  /** The x coordinate of the lane of each process, by name. */
  readonly xOf: ReadonlyMap<string, number>;
}

interface SequenceOptions {
  /** The prefix of every id in the picture, so that several pictures fit on one page. */
  readonly id: string;
  /** The accessible name. */
  readonly title: string;
}

const LANE_TOP = 58;

/** Draws the sequence as one SVG element. */
export function drawSequence(layout: Layout, { id, title }: SequenceOptions): SequencePicture {
  const scene = { ...layout, id };
  const { spans } = layout;
  const lanes = [...layout.lanes.values()];
  const size = { width: Math.ceil(layout.width), height: Math.ceil(layout.height) };
  const svg = svgDocument(
    size,
    named(title, 'sequence'),
    hatches(id, lanes),
    violationBand(layout),
    cursor({ x: 6, y: 0, width: layout.width - 12, height: 22 }),
    drawAxis(layout),
    lanes.map(({ x }) => vertical(x, [LANE_TOP, layout.bottom + 14], LANE_PAINT)),
    inLanes(spans.faults, scene, drawFault),
    drawClocks(scene),
    // Draw leases in the lanes of the lock services, in the colors of the holders.
    inLanes(inSlots(spans.holdings), scene, (span, lane, extent) => {
      const fill = ink({ fill: layout.lanes.get(span.client)?.role ?? 'soft' });
      return bar({ x: barLeft(lane, span.slot), width: BAR_PX, ...extent }, fill, leaseTitle(span));
    }),
    drawClientViews(scene),
    drawFlights(layout),
    layout.items.map((item) => drawItem(item, layout)),
    lanes.map(drawHead),
  );
  const xOf = new Map([...layout.lanes].map(([name, { x }]) => [name, x]));
  return { svg, drawn: layout.drawn, yOf: layout.yOf, xOf };
}

const LANE_PAINT = { 'stroke-width': 1.5, ...ink({ stroke: 'line' }) };

/** `id` is the prefix of the ids of the hatches. */
interface Scene extends Layout {
  readonly id: string;
}

const BAND_PX = 50;
/** Draws a band behind the last piece of evidence and the line that names the violation. */
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
  const style = { role: 'soft', anchor: 'end', hasHalo: false } as const;
  const times = axisOf(layout).map(({ y, text }) => [
    horizontal(y, [72, layout.width - 12], ink({ stroke: 'guide' })),
    label(text, { x: 66, y }, style),
  ]);
  const waits = layout.waits.map(({ y, forUs }) =>
    label(`⋮ ${proseDuration(forUs)}`, { x: 66, y }, { ...style, size: 10 }),
  );
  return [times, waits];
}

/** The vertical extent of a span, from the row of its start to the row of its end. */
interface Extent {
  readonly y: number;
  readonly height: number;
}

function inLanes<S extends Span>(
  spans: readonly S[],
  layout: Layout,
  draw: (span: S, lane: Lane, extent: Extent) => Child,
): Child {
  return spans.map((span) => {
    const lane = layout.lanes.get(span.process);
    const extent = extentOf(span, layout);
    return lane === undefined || extent === null ? [] : draw(span, lane, extent);
  });
}

function extentOf(span: Span, layout: Layout): Extent | null {
  const first = layout.items[0]?.step.atUs ?? 0;
  if (span.untilUs !== null && span.untilUs < first) return null;
  const y = yAt(layout, span.fromUs);
  const end = span.untilUs === null ? layout.bottom + 14 : yAt(layout, span.untilUs);
  return y > layout.bottom ? null : { y, height: end - y };
}

/** Draws pauses and crashes as blocks behind their lane, and partitions as a strip beside it. */
function drawFault(span: FaultSpan, { x }: Lane, extent: Extent): Child {
  const title = `${span.process}: ${faultStateText(span)}`;
  if (span.kind === 'partition') {
    return bar({ x: x - 24, width: 4, ...extent }, ink({ fill: 'caution' }), title);
  }
  const paint =
    span.kind === 'pause'
      ? ink({ fill: 'idle', stroke: 'soft' })
      : { ...ink({ fill: 'paper', stroke: 'danger' }), 'stroke-dasharray': '3 3' };
  return bar({ x: x - 20, width: 40, ...extent }, { ...paint, 'stroke-width': 1 }, title);
}

/** Draws a strip to the left of a lane while the clock of the process is wrong. */
function drawClocks(scene: Scene): Child {
  const dashes = { 'stroke-dasharray': '2 2', 'stroke-width': 1.4 };
  const paint = { ...ink({ fill: 'paper', stroke: 'caution' }), ...dashes };
  return inLanes(scene.spans.clocks, scene, (span, { x }, extent) =>
    bar({ x: x - 32, width: 6, ...extent }, paint, clockTitle(span)),
  );
}

const BAR_PX = 14;

function barLeft({ x }: Lane, slot: number): number {
  return x - BAR_PX / 2 + slot * (BAR_PX + 4);
}

/** Draws the sections in the lanes of the clients, in red while another client holds the lock. */
function drawClientViews(scene: Scene): Child {
  const { clientViews, overlaps, losses } = scene.spans;
  return inLanes(inSlots(clientViews), scene, (span, lane, extent) => {
    const x = barLeft(lane, span.slot);
    const isOfOverlap = ({ process, ordinal }: OverlapSpan | LossSpan): boolean =>
      process === span.process && ordinal === span.ordinal;
    const red = inLanes(overlaps.filter(isOfOverlap), scene, (overlap, _, within) =>
      drawOverlap(overlap, { x, ...within }, scene),
    );
    const lost = inLanes(losses.filter(isOfOverlap), scene, (loss, _, within) => {
      const box = { x: x + BAR_PX + 3, width: 3, ...within };
      return bar(box, ink({ fill: 'danger' }), lossTitle(loss));
    });
    return [
      bar({ x, width: BAR_PX, ...extent }, hatched(scene.id, lane.role), viewTitle(span)),
      red,
      lost,
    ];
  });
}

function drawOverlap(
  overlap: OverlapSpan,
  { x, ...extent }: Extent & { readonly x: number },
  { id }: Scene,
): Child {
  return bar(
    { x: x - 2, width: BAR_PX + 4, ...extent },
    hatched(id, 'danger'),
    overlapText(overlap),
  );
}

function drawFlights({ spans, lanes, yOf, bottom }: Layout): Child {
  return spans.flights.map((flight) => {
    const from = lanes.get(flight.from);
    const to = lanes.get(flight.to);
    const y = yOf.get(flight.sent);
    if (from === undefined || to === undefined || y === undefined) return [];
    const endY = flight.end === null ? undefined : yOf.get(flight.end);
    const isUnderWay = endY === undefined;
    const side = to.x > from.x ? 1 : -1;
    const ends = [
      { x: from.x + side * 10, y },
      { x: to.x - side * 10, y: endY ?? y },
    ] as const;
    const truncation = isUnderWay
      ? { x: from.x + (to.x - from.x) * 0.6, y: Math.max(y + 6, bottom + 8) }
      : { x: from.x + (to.x - from.x) * 0.55, y: y + (endY - y) * 0.55 };
    const { role } = from.process.role === 'client' ? from : to;
    const isAnswer = isReply(flight.message);
    return drawMessage({ ...flight, isUnderWay }, ends, {
      role,
      isDashed: isAnswer,
      isThin: isAnswer,
      title: flight.message,
      tip: truncation,
      crossSize: 16,
      beside: { x: 0, y: 4 },
    });
  });
}

const TONES: Readonly<Record<Item['tone'], Role>> = {
  plain: 'ink',
  faint: 'soft',
  danger: 'danger',
};

function drawItem(item: Item, layout: Layout): Child {
  const { step, y } = item;
  const event = step.event === null ? undefined : layout.trace.events[step.event];
  if (event?.kind === 'healed') return drawHealed(y, item.label, layout);
  const lane = layout.lanes.get(step.process);
  if (lane === undefined || item.label === '') return [];
  const targetX = event?.kind === 'send' ? layout.lanes.get(event.to)?.x : undefined;
  const isLeft = lane.labelSide === 'left' || (targetX ?? lane.x) < lane.x;
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

function drawHealed(y: number, text: string, { width }: Layout): Child {
  const paint = { 'stroke-dasharray': '6 4', ...ink({ stroke: 'good' }) };
  return [
    horizontal(y, [72, width - 12], paint),
    label(text, { x: width - 16, y: y - 9 }, { role: 'good', anchor: 'end' }),
  ];
}

const ROLE_NAMES = { lock: 'lock service', client: 'client', probe: 'probe', store: 'store' };

function drawHead({ process, x, role }: Lane): Markup {
  const name = clip(visible(process.name), HEAD_COLUMNS);
  const style = { anchor: 'middle', hasHalo: false } as const;
  const bold = { ...style, role: role === 'soft' ? 'ink' : role, size: 15, isBold: true } as const;
  return element(
    'g',
    {},
    element('title', {}, process.name),
    label(name, { x, y: 24 }, bold),
    label(ROLE_NAMES[process.role], { x, y: 43 }, { ...style, role: 'soft', size: 11 }),
  );
}
