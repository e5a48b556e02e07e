/**
 * Writes the reports on examined scenarios, once all of them are concluded: text on the terminal,
 * pages, and files for other programs (CI servers, GitHub, consumers of JSON).
 */
import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { readPlan } from '../core/plan/plan-text.ts';
import { type ScenarioPlace, systemLines } from '../report/cases.ts';
import { MOST_STEP_BYTES } from '../report/github.ts';
import { type ReportedRun, renderReports } from '../report/report.ts';
import { findingLine } from '../report/report-json.ts';
import type { Result } from '../search/campaign/result.ts';
import type { Concluded } from '../search/campaign/setting.ts';
import { UserError } from './exit.ts';
import { allowed, readText, systemMessage, writeText } from './files.ts';
import { pageFileOf } from './output-files.ts';
import type { Reporters } from './report-options.ts';
import { slashed } from './shipped.ts';
import type { LoadedScenario } from './sources.ts';
import type { Terminal } from './terminal.ts';

/** Determines what is written, and where. */
export interface ReportOptions
  extends Pick<
    ReportedRun,
    'output' | 'isVerbose' | 'baseline' | 'version' | 'hasReportedScenarios'
  > {
  readonly reporters: Reporters;
  readonly isJson: boolean;
}

interface Reporting {
  readonly concluded: readonly Concluded[];
  readonly options: ReportOptions;
  readonly terminal: Terminal;
}

/**
 * Writes and prints the results. A plan that cannot be written is printed instead. File errors are
 * thrown only after everything else is reported, so that no finding is lost if the disk is full.
 */
export function report(
  result: Result,
  scenarios: readonly LoadedScenario[],
  { concluded, options, terminal }: Reporting,
): void {
  const { output, version, isVerbose, isJson, reporters } = options;
  const { colour, width } = terminal;
  const unwritten: string[] = [];
  const write = (file: string, text: string, prepare?: (file: string) => void): boolean => {
    try {
      prepare?.(file);
      writeText(file, text);
      return true;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      unwritten.push(...error.lines);
      return false;
    }
  };
  for (const finding of result.findings) {
    const { planFile, planText } = finding;
    const isWritten = write(planFile, planText, (file) => {
      setAside(file, planText, terminal);
    });
    if (isJson) process.stdout.write(`${findingLine(finding)}\n`);
    if (isWritten) continue;
    terminal.warn(`${planFile} not written; its text:`);
    for (const line of planText.split('\n')) terminal.warn(line);
  }
  const { hasReportedScenarios = false } = options;
  const { baseline = null } = options;
  const screen = { colour, width, isVerbose, hasReportedScenarios };
  const places = placesOf(scenarios, concluded, output);
  const run = { result, places, output, version, baseline, ...screen };
  const stepBytes = reporters.has('github') ? bytesLeftOfStep() : null;
  for (const part of renderReports(reporters, { ...run, placeOf, stepBytes })) {
    if (part.to === 'file') write(part.file, part.text);
    else if (part.to === 'terminal') terminal.printLines(part.text);
    else if (part.to === 'step-summary') appendStepSummary(part.text, terminal);
    // GitHub reads both streams; with --json, stdout contains nothing but JSON.
    else if (isJson) terminal.warn(part.text);
    else terminal.print(part.text);
  }
  if (isJson) process.stdout.write(`${JSON.stringify(result.summary)}\n`);
  if (unwritten.length > 0) throw new UserError(unwritten);
}

/** Renames `file` if it contains another plan from an earlier run. */
export function setAside(file: string, text: string, { note }: Pick<Terminal, 'note'>): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return;
  if (isSamePlan(readText(file, Number.POSITIVE_INFINITY), text)) return;
  const aside = file.replace(/\.yaml$/, '.before.yaml');
  allowed(`${file}:1:1: cannot be moved to ${aside}`, () => renameSync(file, aside));
  note(`note: moved another plan from ${file} to ${aside}`);
}

/** Returns true if two plans are equal, ignoring the digests of their modules. */
function isSamePlan(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => readPlan({ text, file: '' }));
  if (first?.kind !== 'plan' || second?.kind !== 'plan') return one === other;
  const [{ use: _, ...before }, { use: __, ...after }] = [first.plan, second.plan];
  return JSON.stringify(before) === JSON.stringify(after);
}

function placesOf(
  scenarios: readonly LoadedScenario[],
  concluded: readonly Concluded[],
  output: string,
): ReadonlyMap<string, ScenarioPlace> {
  const places = scenarios.map(({ scenario, file, text }): [string, ScenarioPlace] => {
    const names = scenario.systems.map(({ name }) => name);
    const lines = systemLines({ file, text }, names);
    const conclusion = concluded.find(({ result }) => result.name === scenario.name);
    const seconds = (conclusion?.milliseconds ?? 0) / 1000;
    return [scenario.name, { lines, pageFile: pageFileOf(output, scenario.name), seconds }];
  });
  return new Map(places);
}

/** Returns a path relative to the root of the repository, or null for a file outside it. */
function placeOf(file: string): string | null {
  const root = process.env['GITHUB_WORKSPACE'] ?? process.cwd();
  const path = relative(root, resolve(file));
  const isOutside = file === '-' || isAbsolute(path) || path.split(sep)[0] === '..';
  return isOutside ? null : slashed(path);
}

/**
 * Returns the bytes left for the step summary, or null if there is no such file. Earlier contents
 * of the file count against the limit.
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

/** Refuses two scenarios that would write the same page. */
export function requireDistinctPages(scenarios: readonly LoadedScenario[], output: string): void {
  const pages = new Map<string, string>();
  for (const { file, scenario } of scenarios) {
    const page = pageFileOf(output, scenario.name);
    const other = pages.get(page);
    if (other !== undefined) {
      throw new UserError([
        `${file}:1:1 name: also the name of ${other}; both would write ${page}`,
      ]);
    }
    pages.set(page, file);
  }
}
