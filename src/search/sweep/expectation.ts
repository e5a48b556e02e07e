/**
 * Decides whether a system met what its scenario expects of it. What should hold must have held on
 * every seed, and have been tested: a fault that never met a held grant, or a claim whose hazard
 * never arose, nor what broke it in a sibling was avoided, leaves it unjudged, and so does, with or
 * without faults, a lock that nobody had, or only one client, and a store that kept nothing. A
 * scenario without faults asks only whether there is a false alarm: there a claim whose hazard
 * never arose is met, and named. What should break must have broken on some seed. One shard of
 * several cannot tell what never happened: the merge does.
 */
import { proseDuration } from '../../core/plan/duration.ts';
import type { FaultKind } from '../../core/plan/fault.ts';
import { durationsOf, lengthIn } from '../../core/plan/places.ts';
import { canBefall } from '../../scenario/expand-faults.ts';
import type { ClientScenario, Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import { type AvoidedSeeds, avoidedOn, NONE_AVOIDED } from './counterfactual.ts';
import type { FaultStages, Stage } from './fault-stages.ts';
import { failedSections, fateText } from './sections.ts';
import { nothingAtStake } from './stakes.ts';
import { claimTally, type Tally } from './tally.ts';
export interface Judgement {
  /** Null where it could not be judged. */
  readonly met: boolean | null;
  /** Claims that broke although they should hold. */
  readonly unexpected: readonly string[];
  /** Claims that should break and did not. */
  readonly missing: readonly string[];
  /** What made a `holds` unjudged: `pause never fired`, `no section was ever entered: …`, …. */
  readonly vacuous: readonly string[];
  /**
   * Where what should break did not, what each kind of fault met, and what would meet more; without
   * faults, what held and was never put to the test.
   */
  readonly hints: readonly string[];
  /** Whether a verdict was unknown, or something was not tested, on all the seeds there are. */
  readonly isIncomplete: boolean;
}

/** How much of the range was examined: all of it, and whether that is a single seed. */
interface Coverage {
  readonly isWhole: boolean;
  readonly isSingle: boolean;
  /** Whether it is one shard of several, which a merge judges; false if absent. */
  readonly isPart?: boolean;
  /** What was avoided, where it was counted: that is a test too. */
  readonly avoided?: AvoidedSeeds;
}

/**
 * A claim that should break is judged once it broke, or when the whole range is done. Whether
 * something was tested at all is judged on a whole range of more than one seed.
 */
export function judgeSystem(
  scenario: Scenario,
  system: SystemScenario,
  tally: Tally,
  { isWhole, isSingle, isPart = false, avoided = NONE_AVOIDED }: Coverage,
): Judgement {
  const { holds, breaks } = system.expect;
  const isFull = isWhole && !isSingle;
  const unexpected = unexpectedIn(system, tally);
  const missing = breaks.filter((claim) => !isBroken(tally, claim));
  const hasFaults = scenario.faults.length > 0;
  const unmet = isFull ? claimsUnmet(system, tally, avoided) : [];
  const neverMet = unmet.map((claim) => `${claim} was never exercised`);
  const untested = isFull && hasFaults ? [...idleFaults(scenario, system, tally), ...neverMet] : [];
  const empty = [...nothingEntered(tally), ...nothingButErrors(system, tally)];
  const idle = isFull && empty.length === 0 ? nothingAtStake(tally.stakes) : [];
  const vacuous = [...empty, ...idle, ...untested];
  const isUnknown = holds.some((claim) => claimTally(tally, claim).unknown > 0);
  const isToBreakOnly = holds.length === 0 && breaks.length > 0;
  const isUntested = holds.length > 0 ? vacuous.length > 0 : empty.length > 0 && !isToBreakOnly;
  const isIncomplete = isUnknown || (isUntested && !isPart);
  const isFailed = unexpected.length > 0 || (isFull && missing.length > 0);
  const isUntried = tally.seeds === 0 || missing.length > 0;
  const isOpen = isUnknown || isUntested || isUntried || tally.failed > 0;
  const met = isFailed ? false : isOpen ? null : true;
  const faulty = isFull && missing.length > 0 ? faultHints(scenario, system, tally) : [];
  const hints = hasFaults || vacuous.length > 0 ? faulty : [...faulty, ...faultlessHints(unmet)];
  return { met, unexpected, missing, vacuous, hints, isIncomplete };
}

/** What is shrunk of a system: each claim that should hold, else the first that should break. */
export function claimsToShrink(system: SystemScenario, tally: Tally): readonly string[] {
  const unexpected = unexpectedIn(system, tally);
  if (unexpected.length > 0) return unexpected;
  return system.expect.breaks.filter((claim) => isBroken(tally, claim)).slice(0, 1);
}

/** What should hold and broke. */
export function unexpectedIn({ expect }: SystemScenario, tally: Tally): readonly string[] {
  return expect.holds.filter((claim) => isBroken(tally, claim));
}

function isBroken(tally: Tally, claim: string): boolean {
  return claimTally(tally, claim).broken > 0;
}

function idleFaults({ faults }: Scenario, system: SystemScenario, tally: Tally): readonly string[] {
  const befalling = faults.filter((fault) => canBefall(system, fault));
  const kinds = new Set(befalling.map(({ kind }) => kind));
  return [...kinds].flatMap((kind) => {
    const fault = tally.faults[kind];
    if (fault === undefined) return [`${kind} never fired`];
    return fault.overlapped === 0 ? [`${kind} never met a held grant`] : [];
  });
}

function faultlessHints(unmet: readonly string[]): readonly string[] {
  if (unmet.length === 0) return [];
  return [`never put to the test, as nothing goes wrong (\`faults: []\`): ${unmet.join(', ')}`];
}

/** What should hold, and neither met its hazard nor avoided what broke a sibling. */
function claimsUnmet(
  { name, expect }: SystemScenario,
  tally: Tally,
  avoided: AvoidedSeeds,
): readonly string[] {
  return expect.holds
    .filter((claim) => claimTally(tally, claim).exercised === 0)
    .filter((claim) => avoidedOn(avoided, name, claim) === 0);
}

/** Of seeds that ran, few or many: what nobody ever had cannot have held. */
function nothingEntered({ seeds, failed, sections }: Tally): readonly string[] {
  if (seeds === failed || sections.entered > 0) return [];
  return [`no section was ever entered: ${fateText(sections)}`];
}

/** Of seeds that ran: what was tested before an error ended a section was tested all the same. */
function nothingButErrors({ expect }: SystemScenario, tally: Tally): readonly string[] {
  const { sections } = tally;
  const isAll = sections.entered > 0 && failedSections(sections) >= sections.began;
  const isTested = expect.holds.some((claim) => claimTally(tally, claim).exercised > 0);
  if (!isAll || isTested || expect.holds.length === 0) return [];
  return [`every section ended by an error: ${fateText(sections)}`];
}

const WORDS: Readonly<Record<Exclude<Stage, 'server' | 'not-holding'>, string>> = {
  'before-access': 'before the first access',
  reading: 'during a read',
  'read-to-write': 'between a read and its write',
  writing: 'during a write',
  'after-write': 'after the write',
};

/**
 * Where a claim that should break held: what the faults really met, a line a kind, and what would
 * meet more. A pause that never came between a read and its write cannot make that write stale.
 * None where no seed ran.
 */
function faultHints(scenario: Scenario, system: SystemScenario, tally: Tally): readonly string[] {
  if (tally.seeds === tally.failed) return [];
  const kinds = [...new Set(scenario.faults.map(({ kind }) => kind))];
  return kinds.map((kind) => hintOf(kind, tally.faults[kind]?.strikes ?? {}, { scenario, system }));
}

interface Setting {
  readonly scenario: Scenario;
  readonly system: SystemScenario;
}

function hintOf(kind: FaultKind, stages: FaultStages, setting: Setting): string {
  const total = Object.values(stages).reduce((sum, count) => sum + count, 0);
  if (total === 0) return `${kind} never fired`;
  const held = Object.entries(WORDS).flatMap(([stage, words]) => {
    const count = Object.entries(stages).find(([name]) => name === stage)?.[1] ?? 0;
    return count === 0 ? [] : [{ count, words }];
  });
  const grants = held.reduce((sum, { count }) => sum + count, 0);
  const parts = held.map(({ count, words }) => `${groupDigits(count)} ${words}`).join(', ');
  const met =
    grants === 0
      ? `${kind} fired ${countOf(total, 'time')}, never at a client that held a lock`
      : `${kind} fired during ${countOf(grants, 'grant')}: ${parts}`;
  return `${met}${adviceOn(kind, stages, setting)}`;
}

/** What would meet the step at which a write becomes stale, or outlast the lease there. */
function adviceOn(kind: FaultKind, stages: FaultStages, { scenario, system }: Setting): string {
  const place = PLACES[kind];
  if (place === undefined) return '';
  const reads = scenario.clients.some(readsFirst);
  const wanted: keyof typeof WORDS =
    kind === 'delay' ? 'writing' : reads ? 'read-to-write' : 'before-access';
  if ((stages[wanted] ?? 0) === 0) return `; never ${WORDS[wanted]}: try \`${place}\``;
  const longestUs = lengthIn(durationsOf(scenario.bounds, kind), Number.POSITIVE_INFINITY);
  const ttls = scenario.clients.map(({ settings }) => system.clients.ttl ?? settings.ttlUs);
  const ttlUs = Math.min(...ttls);
  if (longestUs > ttlUs) return '';
  return `; it lasts at most ${proseDuration(longestUs)}, and a lease ${proseDuration(ttlUs)}`;
}

const PLACES: Readonly<Partial<Record<FaultKind, string>>> = {
  pause: 'before: write',
  delay: 'message: write',
};

/** Whether its sections read before they write. */
function readsFirst({ workload: { kind, steps } }: ClientScenario): boolean {
  if (kind === 'steps') return steps.some((step) => READING.includes(step.kind));
  return kind === 'read-modify-write' || kind === 'transfer';
}

const READING: readonly string[] = ['read', 'increment', 'transfer', 'memoize'];
