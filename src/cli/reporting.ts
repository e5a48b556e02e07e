/**
 * What a command writes of the scenarios that it examined, once each has its outcome: the words on
 * the terminal, the pages, the files for other programs (CI servers, GitHub, whatever reads JSON),
 * and the file of a shard, from which `merge` comes to the same.
 */

import { appendFileSync, existsSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { renderPlan } from '../core/plan/plan-text.ts';
import { type ScenarioResult, systemLines } from '../report/cases.ts';
import { MOST_STEP_BYTES } from '../report/github.ts';
import { renderReports } from '../report/report.ts';
import { findingLine } from '../report/report-json.ts';
import type { Summary } from '../report/summary.ts';
import { expand } from '../scenario/expand.ts';
import { originOf } from '../search/sweep/sealed.ts';
import {
  type Counterexample,
  renderShard,
  type ScenarioShard,
  type SeedRange,
  type Shard,
} from '../search/sweep/shards.ts';
import { claimTally } from '../search/sweep/tally.ts';
import type { Reporters } from './command.ts';
import { type Examined, pageFileOf, type ScenarioOutcome, SEEDS_TRIED } from './conclude.ts';
import { type Exit, UserError } from './exit.ts';
import { type LoadedScenario, systemMessage, writeText } from './files.ts';
import type { Terminal } from './terminal.ts';

/** What decides what is written, and where. */
export interface ReportOptions {
  readonly output: string;
  readonly reporters: Reporters;
  readonly isJson: boolean;
  /** Lists every claim in the overview, not only those that were expected or broke. */
  readonly isVerbose: boolean;
  /** Of fencepost. */
  readonly version: string;
}

/** Writes and prints what scenarios came to. */
export function report(
  outcomes: readonly ScenarioOutcome[],
  overview: Summary,
  { options, terminal }: { readonly options: ReportOptions; readonly terminal: Terminal },
): void {
  const { output, version, isVerbose, isJson, reporters } = options;
  const { colour, width } = terminal;
  const results = outcomes.map((outcome) => resultOf(outcome, output));
  for (const finding of results.flatMap(({ findings }) => findings)) {
    writeText(finding.planFile, finding.planText);
    if (isJson) process.stdout.write(`${findingLine(finding)}\n`);
  }
  const run = { overview, results, output, version, colour, width, isVerbose };
  const stepBytes = reporters.has('github') ? bytesLeftOfStep() : null;
  for (const part of renderReports(reporters, { ...run, placeOf, stepBytes })) {
    if (part.to === 'file') writeText(part.file, part.text);
    else if (part.to === 'terminal') terminal.printLines(part.text);
    else if (part.to === 'step-summary') appendStepSummary(part.text, terminal);
    // GitHub reads both streams; with --json nothing but JSON may stand on stdout.
    else if (isJson) terminal.warn(part.text);
    else terminal.print(part.text);
  }
  if (isJson) process.stdout.write(`${JSON.stringify(overview)}\n`);
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

export interface ShardOptions {
  /** The seeds of all shards. */
  readonly range: SeedRange;
  readonly shard: Shard;
  readonly output: string;
  /** Of fencepost. */
  readonly version: string;
}

/** Writes the file of a shard and gives its name. */
export function writeShard(
  scenarios: readonly LoadedScenario[],
  outcomes: readonly ScenarioOutcome[],
  { range, shard, output, version }: ShardOptions,
): string {
  const parts = outcomes.flatMap(({ examined }, at): ScenarioShard[] => {
    const loaded = scenarios[at];
    return loaded === undefined ? [] : [scenarioShard(loaded, examined, version)];
  });
  const file = join(output, `shard-${shard.index}-of-${shard.of}.json`);
  writeText(file, renderShard({ shard, range, scenarios: parts }));
  return file;
}

function scenarioShard(loaded: LoadedScenario, examined: Examined, version: string): ScenarioShard {
  const { isWhole, tallies, keptPlans, repeated, difference, corpus = null } = examined;
  return {
    origin: originOf(loaded.scenario, version),
    file: loaded.file,
    text: loaded.text,
    ...{ isWhole, keptPlans, repeated, difference, corpus },
    milliseconds: Math.round(examined.milliseconds),
    tallies: Object.fromEntries(tallies),
    counterexamples: counterexamplesOf(loaded, tallies),
  };
}

/** The plans of the seeds that a merge may have to shrink, as they were drawn. */
function counterexamplesOf(
  { scenario }: LoadedScenario,
  tallies: Examined['tallies'],
): readonly Counterexample[] {
  return scenario.systems.flatMap(({ name: system, expect }) =>
    [...new Set([...expect.holds, ...expect.breaks])].flatMap((claim) => {
      const tally = tallies.get(system);
      const seeds = tally === undefined ? [] : claimTally(tally, claim).brokenSeeds;
      return seeds.slice(0, SEEDS_TRIED).map((seed) => ({
        ...{ system, claim, seed },
        plan: drawnPlan(scenario, system, seed),
      }));
    }),
  );
}

/** The plan of a seed as text: two builds that draw another one are not of one version. */
export function drawnPlan(
  scenario: LoadedScenario['scenario'],
  system: string,
  seed: number,
): string {
  return renderPlan(expand(scenario, system, seed));
}
