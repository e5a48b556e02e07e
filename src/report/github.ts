/**
 * Renders the output for GitHub Actions. Annotations show failures beside lines of the scenario
 * file. The step summary contains a table of systems and claims, and each counterexample in words
 * and as a diagram.
 */

import type { Finding, Summary, SystemResult } from '../search/campaign/result.ts';
import { codeBlock, codeSpan, markdownSentence, markdownText, render } from '../text/markup.ts';
import { countOf, shellWords } from '../text/prose.ts';
import { visible } from '../text/visible.ts';
import { type Case, casesOf, isFailure, type ReportedScenario } from './cases.ts';
import { trialOfAll, trialText } from './exhausted.ts';
import { shrunkText, storyOf } from './failure.ts';
import { replayCommand, rerunCommand } from './finding.ts';
import { findingDiagram } from './mermaid.ts';
import { claimColumns, claimRows, markOf, metText } from './overview.ts';

/** GitHub shows ten errors per step. The last error gives the number of further failures. */
const MOST = 9;

/**
 * Returns one line per annotation: `::error file=…,line=…,title=…::…`. `placeOf` returns a path
 * relative to the root of the repository, or null if the file is outside.
 */
export function githubAnnotations(
  results: readonly ReportedScenario[],
  { placeOf }: { readonly placeOf: (file: string) => string | null },
): readonly string[] {
  const failures = results.flatMap((scenario) =>
    casesOf(scenario)
      .filter(isFailure)
      .map((test) => ({ scenario: scenario.result.name, one: test })),
  );
  const annotations = failures.slice(0, MOST).map(({ scenario, one }) => {
    const file = placeOf(one.file);
    const line = file === null || one.line === null ? null : String(one.line);
    const place = one.system === '' ? scenario : `${scenario}, ${one.system}`;
    return command({ file, line, title: `${place}: ${one.name}` }, bodyOf(one));
  });
  const left = failures.length - annotations.length;
  if (left === 0) return annotations;
  const title = `${countOf(left, 'more failure')}`;
  return [
    ...annotations,
    command({ file: null, line: null, title }, 'See the log of this step for all failures'),
  ];
}

function bodyOf({ message, details, finding }: Case): string {
  if (finding === null) return details === '' ? message : `${message}\n${details}`;
  const { explanation } = finding;
  const again = `again: ${shellWords(rerunCommand(finding)).join(' ')}`;
  const replay = `replay: ${shellWords(replayCommand(finding)).join(' ')}`;
  return [message, explanation.headline, ...storyOf(explanation), again, replay].join('\n');
}

function command(
  properties: Readonly<Record<'file' | 'line' | 'title', string | null>>,
  text: string,
): string {
  const parameters = Object.entries(properties).flatMap(([name, value]) => {
    if (value === null) return [];
    const escaped = visible(value).replaceAll('%', '%25').replaceAll(':', '%3A');
    return [`${name}=${escaped.replaceAll(',', '%2C')}`];
  });
  const lines = text.split(/\r\n|\r|\n/).map(visible);
  const data = lines.join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A');
  return `::error ${parameters.join(',')}::${data}`;
}

/** GitHub's limit for one step: 1 MiB. */
export const MOST_STEP_BYTES: number = 1024 * 1024;

/**
 * Renders the step summary with a final line break. Sections that do not fit in `mostBytes` are
 * replaced by a note. Returns '' if not even the title fits.
 */
export function renderStepSummary(
  overview: Summary,
  results: readonly ReportedScenario[],
  { mostBytes }: { readonly mostBytes: number },
): string {
  const sections = [
    `## fencepost: ${markdownText(metText(overview))}`,
    ...results.map(tableOf),
    ...results.flatMap(failureSections),
    ...results.flatMap(expectedSections),
  ];
  const full = documentOf(sections);
  if (bytesOf(full) <= mostBytes) return full;
  for (let kept = sections.length - 1; kept > 0; kept -= 1) {
    const left = countOf(sections.length - kept, 'section');
    const why = `${left} omitted: GitHub limits the size per step. See the log.`;
    const document = documentOf([...sections.slice(0, kept), why]);
    if (bytesOf(document) <= mostBytes) return document;
  }
  return '';
}

function documentOf(sections: readonly string[]): string {
  return `${sections.join('\n\n')}\n`;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function tableOf({ result: { name, file, systems } }: ReportedScenario): string {
  const rows = systems.flatMap(systemRows);
  const columns = ['met', 'system', ...claimColumns(trialOfAll(systems))];
  return [
    `### ${markdownText(name)} ${codeSpan(file)}`,
    '',
    rowOf(columns),
    rowOf(columns.map(() => '---')),
    ...rows.map((cells) => rowOf(cells.map(markdownText))),
  ].join('\n');
}

/** Returns a row per claim. A system without expectations gets a row even if it broke no claim. */
function systemRows(system: SystemResult): readonly (readonly string[])[] {
  const { sign, word } = markOf(system.met);
  const rows = claimRows(system, false);
  if (rows.length === 0) return [[sign, system.name, `no expectations: ${word}`, '', '', '', '']];
  return rows.map(({ claim, expected, broken, firstSeed, tested, isSurprise }) => {
    const mark = isSurprise && system.met === false ? '✗' : sign;
    return [mark, system.name, claim, expected, broken, firstSeed, tested];
  });
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function failureSections(scenario: ReportedScenario): readonly string[] {
  return casesOf(scenario).flatMap((test) => {
    if (test.outcome === 'passed') return [];
    const { finding } = test;
    if (!isFailure(test) || finding === null) return [lineOf(test)];
    const headline = `#### ✗ ${markdownSentence(finding.explanation.headline)}`;
    return [[headline, lineOf(test), ...storySections(finding)].join('\n\n')];
  });
}

/** Returns, for example, `✗ fenced: grant-order should hold but broke on 3 of 1,000 seeds`. */
function lineOf(test: Case): string {
  const title = test.system === '' ? test.name : `${test.system}: ${test.name}`;
  const line = `${isFailure(test) ? '✗' : '?'} **${markdownText(title)}**: ${markdownText(test.message)}`;
  return test.details === '' ? line : `${line}\n\n${codeBlock('text', test.details)}`;
}

function expectedSections(scenario: ReportedScenario): readonly string[] {
  return casesOf(scenario).flatMap(({ outcome, finding }) => {
    if (outcome !== 'passed' || finding === null) return [];
    const about = `as expected: ${finding.claim} of ${finding.system} breaks`;
    const headline = markdownSentence(finding.explanation.headline);
    const open = `<details><summary>${render(about)}</summary>`;
    return [[open, headline, ...storySections(finding), '</details>'].join('\n\n')];
  });
}

function storySections(finding: Finding): readonly string[] {
  const { scenario, system, claim, explanation, size, boundary } = finding;
  const place = `${claim} of ${system} in ${scenario}, ${trialText(finding)}`;
  const shrunk = [shrunkText(size), boundary ?? ''].filter((text) => text !== '').join('; ');
  return [
    markdownText(place),
    markdownSentence(storyOf(explanation).join(' ')),
    codeBlock('mermaid', findingDiagram(finding)),
    markdownText(shrunk),
    codeBlock(
      'sh',
      [rerunCommand(finding), replayCommand(finding)]
        .map((words) => shellWords(words).join(' '))
        .join('\n'),
    ),
  ];
}
