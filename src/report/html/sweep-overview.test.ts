import { describe, expect, it } from 'vitest';
import { type Earlier, readBaseline, renderReportJson, since } from '../report-json.ts';
import { sampleResult, sampleScenario } from '../run-result.fixture.ts';
import { renderIndex } from './sweep-overview.ts';

const [finding] = sampleResult.findings;
if (finding === undefined) throw new Error('the sample has a finding');
const { scenario, system, claim } = finding;
const overview = sampleResult.summary;

function textOf(earlier: readonly Earlier[] | null): string {
  const against = earlier === null ? null : since(earlier, sampleResult);
  const page = renderIndex({ results: [sampleScenario], overview, since: against });
  return page.slice(page.indexOf('<body>')).replace(/<[^>]*>/g, '|');
}

describe('the index', () => {
  it('links each scenario and each counterexample, and has no script', () => {
    const page = renderIndex({ results: [sampleScenario], overview, since: null });
    expect(page).toContain('href="./zombie-writer.html"');
    expect(page).toContain('href="./zombie-writer.html#finding-1"');
    expect(page).not.toContain('<script');
    expect(page).not.toContain('known');
  });

  it('shows new, known and fixed failures compared with an earlier run', () => {
    expect(textOf([])).toMatch(/\|new\|/);
    const known = { scenario, system, claim, headline: 'As before' };
    expect(textOf([known])).toMatch(/\|known\|/);
    const gone = { ...known, claim: 'tokens-unique', headline: 'Token twice' };
    expect(textOf([known, gone])).toContain('1 fixed');
    expect(textOf([known, gone])).toContain('Token twice');
  });

  it('counts no failure as fixed that was not examined', () => {
    const elsewhere = { scenario: 'other', system, claim, headline: 'Elsewhere' };
    expect(textOf([elsewhere])).toContain('0 fixed');
    expect(textOf([elsewhere])).not.toContain('Elsewhere');
  });

  it('reads the JSON report, and explains what is wrong with any other text', () => {
    const text = renderReportJson(sampleResult);
    const read = readBaseline(text);
    expect(read).toHaveLength(sampleResult.findings.length);
    expect(read[0]).toMatchObject({ scenario, system, claim });
    expect(readBaseline('{')).toBe('not JSON');
    expect(readBaseline('[]')).toContain('not a report.json');
    expect(readBaseline('{"type":"report","findings":[{}]}')).toContain('finding 1 has no');
  });
});
