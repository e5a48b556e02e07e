/**
 * Decides where everything stands in the picture at a glance: time to the right, true to scale, and
 * a row a process.
 */
import type { Trace } from '../core/history/trace.ts';
import type { Fault } from '../core/plan/fault.ts';
import type { Role } from './palette.ts';
import { type Lane, type LayoutOptions, layOut } from './picture-layout.ts';
import type { BeliefSpan, Span } from './spans.ts';

export const WIDTH = 1140;
export const LEFT = 150;
export const RIGHT = 1100;
export const TOP = 64;
export const BAR_PX = 18;
const ROW_PX = 70;
const ROW_WITH_CLOCK_PX = 84;

export interface Row {
  readonly lane: Lane;
  readonly y: number;
}

/** A trace in its place; `id` begins the ids of the hatches. */
export interface ScaleScene {
  readonly trace: Trace;
  readonly faults: readonly Fault[];
  readonly rows: ReadonlyMap<string, Row>;
  readonly fromUs: number;
  readonly untilUs: number;
  readonly height: number;
  readonly id: string;
  readonly isDrawn: (event: number) => boolean;
}

export interface ScaleSceneOptions extends LayoutOptions {
  readonly id: string;
  /** Ends later than its own events do, so that two pictures have one scale. */
  readonly untilUs?: number;
}

/** The scene of the part of the trace that tells the story. */
export function scaleScene(trace: Trace, options: ScaleSceneOptions): ScaleScene {
  const layout = layOut(trace, options);
  const lanes = [...layout.lanes.values()];
  const isSkewed = trace.events.some((event) => event.kind === 'fault' && event.fault === 'clock');
  const rowPx = isSkewed ? ROW_WITH_CLOCK_PX : ROW_PX;
  const rows = lanes.map(
    (lane, at) => [lane.process.name, { lane, y: TOP + rowPx - 24 + at * rowPx }] as const,
  );
  const fromUs = layout.items[0]?.step.atUs ?? 0;
  const lastUs = Math.max(layout.items.at(-1)?.step.atUs ?? 0, options.untilUs ?? 0);
  return {
    trace,
    faults: options.faults,
    rows: new Map(rows),
    fromUs,
    untilUs: Math.max(fromUs + 1, lastUs),
    height: TOP + 14 + lanes.length * rowPx,
    id: options.id,
    isDrawn: (event) => layout.yOf.has(event),
  };
}

/** Where an instant stands; those outside of the picture stand at its edge. */
export function xAt(
  { fromUs, untilUs }: Pick<ScaleScene, 'fromUs' | 'untilUs'>,
  atUs: number,
): number {
  const share = (atUs - fromUs) / (untilUs - fromUs);
  return LEFT + Math.max(0, Math.min(1, share)) * (RIGHT - LEFT);
}

/** From its start to its end, inside the picture. */
export function extentOf(
  span: Span,
  scene: ScaleScene,
): { readonly x: number; readonly width: number } {
  const x = xAt(scene, span.fromUs);
  return { x, width: xAt(scene, span.untilUs ?? scene.untilUs) - x };
}

export function isInside(span: Span, { fromUs, untilUs }: ScaleScene): boolean {
  return span.fromUs <= untilUs && (span.untilUs === null || span.untilUs >= fromUs);
}

/** Whether a holder's own clock ends its lease inside the picture, and before it leaves. */
export function hasOwnEnd(span: BeliefSpan, { rows, fromUs, untilUs }: ScaleScene): boolean {
  const { believedUntilUs } = span;
  const isOut = believedUntilUs <= fromUs || believedUntilUs >= untilUs;
  const isAfter = span.untilUs !== null && believedUntilUs > span.untilUs;
  return rows.has(span.process) && !isOut && !isAfter;
}

/** The colour of a process; `soft` for servers and for those that have no row. */
export function roleIn({ rows }: ScaleScene, process: string): Role {
  return rows.get(process)?.lane.role ?? 'soft';
}
