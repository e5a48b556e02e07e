/** The lock service's view of a grant: its servers, its end, and its release. */

import type {
  FaultInjected,
  Grant,
  KeyChange,
  Release,
  Renew,
  TraceEvent,
} from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { operationOf, sectionOf } from '../core/kernel/name.ts';
import { type AcquisitionOrder, isQuorumGrant, untilUsBefore } from './holders.ts';
import type { GrantLog, LockLog, Numbered, PlaceLog, TraceIndex } from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

/** A claim is unknown if its possible orders contain more grants than this in total. */
const MOST_STEPS = 200_000;

/**
 * Finds a breach that occurs in every possible order of acquisition of a resource's lock, and shows
 * it in the likeliest order.
 */
export function inEveryOrder<Rule extends string>(
  indexed: TraceIndex,
  breachIn: (place: PlaceLog, order: AcquisitionOrder) => Breach<Rule> | null,
): Findings<Rule> {
  const resources = new Set(indexed.places.map(({ resource }) => resource));
  return inAll(resources, (resource) => {
    const lock = indexed.locks.get(resource);
    const unknown = `too many grants of \`${resource}\` may have been acquired in any order`;
    if (!lock?.orders) return { exercised: 0, unknown };
    let shown: Breach<Rule> | null = null;
    let steps = 0;
    for (const order of lock.orders.all()) {
      steps += lock.grants.length;
      if (steps > MOST_STEPS && shown !== null) return { exercised: 0, unknown };
      let breach: Breach<Rule> | null = null;
      for (const place of indexed.places) {
        if (place.resource === resource) breach ??= breachIn(place, order);
      }
      if (breach === null) return { exercised: 0 };
      shown ??= breach;
    }
    return { exercised: 0, breach: shown };
  });
}

/**
 * Returns true if two grants of a lock belong to different acquisitions. A client that is granted
 * its lock again has given up the earlier grant, unless its program still relied on that grant.
 */
export function areRivals(earlier: GrantLog, later: GrantLog): boolean {
  if (earlier.event.client !== later.event.client) return true;
  if (earlier === later || earlier.enteredAt < 0 || later.enteredAt < 0) return false;
  return earlier.leftAt < 0 || earlier.leftAt > later.between[1];
}

/** Returns true if a release or renew affected an acquisition other than its own. */
export function isByNonOwner(
  { byNumber }: LockLog,
  { client, under }: Release | Renew,
  touched: GrantLog,
): boolean {
  return touched.event.client !== client || areRivals(byNumber.get(under) ?? touched, touched);
}

/** Returns the process that gave a grant, or all lock servers if a quorum gave it. */
export function serversOf(indexed: TraceIndex, grant: Grant): readonly string[] {
  if (!isQuorumGrant(grant)) return [grant.process];
  return indexed.trace.processes.filter(({ role }) => role === 'lock').map(({ name }) => name);
}

/**
 * Returns the true time at which the service ends the lease, as known before event `before`. If a
 * program reported the grant, this is the end of its keys or, without keys, the reported end.
 */
export function serviceEndUs(grant: GrantLog, before: number): number {
  if (grant.keys !== null) return untilUsBefore(grant.keys.ends, before);
  let untilUs = grant.event.untilUs;
  for (const { event, index } of grant.changes) {
    if (index >= before) break;
    if (event.kind === 'renew') untilUs = event.untilUs;
  }
  return untilUs ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns the true time until which a grant's keys were promised to its client, regardless of other
 * clients. Counts the ttl, minus the declared drift, from the departure of the request.
 */
export function promisedUntilUs(
  { operations }: TraceIndex,
  { keys }: GrantLog,
  { before, driftPpm }: { readonly before: number; readonly driftPpm: number },
): number {
  const promise = keys?.promises.findLast(({ index }) => index < before);
  if (promise === undefined || promise.untilUs === Number.POSITIVE_INFINITY) {
    return Number.POSITIVE_INFINITY;
  }
  const { atUs, message, change } = promise.change.event;
  if (change !== 'taken' && change !== 'prolonged') return promise.untilUs;
  const sentAtUs = operations.get(operationOf(message))?.invoke.event.atUs ?? atUs;
  const ttlUs = promise.untilUs - atUs;
  return sentAtUs + ttlUs - Math.floor((ttlUs * driftPpm) / 1_000_000);
}

/**
 * Like `serviceEndUs`, but no later than the service's next grant to a rival. The reported end
 * assumes that the service's clock keeps its rate.
 */
export function actualEndUs(lock: LockLog, grant: GrantLog, before: number): number {
  const endUs = serviceEndUs(grant, before);
  if (grant.keys !== null) return endUs;
  const next = lock.grants.find(({ index }) => index > grant.index && index < before);
  if (next === undefined || !areRivals(grant, next)) return endUs;
  return isReleasedBefore(grant, next.index) ? endUs : Math.min(endUs, next.event.atUs);
}

/**
 * Returns true if the service had ended the grant by a release handled before event `before`. While
 * the keys exist, a release that only the program reports does not count.
 */
export function isReleasedBefore(grant: GrantLog, before: number): boolean {
  if (grant.keys !== null) {
    const last = grant.keys.ends.findLast(({ index }) => index < before);
    if (last === undefined) return false;
    const { change, atUs } = last.change.event;
    return change !== 'taken' && change !== 'prolonged' && last.untilUs <= atUs;
  }
  for (const { event, index } of grant.changes) {
    if (index >= before) return false;
    if (event.kind === 'release') return true;
  }
  return false;
}

/** Returns true if the client removed the keys of its grant while it still had them. */
export function isGivenBack({ keys, event }: GrantLog, before: number): boolean {
  const last = keys?.ends.findLast(({ index }) => index < before);
  if (last === undefined) return false;
  const { change, client, atUs } = last.change.event;
  return change === 'removed' && client === event.client && last.untilUs >= atUs;
}

/** Returns true if the service still held the grant at event `before`, at true time `atUs`. */
export function isHeldAt(grant: GrantLog, at: { index: number; atUs: number }): boolean {
  return at.atUs < serviceEndUs(grant, at.index) && !isReleasedBefore(grant, at.index);
}

/**
 * Returns true if a lease had no end, its section continued after its end, or a fault lasted until
 * its end. A clock fault counts if it changed the rate, or shifted the clock by at least the rest
 * of the lease. Contention alone does not count.
 */
export function couldOutlast(indexed: TraceIndex, lock: LockLog): boolean {
  for (const { resource, accesses } of indexed.places) {
    if (resource !== lock.lock) continue;
    for (const { event, index } of accesses) {
      const grant = lock.byNumber.get(event.under);
      if (grant !== undefined && event.atUs > serviceEndUs(grant, index)) return true;
    }
  }
  return lock.grants.some((grant) => {
    const { event, keys, leftAt, enteredAt } = grant;
    const fromUs = keys?.acquired.event.atUs ?? event.atUs;
    // A separate command may set the expiry of a key.
    const endUs = serviceEndUs(grant, Math.max(keys?.acquired.index ?? 0, grant.index) + 1);
    if (endUs === Number.POSITIVE_INFINITY) return true;
    const { events } = indexed.trace;
    const left = leftAt < 0 ? events.length - 1 : leftAt;
    const leftUs = events[left]?.atUs ?? 0;
    if (enteredAt >= 0 && leftUs > serviceEndUs(grant, left)) return true;
    return indexed.faults.some(({ event: fault, index }) => {
      const toUs = serviceEndUs(grant, Math.max(index, grant.index) + 1);
      if (fault.atUs >= toUs || !affectsHolder(indexed, fault, event.client)) return false;
      if (fault.fault === 'clock') {
        const remainingUs = toUs - Math.max(fault.atUs, fromUs);
        return fault.target === 'rate' || Math.abs(fault.amount) >= remainingUs;
      }
      return (fault.untilUs ?? Number.POSITIVE_INFINITY) >= toUs;
    });
  });
}

function affectsHolder(
  { trace }: TraceIndex,
  { processes }: FaultInjected,
  client: string,
): boolean {
  const others = trace.processes.filter(({ role, name }) => role === 'client' && name !== client);
  return processes.includes(client) || others.every(({ name }) => !processes.includes(name));
}

/**
 * Returns, for each grant, the state of its key when the lock was granted again, or at `lastUs` if
 * it was not. Null for a grant with a reported end, with keys on several servers, or without a
 * reported key.
 */
export function keysUnder(
  indexed: TraceIndex,
  grants: readonly Grant[],
  lastUs: number,
): readonly (KeyChange | null)[] {
  return grants.map((grant, place) => {
    if (grant.untilUs !== null) return null;
    const next = grants.find((later, at) => at > place && later.lock === grant.lock);
    const untilUs = next?.atUs ?? lastUs;
    return keyKept(indexed, grant, ({ event }) => event.atUs <= untilUs);
  });
}

/** Returns when the key of a grant was taken, or null if no other of `grants` was given since. */
export function takenBefore(
  { locks }: TraceIndex,
  { lock, ordinal, atUs }: Grant,
  grants: readonly Grant[],
): number | null {
  const takenUs = locks.get(lock)?.byNumber.get(ordinal)?.keys?.acquired.event.atUs;
  if (takenUs === undefined) return null;
  const isBetween = (other: Grant): boolean =>
    other.lock === lock && other.atUs > takenUs && other.atUs < atUs;
  return grants.some(isBetween) ? takenUs : null;
}

/** Returns the key of a grant that its program reports, as it was when the program entered. */
export function keyAtEntry(indexed: TraceIndex, grant: Grant): KeyChange | null {
  const entered = indexed.locks.get(grant.lock)?.byNumber.get(grant.ordinal)?.enteredAt ?? -1;
  return keyKept(indexed, grant, ({ index }) => index < entered);
}

/** Returns the last command by which a client took or extended the only key of its grant. */
function keyKept(
  { locks }: TraceIndex,
  { lock, ordinal }: Grant,
  isInTime: (change: Numbered<KeyChange>) => boolean,
): KeyChange | null {
  const { keys = null } = locks.get(lock)?.byNumber.get(ordinal) ?? {};
  if (keys === null || keys.takings.length > 1) return null;
  const kept = keys.promises.findLast(({ change }) => {
    const { event } = change;
    return (event.change === 'taken' || event.change === 'prolonged') && isInTime(change);
  });
  return kept === undefined || kept.change.event.untilUs === null ? null : kept.change.event;
}

/**
 * Returns the release by which a server revoked `grant` unasked before it gave `next`, as when a
 * session expires. Null if there is none, or if the grant has a reported end.
 */
export function endedUnasked({ events }: Trace, grant: Grant, next: Grant): Release | null {
  if (isQuorumGrant(grant) || grant.untilUs !== null) return null;
  for (const event of events) {
    if (event.atUs > next.atUs) break;
    if (event.kind !== 'release' || event.released !== grant.ordinal) continue;
    return event.message === '' && event.process !== event.client ? event : null;
  }
  return null;
}

/** Returns true if a client removed, overwrote or extended the key of another client. */
export function isChangeByNonOwner(event: TraceEvent): boolean {
  if (event.kind !== 'key-change' || !event.isDone || event.client === '') return false;
  const isOfHolder = event.change === 'taken' || event.change === 'lost';
  return !isOfHolder && event.holder !== event.client;
}

/** Returns the time at which a lease had ended before a later event of its lock. */
export function endBefore(
  { locks, trace }: TraceIndex,
  ordinal: number,
  later: Renew | KeyChange,
): number {
  for (const { byNumber } of locks.values()) {
    const grant = byNumber.get(ordinal);
    if (grant === undefined) continue;
    const before = trace.events.indexOf(later);
    const release = grant.changes.findLast(
      ({ event, index }) => event.kind === 'release' && index < before,
    );
    return release?.event.atUs ?? serviceEndUs(grant, before);
  }
  return 0;
}

/** Returns the servers that answered the client's requests for a quorum grant with a grant. */
export function serversThatGranted({ events }: Trace, grant: Grant): readonly string[] {
  const asked = new Map<string, string>();
  const servers: string[] = [];
  for (const event of events.slice(0, events.indexOf(grant))) {
    if (event.atUs < grant.sentAtUs) continue;
    if (event.kind === 'send' && event.from === grant.client) {
      asked.set(event.message.replace(/\/\d+\/request$/, ''), event.to);
    }
    if (event.kind !== 'return' || event.answer?.kind !== 'granted') continue;
    const server = asked.get(event.operation);
    if (server !== undefined) servers.push(server);
  }
  return servers;
}

/**
 * Returns true if event `index` changes a key of another client, or removes one that another
 * section of the same client has used since: a call that came too late.
 */
export function isWrongChange({ events }: Trace, index: number): boolean {
  const event = events[index];
  if (event?.kind !== 'key-change') return false;
  if (isChangeByNonOwner(event)) return true;
  if (event.change !== 'removed') return false;
  const last = events
    .slice(0, index)
    .filter((other) => other.kind === 'key-change')
    .findLast(
      ({ key, process, isDone }) => isDone && key === event.key && process === event.process,
    );
  return last !== undefined && sectionOf(last.message) !== sectionOf(event.message);
}

/** Returns the last attempt of a client to take, extend or overwrite a key before `grant`. */
export function lastTaking({ events }: Trace, client: string, grant: Grant): KeyChange | undefined {
  return events
    .slice(0, events.indexOf(grant))
    .filter((event) => event.kind === 'key-change')
    .findLast((event) => event.client === client && event.change !== 'removed');
}
