import { describe, expect, it } from 'vitest';
import { type ReportedRun, type ReportPart, renderReports } from './report.ts';
import { REPORTERS } from './reporters.ts';
import { sampleOverview, sampleResult } from './run-result.fixture.ts';

const run: ReportedRun = {
  overview: sampleOverview,
  results: [sampleResult],
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
  it('delivers what was chosen, in the order of the table, and nothing else', () => {
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

  it('prints each finding and then the overview, a plan that was told before in short', () => {
    const texts = [...renderReports(new Set(['text']), run)].map(({ text }) => text);
    expect(texts).toHaveLength(3);
    expect(texts[0]).toMatch(/^\n✗ Stale write accepted/);
    expect(texts[1]).toContain('The same plan as unfenced');
    expect(texts[2]).toMatch(/0 of 3 expectations met.*$/);
  });

  it('writes no summary of a step where none is asked for', () => {
    const goals = (stepBytes: number | null): readonly string[] =>
      [...renderReports(new Set(['github']), { ...run, stepBytes })].map(({ to }) => to);
    expect(goals(100_000).filter((to) => to === 'step-summary')).toHaveLength(1);
    expect(new Set(goals(null))).toEqual(new Set(['log']));
  });

  it.each(Object.keys(REPORTERS))('%s delivers something of a run that broke', (name) => {
    const deliveries = [...renderReports(new Set([name]), run)];
    expect(deliveries.length).toBeGreaterThan(0);
    for (const { text } of deliveries) expect(text).not.toBe('');
  });
});
