/**
 * `fencepost sweep`: has the seeds of scenarios examined by whatever workers are on a queue, and
 * comes to the same reports, files and exit code as `run` on one machine. `sweep-scenario.ts` has
 * the stages of one scenario, `sweep-manage.ts` what looks after sweeps, `open-queue.ts` the queue;
 * the workers are `worker.ts`.
 */

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ListedSweep } from '../adapters/fleet/sweep-queue.ts';
import { loadSweep } from '../adapters/fleet/sweep-record.ts';
import { openPool } from '../search/sweep/sweep.ts';
import {
  type Done,
  describedCommand,
  given,
  parsePositive,
  parseSeeds,
  type ReportFlags,
  reportOptions,
  seedsOption,
  shared,
} from './command.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { type LoadedScenario, loadScenarios, openFolder } from './files.ts';
import { Interruption } from './interruption.ts';
import {
  EXAMPLE_QUEUE,
  type OpenQueue,
  openQueue,
  QUEUE_VARIABLE,
  queueOption,
  requiredQueue,
} from './open-queue.ts';
import { report, requireOwnPages, summaryOf, writeShard } from './reporting.ts';
import { onlySweep, statusCommand, stopCommand, tailCommand } from './sweep-manage.ts';
import {
  type FleetContext,
  type FleetOptions,
  type SweptScenario,
  sweepScenario,
} from './sweep-scenario.ts';
import { openTerminal } from './terminal.ts';

interface SweepReportFlags extends ReportFlags {
  readonly workers?: string;
  readonly corpus?: string;
  readonly modules?: string | boolean;
}

interface SweepFlags extends SweepReportFlags {
  readonly queue?: string;
  readonly seeds: string;
  readonly chunkSeconds: string;
}

/** Adds `sweep`, and what looks after sweeps. */
export function addSweep(program: Command, done: Done): void {
  const version = program.version() ?? '';
  const sweep = reporting(
    describedCommand(
      program,
      'sweep [scenario...]',
      'have the workers on a queue examine the seeds; ends as `run` does',
      `npx fencepost sweep zombie-writer --seeds 1..100000000 --queue ${EXAMPLE_QUEUE}`,
    )
      .addOption(queueOption())
      .option(...seedsOption('1000'))
      .option('--chunk-seconds <N>', 'how long one job takes a machine like this one', '20'),
  )
    .option(
      '--no-modules',
      'refuse files that use modules; else those in the file’s folder are run',
    )
    .action(async (files: string[], flags: SweepFlags) => {
      if (files.length === 0) throw new UserError(['sweep: which scenario? see `sweep --help`']);
      if (files.some(isQueueUrl)) throw new UserError([NO_URL]);
      const options = fleetOptions(flags, requiredQueue(flags.queue), version);
      const chunkMs = 1000 * parsePositive(flags.chunkSeconds, '--chunk-seconds');
      done(await sweepFiles(files, { ...options, ...parseSeeds(flags.seeds), chunkMs }));
    });
  addManage(sweep, done);
  const resume = describedCommand(
    sweep,
    'resume [sweep]',
    'go on with a sweep whose coordinator is gone, or that was stopped',
    `npx fencepost sweep resume s0123 --queue ${EXAMPLE_QUEUE}`,
  );
  reporting(resume.addOption(queueOption()))
    .option(
      '--modules <folder>',
      'the folder that the scenario file itself is in, if it has `use:`',
    )
    .allowExcessArguments()
    .action(async (_id: string | undefined, own: SweepReportFlags) => {
      const flags = { ...sweep.opts<SweepFlags>(), modules: own.modules ?? true };
      const { queue, id } = named(resume.args, flags.queue);
      const options = fleetOptions(flags, queue, version);
      done(await resumeSweep(id, { ...options, from: 0, to: 0, chunkMs: 20_000 }));
    });
}

const MANAGE = {
  status: ['how far the sweeps on a queue are, and who is at work', statusCommand],
  tail: ['tell how far a sweep is, until it ends', tailCommand],
  stop: [
    'take the work of a sweep off the queue; its coordinator reports what is known',
    stopCommand,
  ],
} as const;

function addManage(sweep: Command, done: Done): void {
  for (const name of ['status', 'tail', 'stop'] as const) {
    const [about, manage] = MANAGE[name];
    const id = name === 'status' ? '' : ' s0123';
    const example = `npx fencepost sweep ${name}${id} --queue ${EXAMPLE_QUEUE}`;
    const described = describedCommand(sweep, `${name} [sweep]`, about, example);
    described.addOption(queueOption()).allowExcessArguments();
    if (name === 'stop') described.option('--forget', 'take what is stopped off for good');
    else described.option('--json', 'JSON lines on stdout and nothing else');
    described.action(async (_id: string | undefined, own: { readonly forget?: boolean }) => {
      const { queue, json } = sweep.opts<SweepFlags>();
      const asked = named(described.args, queue);
      done(await manage({ ...asked, isJson: json === true, forgets: own.forget === true }));
    });
  }
}

/**
 * Options that `sweep` and `sweep resume` have in common. Wherever they stand, it is `sweep` that
 * is given them: `resume` has them for its help.
 */
function reporting(described: Command): Command {
  return described
    .option('--workers <N>', 'worker threads for the calibration (default: one a core)')
    .option(...shared.output)
    .option(...shared.reporter)
    .option(...shared.corpus)
    .option(...shared.json)
    .option(...shared.quiet)
    .option(...shared.verbose);
}

function fleetOptions(
  flags: SweepReportFlags,
  queue: string,
  version: string,
): Omit<FleetOptions, 'from' | 'to' | 'chunkMs'> {
  const { workers, modules, corpus = null } = flags;
  return {
    ...{ queue, version, corpus, ...reportOptions(flags) },
    workers: given(workers, '--workers', parsePositive),
    modules: typeof modules === 'string' || modules === false ? modules : null,
  };
}

/**
 * What is no URL is the id of a sweep. A URL that stands first is the queue's too, as it once was;
 * what is neither is not said again, since it may be a URL with a slip of the pen.
 */
function named(
  args: readonly string[],
  flag: string | undefined,
): { readonly queue: string; readonly id: string | null } {
  const [first] = args;
  const isUrl = first?.includes('://') === true;
  const [id = null, ...others] = isUrl ? args.slice(1) : args;
  if (id !== null && isQueueUrl(id)) throw new UserError([NO_URL]);
  if (id !== null && !/^s[0-9a-f]{0,15}$/.test(id)) {
    throw new UserError(['what is given is no id of a sweep: s and up to 15 hexadecimal digits']);
  }
  if (others.length > 0) throw new UserError(['one sweep at a time']);
  return { queue: requiredQueue(isUrl ? first : flag), id };
}

const NO_URL = `the URL of a queue stands after --queue, or in ${QUEUE_VARIABLE}`;

/** Also where it is misspelt. */
function isQueueUrl(text: string): boolean {
  return /:\/\/|^(rediss?|postgres(ql)?)(:|\/\/)/i.test(text);
}

/** Sweeps scenarios one after the other. */
async function sweepFiles(files: readonly string[], options: FleetOptions): Promise<Exit> {
  const scenarios = await loadScenarios(files, options);
  requireOwnPages(scenarios, options.output);
  openFolder(options.output);
  const opened = await openQueue(options.queue);
  try {
    return await withFleet(opened, scenarios, options);
  } finally {
    await opened.close();
  }
}

/**
 * Goes on with a sweep from its record on the queue; its file need not be here. No module is run
 * that is not byte for byte the one that the sweep was begun with, nor one that nobody named.
 */
async function resumeSweep(id: string | null, options: FleetOptions): Promise<Exit> {
  openFolder(options.output);
  const opened = await openQueue(options.queue);
  try {
    const listed = onlySweep(await opened.queue.sweeps(), id);
    const { range } = listed.entry.sweep;
    const own = { ...options, ...range, ...plansOf(listed, options) };
    const loaded = await loadHere(listed, options);
    warnOfPlans(listed, own);
    return await withFleet(opened, [loaded], own);
  } finally {
    await opened.close();
  }
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
  const context: FleetContext = { opened, pool, options, terminal, interruption };
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
  return conclude(swept, context);
}

/** Reports what there is; the files of coordinators go once it is reported. */
function conclude(
  swept: readonly SweptScenario[],
  { options, terminal, interruption }: FleetContext,
): Exit {
  const { isInterrupted } = interruption;
  const outcomes = swept.map(({ outcome }) => outcome);
  const codes = outcomes.flatMap((outcome) => outcome.exits);
  const exit = worstOf(isInterrupted ? [...codes, exits.interrupted] : codes);
  report(outcomes, summaryOf(outcomes, exit), { options, terminal });
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
