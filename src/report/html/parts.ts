/** Renders elements of a page, also for the page's script: cards, figures, keys and tables. */
import { type Attributes, type Child, element, type Markup } from '../../text/markup.ts';
import type { SvgSize } from '../pictures/shapes.ts';

/** Renders a section with a heading and the anchor `id`. */
export function card(id: string, title: string, ...children: Child[]): Markup {
  const attributes = { class: 'card', id, 'aria-labelledby': `${id}-title` };
  const heading = element('h2', { id: `${id}-title` }, title);
  return element('section', attributes, heading, ...children);
}

export function details(summary: string, isOpen: boolean, ...children: Child[]): Markup {
  return element('details', { open: isOpen }, element('summary', {}, summary), ...children);
}

export interface TableParts {
  readonly class?: string;
  readonly caption?: Child;
  /** Column headings, from `column`. */
  readonly head: readonly Markup[];
  readonly rows: Child;
}

export function table({ class: kind, caption, head, rows }: TableParts): Markup {
  return element(
    'table',
    { class: kind ?? null },
    caption === undefined ? [] : element('caption', {}, caption),
    element('thead', {}, element('tr', {}, head)),
    element('tbody', {}, rows),
  );
}

/** Renders the heading of a column. Numbers are aligned right. */
export function column(name: Child, kind: 'number' | null = null): Markup {
  return element('th', { scope: 'col', class: kind }, name);
}

/** Renders a table row with its own heading. */
export function tableRow(head: Child, ...cells: Child[]): Markup {
  return element('tr', {}, element('th', { scope: 'row' }, head), ...cells);
}

/** Renders a region that scrolls horizontally on a narrow screen, also by keyboard. */
export function scrolling(kind: string, name: string, content: Child): Markup {
  const attributes = { class: kind, tabindex: 0, role: 'group', 'aria-label': name };
  return element('div', attributes, content);
}

export interface FigureParts {
  readonly caption: Child;
  /** The accessible name of the frame. */
  readonly name: string;
  readonly picture: Child;
  readonly below?: Child;
  readonly attributes?: Attributes;
}

/** Renders a picture in a scrolling frame, below its caption. */
export function figure({ caption, name, picture, below, attributes }: FigureParts): Markup {
  const frame = scrolling('scroll', name, picture);
  const title = element('figcaption', {}, caption);
  return element('figure', attributes ?? {}, title, frame, below ?? []);
}

/** Renders the key to a picture: the shapes of each sample, and their meaning. */
export function key(size: SvgSize, samples: readonly (readonly [Child, string])[]): Markup {
  const canvas = { ...size, viewBox: `0 0 ${size.width} ${size.height}`, 'aria-hidden': 'true' };
  return list(
    'key',
    samples.map(([shapes, text]) => [element('svg', canvas, shapes), text]),
  );
}

export function list(kind: string, items: readonly Child[], name: 'ul' | 'ol' = 'ul'): Markup {
  return element(
    name,
    { class: kind },
    items.map((item) => element('li', {}, item)),
  );
}

/** Renders a paragraph in a less prominent style. */
export function faint(text: string): Markup {
  return element('p', { class: 'faint' }, text);
}

/** Renders a name that the user chose, which may be written from right to left. */
export function nameMarkup(name: string): Markup {
  return element('bdi', {}, name);
}
