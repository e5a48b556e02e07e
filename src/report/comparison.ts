/**
 * A comparison in words and figures: its measures, which the page shares; in the terminal a block
 * for each condition, then what became of the folklore; and as JSON lines.
 */
import type {
  ComparedCell,
  ComparedCondition,
  Figures,
  Saying,
  SayingEvidence,
  SayingFinding,
  SayingRuling,
} from '../search/compare/comparison.ts';
import { type Estimate, RESAMPLES, type Share } from '../search/compare/statistics.ts';
import { type Paint, paintFor, type Screen, type TerminalText } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { displayWidth, hang, pad, visible, wrap } from '../text/visible.ts';

/** All that the terminal and the page show. */
export interface Comparison {
  readonly systems: readonly { readonly name: string; readonly about: string }[];
  readonly cells: readonly ComparedCell[];
  readonly folklore: readonly Saying[];
  /** Of each system under each condition. */
  readonly seeds: number;
  readonly terms: string;
  readonly faults: string;
}

export interface Measure {
  readonly name: string;
  readonly unit: string;
  /** A figure and its bounds, in `unit`; the shown value where it is no plain number. */
  readonly of: (figures: Figures) => Estimate & { readonly shown?: string };
}

/** The rows of the table, and the panels of the plot. */
export const MEASURES: readonly Measure[] = [
  { name: 'throughput', unit: 'sections/s', of: ({ throughput }) => throughput },
  { name: 'wait p50', unit: 'ms', of: ({ waitP50 }) => scaled(waitP50, 0.001) },
  { name: 'wait p99', unit: 'ms', of: ({ waitP99 }) => scaled(waitP99, 0.001) },
  { name: 'commit p99', unit: 'ms', of: ({ commitP99 }) => scaled(commitP99, 0.001) },
  { name: 'retries', unit: 'per section', of: ({ retries }) => retries },
  { name: 'aborts', unit: '%', of: ({ aborts }) => scaled(aborts, 100) },
  { name: 'deadlocks', unit: '%', of: ({ deadlocks }) => scaled(deadlocks, 100) },
  { name: 'stuck for ever', unit: '%', of: ({ stuck }) => scaled(stuck, 100) },
  { name: 'lost updates', unit: '%', of: ({ lost }) => scaled(lost, 100) },
  { name: 'repeated updates', unit: '%', of: ({ repeated }) => scaled(repeated, 100) },
  { name: 'runs gone wrong', unit: '%', of: ({ wrong }) => ofShare(wrong) },
];

function scaled({ value, lower, upper }: Estimate, by: number): Estimate {
  const times = (one: number | null): number | null => (one === null ? null : one * by);
  return { value: times(value), lower: times(lower), upper: times(upper) };
}

function ofShare({ hits, runs, lower, upper }: Share): Estimate {
  const value = runs === 0 ? null : (100 * hits) / runs;
  return { value, lower: 100 * lower, upper: 100 * upper };
}

/** Three digits that count: `64.5`, `207`, `0.23`; `–` for nothing. */
export function figureText(value: number | null): string {
  if (value === null) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** `205–210`; '' where there is no interval. */
export function intervalText({ lower, upper }: Estimate): string {
  if (lower === null || upper === null) return '';
  const [from, to] = [figureText(lower), figureText(upper)];
  return lower < 0 ? `${from} to ${to}` : `${from}–${to}`;
}

/** `207 (205–210)`. */
export function estimateText(estimate: Estimate): string {
  const interval = intervalText(estimate);
  return interval === ''
    ? figureText(estimate.value)
    : `${figureText(estimate.value)} (${interval})`;
}

/** `high contention, with faults`. */
export function conditionTitle({ contention, hasFaults }: ComparedCondition): string {
  const level = contention === 'as written' ? 'as written' : `${contention} contention`;
  return `${level}, ${hasFaults ? 'with faults' : 'without faults'}`;
}

/** The conditions of the cells, each once, in their order. */
export function conditionsOf(cells: readonly ComparedCell[]): readonly ComparedCondition[] {
  return [...new Set(cells.map(({ condition }) => condition))];
}

export const RULING_SIGNS: Readonly<Record<SayingRuling, string>> = {
  holds: '✓',
  fails: '✗',
  mixed: '±',
  undecided: '?',
  'not measured': '–',
};

/** `8 clients, …: 110 against 236 sections/s, a difference of -125 (-130 to -121)`. */
export function findingText({
  contention,
  hasFaults,
  ours,
  theirs,
  evidence,
}: SayingFinding): string {
  const level = contention === 'any' ? '' : `${contention} contention, `;
  const where = `${level}${hasFaults ? 'with faults' : 'without faults'}`;
  return `${where}: ${evidenceText(evidence, { ours, theirs })}`;
}

function evidenceText(
  evidence: SayingEvidence,
  { ours, theirs }: { readonly ours: string; readonly theirs: string },
): string {
  if (evidence.kind === 'wrong') {
    const of = ({ hits, runs }: Share): string => `${hits} of ${countOf(runs, 'run')}`;
    return `${ours} went wrong in ${of(evidence.ours)}, ${theirs} in ${of(evidence.theirs)}`;
  }
  if (evidence.kind === 'throughput') {
    const { gain } = evidence;
    const figures = `${figureText(evidence.ours.value)} sections/s, ${theirs} ${figureText(evidence.theirs.value)}`;
    return `${ours} does ${figures}; difference ${signed(gain)}`;
  }
  const [our = NOTHING, their = NOTHING] = [evidence.ours, evidence.theirs].map((one) =>
    scaled(one, 0.001),
  );
  const { value, lower, upper } = scaled(evidence.gain, -0.001);
  const within = `${figureText(our.value)} ms, of ${theirs} within ${figureText(their.value)} ms`;
  const difference = signed({ value, lower: upper, upper: lower });
  return `99 % of the commits of ${ours} come within ${within}; difference ${difference}`;
}

const NOTHING: Estimate = { value: null, lower: null, upper: null };

function signed({ value, lower, upper }: Estimate): string {
  const text = (one: number | null): string =>
    one === null ? '–' : `${one > 0 ? '+' : ''}${figureText(one)}`;
  return lower === null ? text(value) : `${text(value)} (${text(lower)} to ${text(upper)})`;
}

/** How the figures came about, a sentence each. */
export function methodNotes({ seeds, terms, faults }: Comparison): readonly string[] {
  return [
    `${countOf(seeds, 'seed')} of each system under each condition, the same for all; ${terms}.`,
    `Faults: ${faults}.`,
    'In brackets: 95 % intervals, percentiles of ' +
      `${groupDigits(RESAMPLES)} bootstrap resamples of whole runs; of runs gone wrong, Wilson’s. ` +
      'A difference is of the same seeds.',
    'A saying about speed is judged by two differences, so each has an interval of 97.5 %, and counts only ' +
      'where that leaves out 0.',
    'Throughput: acknowledged sections per virtual second until the last client is done, or, where ' +
      'one waits for ever, until the world heals.',
    'Wait: from the first request to holding the lock; without a lock, to the commit. Commit: to the ' +
      'answer to its last write, in every system. Who waits for ever is in neither.',
    'Aborts: sections given up, or denied to break a deadlock; these, deadlocks and who is stuck are ' +
      'per hundred sections that began.',
    'Lost updates: increments that the store accepted, and that are in its final value no more; repeated ' +
      'updates: a section’s increment that is in it again. Both per hundred acknowledged sections, and ' +
      'whatever the client was told. A run with either has gone wrong.',
    'A section takes one lock in low, medium and high contention: a circle can close there only around ' +
      'a lock that a client held as it crashed. Servers answer any number of messages at once, so what ' +
      'is tried in vain costs nobody else anything.',
  ];
}

/** The comparison as lines joined by `\n`, without a final one. */
export function renderComparison(comparison: Comparison, { width, colour }: TerminalText): string {
  const paint = paintFor(colour);
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
function tables(cells: readonly ComparedCell[], width: number, paint: Paint): readonly string[] {
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
function columnOf({ system, figures }: ComparedCell): readonly string[] {
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

function folkloreLines({ folklore }: Comparison, { paint, width }: Screen): readonly string[] {
  return [
    paint.bold('Does the folklore hold?'),
    ...folklore.flatMap(({ saying, ruling, findings }) => [
      `${tint(paint, ruling)(`${RULING_SIGNS[ruling]} ${ruling}`)}: ${saying}`,
      ...findings.flatMap((finding) => {
        const text = visible(`${RULING_SIGNS[finding.ruling]} ${findingText(finding)}`);
        return hang(text, Math.max(20, width - 4), '  ', '    ');
      }),
    ]),
  ];
}

function tint(paint: Paint, ruling: SayingRuling): (text: string) => string {
  if (ruling === 'holds') return paint.green;
  return ruling === 'fails' ? paint.red : paint.yellow;
}

/** What one system does under one condition; times in microseconds of virtual time. */
export function comparisonLine({ system, condition, runs, figures }: ComparedCell): string {
  const { contention, hasFaults, about } = condition;
  const line = { type: 'comparison', version: 1, system, contention, hasFaults, about };
  return JSON.stringify({ ...line, seeds: runs.length, figures });
}

/** The last line. */
export function comparisonSummary({ systems, seeds, folklore }: Comparison, exit: number): string {
  return JSON.stringify({ type: 'compare-summary', version: 1, exit, seeds, systems, folklore });
}
