/**
 * Law: each sentence about a failure can be verified in the trace. Each time and number in the
 * words of a kept plan, or of a mutant's shrunk plan, occurs in the lines of the trace below them;
 * no piece of evidence is left out; and the numbers of the lines are those that shrinking counts.
 * All in 25 lines of 100 columns.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Plan } from '../src/core/plan/plan.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { breaks, shrinkFailure } from '../src/harness.ts';
import { describeShrunk } from '../src/report/describe-finding.ts';
import { renderFailure, storyOf } from '../src/report/failure.ts';
import { evidenceShown } from '../src/report/finding.ts';
import { countEvents, listSteps } from '../src/report/steps.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Finding } from '../src/search/campaign/result.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { displayWidth } from '../src/text/visible.ts';
import { MUTANT, type Mutant, scenarioOf } from '../tools/mutants/mutant.ts';
import { mutants } from '../tools/mutants/mutants.ts';
import { some } from './runs.ts';

const folder = fileURLToPath(new URL('../fixtures/plans/', import.meta.url));

function planOf(file: string): Plan {
  const read = readPlan({ file, text: readFileSync(`${folder}${file}`, 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.plan;
}

/** Returns null for a plan that is kept because its claim now holds. */
function findingOf(plan: Plan, original = plan): Promise<Finding | null> {
  const { scenario, seed = 0, expect: kept } = { ...plan, seed: plan.chance?.seed };
  const result = { plan, boundary: null, whyNoBoundary: 'no boundary was looked for' };
  const shrunk = {
    scenario,
    scenarioFile: 'a.yaml',
    seed,
    claim: kept?.claim ?? '',
    original,
    result,
  };
  const place = { planFile: 'reports/a.yaml', pageFile: 'reports/a.html', keptIn: 'plans/' };
  return describeShrunk(shrunk, { ...place, command: '' });
}

interface Block {
  readonly lines: readonly string[];
  /** Number, time and text of each line of the trace; number '' for a line without one. */
  readonly rows: readonly {
    readonly number: string;
    readonly time: string;
    readonly text: string;
  }[];
}

function blockOf(finding: Finding): Block {
  const lines = renderFailure(finding, { colour: false, width: 100 }).split('\n');
  const head = lines.findIndex((line) => /^ *# +(ms|at) {2}/.test(line));
  const [margin = '', unit = ''] = /^ *# +(ms|at) {2}/.exec(lines[head] ?? '') ?? [];
  const numberEnds = margin.indexOf('#') + 1;
  const trace = lines.slice(head + 1, lines.indexOf('', head));
  const rows: { number: string; time: string; text: string }[] = [];
  for (const line of trace) {
    const time = line.slice(numberEnds, margin.length).trim();
    const number = line.slice(0, numberEnds).trim();
    const text = line.slice(margin.length);
    const last = rows.at(-1);
    // A line that is too long continues on the next one.
    if (time === '' && last !== undefined) last.text += ` ${text.replace(/[ │]+$/, '').trim()}`;
    else rows.push({ number, time: unit === 'ms' ? `${time} ms` : time, text });
  }
  return { lines, rows };
}

const UNITS = ['us', 'ms', 's', 'min', 'h'];

/** Returns `20 ms`, `token 2` and `2` in a text, without names in backticks. */
function numbersIn(text: string): ReadonlySet<string> {
  const words = text
    .replace(/`[^`]*`/g, '')
    .split(/[\s(]+/)
    .map((word) => word.replace(/^[+−-]|[.,;:)]+$/g, ''));
  const found = new Set<string>();
  words.forEach((word, at) => {
    if (!/^\d+(,\d{3})*(\.\d+)?$/.test(word)) return;
    const [before = '', after = ''] = [words[at - 1], words[at + 1]];
    if (before === 'section') return; // a name: its operations contain it, too
    if (UNITS.includes(after)) found.add(`${word} ${after}`);
    else if (before === 'token' || before === 'grant') found.add(`${before} ${word}`);
    else found.add(word);
  });
  return found;
}

/** Returns numbers in the words that no line of the trace contains. */
function unshown(finding: Finding, { rows }: Block): readonly string[] {
  const shown = new Set(rows.flatMap(({ time, text }) => [time, ...numbersIn(text)]));
  for (const one of [...shown]) shown.add(one.replace(/^(token|grant) /, ''));
  // The number of tested causes is not a fact of the run.
  const story = storyOf(finding.explanation)
    .join(' ')
    .replace(/\d+ of \d+ possible causes/, '');
  return [...numbersIn(story)].filter((one) => !shown.has(one));
}

/** Returns evidence without a line. */
function leftOut(finding: Finding, { rows }: Block): readonly string[] {
  const evidence = evidenceShown(finding);
  const steps = listSteps(finding.trace, { evidence });
  const missing = steps.filter(({ part, text }) => {
    if (part === '') return false;
    return !rows.some((row) => row.text.includes(text) && row.text.includes(` ← ${part}`));
  });
  return missing.map(({ part }) => part);
}

function expectToBeShown(finding: Finding): void {
  const block = blockOf(finding);
  expect(unshown(finding, block), block.lines.join('\n')).toEqual([]);
  expect(leftOut(finding, block), block.lines.join('\n')).toEqual([]);
  expect(block.lines.length, block.lines.join('\n')).toBeLessThanOrEqual(25);
  expect(Math.max(...block.lines.map(displayWidth))).toBeLessThanOrEqual(100);
  const { trace, size } = finding;
  const steps = listSteps(trace, { evidence: evidenceShown(finding) });
  const numbers = steps.flatMap(({ number }) => (number === null ? [] : [number]));
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  expect([numbers.length, countEvents(steps)]).toEqual([size.events, size.events]);
  const printed = block.rows.flatMap(({ number }) => (number === '' ? [] : [Number(number)]));
  expect(printed.filter((number, at) => number <= (printed[at - 1] ?? 0))).toEqual([]);
  expect(Math.max(...printed)).toBeLessThanOrEqual(size.events);
  const stores = trace.processes.filter(({ role }) => role === 'store').map(({ name }) => name);
  const { headline } = finding.explanation;
  expect(stores.filter((name) => headline.includes(`\`${name}\``))).toEqual([]);
}

/** Shrinks the first of a few seeds on which the mutant breaks its claim. */
function shrunkPlanOf(mutant: Mutant): readonly [shrunk: Plan, original: Plan] | null {
  for (let seed = 0; seed < 40; seed += 1) {
    const plan = expand(scenarioOf(mutant), MUTANT, seed);
    if (!breaks(plan, mutant.caughtBy)) continue;
    return [shrinkFailure(plan, mutant.caughtBy, { maxRuns: 150 }).plan, plan];
  }
  return null;
}

const kept = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => [file, planOf(file)] as const);

beforeAll(async () => {
  await prepare(kept.map(([, { system }]) => system));
  await prepare(mutants.map(({ mutant }) => mutant));
});

describe('a trace shows all facts of its explanation', () => {
  test.each(some(kept))('of the kept plan %s', async (_, plan) => {
    const finding = await findingOf(plan);
    if (finding !== null) expectToBeShown(finding);
  });

  test.each(some(mutants).map((mutant) => [mutant.name, mutant] as const))(
    'of the mutant %s',
    async (_, mutant) => {
      const [plan, original] = shrunkPlanOf(mutant) ?? [];
      if (plan === undefined) return;
      const finding = await findingOf(plan, original);
      if (finding === null) expect.fail('a shrunk plan breaks its claim');
      expectToBeShown(finding);
    },
  );
});
