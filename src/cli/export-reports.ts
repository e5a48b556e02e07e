/** Writes what a run came to for other programs: CI servers, GitHub, whatever reads JSON. */
import { appendFileSync, existsSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { ScenarioResult } from '../report/cases.ts';
import { systemLines } from '../report/cases.ts';
import { githubAnnotations, MOST_STEP_BYTES, renderStepSummary } from '../report/github.ts';
import { renderJunit } from '../report/junit.ts';
import { findingDiagram } from '../report/mermaid.ts';
import { renderReportJson } from '../report/report-json.ts';
import type { Summary } from '../report/summary.ts';
import type { ScenarioOutcome } from './conclude.ts';
import { systemMessage, writeText } from './files.ts';
import { pageFileOf } from './find.ts';
import type { Terminal } from './terminal.ts';

export interface ExportOptions {
  readonly output: string;
  readonly reporters: ReadonlySet<string>;
  readonly isJson: boolean;
  /** Of fencepost. */
  readonly version: string;
}

/** Writes the files of every reporter but `text` and `html`, and prints annotations. */
export function exportReports(
  outcomes: readonly ScenarioOutcome[],
  overview: Summary,
  { options, terminal }: { readonly options: ExportOptions; readonly terminal: Terminal },
): void {
  const { reporters, output, version, isJson } = options;
  const results = outcomes.map((outcome) => resultOf(outcome, output));
  const findings = results.flatMap((result) => result.findings);
  if (reporters.has('junit')) {
    writeText(join(output, 'junit.xml'), renderJunit({ results, version }));
  }
  if (reporters.has('json')) {
    writeText(join(output, 'report.json'), renderReportJson(overview, findings));
  }
  if (reporters.has('mermaid')) {
    for (const finding of findings) {
      writeText(diagramFileOf(finding.planFile), `${findingDiagram(finding)}\n`);
    }
  }
  if (!reporters.has('github')) return;
  for (const line of githubAnnotations(results, { placeOf })) {
    // GitHub reads both streams; with --json nothing but JSON may stand on stdout.
    if (isJson) terminal.warn(line);
    else terminal.print(line);
  }
  appendStepSummary(overview, results, terminal);
}

/** `reports/zombie-writer-unfenced-grant-order.yaml` as `….mmd`. */
function diagramFileOf(planFile: string): string {
  return planFile.replace(/\.yaml$/, '.mmd');
}

function resultOf(
  { summary, findings, examined, milliseconds, text }: ScenarioOutcome,
  output: string,
): ScenarioResult {
  const { tallies, range, isWhole, keptPlans, difference } = examined;
  const names = summary.systems.map(({ name }) => name);
  return {
    ...{ summary, findings, tallies, keptPlans, difference },
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

/** What is already in the file came from the same step, and counts against its limit. */
function appendStepSummary(
  overview: Summary,
  results: readonly ScenarioResult[],
  terminal: Terminal,
): void {
  const file = process.env['GITHUB_STEP_SUMMARY'];
  if (file === undefined || file === '') return;
  try {
    const taken = existsSync(file) ? statSync(file).size : 0;
    const mostBytes = Math.max(0, MOST_STEP_BYTES - taken);
    appendFileSync(file, renderStepSummary(overview, results, { mostBytes }));
  } catch (error) {
    terminal.warn(`${file}: the step summary cannot be written: ${systemMessage(error)}`);
  }
}
