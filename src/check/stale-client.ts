/**
 * Finds stale clients, whose lease had ended before they entered. Such a client may have made every
 * possible check, since only a server knows when a lease ends. A server that reports its grants
 * also reports their ends.
 *
 * If a server reports only its keys, the lease is the lifetime of the client's key. This end counts
 * if the server's clock was right, or if another client had taken the key.
 *
 * If no server reports leases, assume the latest possible start, so that no valid holder is called
 * stale: the lease began no later than the departure of the last message that the program received
 * before its entry. The departure of the request proves nothing, since a request may be handled
 * late. User code may request a longer lease than its scenario states, so the end counts only if
 * another section won the lock later and entered first.
 *
 * If the program itself reports an earlier end, that end is used. If a server denied a renewal or a
 * release before the entry, or answered that the lease was outdated, the lease had ended by then.
 */
import type { Enter, Grant, KeyChange } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { isQuorumGrant } from './holders.ts';
import { keyAtEntry } from './leases.ts';
import { handledAtUs } from './messages.ts';
import type { TraceIndex } from './trace-index.ts';

export interface StaleClient {
  readonly client: string;
  readonly enteredUs: number;
  /** Departure of the request that won the lease. */
  readonly sentAtUs: number;
  /** End of the lease. */
  readonly overUs: number;
}

/**
 * Returns the stale client of a grant. Returns null if the client entered in time or not at all, or
 * if its lease has no known end. `ttlUs` is the ttl of each client in the plan.
 */
export function staleClientUnder(
  indexed: TraceIndex,
  grant: Grant,
  ttlUs: ReadonlyMap<string, number>,
): StaleClient | null {
  const { trace } = indexed;
  const entry = trace.events.find(
    (event) =>
      event.kind === 'enter' && event.ordinal === grant.ordinal && event.lock === grant.lock,
  );
  if (entry?.kind !== 'enter') return null;
  const { client } = grant;
  const { atUs: enteredUs } = entry;
  const isByServer =
    !isQuorumGrant(grant) ||
    (grant.sentAtUs < grant.atUs && trace.processes.some(({ role }) => role === 'lock'));
  if (isByServer) {
    const overUs = grant.untilUs ?? Number.POSITIVE_INFINITY;
    const { sentAtUs } = grant;
    return overUs <= enteredUs ? { client, enteredUs, sentAtUs, overUs } : null;
  }
  const key = keyAtEntry(indexed, grant);
  if (key !== null) {
    const overUs = key.untilUs ?? Number.POSITIVE_INFINITY;
    if (overUs > enteredUs || !isGone(trace, key, entry)) return null;
    const { message } = key;
    const sent = trace.events.find((event) => event.kind === 'send' && event.message === message);
    const sentAtUs = sent?.atUs ?? key.atUs;
    return { client, enteredUs, sentAtUs, overUs: Math.min(overUs, grant.untilUs ?? overUs) };
  }
  const deniedUs = deniedAtUs(indexed, grant);
  if (deniedUs !== null && deniedUs <= enteredUs) {
    return { client, enteredUs, sentAtUs: grant.sentAtUs, overUs: deniedUs };
  }
  const won = wonBy(trace, entry);
  if (won === null) return null;
  const { sentAtUs, begunUs } = won;
  const overUs = begunUs + (ttlUs.get(client) ?? Number.POSITIVE_INFINITY);
  if (overUs > enteredUs || !wentToAnother(trace, entry, begunUs)) return null;
  return { client, enteredUs, sentAtUs, overUs: Math.min(overUs, grant.untilUs ?? overUs) };
}

/**
 * Returns the first time at which a server denied a renewal or a release of the section that
 * entered under a grant, answered that its lease was outdated, or left its key unchanged; null if
 * none did. The lease had ended by then.
 */
export function deniedAtUs(
  { trace, operations, keyChanges, locks }: TraceIndex,
  { lock, ordinal }: Grant,
): number | null {
  const entry = trace.events[locks.get(lock)?.byNumber.get(ordinal)?.enteredAt ?? -1];
  if (entry?.kind !== 'enter') return null;
  const { section } = entry;
  const times = keyChanges.flatMap(({ event: { change, isDone, message, atUs } }) =>
    isDone || change === 'taken' || sectionOf(message) !== section ? [] : [atUs],
  );
  for (const { invoke, return: returned } of operations.values()) {
    const { operation, call } = invoke.event;
    const answer = returned?.event.answer?.kind;
    if (returned === null || sectionOf(operation) !== section) continue;
    const isDenied = answer === 'denied' && (call.verb === 'renew' || call.verb === 'release');
    if (isDenied || answer === 'outdated') times.push(handledAtUs(trace, returned.event));
  }
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Returns true if the key was certainly gone at the entry: another section had taken it, or the
 * server's clock was right.
 */
function isGone({ events }: Trace, key: KeyChange, entry: Enter): boolean {
  let isClockRight = true;
  for (const event of events) {
    if (event === entry) break;
    if (event.kind === 'fault' && event.fault === 'clock') {
      if (event.processes.includes(key.process)) isClockRight = false;
    }
    if (event.kind !== 'key-change' || event.change !== 'taken' || !event.isDone) continue;
    const isSame = event.process === key.process && event.key === key.key;
    const isAnother = sectionOf(event.message) !== sectionOf(key.message);
    if (isSame && isAnother && event.atUs > key.atUs) return true;
  }
  return isClockRight;
}

/** The last call of a section before it entered, and the latest possible start of its lease. */
interface Won {
  readonly sentAtUs: number;
  readonly begunUs: number;
}

/**
 * Returns null if the section made no call or its process received no message before it entered.
 */
function wonBy({ events }: Trace, entry: Enter): Won | null {
  const { process, section } = entry;
  const left = new Map<string, number>();
  let sentAtUs = -1;
  let begunUs = -1;
  for (const event of events) {
    if (event === entry) break;
    if (event.kind === 'send' && event.to === process) left.set(event.message, event.atUs);
    else if (event.kind === 'receive' && event.to === process) {
      begunUs = Math.max(begunUs, left.get(event.message) ?? event.atUs);
    } else if (event.kind === 'invoke' && event.operation.startsWith(`${section}/`)) {
      sentAtUs = event.atUs;
    }
  }
  return Math.min(sentAtUs, begunUs) < 0 ? null : { sentAtUs, begunUs };
}

/** Returns true if another section won the lock after `begunUs` and entered before this entry. */
function wentToAnother(trace: Trace, entry: Enter, begunUs: number): boolean {
  for (const event of trace.events) {
    if (event === entry) return false;
    if (event.kind !== 'enter' || event.lock !== entry.lock) continue;
    if (event.section === entry.section) continue;
    if ((wonBy(trace, event)?.begunUs ?? -1) >= begunUs) return true;
  }
  return false;
}
