/**
 * What `sweep` and `sweep resume` do: open the queue, have each scenario swept by its workers
 * (`sweep-scenario.ts`), and report all of them as `run` does.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ListedSweep } from '../adapters/fleet/sweep-queue.ts';
import { loadSweep } from '../adapters/fleet/sweep-record.ts';
import { openPool } from '../search/sweep/sweep.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { openFolder } from './files.ts';
import { Interruption } from './interruption.ts';
import { type OpenQueue, withQueue } from './open-queue.ts';
import { report, requireOwnPages, summaryOf } from './reporting.ts';
import { writeShard } from './shards.ts';
import { type LoadedScenario, loadScenarios } from './sources.ts';
import { onlySweep } from './sweep-manage.ts';
import {
  type FleetContext,
  type FleetOptions,
  type SweptScenario,
  sweepScenario,
} from './sweep-scenario.ts';
import { openTerminal } from './terminal.ts';

/** Sweeps scenarios one after the other. */
export async function sweepFiles(files: readonly string[], options: FleetOptions): Promise<Exit> {
  const scenarios = await loadScenarios(files, options);
  requireOwnPages(scenarios, options.output);
  openFolder(options.output);
  return await withQueue(options.queue, (opened) => withFleet(opened, scenarios, options));
}

/**
 * Goes on with a sweep from its record on the queue; its file need not be here. No module is run
 * that is not byte for byte the one that the sweep was begun with, nor one that nobody named.
 */
export async function resumeSweep(id: string | null, options: FleetOptions): Promise<Exit> {
  openFolder(options.output);
  return await withQueue(options.queue, async (opened) => {
    const listed = onlySweep(await opened.queue.sweeps(), id);
    const { range } = listed.entry.sweep;
    const own = { ...options, ...range, ...plansOf(listed, options) };
    const loaded = await loadHere(listed, options);
    warnOfPlans(listed, own);
    return await withFleet(opened, [loaded], own);
  });
}

/** In another folder than its coordinator's, or on another machine, they are easily forgotten. */
function warnOfPlans({ entry }: ListedSweep, options: FleetOptions): void {
  const { file } = entry.sweep;
  if (options.corpus !== null || existsSync(file)) return;
  const what = `${file} is not here, so no kept plans are replayed; --corpus names their folder`;
  openTerminal(options).warn(`warning: ${what}`);
}

async function loadHere(
  { id, entry }: ListedSweep,
  { modules, version }: FleetOptions,
): Promise<LoadedScenario> {
  const here = { modules: typeof modules === 'string' ? modules : null, version };
  const loaded = await loadSweep(id, entry.sweep, here);
  if (loaded.kind === 'refused') throw new UserError([`the sweep ${id} ${loaded.why}`]);
  const { scenario, catalogue, sweep } = loaded;
  return { file: sweep.file, text: sweep.text, scenario, catalogue, warnings: [] };
}

/** Kept plans are code too, where they use modules: none comes from a folder that nobody named. */
function plansOf(
  { entry }: ListedSweep,
  { modules, corpus }: FleetOptions,
): Pick<FleetOptions, 'modules' | 'corpus'> {
  if (typeof modules !== 'string') return { modules: false, corpus };
  const isSame = resolve(modules) === resolve(dirname(entry.sweep.file));
  return { modules, corpus: corpus ?? (isSame ? null : join(modules, 'plans')) };
}

async function withFleet(
  opened: OpenQueue,
  scenarios: readonly LoadedScenario[],
  options: FleetOptions,
): Promise<Exit> {
  const terminal = openTerminal(options);
  const interruption = new Interruption();
  const note = (): void => terminal.note('interrupted: leaving (again to stop at once)');
  interruption.listen(note, ['SIGINT', 'SIGTERM']);
  const pool = openPool({ workers: options.workers ?? availableParallelism() });
  const ownPlans = new Set<string>();
  const context: FleetContext = { opened, pool, options, terminal, interruption, ownPlans };
  const swept: SweptScenario[] = [];
  try {
    for (const loaded of scenarios) {
      for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
      swept.push(await sweepScenario(loaded, context));
      if (interruption.isInterrupted) break;
    }
  } finally {
    interruption.end();
    terminal.endProgress();
    await pool.close();
  }
  return conclude(swept, scenarios.length, context);
}

/** Reports what there is; the files of coordinators go once it is reported. */
function conclude(
  swept: readonly SweptScenario[],
  asked: number,
  { options, terminal, interruption, ownPlans }: FleetContext,
): Exit {
  const { isInterrupted } = interruption;
  const outcomes = swept.map(({ outcome }) => outcome);
  const codes = outcomes.flatMap((outcome) => outcome.exits);
  const exit = worstOf(isInterrupted ? [...codes, exits.interrupted] : codes);
  report(outcomes, summaryOf(outcomes, exit, asked), {
    options: { ...options, ownPlans },
    terminal,
  });
  for (const { loaded, outcome, shardFolder, rest, clean } of swept) {
    if (rest !== null) terminal.warn(rest);
    // What was interrupted may not be shrunk: the same command does that from the checkpoint.
    if (isInterrupted || shardFolder === null) continue;
    const { from, to, version } = options;
    const place = { range: { from, to }, shard: { index: 1, of: 1 }, output: shardFolder, version };
    terminal.note(`shard: ${writeShard([loaded], [outcome], place)}`);
    clean();
  }
  return exit;
}
