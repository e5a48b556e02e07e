/**
 * Turns the result of a scenario into cases, one for each possible failure: every claim listed for
 * a system, every kept plan, and every seed that had to run. Test reports, annotations and the step
 * summary are views of these cases.
 */

import { parseFile, type SourceFile } from '../core/plan/document.ts';
import type {
  ClaimResult,
  Finding,
  ScenarioResult,
  SystemResult,
} from '../search/campaign/result.ts';
import { isJudged } from '../search/sweep/expected.ts';
import type { KeptOutcome } from '../search/sweep/shards.ts';
import { unsimulatedText } from '../search/sweep/unsimulated.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { trialOf, trialOfAll } from './exhausted.ts';
import { outputBlock } from './failure.ts';
import { testedText } from './overview.ts';

/** The result of a scenario with its findings and references to its files. */
export interface ReportedScenario extends ScenarioPlace {
  readonly result: ScenarioResult;
  readonly findings: readonly Finding[];
}

/** References to the files of a scenario, and its duration. */
export interface ScenarioPlace {
  /** By system, the line of the scenario file that names it, from 1. */
  readonly lines: ReadonlyMap<string, number>;
  /** The path of the HTML page, as a user would type it. */
  readonly pageFile: string;
  readonly seconds: number;
}

export interface Case {
  /** The name of the system, or '' if no single system is responsible. */
  readonly system: string;
  /** For example `grant-order holds`. */
  readonly name: string;
  readonly outcome: CaseOutcome;
  /** One sentence without a final period, or '' for a case that passed. */
  readonly message: string;
  /** Further lines of text, usually ''. */
  readonly details: string;
  /** The counterexample of the case, if one was shrunk. */
  readonly finding: Finding | null;
  /** The file to look at first. */
  readonly file: string;
  /** The line, from 1, or null for the whole file. */
  readonly line: number | null;
}

/**
 * `broke` or `held`: a claim did the opposite of what was expected. `changed`: a kept plan has an
 * unexpected outcome. `failed`: the system or fencepost did not run. `open`: the case could not be
 * judged.
 */
export type CaseOutcome = 'passed' | 'broke' | 'held' | 'changed' | 'failed' | 'open';

/** Returns true if the case makes a run fail. */
export function isFailure({ outcome }: Case): boolean {
  return outcome !== 'passed' && outcome !== 'open';
}

/**
 * Returns the cases of a scenario: first those of each system, then those of the whole scenario.
 */
export function casesOf(scenario: ReportedScenario): readonly Case[] {
  const { result } = scenario;
  return [
    ...result.systems.flatMap((system) => systemCases(system, scenario)),
    ...result.keptPlans.map(keptCase),
    ...differenceCase(scenario),
  ];
}

type Judged = Pick<Case, 'outcome' | 'message'> & Partial<Pick<Case, 'details'>>;

const NO_MORE = { details: '', finding: null };

function systemCases(system: SystemResult, scenario: ReportedScenario): readonly Case[] {
  const { holds = [], breaks = [] } = system.expect;
  const at = placeOf(system.name, scenario);
  const caseOf = (claim: string, verb: 'breaks' | 'holds', judged: Judged): Case => {
    const isMeant = (candidate: Finding): boolean =>
      candidate.system === system.name && candidate.claim === claim;
    const finding = scenario.findings.find(isMeant) ?? null;
    return { ...at, name: `${claim} ${verb}`, details: '', ...judged, finding };
  };
  return [
    ...breaks.map((claim) => caseOf(claim, 'breaks', judgeBreak(claim, system, scenario.result))),
    ...holds.map((claim) => caseOf(claim, 'holds', judgeHold(claim, system))),
    ...simulationCase(system, at),
    ...vacuityCase(system, at),
    ...errorCase(system, at),
  ];
}

type Place = Pick<Case, 'system' | 'file' | 'line'>;

function placeOf(system: string, { result, lines }: ReportedScenario): Place {
  return { system, file: result.file, line: lines.get(system) ?? null };
}

const PASSED: Judged = { outcome: 'passed', message: '' };

/** Returns the counts of a claim, or null if it was judged on no seed. */
function countsOf(claim: string, { claims }: SystemResult): ClaimResult | null {
  return Object.hasOwn(claims, claim) ? (claims[claim] ?? null) : null;
}

function judgeBreak(claim: string, system: SystemResult, scenario: ScenarioResult): Judged {
  const { range, systems, cutShort } = scenario;
  const trial = trialOfAll(systems);
  const counts = countsOf(claim, system);
  if (counts !== null && counts.broken > 0) return PASSED;
  const held = `${claim} should break but held on ${countOf(system.seeds, trial)}`;
  if (system.seeds === 0) return { outcome: 'open', message: `no ${trial} was examined` };
  if (range.from === range.to)
    return { outcome: 'open', message: `${held}; one ${trial} is not enough to judge this` };
  if (cutShort !== undefined)
    return { outcome: 'open', message: `${held} before the run ended early` };
  if (counts !== null && !isJudged(counts)) {
    const unknown = `unknown on ${countOf(counts.unknown, trial)}`;
    return { outcome: 'open', message: `${held}, ${unknown}` };
  }
  return { outcome: 'held', message: held };
}

function judgeHold(claim: string, system: SystemResult): Judged {
  const { vacuous } = system;
  const trial = trialOf(system);
  const counts = countsOf(claim, system);
  if (counts !== null && counts.broken > 0) {
    const share = `${groupDigits(counts.broken)} of ${countOf(system.seeds, trial)}`;
    const first = counts.firstSeed ?? 0;
    const message = `${claim} should hold but broke on ${share}, first on ${first}`;
    return { outcome: 'broke', message };
  }
  if (system.seeds === 0) return { outcome: 'open', message: `no ${trial} was examined` };
  if (counts?.firstUnknown !== undefined && !isJudged(counts)) {
    const { seed, reason } = counts.firstUnknown;
    const where = `${countOf(counts.unknown, trial)}, first on ${seed}`;
    return { outcome: 'open', message: `unknown on ${where}: ${reason}` };
  }
  if (vacuous.length > 0)
    return { outcome: 'open', message: `not exercised: ${vacuous.join(', ')}` };
  return counts === null ? PASSED : { ...PASSED, details: testedText(counts) };
}

/** A system that uses an unsimulated feature may behave differently in production. */
function simulationCase({ unsimulated }: SystemResult, at: Place): readonly Case[] {
  if (unsimulated === undefined) return [];
  const message = unsimulatedText(unsimulated);
  return [{ ...at, name: 'uses only simulated features', outcome: 'open', message, ...NO_MORE }];
}

/** A `holds` claim means nothing if nothing was exercised, so this is a separate case. */
function vacuityCase({ vacuous, expect }: SystemResult, at: Place): readonly Case[] {
  if (vacuous.length === 0 || (expect.holds ?? []).length === 0) return [];
  const message = `not exercised: ${vacuous.join(', ')}`;
  return [{ ...at, name: 'is exercised', outcome: 'open', message, ...NO_MORE }];
}

function errorCase(system: SystemResult, at: Place): readonly Case[] {
  const { failed, seeds, failures, output } = system;
  if (failed === 0) return [];
  const trial = trialOf(system);
  const lines = failures.map(({ seed, error }) => `${trial} ${seed}: ${error}`);
  if (failed > lines.length) lines.push(`and ${groupDigits(failed - lines.length)} more`);
  if (output !== undefined) lines.push(...outputBlock(output.lines, 100));
  const message = `failed to run on ${groupDigits(failed)} of ${countOf(seeds, trial)}`;
  const name = `runs on every ${trial}`;
  return [{ ...at, name, outcome: 'failed', message, details: lines.join('\n'), finding: null }];
}

function keptCase({ file, outcome, expected, divergedAt }: KeptOutcome): Case {
  const where = divergedAt === null ? '' : `; no match for ${divergedAt}`;
  const judged: Judged =
    outcome === expected
      ? PASSED
      : { outcome: 'changed', message: `is ${outcome}, expected ${expected}${where}` };
  const name = `kept plan ${file.split(/[\\/]/).at(-1) ?? file} is ${expected}`;
  return { system: '', name, ...judged, ...NO_MORE, file, line: null };
}

function differenceCase(scenario: ReportedScenario): readonly Case[] {
  const { difference } = scenario.result;
  if (difference === null) return [];
  const { system, seed, what } = difference;
  const message = `two runs of seed ${seed} differ: ${what}`;
  const name = 'is deterministic';
  return [{ ...placeOf(system, scenario), name, outcome: 'failed', message, ...NO_MORE }];
}

/** Maps systems to the lines of the file that name them, from 1. Empty if parsing fails. */
export function systemLines(
  source: SourceFile,
  systems: readonly string[],
): ReadonlyMap<string, number> {
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return new Map();
  const lines = new Map<string, number>();
  for (const name of systems) {
    const places = parsed.locate([{ path: ['systems', name], isKey: true, what: name }]);
    for (const { line } of places) lines.set(name, line);
  }
  return lines;
}
