/** How long a text may be that is kept of a seed: a system under test may throw a megabyte. */

/** So many UTF-16 units; what is longer is none that fencepost wrote. */
export const MOST_TEXT = 2_000;

/** A text that may be kept: cut where it is too long, and never in the middle of a character. */
export function cutText(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  return `${text.slice(0, MOST_TEXT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
