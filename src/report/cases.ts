/**
 * What the run of one scenario came to, and the cases that it is cut into, one for each thing that
 * could have gone wrong: every claim that a scenario lists for a system, every kept plan, every
 * seed that had to run. Test reports, annotations and the step summary are views of these.
 */
import { parseFile, type SourceFile } from '../core/plan/document.ts';
import type { SystemEdges } from '../search/exhaust/edge.ts';
import type { KeptOutcome, RunDifference } from '../search/sweep/shards.ts';
import { claimTally, distinctFailures, EMPTY_TALLY, type Tally } from '../search/sweep/tally.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { type Trial, trialOf, trialOfAll } from './exhausted.ts';
import type { Finding } from './finding.ts';
import type { ScenarioSummary, SystemSummary } from './summary.ts';

/** With all that reports need: plain data, put together by the command. */
export interface ScenarioResult {
  readonly summary: ScenarioSummary;
  readonly findings: readonly Finding[];
  /** Where its systems begin to break; none where seeds were examined. */
  readonly edges: readonly SystemEdges[];
  /** By the name of the system; absent where no seed of it was examined. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** The seeds that were asked for, both included, and whether all were examined. */
  readonly seeds: { readonly from: number; readonly to: number; readonly isWhole: boolean };
  /** The kept plans that were replayed, in the order of their files. */
  readonly keptPlans: readonly KeptOutcome[];
  /** The seed whose two runs differed, and how; null when none was found. */
  readonly difference: RunDifference | null;
  readonly seconds: number;
  /** The lines, from 1, on which the scenario's file names its systems. */
  readonly lines: ReadonlyMap<string, number>;
  /** Its HTML page, as a person types it. */
  readonly pageFile: string;
}

export interface Case {
  /** Of the scenario; '' for what no single system answers for. */
  readonly system: string;
  /** `grant-order holds`. */
  readonly name: string;
  readonly outcome: CaseOutcome;
  /** One sentence without a final stop; '' for a case that passed. */
  readonly message: string;
  /** What else there is to say, in lines; mostly ''. */
  readonly details: string;
  /** The counterexample that it is about, where one was shrunk. */
  readonly finding: Finding | null;
  /** Where a person would look first. */
  readonly file: string;
  /** From 1; null where the file as a whole is meant. */
  readonly line: number | null;
}

/**
 * `broke`, `held`: a claim did what it should not. `changed`: a kept plan is no longer what it was.
 * `failed`: the system, or fencepost, did not run. `open`: it could not be judged.
 */
export type CaseOutcome = 'passed' | 'broke' | 'held' | 'changed' | 'failed' | 'open';

/** Whether a case makes a run fail. */
export function isFailure({ outcome }: Case): boolean {
  return outcome !== 'passed' && outcome !== 'open';
}

/** The cases of a scenario: its systems in their order, then what concerns all of them. */
export function casesOf(result: ScenarioResult): readonly Case[] {
  return [
    ...result.summary.systems.flatMap((system) => systemCases(system, result)),
    ...result.keptPlans.map(keptCase),
    ...differenceCase(result),
  ];
}

type Judged = Pick<Case, 'outcome' | 'message'>;

/** What most cases have not. */
const NO_MORE = { details: '', finding: null };

function systemCases(system: SystemSummary, result: ScenarioResult): readonly Case[] {
  const { holds = [], breaks = [] } = system.expect;
  const tally = result.tallies.get(system.name) ?? EMPTY_TALLY;
  const at = placeOf(system.name, result);
  const caseOf = (claim: string, verb: 'breaks' | 'holds', judged: Judged): Case => {
    const isMeant = (one: Finding): boolean => one.system === system.name && one.claim === claim;
    const finding = result.findings.find(isMeant) ?? null;
    return { ...at, name: `${claim} ${verb}`, ...judged, details: '', finding };
  };
  return [
    ...breaks.map((claim) => caseOf(claim, 'breaks', judgeBreak(claim, tally, result))),
    ...holds.map((claim) => caseOf(claim, 'holds', judgeHold(claim, tally, system))),
    ...vacuityCase(system, at),
    ...errorCase(tally, at, trialOf(system)),
  ];
}

type Place = Pick<Case, 'system' | 'file' | 'line'>;

function placeOf(system: string, { summary, lines }: ScenarioResult): Place {
  return { system, file: summary.file, line: lines.get(system) ?? null };
}

const PASSED: Judged = { outcome: 'passed', message: '' };

function judgeBreak(claim: string, tally: Tally, { seeds, summary }: ScenarioResult): Judged {
  const trial = trialOfAll(summary.systems);
  if (claimTally(tally, claim).broken > 0) return PASSED;
  const held = `${claim} should break and held on ${countOf(tally.seeds, trial)}`;
  if (tally.seeds === 0) return { outcome: 'open', message: `no ${trial} was examined` };
  if (seeds.from === seeds.to) return { outcome: 'open', message: `${held}, which judges nothing` };
  if (!seeds.isWhole) return { outcome: 'open', message: `${held}, before the run was cut short` };
  return { outcome: 'held', message: held };
}

function judgeHold(claim: string, tally: Tally, system: SystemSummary): Judged {
  const { vacuous } = system;
  const trial = trialOf(system);
  const { broken, brokenSeeds, unknown, firstUnknown } = claimTally(tally, claim);
  if (broken > 0) {
    const share = `${groupDigits(broken)} of ${countOf(tally.seeds, trial)}`;
    const message = `${claim} should hold and broke on ${share}, first on ${brokenSeeds[0] ?? 0}`;
    return { outcome: 'broke', message };
  }
  if (tally.seeds === 0) return { outcome: 'open', message: `no ${trial} was examined` };
  if (firstUnknown !== null) {
    const where = `${countOf(unknown, trial)}, first on ${firstUnknown.seed}`;
    return { outcome: 'open', message: `unknown on ${where}: ${firstUnknown.reason}` };
  }
  if (vacuous.length === 0) return PASSED;
  return { outcome: 'open', message: `not put to the test: ${vacuous.join(', ')}` };
}

/** What should hold says nothing where nothing was tested; that is a case of its own. */
function vacuityCase({ vacuous, expect }: SystemSummary, at: Place): readonly Case[] {
  if (vacuous.length === 0 || (expect.holds ?? []).length === 0) return [];
  const message = `tested nothing: ${vacuous.join(', ')}`;
  return [{ ...at, name: 'is put to the test', outcome: 'open', message, ...NO_MORE }];
}

function errorCase(tally: Tally, at: Place, trial: Trial): readonly Case[] {
  const { failed, seeds } = tally;
  if (failed === 0) return [];
  const told = distinctFailures(tally).map(({ seed, error }) => `${trial} ${seed}: ${error}`);
  if (failed > told.length) told.push(`and ${groupDigits(failed - told.length)} more`);
  const message = `failed to run on ${groupDigits(failed)} of ${countOf(seeds, trial)}`;
  const name = `runs on every ${trial}`;
  return [{ ...at, name, outcome: 'failed', message, details: told.join('\n'), finding: null }];
}

function keptCase({ file, outcome, expected, divergedAt }: KeptOutcome): Case {
  const where = divergedAt === null ? '' : `; no match for ${divergedAt}`;
  const judged: Judged =
    outcome === expected
      ? PASSED
      : { outcome: 'changed', message: `is ${outcome}, expected ${expected}${where}` };
  const name = `kept plan ${file.split('/').at(-1) ?? file} is ${expected}`;
  return { system: '', name, ...judged, ...NO_MORE, file, line: null };
}

function differenceCase(result: ScenarioResult): readonly Case[] {
  if (result.difference === null) return [];
  const { system, seed, what } = result.difference;
  const message = `two runs of seed ${seed} differ: ${what}`;
  const name = 'gives the same trace twice';
  return [{ ...placeOf(system, result), name, outcome: 'failed', message, ...NO_MORE }];
}

/** By system, the line of a scenario’s file that names it, from 1; empty where there is no file. */
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
