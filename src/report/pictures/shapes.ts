/**
 * Draws the elements of the pictures: bars, hatches, flags, arrows and text with a halo. Each role
 * has a color for light screens and a color for dark screens. Shapes have the light colors as
 * attributes, which work even if a policy forbids styles. The style sheet selects shapes by these
 * attributes to recolor them, so no two roles may have the same light color.
 */
import { type Attributes, type Child, element, type Markup } from '../../text/markup.ts';

/** `client…` are for clients, `danger` only for breaches, `cursor` only as a background. */
export const PALETTE = {
  page: { light: '#f6f7f9', dark: '#0d1117' },
  paper: { light: '#fff', dark: '#151a21' },
  ink: { light: '#1b1f24', dark: '#e6edf3' },
  soft: { light: '#57606a', dark: '#9fabb8' },
  line: { light: '#d3d9e0', dark: '#37414c' },
  guide: { light: '#eef1f4', dark: '#1e252d' },
  idle: { light: '#dfe3e8', dark: '#323c47' },
  danger: { light: '#bf1722', dark: '#ff8a82' },
  tint: { light: '#fdeaea', dark: '#3b1a1e' },
  good: { light: '#14713a', dark: '#5fd488' },
  caution: { light: '#855500', dark: '#e5b84e' },
  onClient: { light: '#fffffe', dark: '#0d1117' },
  cursor: { light: '#ffe08a', dark: '#4a3b0c' },
  client0: { light: '#0b5cbd', dark: '#74b6ff' },
  client1: { light: '#9a4a00', dark: '#f2a663' },
  client2: { light: '#0c6b64', dark: '#56d3c4' },
  client3: { light: '#7338bd', dark: '#c8a2ff' },
  client4: { light: '#566100', dark: '#bccb53' },
  client5: { light: '#46505c', dark: '#b2bdc9' },
} as const;

export type Role = keyof typeof PALETTE;

const CLIENTS: readonly Role[] = ['client0', 'client1', 'client2', 'client3', 'client4', 'client5'];

/** Returns the color of the client at `index`. Colors repeat after six clients. */
export function clientRole(index: number): Role {
  return CLIENTS[index % CLIENTS.length] ?? 'client5';
}

/** Attributes that fill or stroke a shape in the color of a role. */
export interface Ink extends Readonly<Record<string, string>> {
  readonly fill: string;
  readonly stroke?: string;
}

/** Returns the attributes for these roles. Without `fill`, the fill is `none`. */
export function ink({ fill, stroke }: { readonly fill?: Role; readonly stroke?: Role }): Ink {
  const filled = { fill: fill === undefined ? 'none' : PALETTE[fill].light };
  return stroke === undefined ? filled : { ...filled, stroke: PALETTE[stroke].light };
}

/** Returns style rules that define the palette as custom properties and recolor shapes. */
export function paletteStyle(): string {
  const roles = Object.entries(PALETTE);
  const shades = (shade: 'light' | 'dark'): string =>
    roles.map(([role, colours]) => `--${role}:${colours[shade]}`).join(';');
  const painted = roles
    .map(([role, { light }]) =>
      ['fill', 'stroke'].map((paint) => `[${paint}="${light}"]{${paint}:var(--${role})}`).join(''),
    )
    .join('');
  return [
    `:root{color-scheme:light dark;${shades('light')}}`,
    `@media (prefers-color-scheme:dark){:root{${shades('dark')}}}`,
    `:root[data-theme=light]{color-scheme:light;${shades('light')}}`,
    `:root[data-theme=dark]{color-scheme:dark;${shades('dark')}}`,
    `@media print{:root:root{color-scheme:light;${shades('light')}}}`,
    painted,
  ].join('\n');
}

export const FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

export interface SvgSize {
  readonly width: number;
  readonly height: number;
}

const TEXT = { 'font-size': 12, 'stroke-linejoin': 'round' };

/** Draws a picture with a background and its definitions. */
export function svgDocument(
  size: SvgSize,
  attributes: Attributes,
  defined: Child,
  ...children: Child[]
): Markup {
  const viewBox = `0 0 ${size.width} ${size.height}`;
  const ground = element('rect', { ...size, ...ink({ fill: 'paper' }) });
  const all = { xmlns: 'http://www.w3.org/2000/svg', viewBox, ...size, ...TEXT, ...attributes };
  return element('svg', all, defined, ground, ...children);
}

/** Returns attributes that give a picture an accessible name. */
export function named(title: string, kind: string): Attributes {
  return { role: 'img', 'aria-label': title, 'font-family': FONT, class: kind };
}

/** Returns a hatched paint for a client's belief; `danger` is for the part that is wrong. */
export function hatched(id: string, role: Role): Paint {
  const width = role === 'danger' ? 1.6 : 1.4;
  return { ...ink({ stroke: role }), fill: `url(#${id}-${role})`, 'stroke-width': width };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point, SvgSize {}

type Paint = Readonly<Record<string, string | number | null>>;

export function vertical(x: number, [y1, y2]: readonly [number, number], paint: Paint): Markup {
  return straight({ x1: x, x2: x, y1, y2, ...paint });
}

export function horizontal(y: number, [x1, x2]: readonly [number, number], paint: Paint): Markup {
  return straight({ x1, x2, y1: y, y2: y, ...paint });
}

/** Draws a line. Ignores `fill`, since a line has no area. */
function straight({ fill: _, ...paint }: Paint): Markup {
  return element('line', paint);
}

export interface TextStyle {
  readonly role: Role;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly isBold?: boolean;
  /** A halo in the background color keeps text readable where it crosses a line. */
  readonly hasHalo?: boolean;
  readonly ground?: Role;
}

/** Draws one line of text, vertically centered at `at.y`. */
export function label(text: string, at: Point, style: TextStyle): Markup {
  const { role, anchor = 'start', size = 12, isBold = false } = style;
  const { hasHalo = true, ground = 'paper' } = style;
  return element(
    'text',
    {
      x: at.x,
      y: at.y + size * 0.35,
      'font-size': size === TEXT['font-size'] ? null : size,
      'text-anchor': anchor === 'start' ? null : anchor,
      'font-weight': isBold ? 600 : null,
      ...(hasHalo ? { ...ink({ fill: role, stroke: ground }), ...HALO } : ink({ fill: role })),
    },
    text,
  );
}

const HALO = { 'stroke-width': 5, 'paint-order': 'stroke' };

/** Draws a rectangle with rounded corners. `title` is its tooltip. */
export function bar(box: Box, paint: Paint, title: string): Markup {
  const size = { width: Math.max(1, box.width), height: Math.max(1, box.height), rx: 3 };
  const titleElement = title === '' ? [] : element('title', {}, title);
  return element('rect', { ...box, ...size, ...paint }, titleElement);
}

/** Draws a hidden marker, which a script moves to the current step. */
export function cursor(box: Box): Markup {
  return element('rect', {
    ...box,
    ...ink({ fill: 'cursor' }),
    visibility: 'hidden',
    'data-cursor': '',
  });
}

/** Defines a pattern of slanted lines in the color of a role, for `url(#id)`. */
export function hatch(id: string, role: Role, isDense: boolean): Markup {
  const size = isDense ? 5 : 7;
  const tile = { width: size, height: size };
  const patternTransform = isDense ? 'rotate(-45)' : 'rotate(45)';
  return element(
    'pattern',
    { id, ...tile, patternUnits: 'userSpaceOnUse', patternTransform },
    element('rect', { ...tile, ...ink({ fill: isDense ? 'tint' : 'paper' }) }),
    straight({ y2: size, 'stroke-width': isDense ? 4 : 3, ...ink({ stroke: role }) }),
  );
}

/** Defines a hatch for the role of each lane, `<id>-<role>`, and a dense hatch, `<id>-danger`. */
export function hatches(id: string, lanes: Iterable<{ readonly role: Role }>): Markup {
  const roles = new Set([...lanes].map(({ role }) => role));
  const patterns = [...roles].map((role) => hatch(`${id}-${role}`, role, false));
  return element('defs', {}, patterns, hatch(`${id}-danger`, 'danger', true));
}

export interface ArrowStyle {
  readonly role: Role;
  readonly isDashed?: boolean;
  readonly isThin?: boolean;
  readonly hasHead?: boolean;
}

/** Draws a straight arrow with its head at `to`. `title` is its tooltip. */
export function arrow(from: Point, to: Point, style: ArrowStyle, title: Child = []): Markup {
  const { role, isDashed = false, isThin = false, hasHead = true } = style;
  const paint = {
    'stroke-width': isThin ? null : 1.6,
    'stroke-dasharray': isDashed ? '4 3' : null,
    ...ink(hasHead ? { fill: role, stroke: role } : { stroke: role }),
  };
  const shaft = `M${pair(from)}L${pair(to)}`;
  return element('path', { d: hasHead ? shaft + arrowHead(from, to) : shaft, ...paint }, title);
}

function pair({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
}

/** Returns a triangle with its tip at `to`, as a part of a path. */
function arrowHead(from: Point, to: Point): string {
  const length = Math.max(1, Math.hypot(to.x - from.x, to.y - from.y));
  const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const corner = (side: 1 | -1): Point => ({
    x: to.x - along.x * 8 - side * along.y * 3.5,
    y: to.y - along.y * 8 + side * along.x * 3.5,
  });
  return `L${pair(corner(1))}L${pair(corner(-1))}L${pair(to)}`;
}

export interface FlagStyle {
  /** The text on the flag; for a write, from `flagText`. */
  readonly text: string;
  readonly role: Role;
  /** The flag of a refused write is hollow. */
  readonly isAccepted: boolean;
}

/** Draws a flag with a text. The middle of its left edge is at the given point. */
export function flag({ x, y }: Point, { text, role, isAccepted }: FlagStyle): Markup {
  const width = flagWidth(text);
  const right = x + width;
  const points = `${x},${y - 9} ${right},${y - 9} ${right - 4},${y} ${right},${y + 9} ${x},${y + 9}`;
  const paper = ink({ fill: isAccepted ? role : 'paper', stroke: role });
  const style = { size: 12, isBold: true, hasHalo: false, anchor: 'middle' } as const;
  const onIt = { ...style, role: isAccepted ? 'onClient' : role } as const;
  return element(
    'g',
    {},
    element('polygon', { points, 'stroke-width': 1.4, ...paper }),
    label(text, { x: x + width / 2 - 2, y }, onIt),
  );
}

export function flagWidth(text: string): number {
  return Math.max(18, text.length * 7.5 + 10);
}

export interface FlightStyle extends ArrowStyle {
  /** The end of the arrow if the message is lost, or in transit at the end of the picture. */
  readonly tip: Point;
  readonly crossSize: number;
  /** The offset of a copy from its original. */
  readonly beside: Point;
  /** The tooltip of a message that arrives; '' for none. */
  readonly title: string;
}

/** Draws a message as an arrow. A lost message ends at a cross, and a duplicate has two arrows. */
export function drawMessage(
  { isLost, isCopy, isUnderWay }: Readonly<Record<'isLost' | 'isCopy' | 'isUnderWay', boolean>>,
  [start, stop]: readonly [Point, Point],
  { tip, crossSize, beside, title, ...style }: FlightStyle,
): Child {
  const headless = { ...style, hasHead: false };
  if (isUnderWay) return arrow(start, tip, { ...headless, isDashed: true });
  const cross = { role: 'danger', anchor: 'middle', size: crossSize, isBold: true } as const;
  if (isLost) return [arrow(start, tip, headless), label('✕', tip, cross)];
  const shown = arrow(start, stop, style, title === '' ? [] : element('title', {}, title));
  if (!isCopy) return shown;
  const moved = ({ x, y }: Point): Point => ({ x: x + beside.x, y: y + beside.y });
  return [shown, arrow(moved(start), moved(stop), headless)];
}
