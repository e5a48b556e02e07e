import { describe, expect, it } from 'vitest';
import type { Result } from '../search/campaign/result.ts';
import { type ReportedRun, type ReportPart, renderReports } from './report.ts';
import { REPORTERS } from './reporters.ts';
import { samplePlace, sampleResult } from './run-result.fixture.ts';

const run: ReportedRun = {
  result: sampleResult,
  places: new Map([['zombie-writer', samplePlace]]),
  output: 'reports',
  version: '1.2.3',
  colour: false,
  width: 100,
  isVerbose: false,
  placeOf: (file) => file,
  stepBytes: 100_000,
};

function filesOf(deliveries: Iterable<ReportPart>): readonly string[] {
  return [...deliveries].flatMap((one) => (one.to === 'file' ? [one.file] : []));
}

describe('renderReports', () => {
  it('delivers the chosen reports, in the order of the table, and no others', () => {
    const chosen = new Set(['mermaid', 'junit', 'json', 'html']);
    expect(filesOf(renderReports(chosen, run))).toEqual([
      'reports/zombie-writer.html',
      'reports/junit.xml',
      'reports/report.json',
      'reports/zombie-writer-unfenced-fence-monotone.mmd',
      'reports/zombie-writer-unfenced-fence-monotone.mmd',
    ]);
    expect([...renderReports(new Set(['toast']), run)]).toEqual([]);
  });

  it('prints each finding, briefly if its plan was printed before, then the overview', () => {
    const texts = [...renderReports(new Set(['text']), run)].map(({ text }) => text);
    expect(texts).toHaveLength(4);
    expect(texts[0]).toMatch(/^\n✗ Stale write accepted/);
    expect(texts[1]).toContain('The plan for unfenced also breaks');
    expect(texts[2]).toContain('✗ unfenced: not met');
    expect(texts[3]).toMatch(/✗ failed on 1,000 seeds: 0 of 3 expectations met.*$/);
  });

  describe('of expected findings', () => {
    const findingsOf = (isExpected: (at: number) => boolean): Result['findings'] =>
      sampleResult.findings.map((one, at) => ({ ...one, isExpected: isExpected(at) }));
    const expected: Result = { ...sampleResult, findings: findingsOf(() => true) };
    const textsOf = (more: Partial<typeof run>): string =>
      [...renderReports(new Set(['text']), { ...run, result: expected, ...more })]
        .map(({ text }) => text)
        .join('\n');
    const { summary } = sampleResult;
    const twice = {
      ...expected,
      summary: { ...summary, scenarios: [...summary.scenarios, ...summary.scenarios] },
      findings: [...expected.findings, ...expected.findings],
    };

    it('prints one in full, and the others briefly', () => {
      const text = textsOf({});
      expect(text.match(/^✗ \(expected\)/gm)).toHaveLength(2);
      expect(text.match(/^ *# +ms {2}/gm)).toHaveLength(1);
      expect(text).not.toMatch(/^✗ Stale/m);
    });

    it('prints a line per scenario if there are several, unless already printed', () => {
      const several = textsOf({ result: twice });
      expect(several).not.toContain('(expected)');
      expect(several.match(/^✗ zombie-writer: 3 systems/gm)).toHaveLength(2);
      expect(textsOf({ result: twice, hasReportedScenarios: true })).not.toContain('3 systems');
    });

    it('prints all of them with -v', () => {
      expect(textsOf({ result: twice, isVerbose: true }).match(/^✗ \(expected\)/gm)).toHaveLength(
        4,
      );
    });

    it('prints them after unexpected ones, and then only briefly', () => {
      const text = textsOf({ result: { ...sampleResult, findings: findingsOf((at) => at === 0) } });
      expect(text.indexOf('\n✗ Stale')).toBeLessThan(text.indexOf('✗ (expected)'));
      expect(text.match(/^ *# +ms {2}/gm)).toHaveLength(1);
    });
  });

  it('writes no step summary if none is requested', () => {
    const goals = (stepBytes: number | null): readonly string[] =>
      [...renderReports(new Set(['github']), { ...run, stepBytes })].map(({ to }) => to);
    expect(goals(100_000).filter((to) => to === 'step-summary')).toHaveLength(1);
    expect(new Set(goals(null))).toEqual(new Set(['log']));
  });

  it.each(Object.keys(REPORTERS))('%s delivers a text for a failed run', (name) => {
    const deliveries = [...renderReports(new Set([name]), run)];
    expect(deliveries.length).toBeGreaterThan(0);
    for (const { text } of deliveries) expect(text).not.toBe('');
  });
});
