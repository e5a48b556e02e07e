/**
 * The outcome of mutants, whether each was found, how soon, and how small it got: a table in the
 * terminal, and the lines of `--json`, whose shapes `output-schema.ts` describes.
 */
import type { Mutant } from '../search/mutants/mutant.ts';
import { fateOf, type MutantTrial, type PlanSize } from '../search/mutants/trial.ts';
import { type Paint, paintFor, type TerminalText } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { clip, columnWidths, hang, pad, tableLine, visible, wrap } from '../text/visible.ts';

/** A mutant's outcome; `size` is null where no plan was shrunk. */
export interface MutantRow {
  readonly trial: MutantTrial;
  readonly size: PlanSize | null;
}

interface TableOptions extends TerminalText {
  /** How many mutants were to be judged; more than there are rows when it was interrupted. */
  readonly chosen: number;
}

const HEAD = ['mutant', 'caught by', 'base', 'per 1,000 seeds', 'seeds', 'plan'];

/** The table, its notes and its sum as lines joined by `\n`, without a final one. */
export function renderMutants(rows: readonly MutantRow[], options: TableOptions): string {
  const { colour, width, chosen } = options;
  if (rows.length === 0) return 'interrupted before any was judged';
  const paint = paintFor(colour);
  const cells = rows.map(cellsOf);
  const widths = columnWidths([HEAD, ...cells]);
  const line = (row: readonly string[]): string => tableLine(row, widths);
  return [
    paint.faint(clip(`  ${line(HEAD)}`, width)),
    ...rows.map((row, at) => `${signOf(row, paint)} ${clip(line(cells[at] ?? []), width - 2)}`),
    ...rows.flatMap(notesOf).flatMap((note) => wrap(visible(note), width)),
    '',
    ...LEGEND.map((text) => paint.faint(clip(text, width))),
    ...wrap(sumOf(rows, chosen), width),
  ].join('\n');
}

function signOf({ trial }: MutantRow, paint: Paint): string {
  const fate = fateOf(trial);
  if (fate === 'survived' || trial.base.verdict === 'broke') return paint.red('✗');
  const isOpen = [fate, trial.base.verdict].includes('untested') || trial.failed > 0;
  return isOpen ? paint.yellow('?') : paint.green('✓');
}

function cellsOf({ trial, size }: MutantRow): readonly string[] {
  const { mutant, base, found, seedsToFind } = trial;
  return [
    mutant.name,
    mutant.caughtBy,
    base.verdict,
    found.hits === 0 ? fateOf(trial) : rateText(trial),
    seedsToFind === null ? '–' : groupDigits(seedsToFind),
    size === null ? '–' : sizeText(size),
  ];
}

/** `610 (567–652)`: seeds of a thousand that break the claim, with the interval of 95 %. */
export function rateText({
  found: { hits, runs, lower, upper },
}: Pick<MutantTrial, 'found'>): string {
  const perThousand = (share: number): string => groupDigits(1000 * share);
  return `${perThousand(hits / runs)} (${perThousand(lower)}–${perThousand(upper)})`;
}

/** `2/1/8`: clients, faults and events. */
function sizeText({ clients, faults, events }: PlanSize): string {
  return `${clients}/${faults}/${events}`;
}

function notesOf({ trial }: MutantRow): readonly string[] {
  const { mutant, base, failure, failed } = trial;
  const notes = base.why.map((why) => `the base was not tested: ${why}`);
  if (base.verdict === 'broke') {
    notes.unshift(`the base breaks ${mutant.caughtBy} on ${countOf(base.broken, 'seed')}`);
  }
  if (failure !== null) notes.push(`${countOf(failed, 'run')} failed, ${failure}`);
  return notes.map((note) => `${mutant.name}: ${note}`);
}

const LEGEND = [
  'per 1,000 seeds: how many break the claim, with the 95 % interval after Wilson.',
  'seeds: until it was found, the median of five searches. plan: clients/faults/events, shrunk.',
];

/** Columns that what a mutant does wrong has at least. */
const LEAST = 20;

function countsOf(rows: readonly MutantRow[]): { readonly found: number; readonly held: number } {
  return {
    found: rows.filter(({ trial }) => trial.found.hits > 0).length,
    held: rows.filter(({ trial }) => trial.base.verdict === 'held').length,
  };
}

/** `39 of 39 mutants found, every base held; 500 seeds of each`. */
function sumOf(rows: readonly MutantRow[], chosen: number): string {
  const { found, held } = countsOf(rows);
  const bases = held === rows.length ? 'every base held' : `bases that held: ${held}`;
  const seeds = Math.max(0, ...rows.map(({ trial }) => trial.seeds));
  const mutants = countOf(rows.length, 'mutant');
  const done = rows.length < chosen ? `interrupted, ${rows.length} of ${chosen} done: ` : '';
  return `${done}${found} of ${mutants} found, ${bases}; ${countOf(seeds, 'seed')} of each`;
}

/**
 * The mutants by name, each with what it does wrong, as lines joined by `\n`. What is longer than
 * `width` goes on below, and nothing is cut; an infinite width gives each one line.
 */
export function renderMutantList(
  mutants: readonly MutantTrial['mutant'][],
  { width }: Pick<TableOptions, 'width'>,
): string {
  const [longest = 0, claims = 0] = columnWidths([
    ['', ''],
    ...mutants.map(({ name, caughtBy }) => [name, caughtBy]),
  ]);
  return mutants
    .flatMap(({ name, caughtBy, change }) => {
      const start = `${pad(name, longest)}  ${pad(caughtBy, claims)}  `;
      const left = Math.max(LEAST, width - start.length);
      return hang(change, left, start, ' '.repeat(start.length));
    })
    .join('\n');
}

/** One mutant's line. */
export function mutantLine({ trial, size }: MutantRow): string {
  const { mutant, seeds, base, found, seedsToFind, foundOn, alsoBreaks, failed } = trial;
  const outcome = { seeds, base, found, seedsToFind, firstSeed: foundOn[0] ?? null };
  const line = { type: 'mutant', version: 1, ...aboutOf(mutant), ...outcome };
  return JSON.stringify({ ...line, alsoBreaks, failed, size });
}

/** A line of `--list`: what a mutant is, not how it fared. */
export function listedMutant(mutant: Mutant): string {
  return JSON.stringify({ type: 'listed-mutant', version: 1, ...aboutOf(mutant) });
}

function aboutOf({ name, change, caughtBy, needs, base, mutant }: Mutant): object {
  return { name, change, caughtBy, needs, systems: { base, mutant } };
}

/** The last line. */
export function mutantsSummary(rows: readonly MutantRow[], exit: number): string {
  const { found, held: basesHeld } = countsOf(rows);
  const line = { type: 'mutants-summary', version: 1, exit, mutants: rows.length };
  return JSON.stringify({ ...line, found, basesHeld });
}
