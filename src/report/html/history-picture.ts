/**
 * Draws a part of a history: bars from call to return, the contradiction solid and the rest faint,
 * where each operation takes effect in the order that was found, and the return that fits none; and
 * the key to it. `history-layout.ts` says where all of it stands.
 */
import { type Child, element, type Markup } from '../../text/markup.ts';
import { clip, displayWidth, visible } from '../../text/visible.ts';
import { linesOf, type ReportedOperation } from '../history-report.ts';
import { bar, FONT, horizontal, ink, label, vertical } from '../pictures/shapes.ts';
import {
  BAR_HEIGHT_PX,
  type Bar,
  type HistoryLayout,
  type HistoryLayoutOptions,
  layOutHistory,
  NAME_COLUMNS,
  TOP_PX,
} from './history-layout.ts';

export interface HistoryPictureOptions extends HistoryLayoutOptions {
  /** Begins every id in the picture, so that several fit one page. */
  readonly id: string;
  /** The accessible name. */
  readonly title: string;
  /** Whether the end is what one looks at first. */
  readonly isLate: boolean;
}

const HEAD_PX = 7.4;

/** The names of the lanes, which stay in sight, and beside them the lanes, which scroll. */
export function drawHistory(
  operations: readonly ReportedOperation[],
  options: HistoryPictureOptions,
): Markup {
  const layout = layOutHistory(operations, options);
  return element(
    'div',
    {
      class: `scroll history${options.isLate ? ' late' : ''}`,
      tabindex: 0,
      role: 'group',
      'aria-label': options.title,
    },
    canvas(
      layout.width,
      layout.height,
      { role: 'img', 'aria-label': options.title },
      element('defs', {}, fade(options.id)),
      drawGround(layout),
      drawMarks(layout),
      drawOrder(layout),
      layout.bars.map((one) => drawBar(one, options.id)),
      drawPoints(layout),
      drawBad(layout),
      drawTicks(layout),
    ),
    drawHeads(layout),
  );
}

function canvas(
  width: number,
  height: number,
  attributes: Readonly<Record<string, string>>,
  ...children: Child[]
): Markup {
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  const viewBox = `0 0 ${size.width} ${size.height}`;
  return element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', viewBox, ...size, 'font-family': FONT, ...attributes },
    element('rect', { ...size, ...ink({ fill: 'paper' }) }),
    ...children,
  );
}

function drawHeads({ lanes, height }: HistoryLayout): Markup {
  const names = lanes.map(({ process }) => clip(visible(process), NAME_COLUMNS));
  const width = Math.max(52, ...names.map((name) => displayWidth(name) * HEAD_PX + 24));
  const heads = lanes.map((lane, at) => {
    const at_ = { x: width - 10, y: lane.y + lane.height / 2 };
    const style = { role: lane.role, anchor: 'end', isBold: true, size: 13 } as const;
    return element(
      'g',
      {},
      element('title', {}, lane.process),
      laneLine(lane.y, width),
      label(names[at] ?? '', at_, { ...style, hasHalo: false }),
    );
  });
  const line = { x: width - 10, y: height - 15 };
  const axis = label('line', line, { role: 'soft', anchor: 'end', size: 11, hasHalo: false });
  return canvas(width, height, { 'aria-hidden': 'true', class: 'heads' }, heads, axis);
}

function laneLine(y: number, width: number): Markup {
  return horizontal(y, [0, width], ink({ stroke: 'guide' }));
}

/** Bars that never end fade out, in whatever colour the screen gives them. */
function fade(id: string): Child {
  return [
    element(
      'linearGradient',
      { id: `${id}-fade` },
      element('stop', { offset: '45%', 'stop-color': '#fff' }),
      element('stop', { offset: '100%', 'stop-color': '#fff', 'stop-opacity': '0' }),
    ),
    element(
      'mask',
      { id: `${id}-open`, maskContentUnits: 'objectBoundingBox' },
      element('rect', { width: 1, height: 1, fill: `url(#${id}-fade)` }),
    ),
  ];
}

function drawGround({ lanes, width, ticks, height }: HistoryLayout): Child {
  const rows = lanes.map(({ y }) => laneLine(y, width));
  const dotted = { 'stroke-dasharray': '1 4', ...ink({ stroke: 'line' }) };
  const core = ticks
    .filter(({ isCore }) => isCore)
    .map(({ x }) => vertical(x, [TOP_PX, height - 26], dotted));
  return [rows, laneLine(height - 34, width), core];
}

function drawMarks({ marks, height }: HistoryLayout): Child {
  const dashed = { 'stroke-dasharray': '5 3', ...ink({ stroke: 'caution' }) };
  return marks.map(({ x, text, line }) => {
    const top = { x: x + 4, y: 34 };
    const words = clip(visible(text), 18);
    return element(
      'g',
      {},
      element('title', {}, `fault in line ${line}: ${text}`),
      vertical(x, [28, height - 34], dashed),
      label(`⚡ ${words}`, top, { role: 'caution', size: 10.5 }),
    );
  });
}

const BAD = { ...ink({ fill: 'tint', stroke: 'danger' }), 'stroke-width': 2 };
const FAINT = { ...ink({ fill: 'guide', stroke: 'line' }), 'stroke-width': 1 };
const UNKNOWN = { 'stroke-dasharray': '4 3' };

function drawBar(one: Bar, id: string): Markup {
  const { operation, x, y, width, isOpen, role, text } = one;
  const isCore = operation.role === 'core';
  const isBad = operation.role === 'first bad';
  const solid = { ...ink({ fill: role, stroke: role }), 'stroke-width': 1 };
  const paint = isBad ? BAD : isCore ? solid : FAINT;
  const dashes = operation.isKnown ? {} : UNKNOWN;
  const mask = isOpen ? { mask: `url(#${id}-open)` } : {};
  const words = isBad ? 'danger' : isCore ? 'onClient' : 'ink';
  const style = { role: words, size: 12, isBold: isBad || isCore, hasHalo: false } as const;
  const box = { x, y, width, height: BAR_HEIGHT_PX };
  return element(
    'g',
    {},
    element('title', {}, wordsOf(operation)),
    bar(box, { ...paint, ...dashes, ...mask }, ''),
    label(text, { x: x + 9, y: y + BAR_HEIGHT_PX / 2 - 0.5 }, style),
  );
}

function wordsOf(operation: ReportedOperation): string {
  const { effect, process, text } = operation;
  const state = effect === null || effect.state === '' ? '' : `, then ${effect.state}`;
  const order = effect === null ? '' : `\n${effect.rank}. in the order found${state}`;
  return `${text} by ${process}, ${linesOf(operation)}${order}`;
}

/** Joins the points in their order, below the bars, so that it crosses no words. */
function drawOrder({ points }: HistoryLayout): Markup {
  const path = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const line = { points: path, 'stroke-width': 1.2, 'stroke-linejoin': 'round', opacity: '0.45' };
  return element('polyline', { ...line, ...ink({ stroke: 'ink' }) });
}

const DOT = { r: 3.6, 'stroke-width': 1.6, ...ink({ fill: 'paper', stroke: 'ink' }) };

/** Dots at the lower edge of the bars. */
function drawPoints({ points }: HistoryLayout): Child {
  return points.map(({ x, y, operation }) =>
    element('circle', { cx: x, cy: y, ...DOT }, element('title', {}, wordsOf(operation))),
  );
}

const BAD_LABEL_PX = 206;
/** How far the words may reach beyond the line: what is seen first of a narrow screen. */
const BEYOND_PX = 60;

function drawBad({ badX, bars, width, height }: HistoryLayout): Child {
  const bad = bars.find(({ operation }) => operation.role === 'first bad');
  if (badX === null || bad === undefined) return [];
  const text = 'no order satisfies this return';
  const style = { role: 'danger', size: 12.5, isBold: true } as const;
  const x = Math.max(BAD_LABEL_PX, Math.min(width - 6, badX + BEYOND_PX));
  return [
    vertical(badX, [24, height - 26], { 'stroke-width': 2, ...ink({ stroke: 'danger' }) }),
    label(`✗ ${text}`, { x, y: 14 }, { ...style, anchor: 'end' }),
    label(
      '✗',
      { x: badX - 11, y: bad.y + BAR_HEIGHT_PX / 2 },
      { role: 'danger', size: 15, isBold: true, anchor: 'middle', hasHalo: false },
    ),
  ];
}

/** Line numbers: those of the core always, others where there is room. */
function drawTicks({ ticks, height }: HistoryLayout): Child {
  const taken: { readonly from: number; readonly to: number }[] = [];
  const ranked = [...ticks].sort((left, right) => Number(right.isCore) - Number(left.isCore));
  return ranked.map(({ x, line, isCore }) => {
    const half = String(line).length * 3.4 + 3;
    if (taken.some(({ from, to }) => x - half < to && x + half > from)) return [];
    taken.push({ from: x - half, to: x + half });
    const role = isCore ? 'ink' : 'soft';
    const style = { role, size: 11, isBold: isCore, anchor: 'middle', hasHalo: false } as const;
    return label(String(line), { x, y: height - 15 }, style);
  });
}

/** The key to the picture; `hasCore`: whether there is a contradiction to point out. */
export function renderHistoryKey(hasCore: boolean): Markup {
  const box = { x: 1, y: 2, width: 32, height: 14 };
  const cross = { role: 'danger', size: 13, isBold: true, anchor: 'middle' } as const;
  const dot = { cx: 17, cy: 9, ...DOT };
  const contradiction = [
    sample(
      'part of the contradiction, from call to return',
      bar(box, ink({ fill: 'client0' }), ''),
    ),
    sample(
      'its return fits into no order',
      bar(box, BAD, ''),
      label('✗', { x: 24, y: 9 }, { ...cross, hasHalo: false }),
    ),
  ];
  const any = hasCore ? 'any other operation' : 'an operation, from call to return';
  return element(
    'ul',
    { class: 'key' },
    hasCore ? contradiction : [],
    sample(any, bar(box, FAINT, '')),
    sample('? nobody knows whether it happened', bar(box, { ...FAINT, ...UNKNOWN }, '')),
    sample('where it takes effect, in the order found', element('circle', dot)),
  );
}

function sample(text: string, ...shapes: Markup[]): Markup {
  const size = { width: 40, height: 18, viewBox: '0 0 40 18', 'aria-hidden': 'true' };
  return element('li', {}, element('svg', size, shapes), text);
}
