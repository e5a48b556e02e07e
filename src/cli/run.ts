/** `fencepost run`: runs scenarios, then writes and prints what they came to. */
import { availableParallelism } from 'node:os';
import { renderFailure, renderRepeat } from '../report/failure.ts';
import type { Finding } from '../report/finding.ts';
import { readPageScript, renderPage } from '../report/html/page.ts';
import { renderOverview } from '../report/overview.ts';
import { findingLine } from '../report/report-json.ts';
import type { Summary } from '../report/summary.ts';
import { openPool } from '../search/sweep/sweep.ts';
import type { ScenarioOutcome } from './conclude.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { exportReports } from './export-reports.ts';
import { type LoadedScenario, loadScenarios, openFolder, writeText } from './files.ts';
import { pageFileOf } from './find.ts';
import { Interruption } from './interruption.ts';
import { type RunContext, type RunOptions, runScenario } from './run-scenario.ts';
import { writeShard } from './shard-write.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export async function runCommand(files: readonly string[], options: RunOptions): Promise<Exit> {
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

/** What all scenarios came to, for the last line of `--json`. */
export function summaryOf(outcomes: readonly ScenarioOutcome[], exit: Exit): Summary {
  const sum = (of: (outcome: ScenarioOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const seconds = Math.max(sum((outcome) => outcome.milliseconds) / 1000, 0.001);
  return {
    type: 'summary',
    version: 1,
    exit,
    seedsPerSecond: Math.round(sum((outcome) => outcome.seeds) / seconds),
    eventsPerSecond: Math.round(sum((outcome) => outcome.events) / seconds),
    scenarios: outcomes.map((outcome) => outcome.summary),
  };
}

/** What decides what is written, and where. */
export type ReportOptions = Pick<
  RunOptions,
  'output' | 'reporters' | 'isJson' | 'isVerbose' | 'version'
>;

/** Writes and prints what scenarios came to. */
export function report(
  outcomes: readonly ScenarioOutcome[],
  overview: Summary,
  { options, terminal }: { readonly options: ReportOptions; readonly terminal: Terminal },
): void {
  const { colour, width } = terminal;
  const isTold = options.reporters.has('text');
  for (const { findings, summary } of outcomes) {
    const told = new Map<string, Finding>();
    for (const finding of findings) {
      writeText(finding.planFile, finding.planText);
      if (options.isJson) process.stdout.write(`${findingLine(finding)}\n`);
      if (!isTold) continue;
      terminal.print('');
      const story = JSON.stringify([finding.claim, finding.plan.clients, finding.plan.faults]);
      const first = told.get(story);
      if (first === undefined) {
        told.set(story, finding);
        terminal.printLines(renderFailure(finding, { colour, width }));
      } else terminal.printLines(renderRepeat(finding, first, { colour, width }));
    }
    if (!options.reporters.has('html')) continue;
    const script = readPageScript();
    const page = renderPage({ findings, overview: { ...overview, scenarios: [summary] }, script });
    writeText(pageFileOf(options.output, summary.name), page);
  }
  if (isTold) {
    terminal.print('');
    terminal.printLines(renderOverview(overview, { colour, width, isFull: options.isVerbose }));
  }
  exportReports(outcomes, overview, { options, terminal });
  if (options.isJson) process.stdout.write(`${JSON.stringify(overview)}\n`);
}

/** Refuses two scenarios whose pages would be one file. */
export function requireOwnPages(scenarios: readonly LoadedScenario[], output: string): void {
  const pages = new Map<string, string>();
  for (const { file, scenario } of scenarios) {
    const page = pageFileOf(output, scenario.name);
    const other = pages.get(page);
    if (other !== undefined) {
      throw new UserError([
        `${file}:1:1 name: ${other} is called the same; both would write ${page}`,
      ]);
    }
    pages.set(page, file);
  }
}
