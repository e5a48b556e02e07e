/**
 * The stages of a scenario: its kept plans, a few seeds run twice, and the seeds, whose tallies are
 * kept in a journal (`journal-file.ts`); then `conclude.ts` judges and shrinks, and `reporting.ts`
 * writes what all of them came to. A shard leaves the judgement to `merge`; a worker of a fleet
 * runs shards.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { renderScenarioLine } from '../report/conclusion.ts';
import type { CutShort, Summary } from '../report/summary.ts';
import { whyRefused } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { ExhaustScope } from '../scenario/scenario.ts';
import type { Pool } from '../search/sweep/pool.ts';
import { originOf } from '../search/sweep/sealed.ts';
import {
  type KeptOutcome,
  MOST_SHARDS,
  type RunDifference,
  rangeOfShard,
  type SeedRange,
  type Shard,
} from '../search/sweep/shards.ts';
import { openPool, type Progress, type SweepResult, sweep } from '../search/sweep/sweep.ts';
import { performTask } from '../search/sweep/tasks.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { parsePositive } from './command.ts';
import { concludeScenario, type Examined, type ScenarioOutcome } from './conclude.ts';
import { foldersToReplay, noteOfOldPlace } from './corpus-place.ts';
import { countAll, type ExhaustedPlans, narrowedTo, rangesOf, widest } from './exhaust.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { openFolder } from './files.ts';
import { breathe, Interruption } from './interruption.ts';
import { type Journal, openJournal } from './journal-file.ts';
import { adviceOf, keptLine, keptOutcomeOf, replayFolders } from './kept-plans.ts';
import { lastFailedIn, noteFailed } from './last-failed.ts';
import { journalFileOf } from './output-files.ts';
import {
  differenceLine,
  type ReportOptions,
  report,
  requireOwnPages,
  summaryOf,
} from './reporting.ts';
import { systemsToReuse } from './reusing.ts';
import { shardText, writeShard } from './shards.ts';
import { type LoadedScenario, loadScenarios, type ModuleOptions } from './sources.ts';
import { breaksNoted, noteChanges, openTerminal, type Terminal } from './terminal.ts';

export interface RunOptions extends ReportOptions, ModuleOptions {
  /** Seeds, both included. */
  readonly from: number;
  readonly to: number;
  /** Ends the seeds of each scenario after this long, whatever is left; null examines all. */
  readonly timeMs: number | null;
  /** Worker threads; 0 examines in this thread, null takes at most one a core. */
  readonly workers: number | null;
  readonly isQuiet: boolean;
  readonly checksDeterminism: boolean;
  /** Examines only this share of the seeds, for `merge`; null examines all. */
  readonly shard: Shard | null;
  /** Examines every plan in that scope, and no seeds; null examines seeds. */
  readonly exhaust: ExhaustScope | null;
  /** Takes only those scenarios that failed in the last run with the same output. */
  readonly isLastFailed?: boolean;
  /** Goes on where a run that was killed or stopped left off. */
  readonly isResumed: boolean;
  /** The folder of kept plans; null takes `plans` beside each scenario. */
  readonly corpus: string | null;
  /** Leaves the kept plans to the caller; absent if not. */
  readonly skipsKeptPlans?: boolean;
}

/** `2/5` is the second of five shards, of which there are at most `MOST_SHARDS`. */
export function parseShard(text: string): Shard {
  const [, index = '', of = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (index === '') throw new UserError([`--shard ${text}: expected one of several, e.g. 1/4`]);
  const shard = { index: parsePositive(index, '--shard'), of: parsePositive(of, '--shard') };
  if (shard.of > MOST_SHARDS) {
    throw new UserError([`--shard ${text}: at most ${MOST_SHARDS} shards are possible`]);
  }
  if (shard.index <= shard.of) return shard;
  throw new UserError([`--shard ${text}: there are only ${shard.of}`]);
}

interface RunContext {
  /** Null examines in this thread. */
  readonly pool: Pool | null;
  readonly options: RunOptions;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
  /** Opened here, and deleted once what they are about was reported. */
  readonly journals: Journal[];
  /** Called with the counts of the scenario at hand; absent if they are not wanted. */
  readonly onProgress?: (progress: Pick<Progress, 'done' | 'broken'>) => void;
}

/** Runs scenarios, one after the other, and reports them. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<Exit> {
  const { exhaust } = options;
  const all = await loadScenarios(files, options);
  const failedBefore = lastFailedIn(options.output);
  const isChosen = ({ file }: LoadedScenario) =>
    options.isLastFailed !== true || failedBefore.includes(resolve(file));
  const whole = all.filter(isChosen);
  if (whole.length === 0) {
    openTerminal(options).print('none of these scenarios failed in the last run');
    return exits.met;
  }
  const scenarios = exhaust === null ? whole : whole.map((one) => narrowedTo(one, exhaust));
  requireOwnPages(scenarios, options.output);
  openFolder(options.output);
  const terminal = openTerminal(options);
  const interruption = new Interruption();
  interruption.listen(() =>
    terminal.note('interrupted: finishing what is under way (again to stop at once)'),
  );
  const workers = options.workers ?? threadsFor(scenarios, options);
  const pool = workers === 0 ? null : openPool({ workers });
  const isInterrupted = (): boolean => interruption.isInterrupted;
  const context: RunContext = { pool, options, terminal, isInterrupted, journals: [] };
  const isSeveral = scenarios.length > 1 && !options.isVerbose;
  const stages = isSeveral ? { ...context, terminal: withoutNotes(terminal) } : context;
  const outcomes: ScenarioOutcome[] = [];
  try {
    for (const loaded of scenarios) {
      for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
      const outcome = await runScenario(loaded, stages);
      outcomes.push(outcome);
      if (isSeveral) terminal.print(renderScenarioLine(outcome.summary, terminal));
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
  const summary = summaryOf(outcomes, exit, scenarios.length);
  const reported = { ...options, hasToldScenarios: isSeveral };
  if (options.shard === null) report(outcomes, summary, { options: reported, terminal });
  else reportShard(scenarios, outcomes, summary, context);
  const isDone = !isInterrupted() && outcomes.every(({ examined }) => examined.isWhole);
  if (isDone) for (const journal of context.journals) journal.remove();
  if (options.shard === null) noteFailed(outcomes, failedBefore, options.output);
  return exit;
}

interface ShardRun {
  /** The seeds of all shards. */
  readonly range: SeedRange;
  readonly shard: Shard;
  /** Of fencepost. */
  readonly version: string;
  readonly pool: Pool;
  /** Called with the counts of all scenarios together. */
  readonly onProgress: NonNullable<RunContext['onProgress']>;
}

/**
 * Runs one shard of scenarios as `run --shard` does, and returns the text of its file. The kept
 * plans are left to the caller: they lie beside the scenario, perhaps on another machine.
 */
export async function runShard(
  scenarios: readonly LoadedScenario[],
  { range, shard, version, pool, onProgress }: ShardRun,
): Promise<string> {
  const output = mkdtempSync(join(tmpdir(), 'fencepost-shard-'));
  const options: RunOptions = {
    from: range.from,
    to: range.to,
    shard,
    version,
    output,
    timeMs: null,
    exhaust: null,
    workers: pool.workers,
    checksDeterminism: false,
    isResumed: false,
    corpus: null,
    skipsKeptPlans: true,
    modules: false,
    reporters: new Set(),
    isQuiet: true,
    isJson: true,
    isVerbose: false,
  };
  const outcomes: ScenarioOutcome[] = [];
  const before = { done: 0, broken: 0 };
  const context: RunContext = {
    pool,
    options,
    terminal: openTerminal(options),
    isInterrupted: () => false,
    journals: [],
    onProgress: ({ done, broken }) =>
      onProgress({ done: before.done + done, broken: before.broken + broken }),
  };
  try {
    for (const loaded of scenarios) {
      const outcome = await runScenario(loaded, context);
      outcomes.push(outcome);
      before.done += outcome.seeds;
      for (const { broken } of outcome.examined.tallies.values()) before.broken += broken;
    }
    return shardText(scenarios, outcomes, { range, shard, version });
  } finally {
    for (const journal of context.journals) journal.close();
    rmSync(output, { recursive: true, force: true });
  }
}

/** So many runs take one thread about as long as another takes to start, a third of a second. */
const RUNS_PER_THREAD = 64;

/** One thread a core, or fewer where the runs are over before it is there. */
function threadsFor(
  scenarios: readonly LoadedScenario[],
  { exhaust, from, to }: RunOptions,
): number {
  if (exhaust !== null) return availableParallelism();
  const systems = scenarios.reduce((sum, { scenario }) => sum + scenario.systems.length, 0);
  const worth = Math.ceil((systems * (to - from + 1)) / RUNS_PER_THREAD);
  return Math.min(availableParallelism(), worth);
}

/** Of several scenarios each has a line of its own, so how each went is not told besides. */
function withoutNotes(terminal: Terminal): Terminal {
  return { ...terminal, note: () => undefined };
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
  const text = shardText(scenarios, outcomes, { range: { from, to }, shard, version });
  const file = writeShard(text, shard, output);
  terminal.note(`shard ${shard.index} of ${shard.of}: ${file}`);
  terminal.note(`when all are there: npx --no-install fencepost merge ${output}`);
}

/** Runs one scenario from its kept plans to its shrunk findings; writes only its journal. */
async function runScenario(loaded: LoadedScenario, context: RunContext): Promise<ScenarioOutcome> {
  const { pool, terminal, options, isInterrupted } = context;
  const { shard, output, exhaust } = options;
  const hasPage = options.reporters.has('html');
  terminal.note(`${loaded.scenario.name}  ${loaded.file}`);
  await prepare(loaded.scenario.systems, loaded.catalogue);
  pool?.restorePatience();
  const plans = exhaust === null ? null : await countAll(loaded, context);
  const range = plans === null ? { from: options.from, to: options.to } : widest(plans);
  const part = shard === null ? range : rangeOfShard(range, shard);
  const journal = journalFor(loaded, range, context);
  const keptPlans = await replayKeptOf(loaded, context);
  const { repeated, difference } = await selfCheck(loaded, part, context);
  // The seed that it may have been lost to is one of the sweep's, which goes on without it.
  pool?.restorePatience();
  const tasks = { pool, catalogue: loaded.catalogue, isGivenUp: isInterrupted };
  const { checksDeterminism } = options;
  const ranges = { whole: range, part };
  const reusing =
    plans === null
      ? await systemsToReuse(loaded, ranges, { tasks, checksDeterminism, terminal })
      : [];
  const result = await sweepSeeds(loaded, { ...part, reusing, plans }, context, journal);
  const examined: Examined = {
    ...{ range, keptPlans, repeated, difference, corpus: options.corpus },
    ...(plans === null ? {} : { exhausted: plans }),
    tallies: result.tallies,
    isWhole: result.isWhole,
    ...(result.isWhole ? {} : { cutShort: cutShortOf(result, part, context) }),
    isPart: shard !== null,
    milliseconds: journal.milliseconds + result.milliseconds,
  };
  return await concludeScenario(loaded, examined, {
    output,
    hasPage,
    terminal,
    isInterrupted,
    pool,
  });
}

/** What ended the seeds before the last; what somebody asked for goes before what happened. */
function cutShortOf(
  { tallies }: SweepResult,
  { from, to }: SeedRange,
  { isInterrupted }: RunContext,
): CutShort {
  const asked = to - from + 1;
  if (isInterrupted()) return { asked, by: 'interrupted' };
  const isKilled = [...tallies.values()].some(({ killed }) => killed > 0);
  return { asked, by: isKilled ? 'hangs' : 'time' };
}

function journalFor(
  { scenario }: LoadedScenario,
  range: SeedRange,
  { options, terminal, journals }: RunContext,
): Journal {
  const { shard, version, output, isResumed } = options;
  const head = { origin: originOf(scenario, version), range, shard };
  const file = journalFileOf(output, scenario.name, shard);
  const journal = openJournal(file, head, { isResumed, terminal });
  journals.push(journal);
  return journal;
}

interface KeptContext extends Pick<RunContext, 'terminal' | 'isInterrupted'> {
  readonly options: Pick<RunOptions, 'shard' | 'modules' | 'corpus' | 'skipsKeptPlans'>;
}

/** Replays the kept plans of this scenario; of several shards the first does. */
export async function replayKeptOf(
  loaded: LoadedScenario,
  { options, terminal, isInterrupted }: KeptContext,
): Promise<readonly KeptOutcome[]> {
  const { shard, modules } = options;
  if (options.skipsKeptPlans === true) return [];
  if (shard !== null && shard.index > 1) {
    terminal.note('  corpus: replayed by shard 1');
    return [];
  }
  const scenario = loaded.scenario.name;
  const outcomes: KeptOutcome[] = [];
  const { folders, old } =
    options.corpus === null
      ? foldersToReplay(loaded.file)
      : { folders: [options.corpus], old: null };
  if (options.corpus !== null && !existsSync(options.corpus)) {
    terminal.warn(`warning: no folder ${options.corpus}: no kept plan is replayed`);
  }
  const known = loaded.scenario.use ?? {};
  const asked = { modules, known, scenario, shouldStop: isInterrupted };
  for await (const kept of replayFolders(folders, asked)) {
    const result = keptOutcomeOf(kept);
    outcomes.push(result);
    if (kept.kind === 'damaged') for (const line of kept.lines) terminal.warn(line);
    else noteChanges(kept.file, kept.loaded, terminal);
    if (result.outcome !== result.expected) terminal.print(keptLine(result));
    if (kept.kind === 'replayed') for (const line of adviceOf(kept)) terminal.print(`  ${line}`);
  }
  if (old !== null && outcomes.some(({ file }) => dirname(file) === old)) {
    const note = noteOfOldPlace(scenario, loaded.file);
    if (note !== null) terminal.warn(note);
  }
  const met = outcomes.filter(({ outcome, expected }) => outcome === expected).length;
  terminal.note(`  corpus: ${countOf(outcomes.length, 'plan')} replayed, ${met} as expected`);
  return outcomes;
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
  { pool, options, terminal, isInterrupted }: RunContext,
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
      const task = { kind: 'repeat', scenario, system, seed } as const;
      const end = await performTask(task, { pool, catalogue, isGivenUp: isInterrupted });
      if (end.kind === 'lost') {
        terminal.note(`  determinism: ${end.where}: ${end.why}`);
        return { repeated, difference: null };
      }
      if (end.kind !== 'repeated') continue; // what it throws, the sweep tells with its seed
      repeated += 1;
      if (end.difference === null) continue;
      const difference = { system, seed, what: end.difference };
      terminal.print(differenceLine(loaded.file, difference));
      return { repeated, difference };
    }
  }
  terminal.note(`  determinism: ${countOf(repeated, 'run')} repeated, every event equal`);
  return { repeated, difference: null };
}

/** What is swept: seeds, or of each system its plans. */
interface Swept extends SeedRange {
  readonly reusing: readonly string[];
  readonly plans: ReadonlyMap<string, ExhaustedPlans> | null;
}

async function sweepSeeds(
  loaded: LoadedScenario,
  { from, to, reusing, plans }: Swept,
  context: RunContext,
  journal: Journal,
): Promise<SweepResult> {
  const { options, terminal } = context;
  const startedMs = performance.now();
  let runs = 0;
  const { systems } = loaded.scenario;
  const noteBreaks = breaksNoted(systems, { terminal, trial: plans === null ? 'seed' : 'plan' });
  const result = await sweep(loaded.scenario, {
    ...{ from, to, pool: context.pool, catalogue: loaded.catalogue, finished: journal.finished },
    reusing,
    ...(plans === null ? {} : { plans: rangesOf(plans, options.shard) }),
    onFinished: (chunk, tally) => {
      runs += tally.seeds;
      noteBreaks(chunk.system, tally);
      journal.add(chunk, tally);
    },
    onDifference: (system, { seed, what }) => {
      journal.forget(system);
      terminal.note(
        `  modules: ${system} begins again, with all loaded anew: seed ${seed}: ${what}`,
      );
    },
    isGivenUp: context.isInterrupted,
    shouldStop: () =>
      context.isInterrupted() ||
      (options.timeMs !== null && performance.now() - startedMs > options.timeMs),
    onProgress: (progress) => {
      context.onProgress?.(progress);
      const seconds = (performance.now() - startedMs) / 1000;
      const rate = runs / Math.max(seconds, 0.001);
      const leftS = Math.ceil((progress.total - progress.done) / Math.max(rate, 1));
      const share = `${groupDigits(progress.done)} of ${groupDigits(progress.total)} runs`;
      terminal.progress(
        `  ${share}, ${groupDigits(rate)}/s, ${leftS} s left, ${groupDigits(progress.broken)} broke a claim`,
      );
    },
  });
  const rate = groupDigits((1000 * runs) / Math.max(result.milliseconds, 1));
  const trials = plans === null ? 'seeds' : 'plans';
  const seeds = to < from ? `no ${trials}` : `${trials} ${from}..${to}`;
  terminal.note(`  ${seeds}: ${groupDigits(runs)} runs, ${rate}/s`);
  const killed = [...result.tallies.values()].reduce((sum, tally) => sum + tally.killed, 0);
  if (killed > 0 && !result.isWhole) {
    terminal.note(`  given up after ${countOf(killed, 'seed')} that did not end`);
  } else if (!result.isWhole) {
    terminal.note(`  not all ${trials} are done: the same command with --resume goes on`);
  }
  return result;
}
