/**
 * `fencepost sweep`: has the seeds of scenarios examined by whatever workers are on a queue, and
 * comes to the same reports, files and exit code as `run` on one machine.
 */
import { availableParallelism } from 'node:os';
import { sweepIdOf } from '../fleet/sweep-record.ts';
import { originOf, whyForeign } from '../sweep/origin.ts';
import { openPool } from '../sweep/sweep.ts';
import type { ScenarioOutcome } from './conclude.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { type LoadedScenario, loadScenarios, loadScenarioText, openFolder } from './files.ts';
import { type FleetContext, type FleetOptions, sweepScenario } from './fleet-scenario.ts';
import { Interruption } from './interruption.ts';
import { type OpenQueue, openQueue } from './open-queue.ts';
import { report, requireOwnPages, summaryOf } from './run.ts';
import { writeShard } from './shard-write.ts';
import { only } from './sweep-manage.ts';
import { openTerminal } from './terminal.ts';

/** Sweeps scenarios one after the other. */
export async function sweepCommand(files: readonly string[], options: FleetOptions): Promise<Exit> {
  const scenarios = await loadScenarios(files, options);
  requireOwnPages(scenarios, options.output);
  return await withFleet(await openQueue(options.queue), scenarios, options);
}

/** Goes on with a sweep from its record on the queue; its files need not be here. */
export async function resumeCommand(id: string | null, options: FleetOptions): Promise<Exit> {
  const opened = await openQueue(options.queue);
  try {
    const { sweep } = only(await opened.queue.sweeps(), id).entry;
    const { file, text, origin, range } = sweep;
    const loaded = await loadScenarioText({ file, text }, options);
    const why = whyForeign(origin, originOf(loaded.scenario, options.version));
    if (why !== null) throw new UserError([`the sweep ${sweepIdOf(sweep)} ${why}, as is here`]);
    return await withFleet(opened, [loaded], { ...options, ...range });
  } catch (error) {
    await opened.queue.close();
    throw error;
  }
}

async function withFleet(
  { queue, safe }: OpenQueue,
  scenarios: readonly LoadedScenario[],
  options: FleetOptions,
): Promise<Exit> {
  openFolder(options.output);
  const terminal = openTerminal(options);
  const interruption = new Interruption();
  const note = (): void => terminal.note('interrupted: leaving (again to stop at once)');
  interruption.listen(note, ['SIGINT', 'SIGTERM']);
  const isInterrupted = (): boolean => interruption.isInterrupted;
  const pool = openPool({ workers: options.workers ?? availableParallelism() });
  const context: FleetContext = { queue, safe, pool, options, terminal, isInterrupted, done: [] };
  const outcomes: ScenarioOutcome[] = [];
  try {
    for (const loaded of scenarios) {
      for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
      const outcome = await sweepScenario(loaded, context);
      if (outcome === null) break;
      outcomes.push(outcome);
    }
  } finally {
    interruption.end();
    terminal.endProgress();
    await pool.close();
    await queue.close();
  }
  return conclude(scenarios, outcomes, context);
}

/** Reports what there is; the files of coordinators go once it is reported. */
function conclude(
  scenarios: readonly LoadedScenario[],
  outcomes: readonly ScenarioOutcome[],
  { options, terminal, isInterrupted, done }: FleetContext,
): Exit {
  if (outcomes.length === 0) return exits.interrupted;
  const codes = outcomes.flatMap((outcome) => outcome.exits);
  const isCut = isInterrupted() || outcomes.length < scenarios.length;
  const exit = worstOf(isCut ? [...codes, exits.interrupted] : codes);
  report(outcomes, summaryOf(outcomes, exit), { options, terminal });
  if (isCut) return exit;
  const { from, to, output, version } = options;
  const shard = { index: 1, of: 1 };
  writeShard(scenarios, outcomes, { range: { from, to }, shard, output, version });
  for (const remove of done) remove();
  return exit;
}
