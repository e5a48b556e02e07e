/** Texts of thrown values: users' code may throw anything, a symbol or a megabyte of text. */

/** The message of an error, else the value as text. */
export function errorText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'something that cannot be told as text';
  }
}

/** So many UTF-16 units; what is longer is none that fencepost wrote. */
export const MOST_TEXT = 2_000;

/** A text that may be kept: cut where it is too long, and never in the middle of a character. */
export function cutText(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  return `${text.slice(0, MOST_TEXT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
