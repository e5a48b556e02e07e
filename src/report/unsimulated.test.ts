import { expect, test } from 'vitest';
import type { Result } from '../search/campaign/result.ts';
import { render } from '../text/markup.ts';
import type { ReportedScenario } from './cases.ts';
import { renderConclusion } from './conclusion.ts';
import { renderStepSummary } from './github.ts';
import { renderSweepOverview } from './html/sweep-overview.ts';
import { renderJunit } from './junit.ts';
import { renderOverview } from './overview.ts';
import { sampleResult, sampleScenario } from './run-result.fixture.ts';

const xadd = { what: 'XADD', place: 'queue.mjs:9:3', package: 'bullmq' } as const;
const found = [{ kind: 'command', ...xadd, count: 3, firstSeed: 0 }] as const;
const unsimulated = { found, others: 0 };
const WORDS =
  /not simulated: XADD \(3×, first from queue\.mjs:9:3\); this package cannot be tested/;

test('every summary lists unsimulated commands, even for a system that would pass', () => {
  const [first] = sampleScenario.result.systems;
  if (first === undefined) throw new Error('the sample has no system');
  const system = { ...first, met: null, vacuous: [], unsimulated };
  const result = { ...sampleScenario.result, systems: [system] };
  const scenario: ReportedScenario = { ...sampleScenario, result, findings: [] };
  const summary: Result['summary'] = { ...sampleResult.summary, scenarios: [result] };
  const wide = { colour: false, width: 500, isFull: false };
  const texts = {
    conclusion: renderConclusion(summary, wide),
    overview: renderOverview(summary, wide),
    junit: renderJunit({ results: [scenario], version: '1' }),
    github: renderStepSummary(summary, [scenario], { mostBytes: 1e6 }).replaceAll('\\', ''),
    page: render(renderSweepOverview(summary, false)),
  };
  for (const [name, text] of Object.entries(texts)) expect(text, name).toMatch(WORDS);
});
