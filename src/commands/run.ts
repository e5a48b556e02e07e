/** `fencepost run`: runs scenarios, then writes and prints what they came to. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { renderFailure, renderRepeat } from '../report/failure.ts';
import type { Finding } from '../report/finding.ts';
import { renderOverview } from '../report/overview.ts';
import { renderPage } from '../report/page.ts';
import type { Summary } from '../report/summary.ts';
import { openPool } from '../sweep/sweep.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { type LoadedScenario, loadScenarios, openFolder, writeText } from './files.ts';
import { pageFileOf } from './find.ts';
import {
  type RunContext,
  type RunOptions,
  runScenario,
  type ScenarioOutcome,
} from './run-scenario.ts';
import { openTerminal } from './terminal.ts';

export async function runCommand(files: readonly string[], options: RunOptions): Promise<Exit> {
  const scenarios = await loadScenarios(files, options);
  requireOwnPages(scenarios, options.output);
  openFolder(options.output);
  const terminal = openTerminal(options);
  let interrupts = 0;
  const onInterrupt = (): void => {
    interrupts += 1;
    if (interrupts > 1) process.exit(exits.interrupted);
    terminal.note('interrupted: finishing what is under way (again to stop at once)');
  };
  process.on('SIGINT', onInterrupt);
  const workers = options.workers ?? availableParallelism();
  const pool = workers === 0 ? null : openPool({ workers });
  const context: RunContext = { pool, options, terminal, isInterrupted: () => interrupts > 0 };
  const outcomes: ScenarioOutcome[] = [];
  try {
    for (const loaded of scenarios) {
      for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
      outcomes.push(await runScenario(loaded, context));
      if (context.isInterrupted()) break;
    }
  } finally {
    process.off('SIGINT', onInterrupt);
    await pool?.close();
    terminal.endProgress();
  }
  const codes = outcomes.flatMap((outcome) => outcome.exits);
  const exit = worstOf(context.isInterrupted() ? [...codes, exits.interrupted] : codes);
  report(outcomes, summaryOf(outcomes, exit), context);
  return exit;
}

function summaryOf(outcomes: readonly ScenarioOutcome[], exit: Exit): Summary {
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

function report(
  outcomes: readonly ScenarioOutcome[],
  overview: Summary,
  context: RunContext,
): void {
  const { options, terminal } = context;
  const { colour, width } = terminal;
  for (const { findings, summary } of outcomes) {
    const told = new Map<string, Finding>();
    for (const finding of findings) {
      writeText(finding.planFile, finding.planText);
      if (options.isJson) process.stdout.write(`${jsonFinding(finding)}\n`);
      terminal.print('');
      const story = JSON.stringify([finding.claim, finding.plan.clients, finding.plan.faults]);
      const first = told.get(story);
      if (first === undefined) {
        told.set(story, finding);
        terminal.print(renderFailure(finding, { colour, width }));
      } else terminal.print(renderRepeat(finding, first, { colour, width }));
    }
    if (!options.reporters.has('html')) continue;
    const page = renderPage({ findings, overview: { ...overview, scenarios: [summary] } });
    writeText(pageFileOf(options.output, summary.name), page);
  }
  if (options.reporters.has('json')) {
    writeText(join(options.output, 'summary.json'), `${JSON.stringify(overview, null, 2)}\n`);
  }
  terminal.print('');
  terminal.print(renderOverview(overview, { colour, width, isFull: options.isVerbose }));
  if (options.isJson) process.stdout.write(`${JSON.stringify(overview)}\n`);
}

/** Refuses two scenarios whose pages would be one file. */
function requireOwnPages(scenarios: readonly LoadedScenario[], output: string): void {
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

function jsonFinding(finding: Finding): string {
  const { scenario, system, claim, seed, explanation, digest, planFile, pageFile, boundary } =
    finding;
  const { size } = finding;
  return JSON.stringify({
    type: 'finding',
    version: 1,
    ...{ scenario, system, claim, seed, explanation, digest, planFile, pageFile, boundary, size },
  });
}
