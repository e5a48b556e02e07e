/**
 * Decides whether a run withstood the conditions that broke another run. The claim must hold, and
 * no section of the breach may hang. Also, unless another section did its work, at least one of
 * these sections must not have been denied the lock.
 *
 * This is enough for a twin on the same seed: the twin may need no fault, and a cure may omit the
 * very call that a fault affects. The proof of a cure for one plan requires more: the cured run
 * must also contain each fault on which the breach depends.
 */
import { faultsBehind, sectionAt } from '../../check/breach-cause.ts';
import type { Numbered, TraceIndex } from '../../check/trace-index.ts';
import type { Invalid } from '../../check/verdict.ts';
import type { FaultInjected } from '../../core/history/events.ts';
import { sectionOf } from '../../core/kernel/name.ts';

/** Returns true if a run in which the claim holds did the work that broke its twin. */
export function standsBeside(broken: TraceIndex, breach: Invalid, cured: TraceIndex): boolean {
  const fates = fatesIn(cured, broken, breach);
  if (fates.includes('unfinished')) return false;
  return fates.some((fate) => fate !== 'denied') || hasWorked(cured);
}

/**
 * Returns true if no section of a breach is unfinished in another run, and at least one was not
 * denied the lock.
 */
export function haveRun(broken: TraceIndex, breach: Invalid, other: TraceIndex): boolean {
  const fates = fatesIn(other, broken, breach);
  return !fates.includes('unfinished') && fates.some((fate) => fate !== 'denied');
}

function fatesIn(other: TraceIndex, broken: TraceIndex, breach: Invalid): readonly Fate[] {
  const shown = breach.evidence.map(({ event }) => sectionAt(broken.trace, event));
  const involved = [...new Set(shown)].filter((section) => section !== null);
  const sections = involved.length > 0 ? involved : sectionsOf(other);
  return sections.map((section) => fateOf(other, section));
}

/** Returns true if a client other than a probe left a lock or ran a job. */
function hasWorked({ locks, jobs, probes }: TraceIndex): boolean {
  if (jobs.some(({ event }) => !probes.has(event.process))) return true;
  return [...locks.values()].some(({ entries }) =>
    entries.some(({ event }) => event.kind === 'leave' && !probes.has(event.process)),
  );
}

/**
 * Returns true if the cured run did the work that broke the other run, and each fault on which the
 * breach depends was injected. The plans must have the same faults.
 */
export function isAvoided(broken: TraceIndex, breach: Invalid, cured: TraceIndex): boolean {
  const met = new Set(cured.faults.map(({ event }) => event.index));
  const needed = faultsNeeded(broken, breach);
  return needed.every(({ event }) => met.has(event.index)) && standsBeside(broken, breach, cured);
}

/** Returns the number of client sections that ended without a refused access. */
export function sectionsEnded(indexed: TraceIndex): number {
  return sectionsOf(indexed).filter((section) => fateOf(indexed, section) === 'ended').length;
}

function sectionsOf({ operations, probes }: TraceIndex): readonly string[] {
  const sections = new Set<string>();
  for (const { invoke } of operations.values()) {
    const { process, operation } = invoke.event;
    if (!probes.has(process)) sections.add(sectionOf(operation));
  }
  return [...sections];
}

/**
 * Returns the faults on which a breach depends. If none is known, returns all faults before the
 * breach.
 */
function faultsNeeded(indexed: TraceIndex, breach: Invalid): readonly Numbered<FaultInjected>[] {
  const known = faultsBehind(indexed, breach);
  if (known.length > 0) return known;
  const last = Math.max(0, ...breach.evidence.map(({ event }) => event));
  return indexed.faults.filter(({ index }) => index < last);
}

/**
 * The end of a section. `denied`: it requested the lock in vain. `stopped`: a refused access, a
 * lease test or a crash ended it. `unfinished`: it is still inside or waiting.
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
  // For code that makes no call and never enters, the trace has only the record of its return.
  const run = indexed.trace.sections?.find((record) => record.section === section);
  let isOpen = run?.end.kind !== 'returned' && run?.end.kind !== 'failed';
  for (const { invoke, return: returned } of indexed.operations.values()) {
    if (sectionOf(invoke.event.operation) !== section) continue;
    isOpen = returned === null;
    if (returned?.event.answer?.kind === 'refused') isStopped = true;
    if ('lock' in invoke.event.call) hasAsked = true;
  }
  if (isStopped) return 'stopped';
  if (hasAsked && entered === 0) return 'denied';
  if (entered > 0 ? left > 0 : !isOpen) return 'ended';
  const [client = ''] = section.split('/');
  const hasCrashed = indexed.faults.some(({ event: { fault, processes } }) => {
    return fault === 'crash' && processes.includes(client);
  });
  return hasCrashed ? 'stopped' : 'unfinished';
}
