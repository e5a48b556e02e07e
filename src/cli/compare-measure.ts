/** Runs the seeds of a comparison one after the other, until they are done or Ctrl-C. */
import type { Catalogue } from '../catalogue.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import type { Trial } from '../search/compare/conditions.ts';
import type { RunMeasures } from '../search/compare/measure-run.ts';
import { runTrial } from '../search/compare/run-trial.ts';
import { breathe } from './breathe.ts';
import { type Exit, exits } from './exit.ts';
import { Interruption } from './interruption.ts';
import type { Terminal } from './terminal.ts';

/** The runs of one system under one condition, seed by seed. */
interface Column {
  readonly system: string;
  readonly trial: Trial;
  readonly runs: RunMeasures[];
}

export interface Table {
  readonly columns: readonly Column[];
  /** How many runs each column has. */
  readonly seeds: number;
  readonly exits: readonly Exit[];
}

interface Context {
  readonly from: number;
  readonly to: number;
  readonly catalogue: Catalogue;
  readonly terminal: Terminal;
}

/** Each seed goes through all systems and conditions, or counts in none. */
export async function measureTrials(
  trials: readonly Trial[],
  systems: readonly SystemScenario[],
  { from, to, catalogue, terminal }: Context,
): Promise<Table> {
  const columns = trials.flatMap((trial) =>
    systems.map(({ name }): Column => ({ system: name, trial, runs: [] })),
  );
  const codes = new Set<Exit>();
  const interruption = new Interruption();
  interruption.listen(() =>
    terminal.note('interrupted: this is what was measured so far (again to stop at once)'),
  );
  const isInterrupted = (): boolean => interruption.isInterrupted;
  let seeds = 0;
  try {
    for (let seed = from; seed <= to && !isInterrupted(); seed += 1) {
      const row = await measureSeed(columns, seed, {
        ...{ codes, catalogue, terminal, isInterrupted },
      });
      if (row === null) break;
      for (const { column, measures } of row) column.runs.push(measures);
      seeds += 1;
      terminal.progress(`seed ${seeds} of ${to - from + 1}`);
    }
  } finally {
    interruption.end();
    terminal.endProgress();
  }
  if (isInterrupted()) codes.add(exits.interrupted);
  return { columns, seeds, exits: [...codes] };
}

interface SeedContext {
  readonly codes: Set<Exit>;
  readonly catalogue: Catalogue;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
}

interface Measured {
  readonly column: Column;
  readonly measures: RunMeasures;
}

/** One seed in all columns; null when it was interrupted. */
async function measureSeed(
  columns: readonly Column[],
  seed: number,
  { codes, catalogue, terminal, isInterrupted }: SeedContext,
): Promise<readonly Measured[] | null> {
  const row: Measured[] = [];
  for (const column of columns) {
    const { trial, system } = column;
    const { measures, ending } = await runTrial(trial, system, seed, catalogue);
    row.push({ column, measures });
    if (ending.kind === 'cut') codes.add(exits.incomplete);
    if (ending.kind === 'failed') {
      codes.add(exits.failed);
      const where = `${column.system}, seed ${seed}`;
      terminal.note(`${where}: \`${ending.process}\` failed: ${ending.error}`);
    }
    await breathe();
    if (isInterrupted()) return null;
  }
  return row;
}
