/**
 * Draws, at a glance, the order that the checker of `linearizable` found: a numbered dot where each
 * operation takes effect, and the first return that no order satisfies.
 */

import { type Child, element } from '../text/markup.ts';
import type { Linearization } from './linearization.ts';
import { ink } from './palette.ts';
import { type ScaleScene, xAt } from './picture-scale-scene.ts';
import { label } from './picture-shapes.ts';

const DOT_PX = 8;

/** Dots at the rows of the clients, and a cross at the return that does not fit. */
export function drawPoints(scene: ScaleScene, linearization: Linearization | null): Child {
  if (linearization === null) return [];
  const taken = new Map<string, number>();
  const dots = linearization.points.map(({ process, operation, rank, event }) => {
    const row = scene.rows.get(process);
    const atUs = scene.trace.events[event]?.atUs;
    if (row === undefined || atUs === undefined || !scene.isDrawn(event)) return [];
    const place = `${process} ${atUs}`;
    const before = taken.get(place) ?? 0;
    taken.set(place, before + 1);
    const at = { x: xAt(scene, atUs) + before * (2 * DOT_PX + 2), y: row.y };
    const style = { anchor: 'middle', size: 11, isBold: true, hasHalo: false } as const;
    return element(
      'g',
      {},
      element('title', {}, `${operation} takes effect here, as number ${rank} of the order found`),
      element('circle', {
        ...{ cx: at.x, cy: at.y, r: DOT_PX, 'stroke-width': 1.5 },
        ...ink({ fill: 'paper', stroke: 'ink' }),
      }),
      label(String(rank), at, { ...style, role: 'ink' }),
    );
  });
  return [dots, drawBad(scene, linearization)];
}

function drawBad(scene: ScaleScene, { bad }: Linearization): Child {
  const row = scene.rows.get(bad?.process ?? '');
  const event = scene.trace.events[bad?.event ?? -1];
  if (row === undefined || event === undefined) return [];
  const x = xAt(scene, event.atUs);
  const style = { role: 'danger', isBold: true } as const;
  return [
    label('✗', { x, y: row.y }, { ...style, anchor: 'middle', size: 17 }),
    label('no order gives this answer', { x: x + 8, y: row.y - 18 }, { ...style, anchor: 'end' }),
  ];
}
