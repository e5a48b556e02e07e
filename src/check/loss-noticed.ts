/**
 * Judges `loss-noticed`: a program that loses its lock learns of it within the ttl, not counting
 * pauses of its process. A grant is lost if its lease expires, the server gives the lock to another
 * client, or another client's release ends the grant, while the program counts on it. The program
 * notices by leaving, by a failed lease test, by an answer that refuses a request made under the
 * grant, or by crashing. The time until then is measured on every run.
 */
import type { Enter, TraceEvent } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, causesSince } from './evidence.ts';
import { type Lasted, lasted } from './holder-overlap.ts';
import { areRivals, isByNonOwner, isGivenBack } from './leases.ts';
import type { GrantLog, LockLog, Numbered, TraceIndex } from './trace-index.ts';
import { type Findings, inAll } from './verdict.ts';

export const lossNoticed: Claim = defineClaim({
  name: 'loss-noticed',
  about: 'a program that loses its lock learns of it within its ttl (measured on every run)',
  source: 'etcd, concurrency.Session.Done; client-go, OnStoppedLeading; Curator, LOST',
  hazard: 'grants that were lost while their program relied on them',
  isMeasured: true,
  rules: ['loss-unnoticed'],
  judge: (indexed, { ttlUs }) =>
    inAll(indexed.locks.values(), (lock) => judgeLock(indexed, lock, ttlUs)),
});

type Rule = 'loss-unnoticed';

function judgeLock(indexed: TraceIndex, lock: LockLog, mostUs: number): Findings<Rule> {
  const losses = lossesOf(indexed, lock);
  const late = losses.find((loss) => awakeUs(indexed, loss) > mostUs);
  if (late === undefined) return { exercised: losses.length };
  const { grant, entry, notice } = late;
  const causes = causesSince(indexed, grant, notice ?? { index: indexed.trace.events.length });
  const parts = { grant, entry, notice: notice ?? undefined };
  return { exercised: losses.length, breach: breachShown('loss-unnoticed', parts, causes) };
}

/** Measures, over all locks, the time from each loss until the program knows or the run ends. */
export function measureLossNoticed(indexed: TraceIndex): Lasted {
  const losses = [...indexed.locks.values()].flatMap((lock) => lossesOf(indexed, lock));
  return lasted(losses.map(({ lostUs, knownUs }) => knownUs - lostUs));
}

/** One grant that was lost while its program counted on it. */
export interface Loss {
  readonly entry: Numbered<Enter>;
  readonly grant: GrantLog;
  readonly lostUs: number;
  /** The event by which the program knew, or null if it did not know by the end of the run. */
  readonly notice: Numbered<TraceEvent> | null;
  readonly knownUs: number;
}

/** Returns the losses on one lock, in the order of the entries. */
export function lossesOf(indexed: TraceIndex, lock: LockLog): readonly Loss[] {
  const losses: Loss[] = [];
  for (const { event, index } of lock.entries) {
    if (event.kind !== 'enter') continue;
    const grant = lock.byNumber.get(event.ordinal);
    if (grant === undefined) continue;
    const entry = { event, index };
    const lostUs = lossOf(lock, grant);
    if (lostUs === Number.POSITIVE_INFINITY) continue;
    const notice = noticeOf(indexed, lock, entry);
    const endUs = indexed.trace.events.at(-1)?.atUs ?? 0;
    const knownUs = notice?.event.atUs ?? endUs;
    const countsFromUs = Math.max(lostUs, event.atUs);
    const loss = { entry, grant, lostUs: countsFromUs, notice, knownUs };
    if (knownUs > countsFromUs) losses.push(loss);
  }
  return losses;
}

/**
 * Returns the time at which the service stopped holding the grant. Infinite if the service never
 * did, or if the holder released the grant.
 */
function lossOf(lock: LockLog, grant: GrantLog): number {
  const last = grant.keys?.ends.at(-1);
  if (last !== undefined) {
    return isGivenBack(grant, Number.POSITIVE_INFINITY) ? Number.POSITIVE_INFINITY : last.untilUs;
  }
  let endUs = grant.event.untilUs ?? Number.POSITIVE_INFINITY;
  for (const { event } of grant.changes) {
    if (event.atUs >= endUs) break;
    if (event.kind === 'renew') endUs = event.untilUs ?? Number.POSITIVE_INFINITY;
    else if (isByNonOwner(lock, event, grant)) endUs = event.atUs;
    else return Number.POSITIVE_INFINITY;
  }
  const next = lock.grants.find(({ index }) => index > grant.index);
  if (next === undefined || !areRivals(grant, next)) return endUs;
  return Math.min(endUs, next.event.atUs);
}

/**
 * Returns the first event by which the program could know of the loss, or null. The event may
 * precede the loss.
 */
function noticeOf(
  { operations }: TraceIndex,
  lock: LockLog,
  { event: entered, index: since }: Numbered<Enter>,
): Numbered<TraceEvent> | null {
  const clientEntry = lock.entries.find(({ event, index }) => {
    if (index <= since || !('ordinal' in event) || event.ordinal !== entered.ordinal) return false;
    return event.kind === 'leave' || (event.kind === 'lease-test' && !event.isLive);
  });
  let notice: Numbered<TraceEvent> | null = clientEntry ?? null;
  for (const { invoke, return: returned } of operations.values()) {
    if (returned === null || returned.index <= since) continue;
    const { operation, call, process } = invoke.event;
    if (process !== entered.process || !operation.startsWith(`${entered.section}/`)) continue;
    const { answer } = returned.event;
    const isDenied =
      call.verb === 'renew' && (answer?.kind === 'denied' || answer?.kind === 'outdated');
    if (answer?.kind !== 'refused' && !isDenied) continue;
    if (notice === null || returned.index < notice.index) notice = returned;
  }
  return notice;
}

/** Returns the time between loss and notice during which the process was not paused. */
function awakeUs({ faults }: TraceIndex, { entry, lostUs, knownUs }: Loss): number {
  let asleepUs = 0;
  let sinceUs = lostUs;
  for (const { event } of faults) {
    if (event.fault !== 'pause' || !event.processes.includes(entry.event.process)) continue;
    const fromUs = Math.max(event.atUs, sinceUs);
    const untilUs = Math.min(event.untilUs ?? knownUs, knownUs);
    if (untilUs <= fromUs) continue;
    asleepUs += untilUs - fromUs;
    sinceUs = untilUs;
  }
  return knownUs - lostUs - asleepUs;
}
