/**
 * Keeps text from becoming markup. In HTML, SVG and XML a string is always text and is escaped;
 * only what `element` returns is markup. In GitHub's Markdown what could be markup is escaped too.
 */
import { visible } from './visible.ts';

export interface Markup {
  readonly markup: string;
}

export type Child = Markup | string | readonly Child[];

/** Attributes by name; one that is null or false is left out, one that is true stands alone. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

const VOID = new Set(['meta', 'br', 'hr', 'input', 'col']);
/** Shapes of SVG, which may close themselves where nothing is in them. */
const SHAPES = new Set(['line', 'rect', 'circle', 'polygon', 'polyline', 'path']);

/** `<name attributes>children</name>`. Names of elements and attributes are never a user's. */
export function element(name: string, attributes: Attributes, ...children: Child[]): Markup {
  const open = `<${name}${attributeText(attributes)}`;
  if (VOID.has(name)) return { markup: `${open}>` };
  const inside = render(children);
  if (inside === '' && SHAPES.has(name)) return { markup: `${open}/>` };
  return { markup: `${open}>${inside}</${name}>` };
}

/** Markup that this project wrote itself, such as a style sheet. Never for a user's text. */
export function trusted(markup: string): Markup {
  return { markup };
}

/** The markup of some children, one after the other. */
export function render(child: Child): string {
  if (typeof child === 'string') return escapeText(visible(child));
  if ('markup' in child) return child.markup;
  return child.map(render).join('');
}

/** A sentence in which names stand between backticks: `db`. */
export function sentenceMarkup(text: string): Child {
  return text.split('`').map((part, at) => {
    const isName = at % 2 === 1 && at < text.split('`').length - 1;
    if (isName) return element('code', {}, element('bdi', {}, part));
    return at % 2 === 1 ? `\`${part}` : part;
  });
}

/** Text that keeps its line ends, for `<pre>`; all else as in `render`. */
export function lines(text: string): Markup {
  return trusted(text.split('\n').map(render).join('\n'));
}

function attributeText(attributes: Attributes): string {
  let text = '';
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    text += value === true ? ` ${name}` : ` ${name}="${attributeValue(value)}"`;
  }
  return text;
}

function attributeValue(value: string | number): string {
  if (typeof value === 'string') return escapeText(visible(value));
  return String(Math.round(value * 10) / 10);
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? character);
}

/** One line of plain text in Markdown, also for a cell of a table. */
export function markdownText(text: string): string {
  return visible(text)
    .trim()
    .replace(/[\\`*_{}[\]()#+\-.!|<>~&:@$=^]/g, '\\$&');
}

/** A sentence in which names stand between backticks, as the explanations have them. */
export function markdownSentence(text: string): string {
  const parts = text.split('`');
  return parts
    .map((part, at) => {
      if (at % 2 === 0) return spaced(part);
      return at < parts.length - 1 ? codeSpan(part) : `\\\`${spaced(part)}`;
    })
    .join('');
}

/** Keeps the spaces between a text and the code beside it. */
function spaced(part: string): string {
  const before = part.startsWith(' ') ? ' ' : '';
  const after = part.trim() !== '' && part.endsWith(' ') ? ' ' : '';
  return `${before}${markdownText(part)}${after}`;
}

/** A name or a path as code; not for cells of tables, in which `|` would end it. */
export function codeSpan(text: string): string {
  const shown = visible(text);
  if (shown.trim() === '') return '';
  const fence = '`'.repeat(longestRun(shown) + 1);
  const space = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${fence}${space}${shown}${space}${fence}`;
}

/** A block of code; `language` is ours. */
export function codeBlock(language: string, text: string): string {
  const shown = text.split('\n').map(visible).join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}${language}\n${shown}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
