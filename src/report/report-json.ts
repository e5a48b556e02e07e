/**
 * Renders findings and whole results as JSON, in the format of `output-schema.ts`. Also reads the
 * findings of an earlier run, to classify current findings as new or known, and earlier findings as
 * fixed. Two findings are the same if they have the same scenario, system and claim: a different
 * seed or client name does not make a finding new.
 */
import type { Finding, FindingLine, Result } from '../search/campaign/result.ts';
import { countOf } from '../text/prose.ts';

/** Renders a finding as a line of `--json`, without a line break. */
export function findingLine(finding: Finding): string {
  return JSON.stringify(findingJson(finding));
}

/** Renders the file of `--reporter json`, with a final line break. */
export function renderReportJson({ type, version, summary, findings }: Result): string {
  const report = { type, version, summary, findings: findings.map(findingJson) };
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Omits the runs, since the plan reproduces them. */
function findingJson(finding: Finding): FindingLine {
  const { exhaust, siblings, causation, isExpected, trace } = finding;
  return {
    type: finding.type,
    version: finding.version,
    scenario: finding.scenario,
    system: finding.system,
    claim: finding.claim,
    seed: finding.seed,
    explanation: finding.explanation,
    digest: finding.digest,
    planFile: finding.planFile,
    pageFile: finding.pageFile,
    boundary: finding.boundary,
    size: finding.size,
    ...(exhaust === undefined ? {} : { exhaust }),
    ...(siblings === undefined ? {} : { siblings }),
    ...(causation === undefined ? {} : { causation }),
    ...(isExpected === true ? { isExpected } : {}),
    ...(trace.output === undefined ? {} : { output: trace.output }),
  };
}

/** Identifies a finding of an earlier `report.json`. */
export type Earlier = Pick<Finding, 'scenario' | 'system' | 'claim'> & {
  readonly headline: string;
};

/** Returns the findings of an earlier `report.json`, or a clause that explains why it has none. */
export function readBaseline(text: string): readonly Earlier[] | string {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  const findings = fieldOf(read, 'findings');
  if (fieldOf(read, 'type') !== 'report' || !Array.isArray(findings)) {
    return 'not a report.json as --reporter json writes it';
  }
  const earlier: Earlier[] = [];
  for (const [at, finding] of findings.entries()) {
    const [scenario, system, claim] = ['scenario', 'system', 'claim'].map((name) =>
      fieldOf(finding, name),
    );
    const headline = fieldOf(fieldOf(finding, 'explanation'), 'headline');
    if (!isText(scenario) || !isText(system) || !isText(claim)) {
      return `finding ${at + 1} has no scenario, system and claim`;
    }
    earlier.push({ scenario, system, claim, headline: isText(headline) ? headline : claim });
  }
  return earlier;
}

const isText = (value: unknown): value is string => typeof value === 'string';

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export interface Since {
  /** Returns true if a current finding existed before. */
  readonly isKnown: (finding: Finding) => boolean;
  /** Earlier findings that no longer exist, limited to systems that the current run examined. */
  readonly fixed: readonly Earlier[];
}

/** Compares the findings of a run with earlier findings. */
export function since(
  earlier: readonly Earlier[],
  { summary, findings }: Pick<Result, 'summary' | 'findings'>,
): Since {
  const before = new Set(earlier.map(keyOf));
  const now = new Set(findings.map(keyOf));
  const examined = new Set(
    summary.scenarios.flatMap(({ name, systems }) =>
      systems.map((system) => JSON.stringify([name, system.name])),
    ),
  );
  const gone = earlier.filter((finding) => {
    const isExamined = examined.has(JSON.stringify([finding.scenario, finding.system]));
    return isExamined && !now.has(keyOf(finding));
  });
  const fixed = [...new Map(gone.map((finding) => [keyOf(finding), finding])).values()];
  return { isKnown: (finding) => before.has(keyOf(finding)), fixed };
}

function keyOf({ scenario, system, claim }: Omit<Earlier, 'headline'>): string {
  return JSON.stringify([scenario, system, claim]);
}

/** Returns, for example, `1 new counterexample, 2 known, 1 fixed`. */
export function sinceText(findings: readonly Finding[], { isKnown, fixed }: Since): string {
  const known = findings.filter(isKnown).length;
  const fresh = countOf(findings.length - known, 'new counterexample');
  return `${fresh}, ${known} known, ${fixed.length} fixed`;
}
