/** The shapes that both pictures are made of: bars, hatches, flags, arrows and text with a halo. */
import { element, type Markup } from '../text/markup.ts';
import { ink, type Role } from './palette.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface TextStyle {
  readonly role: Role;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly isBold?: boolean;
  /** A halo in the colour of the ground keeps text readable where it crosses a line. */
  readonly hasHalo?: boolean;
  readonly ground?: Role;
}

/** One line of text whose middle is at `at.y`. */
export function label(text: string, at: Point, style: TextStyle): Markup {
  const { role, anchor = 'start', size = 12, isBold = false } = style;
  const { hasHalo = true, ground = 'paper' } = style;
  const halo = hasHalo
    ? { 'stroke-width': 5, 'stroke-linejoin': 'round', 'paint-order': 'stroke' }
    : {};
  const attributes = {
    x: at.x,
    y: at.y + size * 0.35,
    'font-size': size,
    'text-anchor': anchor,
    'font-weight': isBold ? 600 : null,
    ...(hasHalo ? ink({ fill: role, stroke: ground }) : ink({ fill: role })),
    ...halo,
  };
  return element('text', attributes, text);
}

/** A rectangle with rounded corners; `title` is what a pointer shows. */
export function bar(
  box: Box,
  attributes: Readonly<Record<string, string | number>>,
  title: string,
): Markup {
  return element(
    'rect',
    {
      ...box,
      width: Math.max(1, box.width),
      height: Math.max(1, box.height),
      rx: 3,
      ...attributes,
    },
    title === '' ? [] : element('title', {}, title),
  );
}

/** Where a script shows which step one looks at; unseen until then. */
export function cursor(box: Box): Markup {
  return element('rect', {
    ...box,
    ...ink({ fill: 'cursor' }),
    visibility: 'hidden',
    'data-cursor': '',
  });
}

/** Slanted lines in a role's colour, to fill with: `url(#id)`. */
export function hatch(id: string, role: Role, isDense: boolean): Markup {
  const size = isDense ? 5 : 7;
  return element(
    'pattern',
    {
      id,
      width: size,
      height: size,
      patternUnits: 'userSpaceOnUse',
      patternTransform: isDense ? 'rotate(-45)' : 'rotate(45)',
    },
    element('rect', { width: size, height: size, ...ink({ fill: isDense ? 'tint' : 'paper' }) }),
    element('line', { y2: size, 'stroke-width': isDense ? 4 : 3, ...ink({ stroke: role }) }),
  );
}

export interface ArrowStyle {
  readonly role: Role;
  readonly isDashed?: boolean;
  readonly isThin?: boolean;
  readonly hasHead?: boolean;
}

/** A straight arrow with its head at `to`. */
export function arrow(from: Point, to: Point, style: ArrowStyle): Markup {
  const { role, isDashed = false, isThin = false, hasHead = true } = style;
  const line = element('line', {
    x1: from.x,
    y1: from.y,
    x2: to.x,
    y2: to.y,
    'stroke-width': isThin ? 1 : 1.6,
    'stroke-dasharray': isDashed ? '4 3' : null,
    ...ink({ stroke: role }),
  });
  return hasHead ? element('g', {}, line, arrowHead(from, to, style)) : line;
}

function arrowHead(from: Point, to: Point, { role }: ArrowStyle): Markup {
  const length = Math.max(1, Math.hypot(to.x - from.x, to.y - from.y));
  const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const corner = (side: 1 | -1): string => {
    const x = to.x - along.x * 8 - side * along.y * 3.5;
    const y = to.y - along.y * 8 + side * along.x * 3.5;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  };
  const points = `${to.x.toFixed(1)},${to.y.toFixed(1)} ${corner(1)} ${corner(-1)}`;
  return element('polygon', { points, ...ink({ fill: role }) });
}

export interface FlagStyle {
  /** What stands on it: `flagText` says it of a write. */
  readonly text: string;
  readonly role: Role;
  /** A refused write's flag is hollow. */
  readonly isAccepted: boolean;
}

/** A pole with its foot at `at` and a numbered flag that flies to the right. */
export function flag(at: Point, { text, role, isAccepted }: FlagStyle): Markup {
  const width = Math.max(18, text.length * 7.5 + 10);
  const right = at.x + width;
  const points = `${at.x},${at.y - 9} ${right},${at.y - 9} ${right - 4},${at.y} ${right},${at.y + 9} ${at.x},${at.y + 9}`;
  const paper = isAccepted
    ? ink({ fill: role, stroke: role })
    : ink({ fill: 'paper', stroke: role });
  const style = { size: 12, isBold: true, hasHalo: false, anchor: 'middle' } as const;
  return element(
    'g',
    {},
    element('polygon', { points, 'stroke-width': 1.4, ...paper }),
    label(
      text,
      { x: at.x + width / 2 - 2, y: at.y },
      { ...style, role: isAccepted ? 'onClient' : role },
    ),
  );
}

/** How wide `flag` draws it. */
export function flagWidth(text: string): number {
  return Math.max(18, text.length * 7.5 + 10);
}
