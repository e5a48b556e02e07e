/**
 * Writes the result of a run as JUnit XML, which CI servers display as tests: a suite per scenario,
 * and a test per system and expected claim. The body of a failure is the complete story.
 */
import { type Child, element, lines, type Markup, render, trusted } from '../text/markup.ts';
import { type Case, casesOf, type ReportedScenario } from './cases.ts';
import { trialOfAll } from './exhausted.ts';
import { renderBrief, renderFailure } from './failure.ts';

export interface JunitOptions {
  readonly results: readonly ReportedScenario[];
  readonly version: string;
}

/** Renders the document with a final line break. */
export function renderJunit({ results, version }: JunitOptions): string {
  const suites = results.map((result) => suiteOf(result, version));
  const total = countsOf(results.flatMap((result) => casesOf(result)));
  const seconds = results.reduce((sum, { seconds: childSeconds }) => sum + childSeconds, 0);
  const root = xml('testsuites', { name: 'fencepost', ...total, time: timeOf(seconds) }, suites);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${render(root)}\n`;
}

function suiteOf(scenario: ReportedScenario, version: string): Markup {
  const { result, seconds } = scenario;
  const { name, file, systems, range } = result;
  const cases = casesOf(scenario);
  // All claims are judged on the same runs, so each gets an equal share of the time.
  const share = timeOf(seconds / Math.max(1, cases.length));
  const properties = [
    ['fencepost.version', version],
    ['scenario', file],
    [`${trialOfAll(systems)}s`, `${range.from}..${range.to}`],
  ].map(([key = '', value = '']) => xml('property', { name: key, value }, []));
  return xml('testsuite', { name, file, ...countsOf(cases), time: timeOf(seconds) }, [
    xml('properties', {}, properties),
    ...cases.map((test) => {
      const classname = test.system === '' ? name : `${name}.${test.system}`;
      const line = test.line === null ? {} : { line: String(test.line) };
      const attributes = { name: test.name, classname, time: share, file: test.file, ...line };
      return xml('testcase', attributes, caseMarkup(test));
    }),
  ]);
}

/** Returns counts as text attributes, since `element` treats numbers as pixels. */
function countsOf(cases: readonly Case[]): Readonly<Record<string, string>> {
  const count = (...outcomes: Case['outcome'][]): string =>
    String(cases.filter(({ outcome }) => outcomes.includes(outcome)).length);
  return {
    tests: String(cases.length),
    failures: count('broke', 'held', 'changed'),
    errors: count('failed'),
    skipped: count('open'),
  };
}

function timeOf(seconds: number): string {
  return seconds.toFixed(3);
}

/** Renders the result of a test. For an expected breach, the counterexample is in `system-out`. */
function caseMarkup(test: Case): readonly Markup[] {
  const story = storyOf(test);
  const message = plain(test.message);
  switch (test.outcome) {
    case 'passed':
      return story === '' ? [] : [element('system-out', {}, lines(plain(story)))];
    case 'open':
      return [element('skipped', { message })];
    case 'failed':
      return [element('error', { message, type: 'failed' }, lines(plain(story)))];
    default:
      return [element('failure', { message, type: test.outcome }, lines(plain(story)))];
  }
}

function storyOf({ finding, message, details }: Case): string {
  const screen = { colour: false, width: 100 };
  if (finding?.isExpected === true) return renderBrief(finding, screen);
  if (finding !== null) return renderFailure(finding, screen);
  return [message, details].filter((text) => text !== '').join('\n');
}

/** Renders an element with each child on a separate line. */
function xml(
  name: string,
  attributes: Readonly<Record<string, string>>,
  children: readonly Markup[],
): Markup {
  const safe = Object.entries(attributes).map(([key, value]) => [key, plain(value)]);
  const lines: Child = children.flatMap((child) => [trusted('\n'), child]);
  const end = children.length === 0 ? [] : [trusted('\n')];
  return element(name, Object.fromEntries(safe), lines, end);
}

/** Replaces characters that XML 1.0 cannot represent. `element` escapes other controls. */
function plain(text: string): string {
  return text.replace(/[\p{Surrogate}\uFFFE\uFFFF]/gu, '\uFFFD');
}
