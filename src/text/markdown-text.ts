/** Makes any text safe inside GitHub's Markdown: what could be markup is shown as it is. */
import { visible } from './visible.ts';

/** One line of plain text, also for a cell of a table. */
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
