/**
 * Draws what lasts, at a glance: pauses, crashes and partitions, the skew of clocks, leases solid
 * as the service has them, sections hatched as their holders believe, in red where both contradict.
 */
import { proseDuration } from '../core/plan/duration.ts';
import { type Child, element } from '../text/markup.ts';
import { tokenText } from '../text/prose.ts';
import { clip, displayWidth, visible } from '../text/visible.ts';
import { clockSpans, clockText } from './clock-spans.ts';
import { ink, type Role } from './palette.ts';
import {
  BAR_PX,
  extentOf,
  hasOwnEnd,
  isInside,
  LEFT,
  RIGHT,
  roleIn,
  type ScaleScene,
  xAt,
} from './picture-scale-scene.ts';
import { bar, label } from './picture-shapes.ts';
import { slotsOf } from './picture-slots.ts';
import {
  type BeliefSpan,
  beliefSpans,
  faultSpans,
  leaseSpans,
  overlapSpans,
  type Span,
} from './spans.ts';

const COLUMN_PX = 6.6;

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

/** Pauses as blocks, crashes as dashed ones from ✖ to ↻, partitions as dashed outlines. */
export function drawFaults(scene: ScaleScene): Child {
  return faultSpans(scene.trace).map((span) => {
    const row = scene.rows.get(span.process);
    if (row === undefined || !isInside(span, scene)) return [];
    const box = extentOf(span, scene);
    const long = proseDuration((span.untilUs ?? scene.untilUs) - span.fromUs);
    const isEver = span.untilUs === null;
    const names = {
      pause: `paused for ${long}`,
      partition: `cut off for ${long}`,
      crash: isEver ? 'down for good' : `down for ${long}`,
    };
    const paint = {
      pause: ink({ fill: 'idle', stroke: 'soft' }),
      partition: ink({ stroke: 'caution' }),
      crash: ink({ fill: 'paper', stroke: 'danger' }),
    }[span.kind];
    const dashes = span.kind === 'pause' ? {} : { 'stroke-dasharray': '3 3' };
    const shape = { ...box, y: row.y - 28, height: 42 };
    const sign = { role: 'danger', anchor: 'middle', size: 15, isBold: true } as const;
    const isCrash = span.kind === 'crash';
    const end = { x: box.x + box.width, y: row.y };
    return [
      bar(shape, { ...paint, ...dashes }, `${span.process}: ${names[span.kind]}`),
      fitted(names[span.kind], { box, y: row.y - 18, role: 'ink', isLeft: true }),
      isCrash ? label('✖', { x: box.x, y: row.y }, sign) : [],
      isCrash && !isEver ? label('↻', end, { ...sign, role: 'good' }) : [],
    ];
  });
}

/** A strip over the row of each process whose clocks are off, with how far. */
export function drawClocks(scene: ScaleScene): Child {
  return clockSpans(scene.trace, scene.faults).map((span) => {
    const row = scene.rows.get(span.process);
    if (row === undefined || !isInside(span, scene)) return [];
    const text = `◷ ${clockText(span)}`;
    const box = { ...extentOf(span, scene), y: row.y - 47, height: 15 };
    const x = Math.max(LEFT, Math.min(box.x + 6, RIGHT - displayWidth(text) * COLUMN_PX));
    return [
      bar(
        box,
        { ...ink({ fill: 'paper', stroke: 'caution' }) },
        `clock of ${span.process} ${text}`,
      ),
      label(text, { x, y: row.y - 39.5 }, { role: 'caution', size: 11, isBold: true }),
    ];
  });
}

/** The leases in the rows of the services, in the colours of their clients. */
export function drawLeases(scene: ScaleScene): Child {
  return slotsOf(leaseSpans(scene.trace)).map(({ span, offset }) => {
    const row = scene.rows.get(span.process);
    if (row === undefined || !isInside(span, scene)) return [];
    const role = roleIn(scene, span.client);
    const y = row.y - BAR_PX / 2 + offset * (BAR_PX + 2);
    const box = extentOf(span, scene);
    const text = `${visible(clip(span.client, 16))} holds it${tokenText(span.token)}`;
    return [
      bar({ ...box, y, height: BAR_PX }, ink({ fill: role }), text),
      fitted(text, { box, y: y + BAR_PX / 2, role: 'onClient', isLeft: false }),
    ];
  });
}

/** The sections in their programs' rows, with a mark where their own clocks end the lease. */
export function drawBeliefs(scene: ScaleScene): Child {
  const beliefs = beliefSpans(scene.trace);
  const overlaps = overlapSpans(beliefs, leaseSpans(scene.trace));
  const hatched = beliefs.map((span) => drawBelief(span, scene));
  return [hatched, overlaps.map((overlap) => drawOverlap(overlap, scene))];
}

function drawBelief(span: BeliefSpan, scene: ScaleScene): Child {
  const row = scene.rows.get(span.process);
  if (row === undefined || !isInside(span, scene)) return [];
  const shape = { ...extentOf(span, scene), y: row.y - BAR_PX / 2, height: BAR_PX };
  const fill = { fill: `url(#${scene.id}-${row.lane.role})`, 'stroke-width': 1.4 };
  const title = `${span.process} acts as holder${tokenText(span.token)}`;
  return bar(shape, { ...ink({ stroke: row.lane.role }), ...fill }, title);
}

/** Where each holder's own clock ends its lease; drawn over whatever else is there. */
export function drawOwnEnds(scene: ScaleScene): Child {
  return beliefSpans(scene.trace).map((span) => {
    const row = scene.rows.get(span.process);
    const { believedUntilUs } = span;
    if (row === undefined || !hasOwnEnd(span, scene)) return [];
    const x = xAt(scene, believedUntilUs);
    const box = { x: x - 1.5, y: row.y - 14, width: 3, height: 28 };
    const title = `own clock of ${span.process}: lease over at ${proseDuration(believedUntilUs)}`;
    return bar(box, { ...ink({ fill: 'ink', stroke: 'paper' }) }, title);
  });
}

function drawOverlap(span: Span & { readonly other: string }, scene: ScaleScene): Child {
  const row = scene.rows.get(span.process);
  if (row === undefined || !isInside(span, scene)) return [];
  const box = extentOf(span, scene);
  const other = clip(visible(span.other), 16);
  const text = `still acts as holder, but ${other} holds it`;
  const fill = { fill: `url(#${scene.id}-danger)`, 'stroke-width': 1.6 };
  const shape = { ...box, y: row.y - BAR_PX / 2 - 1, height: BAR_PX + 2 };
  const needed = displayWidth(text) * COLUMN_PX;
  const x = Math.max(LEFT + needed / 2, Math.min(RIGHT - needed / 2, box.x + box.width / 2));
  return [
    bar(shape, { ...ink({ stroke: 'danger' }), ...fill }, text),
    label(text, { x, y: row.y + 23 }, { role: 'danger', anchor: 'middle', isBold: true }),
  ];
}

/** Names and lines of the rows. */
export function drawRows({ rows }: ScaleScene): Child {
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
