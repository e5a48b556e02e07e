/**
 * `fencepost compare`: measures systems side by side, and says what the folklore is worth. Each
 * seed goes through all systems and conditions, so that the columns differ in nothing else.
 */
import { join } from 'node:path';
import type { Command } from 'commander';
import { builtIn, type Catalogue } from '../catalogue.ts';
import {
  type Comparison,
  comparisonLine,
  comparisonSummary,
  renderComparison,
} from '../report/comparison.ts';
import { renderComparisonPage } from '../report/html/comparison-page.ts';
import { whyRefused } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import { type ComparedCell, figuresOf, judgeFolklore } from '../search/compare/comparison.ts';
import {
  type ComparedTrial,
  chooseSystems,
  FAMILIAR,
  FAULTS_ABOUT,
  folkloreRolesOf,
  patiently,
  runTrial,
  TERMS_ABOUT,
  trialsAsWritten,
  trialsFor,
} from '../search/compare/conditions.ts';
import type { RunMeasures } from '../search/compare/measure-run.ts';
import { drawResamples } from '../search/compare/statistics.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import {
  type Done,
  type OutputFlags,
  outputOptions,
  parseSeeds,
  seedsOption,
  shared,
  withExample,
} from './command.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { makeFolder, writeText } from './files.ts';
import { breathe, Interruption } from './interruption.ts';
import { type LoadedScenario, loadScenarios, type ModuleOptions } from './sources.ts';
import type { RunOptions } from './stages.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface CompareFlags extends OutputFlags {
  readonly systems?: string;
  readonly seeds: string;
  readonly html?: string;
  readonly output?: string;
  readonly modules: boolean;
}

const COMPARE_HELP: string = `
Without a scenario it compares pessimistic, optimistic, fenced-lease and plain-lease;
with one, the systems of that file, also under its own clients and faults.

Levels of contention: low (3 clients, 12 rows), medium (6, 4), high (8, 1), each
without and with faults. Intervals are 95 % over the seeds.`;

export function addCompare(command: Command, done: Done): void {
  withExample(
    command,
    'compare --systems pessimistic,optimistic,lock-service/fenced --output reports',
  )
    .option('--systems <list>', 'of the scenario by name, or any as lock/store (default: familiar)')
    .option(...seedsOption('60'))
    .option('--html <file>', 'where a page with the plot is written')
    .option('--output <folder>', 'the same, as compare.html')
    .option(...shared.json)
    .option('--no-modules', 'refuse a scenario that uses modules, which would be run')
    .option(...shared.quiet)
    .addHelpText('after', COMPARE_HELP)
    .action(async (file: string | undefined, flags: CompareFlags) => {
      const { seeds, systems = null, html = null, output = null } = flags;
      const asked = { ...parseSeeds(seeds), systems, html, output, ...outputOptions(flags) };
      done(await compare(file ?? null, { ...asked, modules: flags.modules ? null : false }));
    });
}

export interface CompareOptions
  extends ModuleOptions,
    Pick<RunOptions, 'from' | 'to' | 'isJson' | 'isQuiet'> {
  /** As it was typed; null for all there are. */
  readonly systems: string | null;
  /** The page; null for none. */
  readonly html: string | null;
  readonly output: string | null;
}

/** Compares the systems of a scenario file, or the familiar ones. */
export async function compare(file: string | null, options: CompareOptions): Promise<Exit> {
  const [loaded = null] = file === null ? [] : await loadScenarios([file], options);
  const { catalogue } = loaded ?? { catalogue: builtIn };
  const systems = systemsFor(loaded, options.systems);
  const pageFile = options.html ?? (options.output && join(options.output, 'compare.html'));
  if (options.output !== null) makeFolder(options.output);
  const trials = [
    ...trialsFor(systems.map((system) => patiently(system, catalogue))),
    ...(loaded === null ? [] : trialsAsWritten({ ...loaded.scenario, systems })),
  ];
  const terminal = openTerminal(options);
  await prepare(systems, catalogue);
  requireRunnable(trials, catalogue);
  const context = { ...options, catalogue, terminal, interruption: new Interruption() };
  const table = await measureTrials(trials, systems, context);
  const exit = worstOf(table.exits);
  if (table.seeds === 0) return exit;
  const comparison = comparisonOf(table, systems, catalogue);
  if (pageFile !== null) writeText(pageFile, renderComparisonPage(comparison));
  const { colour, width } = terminal;
  terminal.printLines(renderComparison(comparison, { colour, width }));
  if (pageFile !== null) terminal.note(`report: ${pageFile}`);
  if (options.isJson) {
    for (const cell of comparison.cells) process.stdout.write(`${comparisonLine(cell)}\n`);
    process.stdout.write(`${comparisonSummary(comparison, exit)}\n`);
  }
  return exit;
}

function systemsFor(loaded: LoadedScenario | null, text: string | null): readonly SystemScenario[] {
  const known = loaded?.scenario.systems ?? FAMILIAR;
  const chosen = chooseSystems(text, known, loaded?.catalogue);
  if (chosen.kind === 'problem') throw new UserError([`--systems ${text ?? ''}: ${chosen.what}`]);
  return chosen.systems;
}

/** Refuses a lock and a store that do not go together, or a lock that cannot do the work. */
function requireRunnable(trials: readonly ComparedTrial[], catalogue: Catalogue): void {
  for (const { scenario } of trials) {
    for (const { name } of scenario.systems) {
      const refusal = whyRefused(expand(scenario, name, 0), catalogue);
      if (refusal !== null) throw new UserError([`${name}, ${scenario.name}: ${refusal}`]);
    }
  }
}

function comparisonOf(
  { columns, seeds }: Table,
  systems: readonly SystemScenario[],
  catalogue: Catalogue,
): Comparison {
  const resamples = drawResamples(seeds);
  const cells = columns.map(({ system, trial, runs }): ComparedCell => {
    return { system, condition: trial.condition, runs, figures: figuresOf(runs, resamples) };
  });
  const about = ({ lock, store }: SystemScenario): string => `lock ${lock}, store ${store}`;
  return {
    systems: systems.map((system) => ({ name: system.name, about: about(system) })),
    cells,
    folklore: judgeFolklore(cells, folkloreRolesOf(systems, catalogue), resamples),
    ...{ seeds, terms: TERMS_ABOUT, faults: FAULTS_ABOUT },
  };
}

/** The runs of one system under one condition, seed by seed. */
interface Column {
  readonly system: string;
  readonly trial: ComparedTrial;
  readonly runs: RunMeasures[];
}

interface Table {
  readonly columns: readonly Column[];
  /** How many runs each column has. */
  readonly seeds: number;
  readonly exits: readonly Exit[];
}

interface Context extends Pick<CompareOptions, 'from' | 'to'> {
  readonly catalogue: Catalogue;
  readonly terminal: Terminal;
  readonly interruption: Interruption;
}

/** Each seed goes through all systems and conditions, or counts in none. */
async function measureTrials(
  trials: readonly ComparedTrial[],
  systems: readonly SystemScenario[],
  context: Context,
): Promise<Table> {
  const { from, to, terminal, interruption } = context;
  const columns = trials.flatMap((trial) =>
    systems.map(({ name }): Column => ({ system: name, trial, runs: [] })),
  );
  const codes = new Set<Exit>();
  interruption.listen(() =>
    terminal.note('interrupted: this is what was measured so far (again to stop at once)'),
  );
  let seeds = 0;
  try {
    for (let seed = from; seed <= to && !interruption.isInterrupted; seed += 1) {
      const row = await measureSeed(columns, seed, codes, context);
      if (row === null) break;
      for (const [at, measures] of row.entries()) columns[at]?.runs.push(measures);
      seeds += 1;
      terminal.progress(`seed ${seeds} of ${to - from + 1}`);
    }
  } finally {
    interruption.end();
    terminal.endProgress();
  }
  if (interruption.isInterrupted) codes.add(exits.interrupted);
  return { columns, seeds, exits: [...codes] };
}

/** One seed in all columns; null when it was interrupted. */
async function measureSeed(
  columns: readonly Column[],
  seed: number,
  codes: Set<Exit>,
  { catalogue, terminal, interruption }: Context,
): Promise<readonly RunMeasures[] | null> {
  const row: RunMeasures[] = [];
  for (const { trial, system } of columns) {
    const { measures, ending } = await runTrial(trial, system, seed, catalogue);
    row.push(measures);
    if (ending.kind === 'cut') codes.add(exits.incomplete);
    if (ending.kind === 'failed') {
      codes.add(exits.failed);
      const { process, error } = ending;
      terminal.note(`${system}, seed ${seed}: \`${process}\` failed: ${error}`);
    }
    await breathe();
    if (interruption.isInterrupted) return null;
  }
  return row;
}
