/**
 * Makes text safe to show. Names come from users and may hold anything: control characters that
 * steer a terminal, marks that turn the direction of what follows, or a thousand letters.
 */

// C0, DEL, C1, and the Unicode controls of direction and of line ends.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u;

/** The text with every control and direction mark replaced by its code point: `‹U+202E›`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (mark) => {
    const code = (mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `‹U+${code}›`;
  });
}

/** Columns that the text takes in a terminal, and, near enough, widths of a digit in a picture. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** At most `columns` wide; what does not fit ends in `…`. */
export function clip(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let clipped = '';
  let width = 1;
  for (const character of text) {
    width += displayWidth(character);
    if (width > columns) break;
    clipped += character;
  }
  return `${clipped}…`;
}

/** Exactly `columns` wide. */
export function pad(text: string, columns: number): string {
  const clipped = clip(text, columns);
  return clipped + ' '.repeat(Math.max(0, columns - displayWidth(clipped)));
}

/** Lines of at most `columns`, broken between words; a word that does not fit is clipped. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= columns) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = clip(word, columns);
  }
  lines.push(line);
  return lines;
}
