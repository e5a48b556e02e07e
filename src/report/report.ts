/**
 * The entry point of `report`, for users and programs. Every report is a row in `reporters.ts` and
 * in `REPORTS`, and is rendered by one file from one `Result` (`search/campaign`). A report returns
 * texts and their destinations; the command writes them to the terminal and to disk.
 *
 * Read the files in this order. Data: `cases.ts` (the cases of a scenario), `finding.ts` (the
 * commands for a counterexample) and `describe-finding.ts`. Words: `event-phrases.ts` and
 * `state-phrases.ts` describe events and states for all views, and `steps.ts` numbers the events of
 * a trace, using `spans.ts` and `environment.ts`. Reports: `failure.ts` with `sequence-text.ts`,
 * `conclusion.ts`, `overview.ts`, `html/page.ts` (which draws with `pictures` and includes the
 * script in `page`), `junit.ts`, `github.ts`, `report-json.ts`, `mermaid.ts`. `output-schema.ts`
 * defines the format for programs.
 */
import { join } from 'node:path';
import type { Finding, Result } from '../search/campaign/result.ts';
import type { ReportedScenario, ScenarioPlace } from './cases.ts';
import { renderConclusion, renderScenarioLine } from './conclusion.ts';
import { renderEdges } from './exhausted.ts';
import { renderBrief, renderFailures } from './failure.ts';
import { githubAnnotations, renderStepSummary } from './github.ts';
import { readPageScript } from './html/document.ts';
import { renderPage } from './html/page.ts';
import { inPageOrder, renderIndex } from './html/sweep-overview.ts';
import { renderJunit } from './junit.ts';
import { findingDiagram } from './mermaid.ts';
import { renderOpenSystems, renderOverview } from './overview.ts';
import { type Earlier, renderReportJson, type Since, since, sinceText } from './report-json.ts';
import type { REPORTERS } from './reporters.ts';

export interface ReportedRun {
  readonly result: Result;
  /** The places of the scenarios, by name. */
  readonly places: ReadonlyMap<string, ScenarioPlace>;
  readonly output: string;
  readonly version: string;
  readonly colour: boolean;
  readonly width: number;
  /** True to include every story and every table. */
  readonly isVerbose: boolean;
  /** True if the terminal has already shown a line for each scenario as it finished. */
  readonly hasReportedScenarios?: boolean;
  /** The findings of an earlier run; absent or null if none was named. */
  readonly baseline?: readonly Earlier[] | null;
  /** Returns a path from the root of the repository, for GitHub; null for a file outside. */
  readonly placeOf: (file: string) => string | null;
  /** The number of bytes left for the summary of this CI step, or null if none is requested. */
  readonly stepBytes: number | null;
}

export type ReportPart =
  | { readonly to: 'terminal' | 'log' | 'step-summary'; readonly text: string }
  | { readonly to: 'file'; readonly file: string; readonly text: string };

/** The renderer of each report in `reporters.ts`. A missing renderer does not compile. */
const REPORTS: Readonly<
  Record<keyof typeof REPORTERS, (run: ReportedRun) => Iterable<ReportPart>>
> = {
  text: texts,
  html: pages,
  junit: (run) => {
    const text = renderJunit({ results: reportedScenarios(run), version: run.version });
    return [oneFile(run, 'junit.xml', text)];
  },
  github: forGithub,
  json: (run) => [oneFile(run, 'report.json', renderReportJson(run.result))],
  mermaid: diagrams,
};

/** Yields the parts of the chosen reports. Unknown names are ignored. */
export function* renderReports(
  chosen: ReadonlySet<string>,
  run: ReportedRun,
): Generator<ReportPart, void> {
  for (const [name, render] of Object.entries(REPORTS)) if (chosen.has(name)) yield* render(run);
}

function oneFile({ output }: ReportedRun, name: string, text: string): ReportPart {
  return { to: 'file', file: join(output, name), text };
}

/**
 * Yields the unexpected findings first and the conclusion last. In between, a verbose run yields
 * all expected findings and all tables. Other runs yield brief expected findings for a single
 * scenario, and the tables of systems that did not meet their expectations.
 */
function* texts(run: ReportedRun): Iterable<ReportPart> {
  const { result, colour, width, isVerbose, hasReportedScenarios } = run;
  const { summary, findings } = result;
  const screen = { colour, width };
  const tables = { ...screen, isFull: isVerbose };
  const unexpected = findings.filter(({ isExpected }) => isExpected !== true);
  const expected = findings.filter(({ isExpected }) => isExpected === true);
  for (const block of renderFailures(unexpected, screen)) yield below(block);
  if (isVerbose) {
    for (const block of renderFailures(expected, screen)) yield below(block);
    yield below(renderOverview(summary, tables));
  } else {
    if (summary.scenarios.length === 1)
      for (const text of expectedOfOne(run, unexpected)) yield below(text);
    const open = renderOpenSystems(summary, tables);
    if (open !== '') yield below(open);
  }
  if (summary.scenarios.length > 1 && hasReportedScenarios !== true) {
    const lines = summary.scenarios.map((scenario) => renderScenarioLine(scenario, screen));
    yield below(lines.join('\n'));
  }
  for (const { name, systems } of summary.scenarios) {
    const within = summary.scenarios.length === 1 ? '' : `${name}/`;
    const lines = renderEdges(systems, { ...screen, within });
    if (lines !== '') yield below(lines);
  }
  yield below(renderConclusion(summary, screen));
  const against = sinceOf(run);
  if (against !== null) yield below(`Since the earlier run: ${sinceText(findings, against)}.`);
}

function below(text: string): ReportPart {
  return { to: 'terminal', text: `\n${text}` };
}

/**
 * Renders the first expected finding of each system and claim in brief. The first of all is in full
 * if no finding is unexpected.
 */
function expectedOfOne(
  { result, colour, width }: ReportedRun,
  unexpected: readonly Finding[],
): readonly string[] {
  const expected = result.findings.filter((finding) => !unexpected.includes(finding));
  const inFull = unexpected.length === 0 ? expected.slice(0, 1) : [];
  const known = new Set(inFull.map(kindOf));
  const rest = expected.filter(
    (finding) => !known.has(kindOf(finding)) && known.add(kindOf(finding)),
  );
  const screen = { colour, width };
  return [
    ...renderFailures(inFull, screen),
    ...rest.map((finding) => renderBrief(finding, screen)),
  ];
}

function kindOf({ system, claim }: Finding): string {
  return JSON.stringify([system, claim]);
}

/** Yields a page per scenario, and an index if there are several scenarios or an earlier run. */
function* pages(run: ReportedRun): Iterable<ReportPart> {
  const { result, output, baseline = null } = run;
  const { summary } = result;
  const results = reportedScenarios(run);
  if (results.length > 1 || baseline !== null) {
    const text = renderIndex({ results, overview: summary, since: sinceOf(run) });
    yield { to: 'file', file: join(output, INDEX_FILE), text };
  }
  for (const { findings: found, result: scenario, pageFile } of results) {
    const findings = inPageOrder(found);
    const script = readPageScript(findings.map(({ plan }) => plan.system.lock));
    const overview = { ...summary, scenarios: [scenario] };
    yield { to: 'file', file: pageFile, text: renderPage({ findings, overview, script }) };
  }
}

function reportedScenarios({ result, places }: ReportedRun): readonly ReportedScenario[] {
  return result.summary.scenarios.map((scenario) => {
    const place = places.get(scenario.name) ?? { lines: new Map(), pageFile: '', seconds: 0 };
    const findings = result.findings.filter((finding) => finding.scenario === scenario.name);
    return { ...place, result: scenario, findings };
  });
}

/** No page of a scenario has this name. */
const INDEX_FILE = 'index.html';

function sinceOf({ result, baseline = null }: ReportedRun): Since | null {
  return baseline === null ? null : since(baseline, result);
}

function* forGithub(run: ReportedRun): Iterable<ReportPart> {
  const { result, placeOf, stepBytes } = run;
  const results = reportedScenarios(run);
  for (const text of githubAnnotations(results, { placeOf })) yield { to: 'log', text };
  if (stepBytes === null) return;
  const text = renderStepSummary(result.summary, results, { mostBytes: stepBytes });
  yield { to: 'step-summary', text };
}

/** Renders a diagram beside each plan: `reports/zombie-writer-unfenced-grant-order.mmd`. */
function diagrams({ result }: ReportedRun): readonly ReportPart[] {
  return result.findings.map((finding) => {
    const file = finding.planFile.replace(/\.yaml$/, '.mmd');
    return { to: 'file', file, text: `${findingDiagram(finding)}\n` };
  });
}
