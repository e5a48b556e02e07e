/**
 * Decides whether a system met the expectations of its scenario. A `breaks` claim must break on at
 * least one seed. A `holds` claim must hold on every seed and be exercised on at least one. A claim
 * is exercised if its hazard arises, or if it holds on a seed on which a twin breaks it. A shard
 * leaves the decision to the merge.
 *
 * A hazard may arise although almost nothing happens. Therefore, a run of several seeds does not
 * judge `holds` claims if a fault never affected a held grant, only one client had the lock, or a
 * store kept nothing. A twin can show that the scenario is right: the fault affected a grant of the
 * twin, or the twin writes to no store either.
 *
 * A claim is due on every seed. It is judged on a seed unless the code failed or the verdict is
 * unknown. A claim that did not break and was judged on fewer than nine of ten seeds is not judged
 * at all. Nor is a system whose code requested something that is not simulated, because the refusal
 * may have changed its behavior.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { builtInClaims } from '../../check/claims.ts';
import { canAffect } from '../../scenario/expand-faults.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { type AvoidedSeeds, avoidedOn, NONE_AVOIDED } from './counterfactual.ts';
import { claimCounts, type SweepCounts } from './counts.ts';
import { nothingAtStake } from './coverage.ts';
import { expectedOf, isJudged, judgedOn, unexpectedIn } from './expected.ts';
import { faultHints, surrenderHints } from './hints.ts';
import { earlyGuards, shortFaults } from './leases.ts';
import { failedSections, fateText } from './sections.ts';

export interface Judgement {
  /** Null if the expectations could not be judged. */
  readonly met: boolean | null;
  /** Claims that broke although they should hold. */
  readonly unexpected: readonly string[];
  /** Claims that should have broken but did not. */
  readonly missing: readonly string[];
  /** Reasons why `holds` was not judged: `pause never fired`, `no section was ever entered: …`. */
  readonly vacuous: readonly string[];
  /** Reasons why sections gave up or a claim did not break, with suggestions. */
  readonly hints: readonly string[];
  /**
   * True if a claim had too few verdicts or was never exercised, or if the code requested something
   * that is not simulated.
   */
  readonly isIncomplete: boolean;
}

/** The examined part of the range. `isSingle`: the range is a single seed. */
interface Coverage {
  readonly isComplete: boolean;
  readonly isSingle: boolean;
  /** True for one of several shards, which the merge judges. Default: false. */
  readonly isPart?: boolean;
  /** True if `holds` claims need not be exercised. Default: false. */
  readonly isCalm?: boolean;
  readonly avoided?: AvoidedSeeds;
  /** The counts of all systems of the scenario. Absent if there is only one. */
  readonly countsBySystem?: ReadonlyMap<string, SweepCounts>;
  readonly catalogue?: Catalogue;
}

/**
 * Judges a system. A breach is final. A `breaks` claim that held is judged only at the end of the
 * range. If seeds failed, `holds` claims are not judged. If seeds did not finish, `breaks` claims
 * are not judged either.
 */
export function judgeSystem(
  scenario: Scenario,
  system: SystemScenario,
  counts: SweepCounts,
  coverage: Coverage,
): Judgement {
  const { isComplete, isSingle, isPart = false, catalogue = builtIn } = coverage;
  const { holds, breaks } = system.expect;
  const isShort = (claim: string): boolean =>
    !isBroken(counts, claim) && !isJudged(judgedOn(counts, claim));
  const isFull = isComplete && !isSingle;
  const unexpected = unexpectedIn(system, counts);
  const missing = breaks.filter((claim) => !isBroken(counts, claim));
  const empty = [...nothingEntered(system, counts), ...nothingButErrors(system, counts)];
  const idle = empty.length > 0 ? empty : untestedIn(scenario, system, counts, coverage);
  const isUnknown = [...expectedOf(system).holds, ...breaks].some(isShort);
  const isToBreakOnly = holds.length === 0 && breaks.length > 0;
  const isUntested = holds.length > 0 ? idle.length > 0 : empty.length > 0 && !isToBreakOnly;
  // A shard without seeds leaves everything to the other shards.
  const isEmptyPart = isPart && counts.seeds === 0;
  const isRefused = counts.unsimulated.found.length > 0;
  const isIncomplete = (isUnknown && !isEmptyPart) || (isUntested && !isPart) || isRefused;
  const isFailed = unexpected.length > 0 || (isFull && missing.some((claim) => !isShort(claim)));
  const isUntried = counts.seeds === 0 || missing.length > 0;
  const isWeakened = counts.failed > 0 && (!isToBreakOnly || counts.killed > 0);
  const isOpen = isUnknown || isUntested || isUntried || isWeakened || isRefused;
  const met = isFailed ? false : isOpen ? null : true;
  const hints = surrenderHints(scenario, system, counts, catalogue);
  hints.push(...earlyGuards(counts.leases));
  if (isFull && missing.length > 0) hints.unshift(...faultHints(scenario, system, counts));
  return { met, unexpected, missing, vacuous: isPart ? empty : idle, hints, isIncomplete };
}

/** Returns the claims to shrink: all unexpected breaches, or else the first expected breach. */
export function claimsToShrink(system: SystemScenario, counts: SweepCounts): readonly string[] {
  const unexpected = unexpectedIn(system, counts);
  if (unexpected.length > 0) return unexpected;
  return system.expect.breaks.filter((claim) => isBroken(counts, claim)).slice(0, 1);
}

function isBroken(counts: SweepCounts, claim: string): boolean {
  return claimCounts(counts, claim).broken > 0;
}

/**
 * Claims that may hold because one client does the work for all. Other clients may never get the
 * lock.
 */
const ONE_IS_ENOUGH: ReadonlySet<string> = new Set(['at-most-once', 'single-flight', 'progress']);

function untestedIn(
  scenario: Scenario,
  system: SystemScenario,
  counts: SweepCounts,
  { isSingle, isCalm = false, avoided = NONE_AVOIDED, countsBySystem = new Map() }: Coverage,
): readonly string[] {
  const { name, expect } = system;
  const ran = counts.seeds - counts.failed;
  if (ran === 0 || (isCalm && isSingle)) return [];
  const isAvoided = (claim: string): boolean => avoidedOn(avoided, name, claim) > 0;
  const neverMet = expect.holds.filter((claim) => {
    const { broken, exercised, unknown } = claimCounts(counts, claim);
    return broken + exercised + unknown === 0 && !isAvoided(claim) && !isCalm;
  });
  const twins: SweepCounts[] = [];
  if (expect.holds.some(isAvoided)) {
    for (const [other, twin] of countsBySystem) if (other !== name) twins.push(twin);
  }
  const coverage = nothingAtStake(counts.coverage, {
    isOneEnough:
      system.hasGrants === false ||
      expect.holds.every((claim) => {
        return ONE_IS_ENOUGH.has(claim) || (!builtInClaims.has(claim) && isAvoided(claim));
      }),
    isWriting: twins.length === 0 || twins.some((twin) => twin.coverage.written > 0),
  });
  const { idle, kinds } = idleFaults(scenario, system, counts, twins);
  // On a single seed, only some of the scenario's faults may fire.
  const isIdle = isSingle || ran === 1 ? idle.length === kinds : idle.length > 0;
  const reasons = neverMet.map((claim) => `${claim} was never exercised`);
  const short = shortFaults(scenario, system, counts.leases, neverMet);
  if (short !== null) reasons.push(short);
  return [...coverage, ...(isIdle ? idle : []), ...reasons];
}

/** Describes each kind of fault that affected nothing. `kinds` is the number of all kinds. */
function idleFaults(
  { faults, exhaust }: Scenario,
  system: SystemScenario,
  counts: SweepCounts,
  twins: readonly SweepCounts[],
): { readonly idle: readonly string[]; readonly kinds: number } {
  const befalling = faults.filter((fault) => canAffect(system, fault));
  const kinds = new Set(exhaust?.faults === 0 ? [] : befalling.map(({ kind }) => kind));
  const idle = [...kinds].flatMap((kind) => {
    if (twins.some((twin) => (twin.faults[kind]?.overlapped ?? 0) > 0)) return [];
    const fault = counts.faults[kind];
    if (fault === undefined) return [`${kind} never fired`];
    if (fault.overlapped > 0 || system.hasGrants === false) return [];
    return [`${kind} never fired while a lock was held`];
  });
  return { idle, kinds: kinds.size };
}

/** Returns a reason if no section was entered. A lock without holders is not exercised. */
function nothingEntered(
  { hasGrants = true }: SystemScenario,
  { seeds, failed, sections }: SweepCounts,
): readonly string[] {
  if (seeds === failed || sections.entered > 0 || !hasGrants) return [];
  return [`no section was ever entered: ${fateText(sections)}`];
}

/** Returns a reason if errors ended every section and no claim was exercised before. */
function nothingButErrors(
  { expect, hasGrants = true }: SystemScenario,
  counts: SweepCounts,
): readonly string[] {
  const { sections } = counts;
  const hasAny = hasGrants ? sections.entered > 0 : sections.began > 0;
  const isAll = hasAny && failedSections(sections) >= sections.began;
  const isTested = expect.holds.some((claim) => claimCounts(counts, claim).exercised > 0);
  if (!isAll || isTested || expect.holds.length === 0) return [];
  return [`every section ended with an error: ${fateText(sections)}`];
}
