/**
 * Keeps text from being read as markup. In HTML, SVG and XML, a string is always text and is
 * escaped; only the result of `element` is markup. In GitHub's Markdown, text is escaped too.
 */
import { visible } from './visible.ts';

export interface Markup {
  readonly markup: string;
}

export type Child = Markup | string | readonly Child[];

/** Attributes by name. Null and false omit the attribute; true renders it without a value. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

const VOID = new Set(['meta', 'br', 'hr', 'input', 'col']);
/** SVG shapes. Without children, they are rendered as self-closing tags. */
const SHAPES = new Set(['line', 'rect', 'circle', 'polygon', 'polyline', 'path']);

/** Returns `<name attributes>children</name>`. Names never come from users. */
export function element(name: string, attributes: Attributes, ...children: Child[]): Markup {
  const open = `<${name}${attributeText(attributes)}`;
  if (VOID.has(name)) return { markup: `${open}>` };
  const inside = render(children);
  if (inside === '' && SHAPES.has(name)) return { markup: `${open}/>` };
  return { markup: `${open}>${inside}</${name}>` };
}

/** Marks text of fencepost itself, such as a style sheet, as markup. Never pass user text. */
export function trusted(markup: string): Markup {
  return { markup };
}

/** Renders children in order, and escapes their text. */
export function render(child: Child): string {
  if (typeof child === 'string') return escapeText(visible(child));
  if ('markup' in child) return child.markup;
  return child.map(render).join('');
}

/** Renders a sentence. Names in backticks, such as `db`, become code elements. */
export function sentenceMarkup(text: string): Child {
  return text.split('`').map((part, at) => {
    const isName = at % 2 === 1 && at < text.split('`').length - 1;
    if (isName) return element('code', {}, element('bdi', {}, part));
    return at % 2 === 1 ? `\`${part}` : part;
  });
}

/** Renders text for `<pre>`: keeps line ends, and otherwise works like `render`. */
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

/** Returns text as one line of escaped Markdown, which may also be a table cell. */
export function markdownText(text: string): string {
  return visible(text)
    .trim()
    .replace(/[\\`*_{}[\]()#+\-.!|<>~&:@$=^]/g, '\\$&');
}

/** Returns a sentence as escaped Markdown. Names in backticks become code spans. */
export function markdownSentence(text: string): string {
  const parts = text.split('`');
  return parts
    .map((part, at) => {
      if (at % 2 === 0) return spaced(part);
      return at < parts.length - 1 ? codeSpan(part) : `\\\`${spaced(part)}`;
    })
    .join('');
}

/** Escapes text, but keeps a space at either end. */
function spaced(part: string): string {
  const before = part.startsWith(' ') ? ' ' : '';
  const after = part.trim() !== '' && part.endsWith(' ') ? ' ' : '';
  return `${before}${markdownText(part)}${after}`;
}

/** Returns text as a code span. Do not use it in table cells: a `|` inside would end the cell. */
export function codeSpan(text: string): string {
  const shown = visible(text);
  if (shown.trim() === '') return '';
  const fence = '`'.repeat(longestRun(shown) + 1);
  const space = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${fence}${space}${shown}${space}${fence}`;
}

/** Returns text as a fenced code block. `language` never comes from users. */
export function codeBlock(language: string, text: string): string {
  const shown = text.split('\n').map(visible).join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}${language}\n${shown}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
