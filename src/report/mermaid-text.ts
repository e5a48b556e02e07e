/**
 * Makes any text safe inside a Mermaid diagram: what could mean something to Mermaid, to the
 * Markdown around it or to HTML stands as its number, which Mermaid turns back when it draws.
 */
import { visible, wrap } from '../text/visible.ts';

const SAFE = "\\p{L}\\p{N}\\p{M} .,()'/=_+·…→←↻▶✖✕✗✓⊘◷?-";

/** All but letters, digits and harmless marks; `°` and `¶` are parts of Mermaid's own escapes. */
const UNSAFE = new RegExp(`[^${SAFE}]`, 'gu');

/** One line for a name or a text; `#59;` for a semicolon. Never empty. */
export function mermaidText(text: string): string {
  const escaped = visible(text)
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .replace(UNSAFE, numbered);
  return escaped.trim() === '' ? '#160;' : escaped;
}

/** The same, broken into short lines, so that notes stay narrow. */
export function mermaidLines(text: string, columns: number): string {
  return wrap(visible(text), columns).map(mermaidText).join('<br/>');
}

function numbered(character: string): string {
  return `#${character.codePointAt(0) ?? 0};`;
}
