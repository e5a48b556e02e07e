/**
 * The stages of `run` for one scenario: corpus, determinism, seeds, shrinking; each says what it
 * does.
 */
import { dirname, join } from 'node:path';
import { replay } from '../corpus/replay.ts';
import type { Finding } from '../report/finding.ts';
import { countOf, groupDigits } from '../report/prose.ts';
import type { ScenarioSummary, SystemSummary } from '../report/summary.ts';
import { whyRefused } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import { repeatSeed } from '../sweep/determinism.ts';
import { type Judgement, judgeSystem } from '../sweep/expectation.ts';
import type { Pool } from '../sweep/pool.ts';
import { type SweepResult, sweep } from '../sweep/sweep.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../sweep/tally.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { breathe } from './breathe.ts';
import { type Exit, exits } from './exit.ts';
import { type LoadedScenario, listFolder, loadPlan, type ModuleOptions } from './files.ts';
import { findCounterexample } from './find.ts';
import { noteChanges } from './note-changes.ts';
import { summarizeSystem } from './summarize.ts';
import type { Terminal } from './terminal.ts';

export interface RunOptions {
  /** Seeds, both included. */
  readonly from: number;
  readonly to: number;
  /** Ends the seeds of each scenario after this long, whatever is left; null examines all. */
  readonly timeMs: number | null;
  /** Worker threads; 0 examines in this thread, null takes one a core. */
  readonly workers: number | null;
  /** Stops a scenario's seeds once this many examinations broke a listed claim. */
  readonly maxFailures: number | null;
  readonly output: string;
  readonly reporters: ReadonlySet<string>;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly modules: ModuleOptions['modules'];
  /** Lists every claim in the overview, not only those that were expected or broke. */
  readonly isVerbose: boolean;
  readonly checksDeterminism: boolean;
}

/** What the run of one scenario came to. */
export interface ScenarioOutcome {
  readonly summary: ScenarioSummary;
  readonly findings: readonly Finding[];
  readonly exits: readonly Exit[];
  readonly seeds: number;
  readonly events: number;
  readonly milliseconds: number;
}

export interface RunContext {
  /** Null examines in this thread. */
  readonly pool: Pool | null;
  readonly options: RunOptions;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
}

/** Runs one scenario from its kept plans to its shrunk findings; writes nothing. */
export async function runScenario(
  loaded: LoadedScenario,
  context: RunContext,
): Promise<ScenarioOutcome> {
  const { terminal, options } = context;
  terminal.note(`${loaded.scenario.name}  ${loaded.file}`);
  await prepare(loaded.scenario.systems, loaded.catalogue);
  const codes: Exit[] = [
    ...(await replayCorpus(loaded, context)),
    ...(await selfCheck(loaded, context)),
  ];
  const result = await sweepSeeds(loaded, context);
  const systems: SystemSummary[] = [];
  const findings: Finding[] = [];
  const { isWhole } = result;
  const isSingle = options.from === options.to;
  let seeds = 0;
  let events = 0;
  for (const system of loaded.scenario.systems) {
    const tally = result.tallies.get(system.name) ?? EMPTY_TALLY;
    const judgement = judgeSystem(loaded.scenario, system, tally, { isWhole, isSingle });
    const found = await shrinkFirst(loaded, system, { tally, judgement }, context);
    findings.push(...found);
    systems.push(summarizeSystem(system, tally, judgement, found[0] ?? null));
    codes.push(...codesOf(tally, judgement, !isWhole && !context.isInterrupted()));
    noteFailures(system, tally, terminal);
    seeds += tally.seeds;
    events += tally.events;
  }
  const summary = { name: loaded.scenario.name, file: loaded.file, systems };
  return { summary, findings, exits: codes, seeds, events, milliseconds: result.milliseconds };
}

/** Replays the kept plans of this scenario, from `plans/` beside its file. */
async function replayCorpus(loaded: LoadedScenario, context: RunContext): Promise<Exit[]> {
  const { terminal, isInterrupted } = context;
  const folder = join(dirname(loaded.file), 'plans');
  const files = listFolder(folder).filter((file) => file.endsWith('.yaml'));
  const codes: Exit[] = [];
  let replayed = 0;
  for (const file of files) {
    await breathe();
    if (isInterrupted()) break;
    const path = join(folder, file);
    const { plan, catalogue, changedModules } = await loadPlan(path, context.options);
    if (plan.scenario !== loaded.scenario.name) continue;
    replayed += 1;
    await prepare([plan.system], catalogue);
    noteChanges(path, changedModules, terminal);
    const { outcome, divergedAt } = await replay(plan, undefined, catalogue);
    const expected = plan.expect?.outcome ?? 'reproduced';
    if (outcome === expected) continue;
    const where = divergedAt === null ? '' : `; no match for ${divergedAt}`;
    terminal.print(`✗ kept plan ${path} is ${outcome}, expected ${expected}${where}`);
    codes.push(outcome === 'diverged' ? exits.nondeterministic : exits.broken);
  }
  terminal.note(
    `  corpus: ${countOf(replayed, 'plan')} replayed, ${replayed - codes.length} as expected`,
  );
  return codes;
}

/** Seeds that are run twice even when nobody asks, while that takes no longer than this. */
const SELF_CHECK_SEEDS = 3;
const SELF_CHECK_MS = 2000;

async function selfCheck(loaded: LoadedScenario, context: RunContext): Promise<Exit[]> {
  const { scenario, catalogue } = loaded;
  const { options, terminal, isInterrupted } = context;
  const { from } = options;
  const untilMs = performance.now() + (options.checksDeterminism ? Infinity : SELF_CHECK_MS);
  const to = options.checksDeterminism
    ? options.to
    : Math.min(options.to, from + SELF_CHECK_SEEDS - 1);
  let checked = 0;
  for (const system of scenario.systems) {
    for (let seed = from; seed <= to; seed += 1) {
      await breathe();
      if (isInterrupted() || performance.now() > untilMs) break;
      if (whyRefused(expand(scenario, system.name, seed), catalogue) !== null) continue;
      const difference = await repeatSeed(scenario, system.name, seed, catalogue);
      checked += 1;
      if (difference === null) continue;
      terminal.print(
        `nondeterministic: ${loaded.file}, ${system.name}, seed ${seed}: ${difference}`,
      );
      return [exits.nondeterministic];
    }
  }
  terminal.note(`  determinism: ${countOf(checked, 'run')} repeated, every event equal`);
  return [];
}

async function sweepSeeds(loaded: LoadedScenario, context: RunContext): Promise<SweepResult> {
  const { options, terminal } = context;
  const startedMs = performance.now();
  let broken = 0;
  const result = await sweep(loaded.scenario, {
    from: options.from,
    to: options.to,
    pool: context.pool,
    catalogue: loaded.catalogue,
    shouldStop: () =>
      context.isInterrupted() ||
      (options.timeMs !== null && performance.now() - startedMs > options.timeMs) ||
      (options.maxFailures !== null && broken >= options.maxFailures),
    onProgress: (progress) => {
      broken = progress.broken;
      const seconds = (performance.now() - startedMs) / 1000;
      const rate = progress.done / Math.max(seconds, 0.001);
      const leftS = Math.ceil((progress.total - progress.done) / Math.max(rate, 1));
      const share = `${groupDigits(progress.done)} of ${groupDigits(progress.total)} runs`;
      terminal.progress(
        `  ${share}, ${groupDigits(rate)}/s, ${leftS} s left, ${groupDigits(broken)} broke a claim`,
      );
    },
  });
  const rate = groupDigits((1000 * runsOf(result)) / Math.max(result.milliseconds, 1));
  terminal.note(
    `  seeds ${options.from}..${options.to}: ${groupDigits(runsOf(result))} runs, ${rate}/s`,
  );
  return result;
}

function runsOf(result: SweepResult): number {
  return [...result.tallies.values()].reduce((total, tally) => total + tally.seeds, 0);
}

/** Shrinks what broke: each claim that should hold, else the first that should break. */
async function shrinkFirst(
  loaded: LoadedScenario,
  system: SystemScenario,
  result: { tally: Tally; judgement: Judgement },
  { options, terminal, isInterrupted }: RunContext,
): Promise<Finding[]> {
  const { tally, judgement } = result;
  const broke = system.expect.breaks.filter((claim) => claimTally(tally, claim).broken > 0);
  const claims = judgement.unexpected.length > 0 ? judgement.unexpected : broke.slice(0, 1);
  const findings: Finding[] = [];
  for (const claim of claims) {
    const startedMs = performance.now();
    const failing = { system: system.name, claim, seeds: claimTally(tally, claim).brokenSeeds };
    const finding = await findCounterexample(loaded, failing, options.output, isInterrupted);
    if (finding === null) continue;
    findings.push(finding);
    const { originalEvents, events } = finding.size;
    const took = `${groupDigits(performance.now() - startedMs)} ms`;
    terminal.note(
      `  shrink: ${system.name}, ${claim}: ${originalEvents} → ${events} events in ${took}`,
    );
  }
  return findings;
}

function codesOf(tally: Tally, judgement: Judgement, isSpent: boolean): Exit[] {
  const codes: Exit[] = [];
  if (tally.failed > 0) codes.push(exits.failed);
  if (judgement.met === false) codes.push(exits.broken);
  const isOpen = judgement.met === null && tally.failed === 0;
  if (isOpen && (judgement.isIncomplete || isSpent)) codes.push(exits.incomplete);
  return codes;
}

function noteFailures(system: SystemScenario, tally: Tally, terminal: Terminal): void {
  for (const claim of system.expect.holds) {
    const { unknown, firstUnknown } = claimTally(tally, claim);
    if (firstUnknown === null) continue;
    const where = `${groupDigits(unknown)} seeds, first on ${firstUnknown.seed}`;
    terminal.print(`? ${system.name}: ${claim} is unknown on ${where}: ${firstUnknown.reason}`);
  }
  for (const { seed, error } of tally.failures) {
    terminal.print(`✗ ${system.name} failed on seed ${seed}: ${error}`);
  }
  if (tally.failed > tally.failures.length) {
    terminal.print(`  and on ${groupDigits(tally.failed - tally.failures.length)} more seeds`);
  }
}
