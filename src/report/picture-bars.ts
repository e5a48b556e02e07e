/**
 * Draws what lasts, in the sequence: leases solid, as the service has them; sections hatched, as
 * their holders believe; where the two contradict, red; and pauses, crashes and partitions behind
 * them.
 */
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { Fault } from '../core/plan/fault.ts';
import type { Child } from '../text/markup.ts';
import { tokenText } from '../text/prose.ts';
import { clockSpans, clockText } from './clock-spans.ts';
import { ink } from './palette.ts';
import { type Lane, type Layout, yAt } from './picture-layout.ts';
import { bar } from './picture-shapes.ts';
import { slotsOf } from './picture-slots.ts';
import {
  beliefSpans,
  type FaultSpan,
  faultSpans,
  leaseSpans,
  overlapSpans,
  type Span,
} from './spans.ts';

/** A trace in its place; `id` begins the ids of the hatches. */
export interface Scene {
  readonly trace: Trace;
  readonly layout: Layout;
  readonly id: string;
  readonly faults: readonly Fault[];
}

const BAR_PX = 14;

/** From the row of its start to the row of its end, inside the drawing. */
function extentOf(
  span: Span,
  layout: Layout,
): { readonly y: number; readonly height: number } | null {
  const first = layout.items[0]?.step.atUs ?? 0;
  if (span.untilUs !== null && span.untilUs < first) return null;
  const y = yAt(layout, span.fromUs);
  const end = span.untilUs === null ? layout.bottom + 14 : yAt(layout, span.untilUs);
  return y > layout.bottom ? null : { y, height: end - y };
}

/** Pauses and crashes as blocks behind their lane, partitions as a strip beside it. */
export function drawFaults({ trace, layout }: Scene): Child {
  return faultSpans(trace).map((span) => {
    const lane = layout.lanes.get(span.process);
    const extent = extentOf(span, layout);
    return lane === undefined || extent === null ? [] : drawFault(span, lane, extent);
  });
}

function drawFault(span: FaultSpan, { x }: Lane, extent: { y: number; height: number }): Child {
  const until = span.untilUs === null ? '' : ` until ${proseDuration(span.untilUs)}`;
  const names = { pause: 'paused', partition: 'cut off', crash: 'down' };
  const title = `${span.process}: ${names[span.kind]}${until}`;
  if (span.kind === 'partition') {
    const box = { x: x - 24, width: 4, ...extent };
    return bar(box, { ...ink({ fill: 'caution' }) }, title);
  }
  const box = { x: x - 20, width: 40, ...extent };
  if (span.kind === 'pause') {
    return bar(box, { ...ink({ fill: 'idle', stroke: 'soft' }), 'stroke-width': 1 }, title);
  }
  const dashes = { 'stroke-dasharray': '3 3', 'stroke-width': 1 };
  return bar(box, { ...ink({ fill: 'paper', stroke: 'danger' }), ...dashes }, title);
}

/** A strip at the left of each lane whose process's clocks are off. */
export function drawClocks({ trace, layout, faults }: Scene): Child {
  return clockSpans(trace, faults).map((span) => {
    const lane = layout.lanes.get(span.process);
    const extent = extentOf(span, layout);
    if (lane === undefined || extent === null) return [];
    const title = `clock of ${span.process} ${clockText(span)}`;
    const box = { x: lane.x - 32, width: 6, ...extent };
    const dashes = { 'stroke-dasharray': '2 2', 'stroke-width': 1.4 };
    return bar(box, { ...ink({ fill: 'paper', stroke: 'caution' }), ...dashes }, title);
  });
}

/** The leases in the lock services' lanes, in the colours of their clients. */
export function drawLeases({ trace, layout }: Scene): Child {
  return slotsOf(leaseSpans(trace)).map(({ span, offset }) => {
    const lane = layout.lanes.get(span.process);
    const client = layout.lanes.get(span.client);
    const extent = extentOf(span, layout);
    if (lane === undefined || extent === null) return [];
    const until = span.untilUs === null ? '' : ` to ${proseDuration(span.untilUs)}`;
    const what = `${span.lock}${tokenText(span.token)}`;
    const from = proseDuration(span.fromUs);
    const title = `${span.client} holds ${what}: ${from}${until} (${span.ending})`;
    const x = lane.x - BAR_PX / 2 + offset * (BAR_PX + 4);
    const fill = ink({ fill: client?.role ?? 'soft' });
    return bar({ x, width: BAR_PX, ...extent }, fill, title);
  });
}

/** The sections in the clients' lanes, and in red where another client holds the lock. */
export function drawBeliefs({ trace, layout, id }: Scene): Child {
  const beliefs = beliefSpans(trace);
  const overlaps = overlapSpans(beliefs, leaseSpans(trace));
  return slotsOf(beliefs).map(({ span, offset }) => {
    const lane = layout.lanes.get(span.process);
    const extent = extentOf(span, layout);
    if (lane === undefined || extent === null) return [];
    const x = lane.x - BAR_PX / 2 + offset * (BAR_PX + 4);
    const believed = `own clock ends the lease at ${proseDuration(span.believedUntilUs)}`;
    const title = `${span.process} acts as holder of ${span.lock}${tokenText(span.token)}; ${believed}`;
    const paint = { ...ink({ stroke: lane.role }), fill: `url(#${id}-${lane.role})` };
    const own = overlaps.filter(
      ({ process, ordinal }) => process === span.process && ordinal === span.ordinal,
    );
    const red = own.map((overlap) => drawOverlap(overlap, { layout, x, id }));
    return [bar({ x, width: BAR_PX, ...extent }, { ...paint, 'stroke-width': 1.4 }, title), red];
  });
}

function drawOverlap(
  span: Span & { readonly other: string },
  { layout, x, id }: { layout: Layout; x: number; id: string },
): Child {
  const extent = extentOf(span, layout);
  if (extent === null) return [];
  const paint = { ...ink({ stroke: 'danger' }), fill: `url(#${id}-danger)`, 'stroke-width': 1.6 };
  const title = `${span.process} still acts as holder while ${span.other} holds it`;
  return bar({ x: x - 2, width: BAR_PX + 4, ...extent }, paint, title);
}
