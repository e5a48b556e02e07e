/**
 * Finds sections that never ended, for `progress`: once the world has healed, each section must
 * end, regardless of its lock. Only a crash of its own process excuses a section; pauses and
 * partitions end when the world heals, and faults of other processes are no excuse.
 *
 * In a run with no pending events, an open section never ends. In a run that reached its `end`, a
 * section counts as never ending if it lasted 2 × ttl + slack after healing, which is also the time
 * limit of the probe. This rule finds endless retry loops. The probe itself is exempt, since it is
 * designed to retry. A run that was truncated by its event limit proves nothing.
 */
import type { TraceEvent } from '../core/history/events.ts';
import { openSections, type SectionRun } from '../core/history/trace.ts';
import { operationOf } from '../core/kernel/name.ts';
import { breachShown, type Cause, causesIn } from './evidence.ts';
import { serviceEndUs } from './leases.ts';
import { isDenial } from './lock-keys.ts';
import { circleAmong } from './stuck.ts';
import type { Terms } from './terms.ts';
import type { GrantLog, TraceIndex } from './trace-index.ts';
import type { Breach, Findings } from './verdict.ts';

type Rule = 'never-ended';

export function judgeSections(
  indexed: TraceIndex,
  terms: Terms,
  role: 'client' | 'probe',
): Findings<Rule> {
  const overdue = overdueSections(indexed, terms).filter(
    ({ process }) => indexed.probes.has(process) === (role === 'probe'),
  );
  if (overdue.length === 0) return { exercised: 0 };
  const circle = circleAmong(indexed, overdue);
  if (circle.length > 0) {
    const parts = {
      'held in circle': circle.map(({ held }) => held),
      denial: circle.map(({ denial }) => denial),
    };
    return { exercised: 0, breach: breachShown('never-ended', parts) };
  }
  // Prefer a section that holds a lock, since it keeps the others waiting.
  const first = overdue.find((run) => grantIn(indexed, run) !== undefined) ?? overdue[0];
  return { exercised: 0, breach: first === undefined ? null : breachOf(indexed, first) };
}

function overdueSections(indexed: TraceIndex, terms: Terms): readonly SectionRun[] {
  const { trace, isComplete } = indexed;
  const open = openSections(trace);
  if (isComplete || open.length === 0) return open;
  const healed = trace.events.findLast(({ kind }) => kind === 'healed');
  if (trace.ending.kind !== 'cut' || trace.ending.limit !== 'end' || healed === undefined)
    return [];
  const latestUs = terms.endUs - 2 * terms.ttlUs - terms.slackUs;
  return open.filter(
    ({ process, beganUs }) =>
      !indexed.probes.has(process) && Math.max(beganUs, healed.atUs) <= latestUs,
  );
}

function grantIn(indexed: TraceIndex, { section }: SectionRun): GrantLog | undefined {
  for (const { entries, byNumber } of indexed.locks.values()) {
    const last = entries.findLast(
      ({ event }) =>
        (event.kind === 'enter' || event.kind === 'leave') && event.section === section,
    );
    if (last?.event.kind === 'enter') return byNumber.get(last.event.ordinal);
  }
  return undefined;
}

/** Returns another section's grant, held at the end of the run, for which this section may wait. */
function holderAgainst({ trace, locks }: TraceIndex, run: SectionRun): GrantLog | undefined {
  const endUs = trace.events.at(-1)?.atUs ?? 0;
  for (const { grants } of locks.values()) {
    const held = grants.findLast((grant) => {
      const entry = trace.events[grant.enteredAt];
      if (entry?.kind !== 'enter' || entry.section === run.section) return false;
      const isKept = grant.keys !== null && serviceEndUs(grant, trace.events.length) > endUs;
      return isKept || grant.leftAt < 0;
    });
    if (held !== undefined) return held;
  }
  return undefined;
}

function breachOf(indexed: TraceIndex, run: SectionRun): Breach<Rule> {
  const { process, section, beganUs } = run;
  const { trace, operations, faults } = indexed;
  const call = [...operations.values()].findLast(
    ({ invoke, return: returned }) => returned === null && isStepOf(invoke.event, section),
  )?.invoke;
  const last = (
    isMeant: (event: TraceEvent) => boolean,
  ): { readonly index: number } | undefined => {
    const index = trace.events.findLastIndex(isMeant);
    return index < 0 ? undefined : { index };
  };
  const step = call ?? last((event) => isStepOf(event, section));
  const grant = grantIn(indexed, run);
  const isDenied = (event: TraceEvent): boolean =>
    event.kind === 'deny' && event.client === process && event.atUs >= beganUs;
  const keyDenials = indexed.keyChanges.filter(
    ({ event }) => isDenial(event) && event.client === process && event.atUs >= beganUs,
  );
  const parts = {
    grant,
    denial: grant === undefined ? (last(isDenied) ?? keyDenials.at(-1)) : undefined,
    'holder grant': grant === undefined ? holderAgainst(indexed, run) : undefined,
    [call === undefined ? 'last step' : 'open call']: step,
    healed: step === undefined ? last(({ kind }) => kind === 'healed') : undefined,
  };
  const span = { processes: [process], message: '', fromUs: beganUs, before: step?.index ?? 0 };
  const ofCall = faults
    .filter(({ event }) => call !== undefined && operationOf(event.target) === call.event.operation)
    .map((fault): Cause => [fault.event.fault, fault]);
  return breachShown('never-ended', parts, [...causesIn(indexed, span), ...ofCall]);
}

/** Returns true if an event belongs to a section: an action or an answer. */
export function isStepOf(event: TraceEvent, section: string): boolean {
  if ('section' in event) return event.section === section;
  const name = 'operation' in event ? event.operation : 'point' in event ? event.point : '';
  return name.startsWith(`${section}/`);
}
