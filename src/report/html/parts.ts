/** What stands in a page: cards, figures, keys and tables, in its words and in its script's. */
import { type Attributes, type Child, element, type Markup } from '../../text/markup.ts';
import type { SheetSize } from '../pictures/shapes.ts';

/** A part of a page with its heading; its anchor is `id`. */
export function card(id: string, title: string, ...children: Child[]): Markup {
  const attributes = { class: 'card', id, 'aria-labelledby': `${id}-title` };
  const heading = element('h2', { id: `${id}-title` }, title);
  return element('section', attributes, heading, ...children);
}

/** A part that opens and closes. */
export function details(summary: string, isOpen: boolean, ...children: Child[]): Markup {
  return element('details', { open: isOpen }, element('summary', {}, summary), ...children);
}

export interface TableParts {
  readonly class?: string;
  readonly caption?: Child;
  /** Made by `column`. */
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

/** The head of a column; numbers stand at its right. */
export function column(name: Child, kind: 'number' | null = null): Markup {
  return element('th', { scope: 'col', class: kind }, name);
}

/** A row of a table with its own head. */
export function tableRow(head: Child, ...cells: Child[]): Markup {
  return element('tr', {}, element('th', { scope: 'row' }, head), ...cells);
}

/** A region that scrolls sideways on a narrow screen, by the keyboard as well. */
export function scrolling(kind: string, name: string, content: Child): Markup {
  const attributes = { class: kind, tabindex: 0, role: 'group', 'aria-label': name };
  return element('div', attributes, content);
}

export interface FigureParts {
  readonly caption: Child;
  /** The accessible name of its frame. */
  readonly name: string;
  readonly picture: Child;
  readonly below?: Child;
  readonly attributes?: Attributes;
}

/** A picture in a frame that scrolls, below its caption. */
export function figure({ caption, name, picture, below, attributes }: FigureParts): Markup {
  const frame = scrolling('scroll', name, picture);
  const title = element('figcaption', {}, caption);
  return element('figure', attributes ?? {}, title, frame, below ?? []);
}

/** The key to a picture: for each sample its shapes, and what they mean. */
export function key(size: SheetSize, samples: readonly (readonly [Child, string])[]): Markup {
  const canvas = { ...size, viewBox: `0 0 ${size.width} ${size.height}`, 'aria-hidden': 'true' };
  return list(
    'key',
    samples.map(([shapes, text]) => [element('svg', canvas, shapes), text]),
  );
}

/** A list, with an item for each of `items`. */
export function list(kind: string, items: readonly Child[], name: 'ul' | 'ol' = 'ul'): Markup {
  return element(
    name,
    { class: kind },
    items.map((item) => element('li', {}, item)),
  );
}

/** A paragraph that says less than what stands around it. */
export function faint(text: string): Markup {
  return element('p', { class: 'faint' }, text);
}

/** A user's name, which may run from right to left. */
export function nameMarkup(name: string): Markup {
  return element('bdi', {}, name);
}
