/**
 * Runs a campaign over scenarios for `run`: seeds on worker threads, counts in a journal
 * (`journal-file.ts`), events on the terminal (`narrate.ts`), and the result as reports
 * (`reporting.ts`). A shard leaves the conclusion to `merge`.
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { renderScenarioLine } from '../report/conclusion.ts';
import type { ExhaustScope } from '../scenario/scenario.ts';
import { campaign } from '../search/campaign/campaign.ts';
import { TooManyPlans } from '../search/campaign/count-plans.ts';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import type { Result } from '../search/campaign/result.ts';
import { ALL_REPEATED } from '../search/campaign/self-check.ts';
import type { CampaignSetting, Concluded, Examined } from '../search/campaign/setting.ts';
import { SHRINK_LIMITS } from '../search/campaign/shrink-failures.ts';
import { originOf } from '../search/sweep/checksummed.ts';
import type { Pool } from '../search/sweep/pool.ts';
import { MOST_SHARDS, type SeedRange, type Shard } from '../search/sweep/shards.ts';
import { openPool, type Progress } from '../search/sweep/sweep.ts';
import { parsePositive } from './command.ts';
import { describeIn } from './describe-failures.ts';
import { UserError } from './exit.ts';
import { openFolder } from './files.ts';
import { Interruption } from './interruption.ts';
import { type Journal, openJournal } from './journal-file.ts';
import { keptPlansOf } from './kept-plans.ts';
import { lastFailedIn, noteFailed } from './last-failed.ts';
import { narrator } from './narrate.ts';
import { journalFileOf } from './output-files.ts';
import { type ReportOptions, report, requireDistinctPages } from './reporting.ts';
import { narrowedTo, tooManyLine } from './run-campaign.ts';
import { shardText, writeShard } from './shards.ts';
import { type LoadedScenario, loadScenarios, type ModuleOptions } from './sources.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export interface RunOptions extends ReportOptions, ModuleOptions {
  /** Seeds, both ends inclusive. */
  readonly from: number;
  readonly to: number;
  /** Time limit for the seeds of each scenario; null for no limit. */
  readonly timeMs: number | null;
  /** The number of worker threads. 0 uses this thread, and null means at most one per core. */
  readonly workers: number | null;
  readonly isQuiet: boolean;
  readonly checksDeterminism: boolean;
  /** The share of the seeds to examine; null for all. */
  readonly shard: Shard | null;
  /** The scope of an exhaustive search; null for seeds. */
  readonly exhaust: ExhaustScope | null;
  /** Restricts the run to the scenarios that failed in the last run with the same output folder. */
  readonly isLastFailed?: boolean;
  /** Resumes a run that was killed or stopped. */
  readonly isResumed: boolean;
  /** The folder of kept plans; null for `plans` beside each scenario. */
  readonly corpus: string | null;
}

/** Parses `2/5`, the second of five shards. At most `MOST_SHARDS` shards are allowed. */
export function parseShard(text: string): Shard {
  const [, index = '', of = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (index === '') throw new UserError([`--shard ${text}: expected one of several, e.g. 1/4`]);
  const shard = { index: parsePositive(index, '--shard'), of: parsePositive(of, '--shard') };
  if (shard.of > MOST_SHARDS) {
    throw new UserError([`--shard ${text}: expected at most ${MOST_SHARDS} shards`]);
  }
  if (shard.index <= shard.of) return shard;
  throw new UserError([`--shard ${text}: expected a number up to ${shard.of}`]);
}

/** Runs scenarios one after the other, and reports them. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<Exit> {
  const { exhaust, output, shard } = options;
  const all = await loadScenarios(files, options);
  const failedBefore = lastFailedIn(output);
  const isChosen = ({ file }: LoadedScenario): boolean =>
    options.isLastFailed !== true || failedBefore.includes(resolve(file));
  const chosen = all.filter(isChosen);
  const terminal = openTerminal(options);
  if (chosen.length === 0) {
    terminal.print('no scenario to run: none failed in the last run');
    return exits.met;
  }
  const scenarios = exhaust === null ? chosen : chosen.map((loaded) => narrowedTo(loaded, exhaust));
  requireDistinctPages(scenarios, output);
  openFolder(output);
  const interruption = new Interruption();
  interruption.listen(() =>
    terminal.note('interrupted: finishing the current work (again to stop at once)'),
  );
  const run = await runScenarios(scenarios, options, { terminal, interruption });
  const { result, concluded, journals } = run;
  const { isInterrupted } = interruption;
  const reported = { ...options, hasReportedScenarios: scenarios.length > 1 && !options.isVerbose };
  if (shard === null) {
    report(result, scenarios, { concluded, options: reported, terminal });
    noteFailed(concluded, failedBefore, output);
  } else {
    const reporters = new Set([...options.reporters].filter((name) => name === 'text'));
    report(result, scenarios, { concluded, options: { ...options, reporters }, terminal });
    if (isInterrupted) terminal.note('interrupted: no shard written');
    else noteShard(scenarios, run.examined, { ...options, shard }, terminal);
  }
  const isDone = !isInterrupted && run.examined.every(({ cutShort }) => cutShort === null);
  if (isDone) for (const journal of journals) journal.remove();
  return result.summary.exit;
}

function noteShard(
  scenarios: readonly LoadedScenario[],
  examined: readonly Examined[],
  { from, to, output, version, corpus, shard }: RunOptions & { readonly shard: Shard },
  terminal: Terminal,
): void {
  const setting = { range: { from, to }, shard, version, corpus };
  const file = writeShard(shardText(scenarios, examined, setting), shard, output);
  terminal.note(`shard ${shard.index} of ${shard.of}: ${file}`);
  terminal.note(`next, with all shards: npx --no-install fencepost merge ${output}`);
}

interface ShardRun {
  /** The seeds of all shards. */
  readonly range: SeedRange;
  readonly shard: Shard;
  readonly version: string;
  readonly pool: Pool;
  /** Receives the total counts of all scenarios. */
  readonly onProgress: (progress: Pick<Progress, 'done' | 'broken'>) => void;
}

/**
 * Runs one shard of scenarios like `run --shard`, and returns the text of its file. Does not replay
 * kept plans, which may be on another machine.
 */
export async function runShard(
  scenarios: readonly LoadedScenario[],
  { range, shard, version, pool, onProgress }: ShardRun,
): Promise<string> {
  const examined: Examined[] = [];
  const before = { done: 0, broken: 0 };
  await campaign(scenarios, {
    range,
    shard,
    pool,
    keptPlans: () => [],
    repeats: FEW_REPEATED,
    reusesRealms: true,
    journal: () => null,
    stop: () => null,
    isInterrupted: () => false,
    findsEdges: true,
    shrinking: SHRINK_LIMITS,
    describe: async () => null,
    emit: (event) => {
      if (event.kind === 'progress') {
        onProgress({ done: before.done + event.done, broken: before.broken + event.broken });
      } else if (event.kind === 'conclusion') {
        examined.push(event.examined);
        before.done += event.concluded.seeds;
        for (const { broken } of event.examined.countsBySystem.values()) before.broken += broken;
      }
    },
  });
  return shardText(scenarios, examined, { range, shard, version, corpus: null });
}

interface Environment {
  readonly terminal: Terminal;
  readonly interruption: Interruption;
}

interface CampaignRun {
  readonly result: Result;
  /** One entry per scenario that was started. */
  readonly examined: readonly Examined[];
  readonly concluded: readonly Concluded[];
  /** To be deleted once their contents have been reported. */
  readonly journals: readonly Journal[];
}

async function runScenarios(
  scenarios: readonly LoadedScenario[],
  options: RunOptions,
  { terminal, interruption }: Environment,
): Promise<CampaignRun> {
  const { exhaust, shard, output, corpus, version, isResumed, from, to } = options;
  const isInterrupted = (): boolean => interruption.isInterrupted;
  const isSeveral = scenarios.length > 1 && !options.isVerbose;
  // If there are several scenarios, print one line for each, and omit their notes.
  const shown = isSeveral ? { ...terminal, note: () => undefined } : terminal;
  const replaysKept = shard === null || shard.index === 1;
  const narrate = narrator(shown, { replaysKept });
  const workers = options.workers ?? threadsFor(scenarios, options);
  const pool = workers === 0 ? null : openPool({ workers });
  const journals: Journal[] = [];
  const examined: Examined[] = [];
  const concluded: Concluded[] = [];
  let startedMs: number | null = null;
  const isOutOfTime = (): boolean => {
    startedMs ??= performance.now(); // the time of a scenario starts with its first seed
    return options.timeMs !== null && performance.now() - startedMs > options.timeMs;
  };
  const setting: CampaignSetting = {
    range: exhaust === null ? { from, to } : null,
    shard,
    pool,
    keptPlans: (subject) => (replaysKept ? keptPlansOf(subject, options, shown) : []),
    repeats: options.checksDeterminism ? ALL_REPEATED : FEW_REPEATED,
    reusesRealms: true,
    journal: ({ scenario }, range) => {
      const head = { origin: originOf(scenario, version), range, shard };
      const file = journalFileOf(output, scenario.name, shard);
      const journal = openJournal(file, head, { isResumed, terminal: shown });
      journals.push(journal);
      return journal;
    },
    stop: () => (isInterrupted() ? 'interrupted' : isOutOfTime() ? 'time' : null),
    isInterrupted,
    findsEdges: true,
    shrinking: SHRINK_LIMITS,
    describe: describeIn({ output, corpus, hasPage: options.reporters.has('html') }),
    emit: (event) => {
      if (event.kind === 'scenario') {
        startedMs = null;
        const loaded = scenarios.find((scenario) => scenario.file === event.subject.file);
        for (const warning of loaded?.warnings ?? []) terminal.warn(`warning: ${warning}`);
      }
      narrate(event);
      if (event.kind !== 'conclusion') return;
      examined.push(event.examined);
      concluded.push(event.concluded);
      if (isSeveral) terminal.print(renderScenarioLine(event.concluded.result, terminal));
    },
  };
  try {
    const result = await campaign(scenarios, setting);
    return { result, examined, concluded, journals };
  } catch (error) {
    if (!(error instanceof TooManyPlans)) throw error;
    const loaded = scenarios[concluded.length];
    throw loaded === undefined ? error : new UserError([tooManyLine(loaded, error)]);
  } finally {
    interruption.end();
    await pool?.close();
    terminal.endProgress();
    for (const journal of journals) journal.close();
  }
}

/** Seeds per system to run twice even without `--check-determinism`. */
const FEW_REPEATED = { seeds: 3 } as const;

/** Runs that one thread completes while another starts (about a third of a second). */
const RUNS_PER_THREAD = 64;

/** Returns one thread per core, or fewer if the runs would finish before more have started. */
function threadsFor(
  scenarios: readonly LoadedScenario[],
  { exhaust, from, to }: RunOptions,
): number {
  if (exhaust !== null) return availableParallelism();
  const systems = scenarios.reduce((sum, { scenario }) => sum + scenario.systems.length, 0);
  const worth = Math.ceil((systems * (to - from + 1)) / RUNS_PER_THREAD);
  return Math.min(availableParallelism(), worth);
}
