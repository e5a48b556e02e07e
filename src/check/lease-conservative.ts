/**
 * Judges `lease-conservative` whenever a holder states the end of its lease: on entry, and at each
 * lease test that passes. The claim no longer applies after a clock fault beyond the declared skew
 * or drift, on the holder or on its lock service. A program that states no end counts on its lease
 * until it leaves. If no server reports grants or keys, only another program's later acquisition
 * shows that the lease had ended.
 */
import type { Enter, LeaseTest, Leave } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, causesSince } from './evidence.ts';
import { isQuorumGrant } from './holders.ts';
import {
  actualEndUs,
  areRivals,
  couldOutlast,
  isGivenBack,
  serversOf,
  serviceEndUs,
} from './leases.ts';
import { takingUnder } from './lock-keys.ts';
import type { Terms } from './terms.ts';
import type { GrantLog, LockLog, LogEntry, Numbered, TraceIndex } from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

export const leaseConservative: Claim = defineClaim({
  name: 'lease-conservative',
  about: 'a holder never counts on its lease for longer than the service does',
  source: 'Gray and Cheriton, Leases (1989)',
  hazard: 'entries and lease tests for which the end of the lease at the server is known',
  rules: ['believes-longer', 'left-past-end', 'live-past-end', 'live-at-end'],
  judge: (indexed, terms) => {
    const excused = excusedFrom(indexed, terms);
    return inAll(indexed.locks.values(), (lock) => judgeLock(indexed, lock, excused));
  },
});

type Rule = 'believes-longer' | 'left-past-end' | 'live-past-end' | 'live-at-end';

type ViewEvent = Enter | LeaseTest | Leave;

/** A time later than any run. A program that states a later end does not know its lease's end. */
const NEVER_US = 1e15;

function judgeLock(
  indexed: TraceIndex,
  lock: LockLog,
  excused: ReadonlyMap<string, number>,
): Findings<Rule> {
  let exercised = 0;
  let breach: Breach<Rule> | null = null;
  const endless = new Set<number>();
  let outlasts: boolean | null = null;
  const couldEnd = (): boolean => {
    outlasts ??= couldOutlast(indexed, lock);
    return outlasts;
  };
  for (const { event, index, latest } of lock.entries) {
    if (event.kind !== 'enter' && event.kind !== 'lease-test' && event.kind !== 'leave') continue;
    const grant = lock.byNumber.get(event.ordinal);
    if (grant === undefined) continue;
    if (event.kind === 'enter' && event.believedUntilUs > NEVER_US) endless.add(event.ordinal);
    const isWithoutEnd = grant.keys !== null && endless.has(event.ordinal);
    if (isWithoutEnd !== (event.kind === 'leave')) continue;
    const concerned = [event.process, ...serversOf(indexed, grant.event)];
    if (concerned.some((name) => index > (excused.get(name) ?? Number.POSITIVE_INFINITY))) continue;
    const endUs = actualEndUs(lock, grant, index);
    if (endUs === Number.POSITIVE_INFINITY) continue;
    // A lease that outlasts its holder's section proves nothing if it could not have ended first.
    const isTested = event.kind !== 'leave' || event.atUs > endUs || couldEnd();
    if (isTested && isKnown(lock, grant, { event, index })) exercised++;
    if (event.kind === 'lease-test' && !event.isLive) continue;
    const view = { event, index, latest };
    const rule = isGivenBack(grant, index) ? null : ruleBroken(view, { endUs, grant });
    if (rule !== null) breach ??= breachAt(indexed, rule, { lock, grant, view });
  }
  return { exercised, breach };
}

/** Returns true if the lease's end at the server is known from a source other than the holder. */
function isKnown(lock: LockLog, grant: GrantLog, { event, index }: Numbered<ViewEvent>): boolean {
  if (!isQuorumGrant(grant.event) || grant.keys !== null || event.kind === 'leave') return true;
  if (serviceEndUs(grant, index) !== event.believedUntilUs) return true;
  const hasFollowed = (other: GrantLog) => other.index > grant.index && other.index < index;
  return lock.grants.some((other) => hasFollowed(other) && areRivals(grant, other));
}

/** Returns, per process, the number of the event after which its clock was worse than declared. */
function excusedFrom(indexed: TraceIndex, terms: Terms): ReadonlyMap<string, number> {
  const excused = new Map<string, number>();
  const offsets = new Map<string, number>();
  for (const { event, index } of indexed.faults) {
    if (event.fault !== 'clock') continue;
    for (const process of event.processes) {
      const isRate = event.target === 'rate';
      const offsetUs = (offsets.get(process) ?? 0) + (isRate ? 0 : event.amount);
      offsets.set(process, offsetUs);
      const isBeyond = isRate
        ? Math.abs(event.amount) > (terms.driftPpm ?? Number.POSITIVE_INFINITY)
        : Math.abs(offsetUs) > (terms.skewUs ?? Number.POSITIVE_INFINITY);
      if (isBeyond && !excused.has(process)) excused.set(process, index);
    }
  }
  return excused;
}

/**
 * Returns the rule that a holder's statement breaks, or null. At the exact instant of the end, a
 * holder is wrong only if its successor already had the lock.
 */
function ruleBroken(
  { event, latest }: LogEntry<ViewEvent>,
  { endUs, grant }: { readonly endUs: number; readonly grant: GrantLog },
): Rule | null {
  if (event.kind === 'lease-test') {
    if (event.atUs > endUs) return 'live-past-end';
    if (event.atUs === endUs && latest !== grant) return 'live-at-end';
  }
  if (event.kind === 'leave') return event.atUs > endUs ? 'left-past-end' : null;
  return event.believedUntilUs > endUs ? 'believes-longer' : null;
}

function breachAt(
  indexed: TraceIndex,
  rule: Rule,
  shown: { readonly lock: LockLog; readonly grant: GrantLog; readonly view: Numbered<ViewEvent> },
): Breach<Rule> {
  const { lock, grant, view } = shown;
  const { index } = view;
  const renewal = grant.changes.findLast(
    (change) => change.event.kind === 'renew' && change.index < index,
  );
  const successor = lock.grants.find((other) => other.index > grant.index && other.index < index);
  const causes = causesSince(indexed, grant, view);
  const taking = takingUnder(successor);
  const key = grant.keys?.ends.findLast((end) => end.index < index)?.change;
  return breachShown(rule, { grant, renewal, key, successor, taking, belief: view }, causes);
}
