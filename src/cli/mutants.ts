/** `fencepost mutants`: runs systems with one mistake beside their bases: who is found? */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { builtIn } from '../catalogue.ts';
import type { Finding } from '../report/finding.ts';
import {
  listedMutant,
  type MutantRow,
  mutantLine,
  mutantsSummary,
  renderMutantList,
  renderMutants,
} from '../report/mutants-report.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { MUTANT, type Mutant, scenarioOf } from '../search/mutants/mutant.ts';
import { mutants } from '../search/mutants/mutants.ts';
import {
  type Block,
  blockOf,
  cutIntoBlocks,
  fateOf,
  judgeTrial,
  type MutantTrial,
  type PlanSize,
} from '../search/mutants/trial.ts';
import type { Pool } from '../search/sweep/pool.ts';
import { openPool, sweep } from '../search/sweep/sweep.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { suggest } from '../text/problem.ts';
import {
  type Done,
  given,
  type OutputFlags,
  outputOptions,
  parseCount,
  parseSeeds,
  shared,
  withExample,
} from './command.ts';
import { findCounterexample } from './conclude.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { openFolder, writeText } from './files.ts';
import { Interruption } from './interruption.ts';
import type { RunOptions } from './stages.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface MutantsFlags extends OutputFlags {
  readonly seeds: string;
  readonly workers?: string;
  readonly output?: string;
  readonly list?: boolean;
}

export function addMutants(command: Command, done: Done): void {
  withExample(command, 'mutants unfenced token-32-bit')
    .option('--seeds <N|A..B>', 'how many seeds of each, or which', '500')
    .option(...shared.workers)
    .option('--output <folder>', 'where the shrunk plans are written (default: nowhere)')
    .option('--list', 'only say which mutants there are, and what each does wrong')
    .option(...shared.json)
    .option(...shared.quiet)
    .action(async (names: string[], flags: MutantsFlags) => {
      const { seeds, workers, output = null, list } = flags;
      const asked = {
        ...parseSeeds(seeds),
        workers: given(workers, '--workers', parseCount),
        ...{ output, isList: list === true, ...outputOptions(flags) },
      };
      done(await tryMutants(names, asked));
    });
}

interface MutantsOptions
  extends Pick<RunOptions, 'from' | 'to' | 'workers' | 'isJson' | 'isQuiet'> {
  /** Where shrunk plans are written; null for nowhere. */
  readonly output: string | null;
  readonly isList: boolean;
}

interface Context {
  readonly options: MutantsOptions;
  readonly pool: Pool | null;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
}

async function tryMutants(names: readonly string[], options: MutantsOptions): Promise<Exit> {
  const chosen = choose(names);
  const terminal = openTerminal(options);
  if (options.isList) {
    const lines = options.isJson
      ? chosen.map(listedMutant).join('\n')
      : renderMutantList(chosen, { width: process.stdout.isTTY ? terminal.width : Infinity });
    process.stdout.write(`${lines}\n`);
    return exits.met;
  }
  if (options.output !== null) openFolder(options.output);
  const interruption = new Interruption();
  interruption.listen(() =>
    terminal.note('interrupted: this is what was found so far (again to stop at once)'),
  );
  const isInterrupted = (): boolean => interruption.isInterrupted;
  const workers = options.workers ?? availableParallelism();
  const pool = workers === 0 ? null : openPool({ workers });
  const rows: MutantRow[] = [];
  try {
    const context: Context = { options, pool, terminal, isInterrupted };
    for (const mutant of chosen) {
      terminal.progress(`${mutant.name}, ${rows.length} of ${chosen.length} done`);
      const row = await tryMutant(mutant, context);
      if (row === null) break;
      rows.push(row);
      if (options.isJson) process.stdout.write(`${mutantLine(row)}\n`);
    }
  } finally {
    interruption.end();
    await pool?.close();
    terminal.endProgress();
  }
  const codes = rows.map(({ trial }) => codeOf(trial));
  const exit = worstOf(isInterrupted() ? [...codes, exits.interrupted] : codes);
  if (options.isJson) process.stdout.write(`${mutantsSummary(rows, exit)}\n`);
  else terminal.printLines(renderMutants(rows, { ...terminal, chosen: chosen.length }));
  return exit;
}

/** Those that are named, each once, or all. */
function choose(names: readonly string[]): readonly Mutant[] {
  const known = mutants.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new UserError(
      unknown.map((name) => `there is no mutant ${JSON.stringify(name)}${suggest(name, known)}`),
    );
  }
  return names.length === 0 ? mutants : mutants.filter(({ name }) => names.includes(name));
}

/** Null when it was interrupted before every seed was examined. */
async function tryMutant(mutant: Mutant, context: Context): Promise<MutantRow | null> {
  const { options, pool, isInterrupted } = context;
  const scenario = scenarioOf(mutant);
  await prepare(scenario.systems);
  const blocks: Block[] = [];
  for (const range of cutIntoBlocks(options)) {
    const result = await sweep(scenario, { ...range, pool, shouldStop: isInterrupted });
    if (!result.isWhole) return null;
    blocks.push(blockOf(range, result.tallies));
  }
  const trial = judgeTrial(mutant, scenario, { blocks, isWhole: true });
  const finding = await shrinkFirst(trial, scenario, context);
  if (finding === null) return { trial, size: null };
  if (options.output !== null) {
    writeText(finding.planFile, finding.planText);
    context.terminal.note(`  ${mutant.name}: ${finding.planFile}`);
  }
  return { trial, size: sizeOf(finding) };
}

function sizeOf({ plan, size }: Finding): PlanSize {
  const { faults, events } = size;
  return { clients: plan.clients.length, faults, events };
}

async function shrinkFirst(
  trial: MutantTrial,
  scenario: Scenario,
  { options, pool, isInterrupted }: Context,
): Promise<Finding | null> {
  if (trial.foundOn.length === 0) return null;
  const file = join('mutants', trial.mutant.name);
  const loaded = { file, scenario, catalogue: builtIn, warnings: [] };
  const failing = { system: MUTANT, claim: trial.mutant.caughtBy, seeds: trial.foundOn };
  const folders = { output: options.output ?? '', corpus: null, hasPage: false };
  return findCounterexample(loaded, failing, folders, { pool, isGivenUp: isInterrupted });
}

function codeOf(trial: MutantTrial): Exit {
  const fate = fateOf(trial);
  if (trial.failed > 0) return exits.failed;
  if (fate === 'survived' || trial.base.verdict === 'broke') return exits.broken;
  return [fate, trial.base.verdict].includes('untested') ? exits.incomplete : exits.met;
}
