/**
 * Counts where a system *avoided* what broke another: by counterfactual, since a lock that keeps
 * two holders apart may never meet the hazard of a claim that it was made for. Of each seed that
 * broke a claim in a sibling which was expected to break it, both are run again. It counts for the
 * system if
 *
 * - the claim held there,
 * - every fault on which the sibling's breach depends was injected there too, into the same section
 *   where it hit a client, and
 * - the sections that the breach was about came to their end there, or were kept from it: denied
 *   the lock, refused by the store, or stopped by a test of their lease. Not all were denied, or
 *   nothing was protected from anything.
 *
 * It is done once all seeds are examined, from the lowest that broke something, which a tally
 * keeps: so the numbers depend neither on chunks nor on machines, and whoever merges shards gets
 * the same. How many runs it takes is bounded by a share of those of the sweep.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { faultsBehind } from '../../check/breach-cause.ts';
import { sectionOf } from '../../check/contention.ts';
import { indexTrace, type Numbered, type TraceIndex } from '../../check/trace-index.ts';
import type { Invalid } from '../../check/verdict.ts';
import type { FaultStrikes, TraceEvent } from '../../core/history/trace.ts';
import { hitsBetween } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Examination } from '../../harness.ts';
import { examineEither } from '../../host/async/run-async.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { claimTally, EMPTY_TALLY, KEPT_BROKEN, type Tally } from './tally.ts';

/** By system, and then by claim: the seeds on which it avoided what broke a sibling. */
export type AvoidedSeeds = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** None, as of a scenario of one system. */
export const NONE_AVOIDED: AvoidedSeeds = new Map();

/** Runs are taken again at most as one in so many of the sweep, but for a few in a small one. */
const SHARE = 12;
const LEAST_RUNS = 12;

export interface CounterfactualOptions {
  readonly catalogue?: Catalogue;
  /** Asked before each seed; true leaves it at what is known so far. */
  readonly shouldStop?: () => boolean;
}

/** The stores of the scenario's systems must be prepared. */
export async function countAvoided(
  scenario: Scenario,
  tallies: ReadonlyMap<string, Tally>,
  { catalogue = builtIn, shouldStop = () => false }: CounterfactualOptions = {},
): Promise<AvoidedSeeds> {
  const found = new Map<string, Map<string, number>>();
  let left = runsAllowed(tallies);
  for (const [seed, trials] of trialsOf(scenario, tallies)) {
    const runs = new Map<string, Examination>();
    const names = new Set(trials.flatMap(({ cure, sibling }) => [cure, sibling]));
    left -= names.size;
    if (left < 0 || shouldStop()) break;
    for (const name of names) {
      const claims = [...new Set(trials.flatMap((trial) => claimsIn(trial, name)))];
      runs.set(name, await examineEither(expand(scenario, name, seed), claims, catalogue));
    }
    for (const [cure, claim] of avoidedIn(trials, runs)) {
      const counts = found.get(cure) ?? new Map<string, number>();
      found.set(cure, counts.set(claim, (counts.get(claim) ?? 0) + 1));
    }
  }
  return found;
}

/** On how many seeds a system avoided the breach of a claim. */
export function avoidedOn(avoided: AvoidedSeeds, system: string, claim: string): number {
  return avoided.get(system)?.get(claim) ?? 0;
}

function runsAllowed(tallies: ReadonlyMap<string, Tally>): number {
  let examined = 0;
  for (const { seeds } of tallies.values()) examined += seeds;
  return Math.max(LEAST_RUNS, Math.floor(examined / SHARE));
}

/** A claim that one system must hold, and a sibling broke on the seed at hand. */
interface Trial {
  readonly claim: string;
  readonly cure: string;
  readonly sibling: string;
}

function claimsIn({ claim, cure, sibling }: Trial, name: string): readonly string[] {
  return name === cure || name === sibling ? [claim] : [];
}

/** By seed, the lowest first. A system of which a seed failed is not met, and not run again. */
function trialsOf(
  { systems }: Scenario,
  tallies: ReadonlyMap<string, Tally>,
): readonly (readonly [number, readonly Trial[]])[] {
  const bySeed = new Map<number, Trial[]>();
  for (const { name: cure, expect } of systems) {
    if ((tallies.get(cure) ?? EMPTY_TALLY).failed > 0) continue;
    for (const claim of expect.holds) {
      const siblings = systems.filter((other) => other.expect.breaks.includes(claim));
      const broken = siblings.flatMap(({ name: sibling }) => {
        const { brokenSeeds } = claimTally(tallies.get(sibling) ?? EMPTY_TALLY, claim);
        return brokenSeeds.map((seed) => ({ seed, trial: { claim, cure, sibling } }));
      });
      const seeds = [...new Set(broken.map(({ seed }) => seed))].sort((a, b) => a - b);
      const tried = new Set(seeds.slice(0, KEPT_BROKEN));
      for (const { seed, trial } of broken) {
        if (!tried.has(seed)) continue;
        const trials = bySeed.get(seed);
        if (trials === undefined) bySeed.set(seed, [trial]);
        else trials.push(trial);
      }
    }
  }
  return [...bySeed].sort(([a], [b]) => a - b);
}

/** System and claim of what was avoided on a seed, each once. */
function avoidedIn(
  trials: readonly Trial[],
  runs: ReadonlyMap<string, Examination>,
): readonly (readonly [cure: string, claim: string])[] {
  const indexes = new Map([...runs].map(([name, { trace }]) => [name, indexTrace(trace)]));
  const found = new Map<string, readonly [string, string]>();
  for (const { claim, cure, sibling } of trials) {
    const runOf = (system: string): Run | null => {
      const examination = runs.get(system);
      const indexed = indexes.get(system);
      return examination && indexed ? { plan: examination.plan, indexed } : null;
    };
    const verdictOf = (system: string) =>
      runs.get(system)?.verdicts.find((verdict) => verdict.claim === claim);
    const [broken, cured] = [runOf(sibling), runOf(cure)];
    const breach = verdictOf(sibling);
    if (broken === null || cured === null || breach?.kind !== 'invalid') continue;
    const isHeld = verdictOf(cure)?.kind === 'valid';
    if (isHeld && isAvoided(broken, breach, cured)) found.set(`${cure} ${claim}`, [cure, claim]);
  }
  return [...found.values()];
}

interface Run {
  readonly plan: Plan;
  readonly indexed: TraceIndex;
}

function isAvoided(broken: Run, breach: Invalid, cured: Run): boolean {
  const faults = faultsNeeded(broken.indexed, breach);
  if (!faults.every((fault) => wasInjected(broken, fault, cured))) return false;
  const fates = sectionsInvolved(broken.indexed, breach).map((name) => fateOf(cured.indexed, name));
  return fates.some((fate) => fate !== 'denied') && !fates.includes('unfinished');
}

/**
 * The faults on which a breach depends; where none is known, as of what went wrong because of
 * something that went wrong before, all that came earlier: any of them may be needed.
 */
function faultsNeeded(indexed: TraceIndex, breach: Invalid): readonly Numbered<FaultStrikes>[] {
  const known = faultsBehind(indexed, breach);
  if (known.length > 0) return known;
  const last = Math.max(0, ...breach.evidence.map(({ event }) => event));
  return indexed.faults.filter(({ index }) => index < last);
}

/** Whether the fault of one run hit the other as well: the same one, and the same section. */
function wasInjected(broken: Run, { event, index }: Numbered<FaultStrikes>, cured: Run): boolean {
  const place = placeOf(broken, event);
  const sections = sectionsAt(broken.indexed, event, index);
  return cured.indexed.faults.some(
    (other) =>
      placeOf(cured, other.event) === place &&
      sectionsAt(cured.indexed, other.event, other.index).join() === sections.join(),
  );
}

/** A fault as its plan has it; one that was drawn by chance, by what it hit. */
function placeOf({ plan }: Run, { fault, index, target, processes }: FaultStrikes): string {
  if (index === null) return [fault, target, ...processes].join();
  return JSON.stringify(plan.faults[index]);
}

/** The sections of the clients whose process or message it hit; a clock goes wrong for all. */
function sectionsAt(
  { trace }: TraceIndex,
  { fault, processes }: FaultStrikes,
  before: number,
): readonly string[] {
  if (fault === 'clock' || hitsBetween(fault)) return [];
  const clients = trace.processes.filter(({ name, role }) => {
    return role === 'client' && processes.includes(name);
  });
  return clients.map(({ name }) => {
    for (let at = before - 1; at >= 0; at -= 1) {
      const section = sectionIn(trace.events[at], name);
      if (section !== null) return section;
    }
    return '';
  });
}

/** The section that an event says its process is in. */
function sectionIn(event: TraceEvent | undefined, process: string): string | null {
  if (event === undefined || !('process' in event) || event.process !== process) return null;
  if (event.kind === 'invoke') return sectionOf(event.operation);
  if (event.kind === 'mark') return sectionOf(event.point);
  return 'section' in event ? event.section : null;
}

/** The sections of the grants, accesses and calls that show a breach, each once. */
function sectionsInvolved({ trace, locks }: TraceIndex, { evidence }: Invalid): readonly string[] {
  const entries = new Map<string, string>();
  for (const { lock, entries: events } of locks.values()) {
    for (const { event } of events) {
      if (event.kind === 'enter') entries.set(`${lock} ${event.ordinal}`, event.section);
    }
  }
  const names = evidence.map(({ event: index }) => {
    const event = trace.events[index];
    if (event === undefined) return null;
    if ('section' in event) return event.section;
    if ('operation' in event) return sectionOf(event.operation);
    if (event.kind === 'mark') return sectionOf(event.point);
    if (event.kind === 'grant' || event.kind === 'lease-test') {
      const entered = entries.get(`${event.lock} ${event.ordinal}`);
      if (entered !== undefined) return entered;
    }
    return 'lock' in event && 'message' in event && event.message !== ''
      ? sectionOf(event.message)
      : null;
  });
  return [...new Set(names.filter((name) => name !== null))];
}

/**
 * `denied`: it asked for the lock and never had it, also because no answer came; `stopped`: the
 * store refused it, or a test of its lease.
 */
type Fate = 'ended' | 'stopped' | 'denied' | 'unfinished';

function fateOf(indexed: TraceIndex, section: string): Fate {
  let entered = 0;
  let left = 0;
  let isStopped = false;
  for (const { entries } of indexed.locks.values()) {
    const ordinals = new Set<number>();
    for (const { event } of entries) {
      if (event.kind === 'enter' && event.section === section) {
        entered += 1;
        ordinals.add(event.ordinal);
      } else if (event.kind === 'leave' && event.section === section) left += 1;
      else if (event.kind === 'lease-test' && !event.isLive && ordinals.has(event.ordinal)) {
        isStopped = true;
      }
    }
  }
  let hasAsked = false;
  let calls = 0;
  let isOpen = false;
  for (const { invoke, return: returned } of indexed.operations.values()) {
    if (sectionOf(invoke.event.operation) !== section) continue;
    calls += 1;
    if (returned === null) isOpen = true;
    if (returned?.event.answer?.kind === 'refused') isStopped = true;
    if ('lock' in invoke.event.call) hasAsked = true;
  }
  if (isStopped) return 'stopped';
  if (hasAsked && entered === 0) return 'denied';
  return calls === 0 || isOpen || left < Math.min(entered, 1) ? 'unfinished' : 'ended';
}
