/** The rows of the overview, in words and figures: shared by the terminal and the page. */

import { proseDuration } from '../core/plan/duration.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import type { SystemSummary } from './summary.ts';

export interface ClaimRow {
  readonly claim: string;
  /** What the scenario expects of the claim: `holds`, `breaks`, or `–`: reported, never judged. */
  readonly expected: 'holds' | 'breaks' | '–';
  readonly broken: string;
  readonly firstSeed: string;
  readonly exercised: string;
  readonly isSurprise: boolean;
}

/** A row a claim: the expected ones in the scenario's order, then the others that broke, or all. */
export function claimRows(system: SystemSummary, isFull: boolean): readonly ClaimRow[] {
  const { holds = [], breaks = [] } = system.expect;
  const others = unlistedClaims(system).filter(
    (claim) => isFull || (system.claims[claim]?.broken ?? 0) > 0,
  );
  return [...new Set([...breaks, ...holds, ...others])].map((claim) => claimRow(system, claim));
}

/** The claims that were judged although the scenario expects nothing of them. */
function unlistedClaims(system: SystemSummary): readonly string[] {
  const { holds = [], breaks = [] } = system.expect;
  return Object.keys(system.claims).filter(
    (claim) => !holds.includes(claim) && !breaks.includes(claim),
  );
}

function claimRow(system: SystemSummary, claim: string): ClaimRow {
  const found = system.claims[claim] ?? { broken: 0, firstSeed: null, exercised: 0 };
  const isToBreak = system.expect.breaks?.includes(claim) === true;
  const isToHold = system.expect.holds?.includes(claim) === true;
  return {
    claim,
    expected: isToBreak ? 'breaks' : isToHold ? 'holds' : '–',
    broken: `${groupDigits(found.broken)} of ${groupDigits(system.seeds)}`,
    firstSeed: found.firstSeed === null ? '–' : String(found.firstSeed),
    exercised: found.exercised === 0 ? 'never' : countOf(found.exercised, 'seed'),
    isSurprise: (isToHold && found.broken > 0) || (isToBreak && found.broken === 0),
  };
}

export interface Mark {
  readonly sign: '✓' | '✗' | '?';
  readonly word: 'met' | 'not met' | 'not judged';
}

/** Whether the expectation was met, as a sign and in words. */
export function markOf(met: boolean | null): Mark {
  if (met === null) return { sign: '?', word: 'not judged' };
  return met ? { sign: '✓', word: 'met' } : { sign: '✗', word: 'not met' };
}

/** `must hold: a, b; must break: c`. */
export function expectationText(system: SystemSummary): string {
  const { holds = [], breaks = [] } = system.expect;
  const parts: string[] = [];
  if (breaks.length > 0) parts.push(`must break: ${breaks.join(', ')}`);
  if (holds.length > 0) parts.push(`must hold: ${holds.join(', ')}`);
  return parts.length === 0 ? 'nothing expected' : parts.join('; ');
}

/** Claims that every system with grants puts to the test. */
const CLAIMS_ON_GRANTS = ['mutual-exclusion', 'lease-conservative', 'progress'];

function isWithoutGrants({ claims }: SystemSummary): boolean {
  return CLAIMS_ON_GRANTS.every((claim) => claims[claim]?.exercised === 0);
}

/** What else there is to know of one system, a short line each. */
export function noteLines(system: SystemSummary): readonly string[] {
  const notes: string[] = [];
  if (system.unknown > 0) notes.push(`unknown on ${countOf(system.unknown, 'seed')}`);
  if (system.vacuous.length > 0)
    notes.push(`vacuous, tested nothing: ${system.vacuous.join(', ')}`);
  const quiet = unlistedClaims(system).filter((claim) => system.claims[claim]?.broken === 0);
  const tested = quiet.filter((claim) => (system.claims[claim]?.exercised ?? 0) > 0);
  if (tested.length > 0) notes.push(`held too, not expected: ${tested.join(', ')}`);
  const untested = quiet.length - tested.length;
  if (untested > 0) notes.push(`${countOf(untested, 'other claim')} never exercised`);
  const inUse = isWithoutGrants(system) ? 'while it was used' : 'under a held grant';
  const faults = Object.entries(system.faults).map(
    ([kind, { fired, overlapped }]) =>
      `${kind} fired on ${groupDigits(fired)}, ${inUse} on ${groupDigits(overlapped)}`,
  );
  if (faults.length > 0) notes.push(`faults, in seeds: ${faults.join('; ')}`);
  const overlap = system.measured['holder-overlap'];
  if (overlap !== undefined && overlap.seeds > 0) {
    const longest = proseDuration(overlap.longestUs);
    notes.push(`holder-overlap measured on ${countOf(overlap.seeds, 'seed')}, at most ${longest}`);
  }
  const { stampede } = system.measured;
  if (stampede !== undefined) {
    const computed = `${countOf(stampede.computations, 'computation')} measured`;
    const most = `at most ${stampede.most} of one value at once`;
    notes.push(`stampede: ${computed}, ${most}, several on ${countOf(stampede.seeds, 'seed')}`);
  }
  return notes;
}
