/** The outcome of a whole run in the terminal: a short table for each scenario. */
import { type Paint, paintFor } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { clip, displayWidth, pad, visible, wrap } from '../text/visible.ts';
import { type ClaimRow, claimRows, expectationText, markOf, noteLines } from './overview-rows.ts';
import type { ScenarioSummary, Summary, SystemSummary } from './summary.ts';

export interface OverviewOptions {
  readonly colour: boolean;
  /** Columns of the terminal; no line is longer. */
  readonly width: number;
  /** Whether every claim gets a row, and not only those that were expected or broke. */
  readonly isFull: boolean;
}

/** The overview as lines joined by `\n`, without a final one. */
export function renderOverview(summary: Summary, options: OverviewOptions): string {
  const setting = { ...options, paint: paintFor(options.colour) };
  const scenarios = summary.scenarios.flatMap((scenario) => [
    ...scenarioLines(scenario, setting),
    '',
  ]);
  const speed = `${groupDigits(summary.seedsPerSecond)} seeds/s, ${groupDigits(summary.eventsPerSecond)} events/s`;
  return [...scenarios, clip(`${outcomeOf(summary)}; ${speed}`, options.width)].join('\n');
}

/** `1 of 2 expectations met, 1 not judged`. */
export function outcomeOf(summary: Summary): string {
  const systems = summary.scenarios.flatMap((scenario) => scenario.systems);
  const met = systems.filter((system) => system.met === true).length;
  const failed = systems.filter((system) => system.met === false).length;
  const open = systems.length - met - failed;
  const parts = [`${met} of ${countOf(systems.length, 'expectation')} met`];
  if (failed > 0) parts.push(`${failed} not met`);
  if (open > 0) parts.push(`${open} not judged`);
  return parts.join(', ');
}

interface Setting extends Pick<OverviewOptions, 'width' | 'isFull'> {
  readonly paint: Paint;
}

function scenarioLines(scenario: ScenarioSummary, setting: Setting): string[] {
  const { width, paint } = setting;
  const title = clip(visible(`${scenario.name}  ${scenario.file}`), width);
  return [paint.bold(title), ...scenario.systems.flatMap((system) => systemLines(system, setting))];
}

function systemLines(system: SystemSummary, setting: Setting): string[] {
  const { width, paint } = setting;
  const { sign, word } = markOf(system.met);
  const tint = { '✓': paint.green, '✗': paint.red, '?': paint.yellow }[sign];
  const text = `${system.name}: ${word} (${expectationText(system)})`;
  const [first = '', ...rest] = wrap(visible(text), Math.max(10, width - 4));
  const head = [`  ${tint(sign)} ${first}`, ...rest.map((line) => `    ${line}`)];
  const notes = noteLines(system).flatMap((note) =>
    wrap(visible(note), Math.max(10, width - 6)).map((line, at) =>
      paint.faint(`${at === 0 ? '    ' : '      '}${line}`),
    ),
  );
  return [...head, ...claimTable(claimRows(system, setting.isFull), setting), ...notes];
}

const HEAD = ['claim', 'expected', 'broken seeds', 'first seed', 'exercised on'];

function claimTable(rows: readonly ClaimRow[], { width, paint }: Setting): string[] {
  const cells = rows.map((row) => {
    const sign = row.isSurprise ? ' ✗' : '';
    const { claim, expected, broken, firstSeed, exercised } = row;
    return [visible(claim), `${expected}${sign}`, broken, firstSeed, exercised];
  });
  const widths = HEAD.map((name, at) =>
    Math.max(...[name, ...cells.map((row) => row[at] ?? '')].map(displayWidth)),
  );
  const spare = width - 4 - widths.reduce((sum, wide) => sum + wide + 2, 0);
  const [claimWidth = 0] = widths;
  widths[0] = Math.max(8, Math.min(claimWidth, claimWidth + spare));
  const line = (row: readonly string[]): string => {
    const set = row.map((cell, at) => pad(cell, widths[at] ?? 0)).join('  ');
    return clip(`    ${set}`.trimEnd(), width);
  };
  return [paint.faint(line(HEAD)), ...cells.map(line)];
}
