/**
 * Renders the outcome of a run for the terminal, as a short table per scenario. The page and the
 * summary of a CI job use the same rows, notes and words.
 */
import { proseDuration } from '../core/plan/duration.ts';
import type {
  ClaimResult,
  ScenarioResult,
  Summary,
  SystemResult,
} from '../search/campaign/result.ts';
import { isJudged } from '../search/sweep/expected.ts';
import { errorPlace, failedSections } from '../search/sweep/sections.ts';
import { unsimulatedText } from '../search/sweep/unsimulated.ts';
import { paintFor, type Screen, type TerminalText } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { clip, columnWidths, hang, tableLine, visible } from '../text/visible.ts';
import { exhaustedText, type Trial, trialOf, trialOfAll } from './exhausted.ts';

export interface OverviewOptions extends TerminalText {
  /** True to show a row for every claim, not only for claims that are expected or broke. */
  readonly isFull: boolean;
}

/** Renders the overview as lines joined by `\n`, without a final line break. */
export function renderOverview(summary: Summary, options: OverviewOptions): string {
  const setting = { ...options, paint: paintFor(options.colour) };
  const lines = summary.scenarios.flatMap((scenario) =>
    scenarioLines(scenario, scenario.systems, setting),
  );
  return lines.slice(0, -1).join('\n');
}

/** Renders only the systems for which `isReported` returns true. Returns '' if there are none. */
export function renderOpenSystems(summary: Summary, options: OverviewOptions): string {
  const setting = { ...options, paint: paintFor(options.colour) };
  const lines = summary.scenarios.flatMap((scenario) => {
    const shown = scenario.systems.filter(isReported);
    return shown.length === 0 ? [] : scenarioLines(scenario, shown, setting);
  });
  return lines.slice(0, -1).join('\n');
}

/** Returns false if the expectation was met, or if only more seeds are needed to judge it. */
function isReported({ met, unsimulated, vacuous, unknown, sections }: SystemResult): boolean {
  if (met !== null) return !met;
  return (
    unsimulated !== undefined || vacuous.length > 0 || unknown > 0 || failedSections(sections) > 0
  );
}

/** Returns, for example, `1,000 seeds/s, 20,000 events/s`. */
export function speedText({ seedsPerSecond, eventsPerSecond, scenarios }: Summary): string {
  const trial = trialOfAll(scenarios.flatMap(({ systems }) => systems));
  return `${groupDigits(seedsPerSecond)} ${trial}s/s, ${groupDigits(eventsPerSecond)} events/s`;
}

/** Returns, for example, `1 of 2 expectations met, 1 not judged`. */
export function metText(summary: Summary): string {
  const systems = summary.scenarios.flatMap((scenario) => scenario.systems);
  const met = systems.filter((system) => system.met === true && !system.isPart).length;
  const failed = systems.filter((system) => system.met === false).length;
  const open = systems.length - met - failed;
  const parts = [`${met} of ${countOf(systems.length, 'expectation')} met`];
  if (failed > 0) parts.push(`${failed} not met`);
  if (open > 0) parts.push(`${open} ${openWord(systems)}`);
  return parts.join(', ');
}

interface Setting extends Screen, Pick<OverviewOptions, 'isFull'> {}

function scenarioLines(
  scenario: ScenarioResult,
  shown: readonly SystemResult[],
  setting: Setting,
): string[] {
  const { width, paint } = setting;
  const title = clip(visible(`${scenario.name}  ${scenario.file}`), width);
  const { systems: all } = scenario;
  const systems = shown.flatMap((system) => systemLines(system, all, setting));
  return [paint.bold(title), ...systems, ''];
}

function systemLines(
  system: SystemResult,
  all: readonly SystemResult[],
  setting: Setting,
): string[] {
  const { width, paint } = setting;
  const { sign, word } = markOf(shownMet(system));
  const tint = { '✓': paint.green, '✗': paint.red, '?': paint.yellow }[sign];
  const text = `${system.name}: ${sign === '?' ? openWord([system]) : word} (${expectationText(system)})`;
  const head = hang(visible(text), Math.max(10, width - 4), `  ${tint(sign)} `, '    ');
  const notes = noteLines(system, { all, isFull: setting.isFull }).flatMap((note) =>
    hang(visible(note), Math.max(10, width - 6), '    ', '      '),
  );
  const table = claimTable(claimRows(system, setting.isFull), trialOf(system), setting);
  return [...head, ...table, ...notes.map(paint.faint)];
}

/** Returns the headings of a table of claims, in the order of the fields of `ClaimRow`. */
export function claimColumns(trial: Trial): readonly string[] {
  return ['claim', 'expected', `broken ${trial}s`, `first ${trial}`, 'tested'];
}

function claimTable(rows: readonly ClaimRow[], trial: Trial, { width, paint }: Setting): string[] {
  const columns = claimColumns(trial);
  const cells = rows.map((row) => {
    const sign = row.isSurprise ? ' ✗' : '';
    const { claim, expected, broken, firstSeed, tested } = row;
    return [visible(claim), `${expected}${sign}`, broken, firstSeed, tested];
  });
  const widths = columnWidths([columns, ...cells]);
  const extra = width - 4 - widths.reduce((sum, wide) => sum + wide + 2, 0);
  const [claimWidth = 0] = widths;
  widths[0] = Math.max(8, Math.min(claimWidth, claimWidth + extra));
  const line = (row: readonly string[]): string => clip(`    ${tableLine(row, widths)}`, width);
  return [paint.faint(line(columns)), ...cells.map(line)];
}

export interface ClaimRow {
  readonly claim: string;
  /** The expectation of the scenario. `–` means that the claim is reported but not judged. */
  readonly expected: 'holds' | 'breaks' | 'may break' | '–';
  readonly broken: string;
  readonly firstSeed: string;
  /** For example `exercised on 12, hazard avoided on 28`, or `never`. */
  readonly tested: string;
  readonly isSurprise: boolean;
}

/** Returns a row per claim: expected claims, then others that broke or, if `isFull`, all others. */
export function claimRows(system: SystemResult, isFull: boolean): readonly ClaimRow[] {
  const { holds = [], breaks = [] } = system.expect;
  const isListed = (claim: string): boolean => isFull || (system.claims[claim]?.broken ?? 0) > 0;
  const others = unlistedClaims(system).filter(isListed);
  return [...new Set([...breaks, ...holds, ...others])].map((claim) => claimRow(system, claim));
}

function unlistedClaims(system: SystemResult): readonly string[] {
  const { holds = [], breaks = [] } = system.expect;
  return Object.keys(system.claims).filter(
    (claim) => !holds.includes(claim) && !breaks.includes(claim),
  );
}

function claimRow(system: SystemResult, claim: string): ClaimRow {
  const found = system.claims[claim] ?? { broken: 0, firstSeed: null, exercised: 0, avoided: 0 };
  const isToBreak = system.expect.breaks?.includes(claim) === true;
  const isToHold = system.expect.holds?.includes(claim) === true;
  const mayBreak = system.expect.may?.includes(claim) === true;
  return {
    claim,
    expected: isToBreak ? 'breaks' : isToHold ? 'holds' : mayBreak ? 'may break' : '–',
    broken: `${groupDigits(found.broken)} of ${groupDigits(system.seeds)}`,
    firstSeed: found.firstSeed === null ? '–' : String(found.firstSeed),
    tested: testedText(found),
    isSurprise: (isToHold && found.broken > 0) || (isToBreak && found.broken === 0),
  };
}

/** Describes the seeds on which the hazard arose, and on which it was avoided. */
export function testedText({
  exercised,
  avoided,
}: Pick<ClaimResult, 'exercised' | 'avoided'>): string {
  const parts: string[] = [];
  if (exercised > 0) parts.push(`exercised on ${groupDigits(exercised)}`);
  if (avoided > 0) parts.push(`hazard avoided on ${groupDigits(avoided)}`);
  return parts.length === 0 ? 'never' : parts.join(', ');
}

/** Returns the sign and the words for an expectation that was met, not met or not judged. */
export function markOf(met: boolean | null): {
  readonly sign: '✓' | '✗' | '?';
  readonly word: 'met' | 'not met' | 'not judged';
} {
  if (met === null) return { sign: '?', word: 'not judged' };
  return met ? { sign: '✓', word: 'met' } : { sign: '✗', word: 'not met' };
}

/** Returns `met`, or null if only the merge of the shards can decide. */
export function shownMet({ met, isPart = false }: SystemResult): boolean | null {
  return isPart && met === true ? null : met;
}

/** Returns the words for systems that were not judged. The merge judges the systems of a shard. */
export function openWord(systems: readonly Pick<SystemResult, 'isPart'>[]): string {
  return systems.some(({ isPart }) => isPart) ? 'judged at merge' : 'not judged';
}

/** Returns, for example, `must hold: a, b; must break: c`. */
export function expectationText(system: SystemResult): string {
  const { holds = [], breaks = [] } = system.expect;
  const parts: string[] = [];
  if (breaks.length > 0) parts.push(`must break: ${breaks.join(', ')}`);
  if (holds.length > 0) parts.push(`must hold: ${holds.join(', ')}`);
  return parts.length === 0 ? 'no expectations' : parts.join('; ');
}

/** Claims that every system with grants exercises. */
const CLAIMS_ON_GRANTS = ['mutual-exclusion', 'lease-conservative', 'progress'];

/**
 * Returns a note that a fence accepts writes after the release until it has seen a higher token.
 * Returns null if the note does not apply.
 */
function adviceOnReleases(system: SystemResult): string | null {
  const { expect } = system;
  const isListed = [expect.holds, expect.breaks, expect.may].some((side) =>
    side?.includes('no-write-after-release'),
  );
  const late = system.claims['no-write-after-release'];
  if (isListed || late === undefined || late.broken === 0) return null;
  if (system.claims['fence-monotone']?.broken !== 0) return null;
  const seeds = `${countOf(late.broken, trialOf(system))}, first ${late.firstSeed}`;
  return `advice: writes were accepted after the lock was released (${seeds}): a fence refuses only tokens below the highest it has seen; await each write before the release`;
}

/** Maximum number of failure kinds to list per claim, unless all are requested. */
const MOST_KINDS = 3;

/** Renders `grant-order, 2 causes: pause before release, 3 seeds; delay of write, 14`. */
function kindLines(system: SystemResult, isFull: boolean): readonly string[] {
  const trial = trialOf(system);
  return Object.entries(system.claims).flatMap(([claim, { kinds = [] }]) => {
    if (kinds.length < 2) return [];
    const hasRules = new Set(kinds.map(({ rule }) => rule)).size > 1;
    const listed = kinds.slice(0, isFull ? kinds.length : MOST_KINDS).map((kind, at) => {
      const name = hasRules ? `${kind.cause} (${kind.rule})` : kind.cause;
      return `${name}, ${at === 0 ? countOf(kind.broken, trial) : groupDigits(kind.broken)}`;
    });
    const rest = kinds.length - listed.length;
    const more = rest === 0 ? '' : `; ${groupDigits(rest)} more`;
    return [`${claim}, ${groupDigits(kinds.length)} causes: ${listed.join('; ')}${more}`];
  });
}

/** Maximum number of errors to list, unless all are requested. */
const MOST_ERRORS = 1;

/**
 * Describes how sections ended. Unless `isFull`, omits usual endings. Also omits errors if no
 * section was entered, since the vacuity note then includes the reason.
 */
function sectionLines(system: SystemResult, isFull: boolean): readonly string[] {
  const { sections } = system;
  const { planned, began, ended, open, entered, gaveUp, refused, crashed, unguarded, failed } =
    sections;
  const failures = failedSections(sections);
  const isPlain = open === 0 && (entered === 0 || failures === 0);
  if (began === 0 || (isPlain && !isFull)) return [];
  const ends = countsText([
    ['ended', ended],
    ['gave up', gaveUp],
    ['failed', failures],
    ['crashed', crashed],
    ['never ended', open],
  ]);
  const others = countsText([
    ['entered', entered],
    ['refused by a store', refused],
    ['returned without a guard', unguarded],
  ]);
  const line = `${groupDigits(planned)} planned, ${groupDigits(began)} begun: ${ends}`;
  const listed = failed.slice(0, isFull ? failed.length : MOST_ERRORS);
  const rest = listed.reduce((left, { count }) => left - count, failures);
  return [
    `sections: ${line}${others === '' ? '' : `; ${others}`}`,
    ...listed.map((error) => {
      // For example `12 ended by LockTimeout: no lock at lock.mjs:12:5, first on seed 3`.
      const first = `first on ${trialOf(system)} ${error.firstSeed}`;
      return `${groupDigits(error.count)} ended by ${errorPlace(error)}, ${first}`;
    }),
    ...(rest === 0 ? [] : [`${groupDigits(rest)} by other errors`]),
  ];
}

/** Returns the nonzero counts: `60 ended, 3 gave up`. */
function countsText(counts: readonly (readonly [label: string, count: number])[]): string {
  const seen = counts.filter(([, count]) => count > 0);
  return seen.map(([label, count]) => `${groupDigits(count)} ${label}`).join(', ');
}

/** Suggests a twin for claims that were not exercised, unless `all` contains one. */
function adviceOnTests(system: SystemResult, all: readonly SystemResult[]): string | null {
  if (system.vacuous.length === 0) return null;
  const lone = (system.expect.holds ?? []).filter((claim) => {
    const found = system.claims[claim];
    const isTested = found === undefined || found.exercised + found.avoided > 0;
    const isTwin = ({ expect: { breaks = [], may = [] } }: SystemResult): boolean =>
      breaks.includes(claim) || may.includes(claim);
    return !isTested && !all.some(isTwin);
  });
  // If no fault outlasts a lease, a twin would not break either.
  const isTooShort = system.vacuous.some((reason) => reason.includes('; the longest '));
  if (lone.length === 0 || isTooShort) return null;
  return `to exercise ${lone.join(', ')}, add a twin: the same lock without its check, expected to break it; every seed on which only the twin breaks counts as exercised`;
}

/** Returns notes about a system; all notes if `isFull`. `all` lists the systems of its scenario. */
export function noteLines(
  system: SystemResult,
  { all, isFull = false }: { readonly all: readonly SystemResult[]; readonly isFull?: boolean },
): readonly string[] {
  const notes: string[] = [];
  const trial = trialOf(system);
  const scope = exhaustedText(system);
  if (scope !== '') notes.push(scope);
  if (system.unknown > 0) notes.push(`unknown on ${countOf(system.unknown, trial)}`);
  if (system.unsimulated !== undefined) notes.push(unsimulatedText(system.unsimulated));
  notes.push(...system.hints);
  if (system.vacuous.length > 0) notes.push(`vacuous: ${system.vacuous.join(', ')}`);
  const missing = adviceOnTests(system, all);
  if (missing !== null) notes.push(missing);
  notes.push(...sectionLines(system, isFull));
  notes.push(...kindLines(system, isFull));
  const quiet = unlistedClaims(system).filter((claim) => system.claims[claim]?.broken === 0);
  const exercised = quiet.filter((claim) => (system.claims[claim]?.exercised ?? 0) > 0);
  const isHeld = (claim: string): boolean => {
    const { due = 0, judged = 0 } = system.claims[claim] ?? {};
    return isJudged({ due, judged });
  };
  const held = exercised.filter(isHeld);
  const unjudged = exercised.filter((claim) => !isHeld(claim));
  if (held.length > 0) notes.push(`also held, unlisted: ${held.join(', ')}`);
  if (unjudged.length > 0) notes.push(`judged on too few seeds: ${unjudged.join(', ')}`);
  const untested = quiet.length - exercised.length;
  if (untested > 0) notes.push(`${countOf(untested, 'other claim')} not exercised`);
  const isWithoutGrants = CLAIMS_ON_GRANTS.every((claim) => system.claims[claim]?.exercised === 0);
  const inUse = isWithoutGrants ? 'while it was used' : 'while a lock was held';
  const faults = Object.entries(system.faults).map(
    ([kind, { fired, overlapped }]) =>
      `${kind} fired on ${groupDigits(fired)}, ${inUse} on ${groupDigits(overlapped)}`,
  );
  if (faults.length > 0) notes.push(`faults, in ${trial}s: ${faults.join('; ')}`);
  const overlap = system.measured['holder-overlap'];
  if (overlap !== undefined && overlap.seeds > 0) {
    const longest = proseDuration(overlap.longestUs);
    notes.push(`holder-overlap measured on ${countOf(overlap.seeds, trial)}, at most ${longest}`);
  }
  const losses = system.measured['loss-noticed'];
  if (losses !== undefined && losses.seeds > 0) {
    const longest = proseDuration(losses.longestUs);
    notes.push(`a lock lost on ${countOf(losses.seeds, trial)}, noticed within ${longest}`);
  }
  const advice = adviceOnReleases(system);
  if (advice !== null) notes.push(advice);
  const { stampede } = system.measured;
  if (stampede !== undefined) {
    const computed = `${countOf(stampede.computations, 'computation')} measured`;
    const most = `at most ${stampede.most} of one value at once`;
    notes.push(`stampede: ${computed}, ${most}, several on ${countOf(stampede.seeds, trial)}`);
  }
  return notes;
}
