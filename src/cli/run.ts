/**
 * `fencepost run`: examines the seeds of scenarios and says what they came to. The stages of a
 * scenario are its kept plans, a few seeds run twice, and the seeds, whose tallies are kept in a
 * journal (`journal-file.ts`); `conclude.ts` judges and shrinks, `reporting.ts` writes. A shard
 * leaves the judgement to `merge`, and a sweep over a fleet has the same stages around its own.
 */

import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import type { Summary } from '../report/summary.ts';
import { whyRefused } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import { repeatSeed } from '../search/sweep/examiner.ts';
import type { Pool } from '../search/sweep/pool.ts';
import { originOf } from '../search/sweep/sealed.ts';
import {
  type KeptOutcome,
  type RunDifference,
  rangeOfShard,
  type SeedRange,
  type Shard,
} from '../search/sweep/shards.ts';
import { openPool, type SweepResult, sweep } from '../search/sweep/sweep.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import {
  type Done,
  describedCommand,
  freshSeeds,
  given,
  parseCount,
  parseSeeds,
  parseShard,
  parseTimeMs,
  type ReportFlags,
  reportOptions,
  seedsOption,
  shared,
} from './command.ts';
import {
  concludeScenario,
  type Examined,
  journalFileOf,
  type ScenarioOutcome,
} from './conclude.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { type LoadedScenario, loadScenarios, type ModuleOptions, openFolder } from './files.ts';
import { breathe, Interruption } from './interruption.ts';
import { type Journal, openJournal } from './journal-file.ts';
import { keptOutcomeOf, replayFolders } from './kept-plans.ts';
import { type ReportOptions, report, requireOwnPages, summaryOf, writeShard } from './reporting.ts';
import { plansFoldersOf } from './shipped.ts';
import { noteChanges, openTerminal, type Terminal } from './terminal.ts';

interface RunFlags extends ReportFlags {
  readonly seeds: string;
  readonly seed?: string;
  readonly fresh?: boolean;
  readonly time?: string;
  readonly workers?: string;
  readonly maxFailures?: string;
  readonly checkDeterminism?: boolean;
  readonly shard?: string;
  readonly resume?: boolean;
  readonly corpus?: string;
  readonly modules: boolean;
}

export function addRun(program: Command, done: Done): void {
  describedCommand(
    program,
    'run <scenario...>',
    'sweep seeds of scenarios, by file or name, find what breaks, shrink and explain it',
    'npx fencepost run zombie-writer --seeds 1000',
  )
    .option(...seedsOption('1000'))
    .option('--seed <S>', 'only this seed')
    .option('--fresh', 'seeds that were never tried: the range begins at a random one')
    .option('--time <duration>', 'stop each scenario after this long, e.g. 60s')
    .option(...shared.workers)
    .option('--max-failures <N>', 'stop a scenario after this many runs broke a claim')
    .option(...shared.output)
    .option(...shared.reporter)
    .option(...shared.json)
    .option('--check-determinism', 'run every seed twice and compare every event')
    .option('--shard <i/n>', 'examine only the i-th of n parts of the seeds, for `merge`')
    .option('--resume', 'go on where the same command was killed or stopped')
    .option(...shared.corpus)
    .option(...shared.noModules)
    .option(...shared.quiet)
    .option(...shared.verbose)
    .action(async (files: string[], flags: RunFlags) => {
      const one = given(flags.seed, '--seed', parseCount);
      const seeds = one === null ? parseSeeds(flags.seeds) : { from: one, to: one };
      const range = flags.fresh === true ? freshSeeds(seeds) : seeds;
      done(
        await runFiles(files, {
          ...range,
          timeMs: given(flags.time, '--time', parseTimeMs),
          workers: given(flags.workers, '--workers', parseCount),
          maxFailures: given(flags.maxFailures, '--max-failures', parseCount),
          ...reportOptions(flags),
          checksDeterminism: flags.checkDeterminism === true,
          ...shardOptions(flags),
          corpus: flags.corpus ?? null,
          version: program.version() ?? '',
          modules: flags.modules ? null : false,
        }),
      );
    });
}

/** A random range is another one each time, so no other machine or attempt can share it. */
function shardOptions({ shard, resume, fresh }: RunFlags): Pick<RunOptions, 'shard' | 'isResumed'> {
  const other = shard === undefined ? '--resume' : '--shard';
  if (fresh === true && (shard !== undefined || resume === true)) {
    throw new UserError([`--fresh: draws another range each time; ${other} needs the same one`]);
  }
  return { shard: given(shard, '--shard', parseShard), isResumed: resume === true };
}

export interface RunOptions extends ReportOptions, ModuleOptions {
  /** Seeds, both included. */
  readonly from: number;
  readonly to: number;
  /** Ends the seeds of each scenario after this long, whatever is left; null examines all. */
  readonly timeMs: number | null;
  /** Worker threads; 0 examines in this thread, null takes one a core. */
  readonly workers: number | null;
  /** Stops a scenario's seeds once this many examinations broke a listed claim. */
  readonly maxFailures: number | null;
  readonly isQuiet: boolean;
  readonly checksDeterminism: boolean;
  /** Examines only this share of the seeds, for `merge`; null examines all. */
  readonly shard: Shard | null;
  /** Goes on where a run that was killed or stopped left off. */
  readonly isResumed: boolean;
  /** The folder of kept plans; null takes `plans` beside each scenario. */
  readonly corpus: string | null;
}

interface RunContext {
  /** Null examines in this thread. */
  readonly pool: Pool | null;
  readonly options: RunOptions;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
  /** Opened here, and deleted once what they are about was reported. */
  readonly journals: Journal[];
}

async function runFiles(files: readonly string[], options: RunOptions): Promise<Exit> {
  const scenarios = await loadScenarios(files, options);
  requireOwnPages(scenarios, options.output);
  openFolder(options.output);
  const terminal = openTerminal(options);
  const interruption = new Interruption();
  interruption.listen(() =>
    terminal.note('interrupted: finishing what is under way (again to stop at once)'),
  );
  const workers = options.workers ?? availableParallelism();
  const pool = workers === 0 ? null : openPool({ workers });
  const isInterrupted = (): boolean => interruption.isInterrupted;
  const context: RunContext = { pool, options, terminal, isInterrupted, journals: [] };
  const outcomes: ScenarioOutcome[] = [];
  try {
    for (const loaded of scenarios) {
      for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
      outcomes.push(await runScenario(loaded, context));
      if (isInterrupted()) break;
    }
  } finally {
    interruption.end();
    await pool?.close();
    terminal.endProgress();
    for (const journal of context.journals) journal.close();
  }
  const codes = outcomes.flatMap((outcome) => outcome.exits);
  const exit = worstOf(isInterrupted() ? [...codes, exits.interrupted] : codes);
  const summary = summaryOf(outcomes, exit);
  if (options.shard === null) report(outcomes, summary, context);
  else reportShard(scenarios, outcomes, summary, context);
  const isDone = !isInterrupted() && outcomes.every(({ examined }) => examined.isWhole);
  if (isDone) for (const journal of context.journals) journal.remove();
  return exit;
}

/** Writes the file of a shard, where there is a whole result; all else is left to the merge. */
function reportShard(
  scenarios: readonly LoadedScenario[],
  outcomes: readonly ScenarioOutcome[],
  summary: Summary,
  { options, terminal, isInterrupted }: RunContext,
): void {
  const { shard, from, to, output, version } = options;
  if (shard === null) return;
  const reporters = new Set([...options.reporters].filter((name) => name === 'text'));
  report(outcomes, summary, { options: { ...options, reporters }, terminal });
  if (isInterrupted()) {
    terminal.note('interrupted: no shard was written');
    return;
  }
  const file = writeShard(scenarios, outcomes, { range: { from, to }, shard, output, version });
  terminal.note(`shard ${shard.index} of ${shard.of}: ${file}`);
  terminal.note(`when all are there: npx fencepost merge ${output}`);
}

/** Runs one scenario from its kept plans to its shrunk findings; writes only its journal. */
async function runScenario(loaded: LoadedScenario, context: RunContext): Promise<ScenarioOutcome> {
  const { terminal, options, isInterrupted } = context;
  const { shard, from, to, output } = options;
  const range = { from, to };
  const part = shard === null ? range : rangeOfShard(range, shard);
  terminal.note(`${loaded.scenario.name}  ${loaded.file}`);
  await prepare(loaded.scenario.systems, loaded.catalogue);
  const journal = journalFor(loaded, context);
  const keptPlans = await replayKeptPlans(loaded, context);
  const { repeated, difference } = await selfCheck(loaded, part, context);
  const result = await sweepSeeds(loaded, part, context, journal);
  const examined: Examined = {
    ...{ range, keptPlans, repeated, difference, corpus: options.corpus },
    tallies: result.tallies,
    isWhole: result.isWhole,
    isPart: shard !== null,
    milliseconds: journal.milliseconds + result.milliseconds,
  };
  return await concludeScenario(loaded, examined, { output, terminal, isInterrupted });
}

function journalFor(
  { scenario }: LoadedScenario,
  { options, terminal, journals }: RunContext,
): Journal {
  const { from, to, shard, version, output, isResumed } = options;
  const head = { origin: originOf(scenario, version), range: { from, to }, shard };
  const file = journalFileOf(output, scenario.name, shard);
  const journal = openJournal(file, head, { isResumed, terminal });
  journals.push(journal);
  return journal;
}

/** Replays the kept plans of this scenario; of several shards the first does. */
export async function replayKeptPlans(
  loaded: LoadedScenario,
  { options, terminal, isInterrupted }: RunContext,
): Promise<readonly KeptOutcome[]> {
  const { shard, modules } = options;
  if (shard !== null && shard.index > 1) {
    terminal.note('  corpus: replayed by shard 1');
    return [];
  }
  const scenario = loaded.scenario.name;
  const outcomes: KeptOutcome[] = [];
  const folders = options.corpus === null ? plansFoldersOf(loaded.file) : [options.corpus];
  for await (const kept of replayFolders(folders, {
    modules,
    scenario,
    shouldStop: isInterrupted,
  })) {
    const result = keptOutcomeOf(kept);
    outcomes.push(result);
    if (kept.kind === 'damaged') for (const line of kept.lines) terminal.warn(line);
    else noteChanges(kept.file, kept.loaded.changedModules, terminal);
    if (result.outcome !== result.expected) terminal.print(keptLine(result));
  }
  const met = outcomes.filter(({ outcome, expected }) => outcome === expected).length;
  terminal.note(`  corpus: ${countOf(outcomes.length, 'plan')} replayed, ${met} as expected`);
  return outcomes;
}

/** A kept plan that is not what it says of itself, in one line. */
export function keptLine({ file, outcome, expected, divergedAt }: KeptOutcome): string {
  const where = divergedAt === null ? '' : `; no match for ${divergedAt}`;
  return `✗ kept plan ${file} is ${outcome}, expected ${expected}${where}`;
}

/** Seeds that are run twice even when nobody asks, while that takes no longer than this. */
const SELF_CHECK_SEEDS = 3;
const SELF_CHECK_MS = 2000;

interface SelfCheck {
  readonly repeated: number;
  readonly difference: RunDifference | null;
}

export async function selfCheck(
  loaded: LoadedScenario,
  { from, to }: SeedRange,
  { options, terminal, isInterrupted }: RunContext,
): Promise<SelfCheck> {
  const { scenario, catalogue } = loaded;
  const untilMs = performance.now() + (options.checksDeterminism ? Infinity : SELF_CHECK_MS);
  const last = options.checksDeterminism ? to : Math.min(to, from + SELF_CHECK_SEEDS - 1);
  let repeated = 0;
  for (const { name: system } of scenario.systems) {
    for (let seed = from; seed <= last; seed += 1) {
      await breathe();
      if (isInterrupted() || performance.now() > untilMs) break;
      if (whyRefused(expand(scenario, system, seed), catalogue) !== null) continue;
      const what = await repeatSeed(scenario, system, seed, catalogue).catch(() => undefined);
      if (what === undefined) continue; // what it throws, the sweep tells with its seed
      repeated += 1;
      if (what === null) continue;
      const difference = { system, seed, what };
      terminal.print(differenceLine(loaded.file, difference));
      return { repeated, difference };
    }
  }
  terminal.note(`  determinism: ${countOf(repeated, 'run')} repeated, every event equal`);
  return { repeated, difference: null };
}

/** What differed between two runs of one seed, in one line. */
export function differenceLine(file: string, { system, seed, what }: RunDifference): string {
  return `nondeterministic: ${file}, ${system}, seed ${seed}: ${what}`;
}

async function sweepSeeds(
  loaded: LoadedScenario,
  { from, to }: SeedRange,
  context: RunContext,
  journal: Journal,
): Promise<SweepResult> {
  const { options, terminal } = context;
  const startedMs = performance.now();
  let runs = 0;
  let broken = 0;
  const hasFailedEnough = (): boolean =>
    options.maxFailures !== null && broken >= options.maxFailures;
  const result = await sweep(loaded.scenario, {
    from,
    to,
    pool: context.pool,
    catalogue: loaded.catalogue,
    finished: journal.finished,
    onFinished: (chunk, tally) => {
      runs += tally.seeds;
      journal.add(chunk, tally);
    },
    shouldStop: () =>
      context.isInterrupted() ||
      (options.timeMs !== null && performance.now() - startedMs > options.timeMs) ||
      hasFailedEnough(),
    onProgress: (progress) => {
      broken = progress.broken;
      const seconds = (performance.now() - startedMs) / 1000;
      const rate = runs / Math.max(seconds, 0.001);
      const leftS = Math.ceil((progress.total - progress.done) / Math.max(rate, 1));
      const share = `${groupDigits(progress.done)} of ${groupDigits(progress.total)} runs`;
      terminal.progress(
        `  ${share}, ${groupDigits(rate)}/s, ${leftS} s left, ${groupDigits(broken)} broke a claim`,
      );
    },
  });
  const rate = groupDigits((1000 * runs) / Math.max(result.milliseconds, 1));
  terminal.note(`  ${seedsText({ from, to })}: ${groupDigits(runs)} runs, ${rate}/s`);
  if (!result.isWhole && !hasFailedEnough()) {
    terminal.note('  not all seeds are done: the same command with --resume goes on');
  }
  return result;
}

function seedsText({ from, to }: SeedRange): string {
  return to < from ? 'no seeds' : `seeds ${from}..${to}`;
}
