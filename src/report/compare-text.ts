/** A comparison in the terminal: a block for each condition, then what became of the folklore. */
import type { Cell } from '../search/compare/comparison.ts';
import type { Ruling } from '../search/compare/folklore.ts';
import { type Paint, paintFor } from '../text/colour.ts';
import { displayWidth, pad, visible, wrap } from '../text/visible.ts';
import {
  type Comparison,
  conditionsOf,
  conditionTitle,
  estimateText,
  findingText,
  MEASURES,
  type Measure,
  methodNotes,
  SIGNS,
} from './compare-rows.ts';

export interface CompareTextOptions {
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
}

/** The comparison as lines joined by `\n`, without a final one. */
export function renderComparison(comparison: Comparison, options: CompareTextOptions): string {
  const paint = paintFor(options.colour);
  const { width } = options;
  const blocks = conditionsOf(comparison.cells).flatMap((condition) => {
    const cells = comparison.cells.filter((cell) => cell.condition === condition);
    const title = paint.bold(visible(conditionTitle(condition)));
    return [`${title}${paint.faint(`  ${condition.about}`)}`, ...tables(cells, width, paint), ''];
  });
  const notes = methodNotes(comparison).flatMap((note) => wrap(note, Math.max(20, width)));
  return [
    ...blocks,
    ...folkloreLines(comparison, { paint, width }),
    '',
    ...notes.map(paint.faint),
  ].join('\n');
}

const LABEL = Math.max(...MEASURES.map((measure) => labelOf(measure).length)) + 4;

function labelOf({ name, unit }: Measure): string {
  return `${name}, ${unit}`;
}

/** The systems side by side, as many as fit; the others below. */
function tables(cells: readonly Cell[], width: number, paint: Paint): readonly string[] {
  const columns = cells.map(columnOf);
  const widths = columns.map((column) => Math.max(...column.map(displayWidth)) + 2);
  const lines: string[] = [];
  let from = 0;
  while (from < columns.length) {
    let until = from + 1;
    let used = LABEL + (widths[from] ?? 0);
    while (until < columns.length && used + (widths[until] ?? 0) <= width) {
      used += widths[until] ?? 0;
      until += 1;
    }
    lines.push(...table(columns.slice(from, until), widths.slice(from, until), paint));
    from = until;
  }
  return lines;
}

/** The system's name, then its figures in the order of the measures. */
function columnOf({ system, figures }: Cell): readonly string[] {
  return [visible(system), ...MEASURES.map((measure) => estimateText(measure.of(figures)))];
}

function table(
  columns: readonly (readonly string[])[],
  widths: readonly number[],
  paint: Paint,
): readonly string[] {
  const line = (label: string, at: number): string => {
    const set = columns.map((column, place) => pad(column[at] ?? '', widths[place] ?? 0));
    return `${pad(`  ${label}`, LABEL)}${set.join('')}`.trimEnd();
  };
  const rows = MEASURES.map((measure, at) => line(labelOf(measure), at + 1));
  return [paint.faint(line('', 0)), ...rows];
}

function folkloreLines(
  { folklore }: Comparison,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  return [
    paint.bold('Does the folklore hold?'),
    ...folklore.flatMap(({ saying, ruling, findings }) => [
      `${tint(paint, ruling)(`${SIGNS[ruling]} ${ruling}`)}: ${saying}`,
      ...findings.flatMap((finding) =>
        wrap(
          visible(`${SIGNS[finding.ruling]} ${findingText(finding)}`),
          Math.max(20, width - 4),
        ).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`),
      ),
    ]),
  ];
}

function tint(paint: Paint, ruling: Ruling): (text: string) => string {
  if (ruling === 'holds') return paint.green;
  return ruling === 'fails' ? paint.red : paint.yellow;
}
