/** Renders steps as text: one line per step, one column per process. */
import type { ProcessInfo } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { Screen } from '../text/colour.ts';
import { millisecondsOf } from '../text/prose.ts';
import {
  type Column,
  clip,
  displayWidth,
  hang,
  pad,
  railsBeside,
  visible,
} from '../text/visible.ts';
import { laneOrder, type Step, withPart } from './steps.ts';

const GAP = 2;
const WIDEST = 26;
const NARROWEST = 8;

/**
 * Renders a line of names, then one line per step. Long evidence may continue on up to `linesLeft`
 * more lines in total. Processes without steps get no column.
 */
export function renderSequence(
  steps: readonly Step[],
  processes: readonly ProcessInfo[],
  { width, paint }: Screen,
  linesLeft: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const used = new Set(steps.map(({ process }) => process));
  const names = laneOrder(processes).flatMap(({ name }) => (used.has(name) ? [name] : []));
  const margins = marginsOf(steps);
  const space = width - (margins[0]?.length ?? 0);
  const columns = columnsOf(names, steps, space);
  const head = columns
    .map(({ name, width: wide }) => `${pad(visible(name), Math.max(0, wide - 1))} `)
    .join('');
  const [above = '', ...left] = margins;
  let unspent = linesLeft;
  const lines = steps.flatMap((step, at) => {
    const margin = left[at] ?? '';
    const texts = linesOf(step, columns, { width: space, paint }, unspent);
    unspent -= texts.length - 1;
    return texts.map(
      (text, more) => paint.faint(more === 0 ? margin : pad('', margin.length)) + text,
    );
  });
  return [paint.faint(above + clip(head.trimEnd(), space)), ...lines];
}

/**
 * Returns the headings, then the number and the time of each step, padded to one width. Times are
 * in milliseconds, unless one of them is too short or too long for that unit.
 */
function marginsOf(steps: readonly Step[]): readonly string[] {
  const numbers = ['#', ...steps.map(({ number }) => (number === null ? '' : String(number)))];
  const areMs = steps.every(({ atUs }) => atUs === 0 || (atUs >= 1000 && atUs < 1_000_000));
  const times = steps.map(({ atUs }) => (areMs ? millisecondsOf(atUs) : proseDuration(atUs)));
  times.unshift(areMs ? 'ms' : 'at');
  const [wide, wider] = [numbers, times].map((column) =>
    Math.max(...column.map(({ length }) => length)),
  );
  const gap = ' '.repeat(GAP);
  return times.map(
    (time, at) =>
      `${(numbers[at] ?? '').padStart(wide ?? 0)}${gap}${time.padStart(wider ?? 0)}${gap}`,
  );
}

/**
 * Spaces the columns evenly, as far as the texts of the last column fit. Other texts may extend
 * over the columns to their right. A column with a text too long for the screen starts farther
 * left.
 */
function columnsOf(names: readonly string[], steps: readonly Step[], space: number): Column[] {
  const needs = names.map((name) => {
    const texts = steps.flatMap((step) => (step.process === name ? [wordsOf(step)] : []));
    return Math.max(...[visible(name), ...texts].map(displayWidth));
  });
  const gaps = Math.max(1, names.length - 1);
  const even = Math.floor((space - (needs.at(-1) ?? 0)) / gaps);
  const spacing = Math.max(NARROWEST, Math.min(WIDEST, even));
  const starts = needs.map((need, at) =>
    Math.max(at * NARROWEST, Math.min(at * spacing, space - need)),
  );
  for (let at = starts.length - 2; at >= 0; at -= 1) {
    const latest = (starts[at + 1] ?? space) - NARROWEST;
    starts[at] = Math.max(0, Math.min(starts[at] ?? 0, latest));
  }
  return names.map((name, at) => {
    const start = starts[at] ?? 0;
    return { name, start, width: Math.max(0, Math.min(space, starts[at + 1] ?? space) - start) };
  });
}

function wordsOf(step: Step): string {
  return visible(withPart(step.text, step));
}

/**
 * Renders a step. Its text may extend over the columns to its right, which contain only `│` there.
 * Evidence that is too long for the screen starts farther left, then continues on up to `linesLeft`
 * lines.
 */
function linesOf(
  step: Step,
  columns: readonly Column[],
  { width, paint }: Screen,
  linesLeft: number,
): readonly string[] {
  const column = columns.find(({ name }) => name === step.process);
  const words = wordsOf(step);
  const space = Math.max(0, width - displayWidth(words));
  const start = Math.min(column?.start ?? 0, step.weight === 0 ? space : width);
  const isTooLong = step.weight === 0 && displayWidth(words) > width;
  const hung = isTooLong ? hang(words, Math.max(1, width - GAP), '', ' '.repeat(GAP)) : [];
  const isHung = hung.length > 0 && hung.length - 1 <= linesLeft;
  const texts = isHung ? hung : [clip(words, Math.max(1, width - start))];
  return texts.map((text) => {
    const end = start + displayWidth(text);
    const [before, after] = railsBeside(columns, { start, end }, () => '│');
    return paint.faint(before) + (step.part === '' ? text : paint.bold(text)) + paint.faint(after);
  });
}
