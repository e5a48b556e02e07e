/**
 * Converts thrown values to text. User code may throw anything, such as a symbol or a megabyte of
 * text.
 */

/** Returns the message of an error, or any other thrown value converted to a string. */
export function errorText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'a value that cannot be converted to text';
  }
}

/** Maximum length, in UTF-16 code units, of a text that fencepost itself writes. */
export const MOST_TEXT = 2_000;

/** Truncates text to `MOST_TEXT`, never in the middle of a character. */
export function truncateText(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  return `${text.slice(0, MOST_TEXT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
