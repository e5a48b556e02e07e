/**
 * What a command writes of the scenarios that it examined, once each has its outcome: the words on
 * the terminal, the pages, the files for other programs (CI servers, GitHub, whatever reads JSON),
 * and the file of a shard, from which `merge` comes to the same.
 */
import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { readPlan } from '../core/plan/plan-text.ts';
import { type ScenarioResult, systemLines } from '../report/cases.ts';
import { MOST_STEP_BYTES } from '../report/github.ts';
import { renderReports } from '../report/report.ts';
import type { Earlier } from '../report/report-json.ts';
import { findingLine } from '../report/report-json.ts';
import type { Summary } from '../report/summary.ts';
import type { RunDifference } from '../search/sweep/shards.ts';
import type { Reporters } from './command.ts';
import type { ScenarioOutcome } from './conclude.ts';
import { type Exit, UserError } from './exit.ts';
import { allowed, readText, systemMessage, writeText } from './files.ts';
import { pageFileOf } from './output-files.ts';
import type { LoadedScenario } from './sources.ts';
import type { Terminal } from './terminal.ts';

/** What decides what is written, and where. */
export interface ReportOptions {
  readonly output: string;
  readonly reporters: Reporters;
  readonly isJson: boolean;
  /** Lists every claim in the overview, not only those that were expected or broke. */
  readonly isVerbose: boolean;
  /** The findings of an earlier run to compare with; absent or null for none. */
  readonly baseline?: readonly Earlier[] | null;
  /** Of fencepost. */
  readonly version: string;
  /** Whether the terminal has had a line for each scenario; absent if not. */
  readonly hasToldScenarios?: boolean;
}

/**
 * Writes and prints what scenarios came to. Where a file cannot be written, all else is told
 * before that is thrown: on a full disk no finding is lost.
 */
export function report(
  outcomes: readonly ScenarioOutcome[],
  overview: Summary,
  { options, terminal }: { readonly options: ReportOptions; readonly terminal: Terminal },
): void {
  const { output, version, isVerbose, isJson, reporters } = options;
  const { colour, width } = terminal;
  const results = outcomes.map((outcome) => resultOf(outcome, output));
  const unwritten: string[] = [];
  const write = (file: string, text: string, prepare?: (file: string) => void): void => {
    try {
      prepare?.(file);
      writeText(file, text);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      unwritten.push(...error.lines);
    }
  };
  for (const finding of results.flatMap(({ findings }) => findings)) {
    const { planFile, planText } = finding;
    write(planFile, planText, (file) => {
      setAside(file, planText, terminal);
    });
    if (isJson) process.stdout.write(`${findingLine(finding)}\n`);
  }
  const { hasToldScenarios = false } = options;
  const { baseline = null } = options;
  const screen = { colour, width, isVerbose, hasToldScenarios };
  const run = { overview, results, output, version, baseline, ...screen };
  const stepBytes = reporters.has('github') ? bytesLeftOfStep() : null;
  for (const part of renderReports(reporters, { ...run, placeOf, stepBytes })) {
    if (part.to === 'file') write(part.file, part.text);
    else if (part.to === 'terminal') terminal.printLines(part.text);
    else if (part.to === 'step-summary') appendStepSummary(part.text, terminal);
    // GitHub reads both streams; with --json nothing but JSON may stand on stdout.
    else if (isJson) terminal.warn(part.text);
    else terminal.print(part.text);
  }
  if (isJson) process.stdout.write(`${JSON.stringify(overview)}\n`);
  if (unwritten.length > 0) throw new UserError(unwritten);
}

/** Moves another plan away from where `text` goes: an earlier run's, which is still to be kept. */
export function setAside(file: string, text: string, { note }: Pick<Terminal, 'note'>): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return;
  if (isSamePlan(readText(file, Number.POSITIVE_INFINITY), text)) return;
  const aside = file.replace(/\.yaml$/, '.before.yaml');
  allowed(`${file}:1:1: cannot be moved to ${aside}`, () => renameSync(file, aside));
  note(`note: another plan was in ${file}; it is in ${aside} now`);
}

/** Whether both mean the same, whatever the modules were like when they were made. */
function isSamePlan(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => readPlan({ text, file: '' }));
  if (first?.kind !== 'plan' || second?.kind !== 'plan') return one === other;
  const [{ use: _, ...before }, { use: __, ...after }] = [first.plan, second.plan];
  return JSON.stringify(before) === JSON.stringify(after);
}

function resultOf(
  { summary, findings, edges, examined, milliseconds, text }: ScenarioOutcome,
  output: string,
): ScenarioResult {
  const { tallies, range, isWhole, keptPlans, difference } = examined;
  const names = summary.systems.map(({ name }) => name);
  return {
    ...{ summary, findings, edges, tallies, keptPlans, difference },
    seeds: { ...range, isWhole },
    seconds: milliseconds / 1000,
    lines: systemLines({ file: summary.file, text }, names),
    pageFile: pageFileOf(output, summary.name),
  };
}

/** A path as GitHub writes it, from the root of the repository; null for one outside. */
function placeOf(file: string): string | null {
  const root = process.env['GITHUB_WORKSPACE'] ?? process.cwd();
  const path = relative(root, resolve(file));
  const isOutside = file === '-' || isAbsolute(path) || path.split(sep)[0] === '..';
  return isOutside ? null : path.split(sep).join('/');
}

/**
 * What is already in the file came from the same step, and counts against its limit. Null where
 * there is no file; one that cannot be looked at is told of when it is written.
 */
function bytesLeftOfStep(): number | null {
  const file = process.env['GITHUB_STEP_SUMMARY'];
  if (file === undefined || file === '') return null;
  const taken = existsSync(file) ? statSync(file).size : 0;
  return Math.max(0, MOST_STEP_BYTES - taken);
}

function appendStepSummary(text: string, terminal: Terminal): void {
  const file = process.env['GITHUB_STEP_SUMMARY'] ?? '';
  try {
    appendFileSync(file, text);
  } catch (error) {
    terminal.warn(`${file}: the step summary cannot be written: ${systemMessage(error)}`);
  }
}

/** What the scenarios came to, of so many that were asked for: the last line of `--json`. */
export function summaryOf(
  outcomes: readonly ScenarioOutcome[],
  exit: Exit,
  asked: number = outcomes.length,
): Summary {
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
    ...(asked === outcomes.length ? {} : { notBegun: asked - outcomes.length }),
  };
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

/** What differed between two runs of one seed, in one line. */
export function differenceLine(file: string, { system, seed, what }: RunDifference): string {
  return `nondeterministic: ${file}, ${system}, seed ${seed}: ${what}`;
}
