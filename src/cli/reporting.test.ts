/** What becomes of the plans of an earlier run. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { builtIn } from '../catalogue.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { pause, planWith } from '../core/shrink/sample-plan.fixture.ts';
import { sweep } from '../search/sweep/sweep.ts';
import { concludeScenario } from './conclude.ts';
import { exits } from './exit.ts';
import { report, setAside, summaryOf } from './reporting.ts';
import { smallScenario } from './small.fixture.ts';
import { openTerminal } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-reporting-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const paused = planWith([pause('alice', 12_000)]);
const module = (digit: string): string => `sha256:${digit.repeat(64)}`;

/** What is said where the first text was and the second is written, and what is left beside it. */
function asideOf(name: string, before: string, after: string): readonly unknown[] {
  const file = join(folder, `${name}.yaml`);
  const aside = join(folder, `${name}.before.yaml`);
  writeFileSync(file, before);
  const noted: string[] = [];
  const note = (line: string): void => void noted.push(line);
  setAside(file, after, { note });
  return [noted.length, existsSync(aside) ? readFileSync(aside, 'utf8') : null];
}

test('another plan that a run finds where it writes its own is moved, and told', () => {
  const earlier = renderPlan(planWith([pause('bob', 12_000)]), 'seed 1');
  expect(asideOf('other', earlier, renderPlan(paused))).toEqual([1, earlier]);
  expect(asideOf('broken', 'by: hand\n', renderPlan(paused))).toEqual([1, 'by: hand\n']);
});

test('the same plan gives way, whatever its comment and its modules', () => {
  const earlier = renderPlan({ ...paused, use: { './a.ts': module('1') } }, 'the same');
  const later = renderPlan({ ...paused, use: { './a.ts': module('2') } });
  expect(asideOf('same', earlier, later)).toEqual([0, null]);
});

test('what one run wrote gives way to no later run of the same process', () => {
  const [first = '', second = ''] = ['bob', 'carol'].map((name) =>
    renderPlan(planWith([pause(name, 12_000)]), 'seed 1'),
  );
  expect(asideOf('twice', first, second)).toEqual([1, first]);
  expect(asideOf('twice', second, renderPlan(paused))).toEqual([1, second]);
});

test('what is reported takes the place of another plan, which is set aside', async () => {
  const scenario = smallScenario();
  const range = { from: 0, to: 9 };
  const { tallies } = await sweep(scenario, { ...range, pool: null });
  const notes: string[] = [];
  const terminal = {
    ...openTerminal({ isQuiet: true }),
    print: () => {},
    note: (line: string) => void notes.push(line),
  };
  const outcome = await concludeScenario(
    { scenario, file: 'small.yaml', text: '', catalogue: builtIn, warnings: [] },
    {
      ...{ tallies, range, isWhole: true, isPart: false, milliseconds: 0 },
      ...{ keptPlans: [], repeated: 0, difference: null },
    },
    { output: folder, hasPage: false, isInterrupted: () => false, terminal },
  );
  const [{ planFile, planText } = expect.fail('no seed breaks a claim')] = outcome.findings;
  const reported = { output: folder, isJson: false, isVerbose: false, version: '0.0.0' };
  const options = { ...reported, reporters: new Set<never>() };
  const overview = summaryOf([outcome], exits.met, 1);
  notes.length = 0;
  writeFileSync(planFile, 'by: hand\n');
  report([outcome], overview, { options, terminal });
  expect(readFileSync(planFile, 'utf8')).toBe(planText);
  expect(readFileSync(planFile.replace(/\.yaml$/, '.before.yaml'), 'utf8')).toBe('by: hand\n');
  expect(notes.length).toBe(1);
});
