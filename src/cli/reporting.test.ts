/** Tests how a run treats the plans of an earlier run. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { renderPlan } from '../core/plan/plan-text.ts';
import { pause, planWith } from '../core/shrink/sample-plan.fixture.ts';
import { sampleResult } from '../report/run-result.fixture.ts';
import { UserError } from './exit.ts';
import { report, setAside } from './reporting.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-reporting-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const paused = planWith([pause('alice', 12_000)]);
const module = (digit: string): string => `sha256:${digit.repeat(64)}`;

/** Replaces the first text by the second. Returns the number of notes, and the text set aside. */
function asideOf(name: string, before: string, after: string): readonly unknown[] {
  const file = join(folder, `${name}.yaml`);
  const aside = join(folder, `${name}.before.yaml`);
  writeFileSync(file, before);
  const noted: string[] = [];
  const note = (line: string): void => void noted.push(line);
  setAside(file, after, { note });
  return [noted.length, existsSync(aside) ? readFileSync(aside, 'utf8') : null];
}

test('another plan at the place of a new one is moved, with a note', () => {
  const earlier = renderPlan(planWith([pause('bob', 12_000)]), 'seed 1');
  expect(asideOf('other', earlier, renderPlan(paused))).toEqual([1, earlier]);
  expect(asideOf('broken', 'by: hand\n', renderPlan(paused))).toEqual([1, 'by: hand\n']);
});

test('the same plan is replaced, regardless of its comment and its modules', () => {
  const earlier = renderPlan({ ...paused, use: { './a.ts': module('1') } }, 'the same');
  const later = renderPlan({ ...paused, use: { './a.ts': module('2') } });
  expect(asideOf('same', earlier, later)).toEqual([0, null]);
});

test('a plan written in this process is also kept from a later run', () => {
  const [first = '', second = ''] = ['bob', 'carol'].map((name) =>
    renderPlan(planWith([pause(name, 12_000)]), 'seed 1'),
  );
  expect(asideOf('twice', first, second)).toEqual([1, first]);
  expect(asideOf('twice', second, renderPlan(paused))).toEqual([1, second]);
});

test('a plan that cannot be written is printed', () => {
  const planFile = join(folder, 'taken.yaml');
  mkdirSync(planFile);
  const findings = sampleResult.findings.slice(0, 1).map((one) => ({ ...one, planFile }));
  const warned: string[] = [];
  const ignore = (): void => {};
  const terminal = {
    colour: false,
    width: 80,
    print: ignore,
    printJson: ignore,
    printLines: ignore,
    note: ignore,
    warn: (line: string): void => void warned.push(line),
    progress: ignore,
    endProgress: ignore,
  };
  const reporters = new Set<never>();
  const flags = { output: folder, reporters, isJson: false, isVerbose: false, version: '1' };
  const reporting = { concluded: [], options: flags, terminal };
  expect(() => report({ ...sampleResult, findings }, [], reporting)).toThrow(UserError);
  expect(warned.slice(1).join('\n')).toBe(findings[0]?.planText);
});
