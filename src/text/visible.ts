/**
 * Makes text safe to show, measures it and fits it into columns. Names come from users and may hold
 * anything: control characters that steer a terminal, marks that turn the direction of what
 * follows, letters that take two columns, or a thousand letters.
 *
 * The front door of `text`, on which every other door may stand. Beside it: `colour.ts`, styles of
 * a terminal; `prose.ts`, counts, times and lists in a sentence; `markup.ts`, text inside HTML, SVG
 * and Markdown; `problem.ts`, what is wrong in a file, and what was meant; `error-text.ts`, what
 * was thrown.
 */

// C0, DEL, C1, and the Unicode controls of direction and of line ends.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with every control and direction mark replaced by its code point: `‹U+202E›`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (mark) => {
    const code = (mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `‹U+${code}›`;
  });
}

/** Columns that the text takes in a terminal, and, near enough, widths of a digit in a picture. */
export function displayWidth(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length;
  let width = 0;
  for (const [cluster] of text.matchAll(CLUSTER)) width += clusterWidth(cluster);
  return width;
}

const ONE_COLUMN_EACH = /^[ -~]*$/;

/**
 * What a reader takes for one character, near enough to Unicode's annex 29: a flag, or a character
 * with its marks, its skin tone, its tags, the vowel and end of its Hangul syllable, and the emoji
 * joined to it.
 */
const CLUSTER =
  /\p{RI}{2}|.(?:[\p{Mn}\p{Me}\p{EMod}\u1160-\u11ff\u{e0020}-\u{e007f}]|\u200d\p{ExtPict})*/gsu;

/**
 * Wide or fullwidth by the `EastAsianWidth.txt` of Unicode 17, in as few ranges as its unassigned
 * code points allow; its emoji are those that are drawn in colour by themselves.
 */
const WIDE_RANGES = [
  '\\u1100-\\u115f\\u2329\\u232a\\u2630-\\u2637\\u268a-\\u268f\\u2e80-\\u303e\\u3041-\\u3247',
  '\\u3250-\\ua4c6\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe10-\\ufe6b',
  '\\uff01-\\uff60\\uffe0-\\uffe6',
  '\\u{16fe0}-\\u{1b2fb}\\u{1d300}-\\u{1d376}\\u{1f200}-\\u{1f265}\\u{20000}-\\u{3fffd}',
];
const WIDE = new RegExp(`^[${WIDE_RANGES.join('')}\\p{Emoji_Presentation}]`, 'u');

/**
 * A mark alone takes no column, nor does what is not drawn, as a soft hyphen. U+FE0F has a sign
 * drawn as an emoji, which takes two, and U+FE0E has an emoji drawn as a sign, which takes one.
 */
function clusterWidth(cluster: string): number {
  if (/^[\p{Mn}\p{Me}\p{DI}]/u.test(cluster)) return 0;
  if (/^\p{Emoji_Presentation}\ufe0e/u.test(cluster)) return 1;
  return WIDE.test(cluster) || cluster.includes('\ufe0f') ? 2 : 1;
}

/** At most `columns` wide; what does not fit ends in `…`. No character is cut in two. */
export function clip(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let clipped = '';
  let width = 1;
  for (const [cluster] of text.matchAll(CLUSTER)) {
    width += clusterWidth(cluster);
    if (width > columns) break;
    clipped += cluster;
  }
  return `${clipped}…`;
}

/** Exactly `columns` wide. */
export function pad(text: string, columns: number): string {
  const clipped = clip(text, columns);
  return clipped + ' '.repeat(Math.max(0, columns - displayWidth(clipped)));
}

/** How wide each column of a table is, by its widest cell; the first row is its head. */
export function columnWidths([head = [], ...rows]: readonly (readonly string[])[]): number[] {
  return head.map((name, at) =>
    Math.max(...[name, ...rows.map((row) => row[at] ?? '')].map(displayWidth)),
  );
}

/** One row of a table, two spaces between its columns. */
export function tableLine(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((cell, at) => pad(cell, widths[at] ?? 0));
  return cells.join('  ').trimEnd();
}

/** `wrap`, with the first line after `first` and the others after `rest`. */
export function hang(text: string, columns: number, first: string, rest: string): string[] {
  return wrap(text, columns).map((line, at) => `${at === 0 ? first : rest}${line}`);
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

/** A lane of a picture in text. */
export interface Column {
  readonly name: string;
  readonly start: number;
  readonly width: number;
}

/** The rails of the other columns, before and after a text that stands from `start` to `end`. */
export function railsBeside(
  columns: readonly Column[],
  { start, end }: { readonly start: number; readonly end: number },
  rail: (column: Column) => string,
): readonly [string, string] {
  let before = '';
  let after = '';
  for (const column of columns) {
    if (column.start < start) before = `${before.padEnd(column.start)}${rail(column)}`;
    else if (column.start > end) after = `${after.padEnd(column.start - end)}${rail(column)}`;
  }
  return [before.padEnd(start), after];
}
