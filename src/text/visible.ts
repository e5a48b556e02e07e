/**
 * Makes text safe to print, measures it, and fits it into columns. Names come from users and may
 * contain control characters, marks that change the text direction, wide characters, or a thousand
 * letters.
 *
 * The entry file of the `text` layer, which all other layers may import. Other files: `colour.ts`,
 * terminal styles; `prose.ts`, counts, times and lists in sentences; `markup.ts`, text inside HTML,
 * SVG and Markdown; `problem.ts`, problems in users' files; `error-text.ts`, thrown values;
 * `output-lines.ts`, printed lines.
 */

// C0, DEL, C1, and the Unicode controls for direction and line ends.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Replaces every control character and direction mark with its code point: `‹U+202E›`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (mark) => {
    const code = (mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `‹U+${code}›`;
  });
}

/**
 * Returns the width of text in terminal columns. In a picture, one column is about as wide as a
 * digit.
 */
export function displayWidth(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length;
  let width = 0;
  for (const [cluster] of text.matchAll(CLUSTER)) width += clusterWidth(cluster);
  return width;
}

const ONE_COLUMN_EACH = /^[ -~]*$/;

/**
 * One visible character, an approximation of Unicode Annex 29: a flag, or a character with its
 * combining marks, skin tone, tags, Hangul vowel and final consonant, and joined emoji.
 */
const CLUSTER =
  /\p{RI}{2}|.(?:[\p{Mn}\p{Me}\p{EMod}\u1160-\u11ff\u{e0020}-\u{e007f}]|\u200d\p{ExtPict})*/gsu;

/**
 * Wide and fullwidth characters of Unicode 17's `EastAsianWidth.txt`. Ranges are merged if only
 * unassigned code points separate them. `WIDE` adds the emoji that are drawn in color by default.
 */
const WIDE_RANGES = [
  '\\u1100-\\u115f\\u2329\\u232a\\u2630-\\u2637\\u268a-\\u268f\\u2e80-\\u303e\\u3041-\\u3247',
  '\\u3250-\\ua4c6\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe10-\\ufe6b',
  '\\uff01-\\uff60\\uffe0-\\uffe6',
  '\\u{16fe0}-\\u{1b2fb}\\u{1d300}-\\u{1d376}\\u{1f200}-\\u{1f265}\\u{20000}-\\u{3fffd}',
];
const WIDE = new RegExp(`^[${WIDE_RANGES.join('')}\\p{Emoji_Presentation}]`, 'u');

/**
 * A lone combining mark takes no column, nor does an undrawn character such as a soft hyphen.
 * U+FE0F selects the emoji form, two columns wide; U+FE0E selects the text form, one column wide.
 */
function clusterWidth(cluster: string): number {
  if (/^[\p{Mn}\p{Me}\p{DI}]/u.test(cluster)) return 0;
  if (/^\p{Emoji_Presentation}\ufe0e/u.test(cluster)) return 1;
  return WIDE.test(cluster) || cluster.includes('\ufe0f') ? 2 : 1;
}

/** Truncates text to `columns`, ending in `…`. Never splits a character. */
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

/** Pads or truncates text to exactly `columns`. */
export function pad(text: string, columns: number): string {
  const clipped = clip(text, columns);
  return clipped + ' '.repeat(Math.max(0, columns - displayWidth(clipped)));
}

/** Returns the width of the widest cell in each column. The first row is the header. */
export function columnWidths([head = [], ...rows]: readonly (readonly string[])[]): number[] {
  return head.map((name, at) =>
    Math.max(...[name, ...rows.map((row) => row[at] ?? '')].map(displayWidth)),
  );
}

/** Returns one table row, with two spaces between columns. */
export function tableLine(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((cell, at) => pad(cell, widths[at] ?? 0));
  return cells.join('  ').trimEnd();
}

/** Wraps text, and prefixes the first line with `first` and the others with `rest`. */
export function hang(text: string, columns: number, first: string, rest: string): string[] {
  return wrap(text, columns).map((line, at) => `${at === 0 ? first : rest}${line}`);
}

/** Wraps text between words to at most `columns`; a word that does not fit is truncated. */
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

/** A lane of a text diagram. */
export interface Column {
  readonly name: string;
  readonly start: number;
  readonly width: number;
}

/** Returns the rails before `start` and those after `end`. */
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
