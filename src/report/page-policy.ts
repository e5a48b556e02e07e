/**
 * The page's own content policy: nothing is fetched, and nothing runs or styles it but its one
 * script and its one style sheet, which are named by their digests.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { element, type Markup } from '../text/markup.ts';

/** The policy as a `meta` element, to stand before what it governs. */
export function renderPolicy({
  style,
  script,
}: {
  readonly style: string;
  readonly script: string | null;
}): Markup {
  const content = [
    "default-src 'none'",
    `style-src ${digestOf(style)}`,
    `script-src ${script === null ? "'none'" : digestOf(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return element('meta', { 'http-equiv': 'Content-Security-Policy', content });
}

function digestOf(text: string): string {
  return `'sha256-${btoa(String.fromCharCode(...sha256(utf8ToBytes(text))))}'`;
}

/** A script's text so that nothing in it ends its element; it means what it meant before. */
export function embeddable(script: string): string {
  return script.replace(/<(?=\/script|!--|script)/gi, '\\x3C');
}
