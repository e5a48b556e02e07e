/**
 * Sets findings and whole results as JSON, in the shapes that `output-schema.ts` describes, and
 * reads those of an earlier run: each finding of now is new or was known, and of the earlier ones
 * some are fixed. Findings are the same where scenario, system and claim are: another seed, or
 * another name of a client, makes no new one.
 */
import { countOf } from '../text/prose.ts';
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

/** Which finding of an earlier `report.json`. */
export type Earlier = Pick<Finding, 'scenario' | 'system' | 'claim'> & {
  readonly headline: string;
};

/** The findings of an earlier `report.json`; a clause where the text is none. */
export function readBaseline(text: string): readonly Earlier[] | string {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return 'this is no JSON';
  }
  const findings = fieldOf(read, 'findings');
  if (fieldOf(read, 'type') !== 'report' || !Array.isArray(findings)) {
    return 'this is no report.json, as --reporter json writes it';
  }
  const earlier: Earlier[] = [];
  for (const [at, one] of findings.entries()) {
    const [scenario, system, claim] = ['scenario', 'system', 'claim'].map((name) =>
      fieldOf(one, name),
    );
    const headline = fieldOf(fieldOf(one, 'explanation'), 'headline');
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
  /** Whether a finding of now was there before. */
  readonly isKnown: (finding: Finding) => boolean;
  /** Those of before that are gone, of systems that were examined now. */
  readonly fixed: readonly Earlier[];
}

/** Compares the findings of a run with earlier ones. */
export function since(
  earlier: readonly Earlier[],
  { findings, overview }: { readonly findings: readonly Finding[]; readonly overview: Summary },
): Since {
  const before = new Set(earlier.map(keyOf));
  const now = new Set(findings.map(keyOf));
  const examined = new Set(
    overview.scenarios.flatMap(({ name, systems }) =>
      systems.map((system) => JSON.stringify([name, system.name])),
    ),
  );
  const gone = earlier.filter((one) => {
    const isExamined = examined.has(JSON.stringify([one.scenario, one.system]));
    return isExamined && !now.has(keyOf(one));
  });
  const fixed = [...new Map(gone.map((one) => [keyOf(one), one])).values()];
  return { isKnown: (finding) => before.has(keyOf(finding)), fixed };
}

function keyOf({ scenario, system, claim }: Omit<Earlier, 'headline'>): string {
  return JSON.stringify([scenario, system, claim]);
}

/** `1 new counterexample, 2 known, 1 fixed`. */
export function sinceText(findings: readonly Finding[], { isKnown, fixed }: Since): string {
  const known = findings.filter(isKnown).length;
  const fresh = countOf(findings.length - known, 'new counterexample');
  return `${fresh}, ${known} known, ${fixed.length} fixed`;
}
