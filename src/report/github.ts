/**
 * Writes failures as workflow commands of GitHub Actions, which shows them beside the lines of the
 * scenario's file in a pull request.
 */

import { countOf } from '../text/prose.ts';
import { visible } from '../text/visible.ts';
import { type Case, casesOf, isFailure } from './cases.ts';
import { storyOf } from './failure.ts';
import { replayCommand, shellWords } from './finding.ts';
import type { ScenarioResult } from './run-result.ts';

export interface AnnotationOptions {
  /** A file as GitHub names it: from the root of the repository; null where it lies outside. */
  readonly placeOf: (file: string) => string | null;
}

/** GitHub shows ten errors of a step; the last one says how many there are besides. */
const MOST = 9;

/** One line each: `::error file=…,line=…,title=…::…`. */
export function githubAnnotations(
  results: readonly ScenarioResult[],
  { placeOf }: AnnotationOptions,
): readonly string[] {
  const failures = results.flatMap((result) =>
    casesOf(result)
      .filter(isFailure)
      .map((one) => ({ scenario: result.summary.name, one })),
  );
  const told = failures.slice(0, MOST).map(({ scenario, one }) => {
    const file = placeOf(one.file);
    const line = file === null || one.line === null ? null : String(one.line);
    return command({ file, line, title: titleOf(one, scenario) }, textOf(one));
  });
  const left = failures.length - told.length;
  if (left === 0) return told;
  const title = `${countOf(left, 'more failure')}`;
  return [...told, command({ file: null, line: null, title }, 'The log of this step has them all')];
}

function titleOf({ name, system }: Case, scenario: string): string {
  return system === '' ? `${scenario}: ${name}` : `${scenario}, ${system}: ${name}`;
}

function textOf({ message, details, finding }: Case): string {
  if (finding === null) return details === '' ? message : `${message}\n${details}`;
  const { explanation } = finding;
  const replay = `replay: ${shellWords(replayCommand(finding)).join(' ')}`;
  return [message, explanation.headline, ...storyOf(explanation), replay].join('\n');
}

function command(
  properties: Readonly<Record<'file' | 'line' | 'title', string | null>>,
  text: string,
): string {
  const given = Object.entries(properties).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${escapeProperty(value)}`],
  );
  return `::error ${given.join(',')}::${escapeData(text)}`;
}

function escapeData(text: string): string {
  const shown = text.split(/\r\n|\r|\n/).map(visible);
  return shown.join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll(':', '%3A').replaceAll(',', '%2C');
}
