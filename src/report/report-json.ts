/** Sets findings and whole results as JSON, in the shapes that `output-schema.ts` describes. */
import type { Finding } from './finding.ts';
import type { Summary } from './summary.ts';

/** One finding as a line of `--json`, without its line end. */
export function findingLine(finding: Finding): string {
  return JSON.stringify(findingJson(finding));
}

/** The file of `--reporter json`: the summary and every finding, with a final line end. */
export function renderReportJson(summary: Summary, findings: readonly Finding[]): string {
  const report = { type: 'report', version: 1, summary, findings: findings.map(findingJson) };
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** What machines may know of a finding; the rest is for people, and grows with the trace. */
export interface FindingLine
  extends Pick<Finding, 'scenario' | 'system' | 'claim' | 'seed' | 'explanation' | 'digest'>,
    Pick<
      Finding,
      | ('planFile' | 'pageFile' | 'boundary' | 'size' | 'siblings' | 'causation' | 'isExpected')
      | 'exhaust'
    > {
  readonly type: 'finding';
  readonly version: 1;
}

function findingJson(finding: Finding): FindingLine {
  const { scenario, system, claim, seed, explanation, digest } = finding;
  const { planFile, pageFile, boundary, size, siblings, causation, exhaust } = finding;
  return {
    type: 'finding',
    version: 1,
    ...{ scenario, system, claim, seed, explanation, digest, planFile, pageFile, boundary, size },
    ...(exhaust === undefined ? {} : { exhaust }),
    ...(siblings === undefined ? {} : { siblings }),
    ...(causation === undefined ? {} : { causation }),
    ...(finding.isExpected === true ? { isExpected: true } : {}),
  };
}
