/**
 * Finds whose lease was over before its program entered: an impostor, which may have checked all it
 * could and still believes that it holds the lock. Only a server knows when a lease is over: one
 * that notes its grants says so.
 *
 * Where no server notes its grants, but one tells of the keys that it keeps, the lease is what that
 * server said of the client's key: even a reply that is late by just about the lease is judged so.
 * Its word counts as long as its clock does, or once another client had the key.
 *
 * Where no server tells anything, the lease is taken to begin as late as it can have, so that
 * nobody is called an impostor who is none: what let the program enter was in some message that
 * reached it before, so its lease had begun when the last of these left. That its request had left
 * long before says nothing, since it may have been handled late. And the end counts only where the
 * lock went to another client after it, since code of one's own may well ask for a longer lease
 * than its scenario says.
 *
 * Where a program names an end itself that comes before that one, its own word is told.
 */
import type { Enter, Grant, KeyChange } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { isQuorumGrant } from './holders.ts';
import { keyAtEntry } from './leases.ts';
import type { TraceIndex } from './trace-index.ts';

export interface Impostor {
  readonly client: string;
  readonly enteredUs: number;
  /** When the request left, and when the lease that it won was over. */
  readonly sentAtUs: number;
  readonly overUs: number;
}

/** Null where it entered in time, or nobody can know; `ttlUs` is what the plan gives to clients. */
export function impostorUnder(
  indexed: TraceIndex,
  grant: Grant,
  ttlUs: ReadonlyMap<string, number>,
): Impostor | null {
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
  const won = wonBy(trace, entry);
  if (won === null) return null;
  const { sentAtUs, begunUs } = won;
  const overUs = begunUs + (ttlUs.get(client) ?? Number.POSITIVE_INFINITY);
  if (overUs > enteredUs || !wentToAnother(trace, entry, begunUs)) return null;
  return { client, enteredUs, sentAtUs, overUs: Math.min(overUs, grant.untilUs ?? overUs) };
}

/** Whether a key was gone when the program entered that had taken it: the server was right. */
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

/** The last call of a section before it entered, and when its lease had begun for certain. */
interface Won {
  readonly sentAtUs: number;
  readonly begunUs: number;
}

/** Null where it called nobody, or no message reached it. */
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

/** Whether another client got an answer about the lock since, and entered before. */
function wentToAnother(trace: Trace, entry: Enter, begunUs: number): boolean {
  for (const event of trace.events) {
    if (event === entry) return false;
    if (event.kind !== 'enter' || event.lock !== entry.lock) continue;
    if (event.section === entry.section) continue;
    if ((wonBy(trace, event)?.begunUs ?? -1) >= begunUs) return true;
  }
  return false;
}
