/** `fencepost compare`: measures systems side by side, and says what the folklore is worth. */
import { join } from 'node:path';
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
import { type Cell, figuresOf } from '../search/compare/comparison.ts';
import {
  FAULTS_ABOUT,
  TERMS_ABOUT,
  type Trial,
  trialsAsWritten,
  trialsFor,
} from '../search/compare/conditions.ts';
import { judgeFolklore } from '../search/compare/folklore.ts';
import { drawResamples } from '../search/compare/statistics.ts';
import { chooseSystems, FAMILIAR, patiently, rolesOf } from '../search/compare/systems.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { measureTrials, type Table } from './compare-measure.ts';
import { type Exit, UserError, worstOf } from './exit.ts';
import {
  type LoadedScenario,
  loadScenarios,
  type ModuleOptions,
  makeFolder,
  writeText,
} from './files.ts';
import { openTerminal } from './terminal.ts';

export interface CompareOptions {
  readonly from: number;
  readonly to: number;
  /** As it was typed; null for all there are. */
  readonly systems: string | null;
  /** The page; null for none. */
  readonly html: string | null;
  readonly output: string | null;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly modules: ModuleOptions['modules'];
}

/** Compares the systems of a scenario file, or the familiar ones. */
export async function compareCommand(file: string | null, options: CompareOptions): Promise<Exit> {
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
  const table = await measureTrials(trials, systems, { ...options, catalogue, terminal });
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
function requireRunnable(trials: readonly Trial[], catalogue: Catalogue): void {
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
  const cells = columns.map(
    ({ system, trial, runs }): Cell => ({
      ...{ system, condition: trial.condition, runs },
      figures: figuresOf(runs, resamples),
    }),
  );
  return {
    systems: systems.map(({ name, lock, store }) => ({
      name,
      about: `lock ${lock}, store ${store}`,
    })),
    cells,
    folklore: judgeFolklore(cells, rolesOf(systems, catalogue), resamples),
    ...{ seeds, terms: TERMS_ABOUT, faults: FAULTS_ABOUT },
  };
}
