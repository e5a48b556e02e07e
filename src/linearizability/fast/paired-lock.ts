/**
 * Decides the history of a lock if every client alternates acquire and release, one call at a time.
 * A client certainly holds the lock between the return of an acquire and the call of its release.
 * These spans must not overlap, so they have only one order. A denied acquire must find the lock
 * held. Therefore, grants are placed as early and releases as late as possible. The lock is then
 * free only at times when it is free in every order.
 */
import type { FastDecision, History } from '../model.ts';
import { answeredByReturn, shortestBadPrefix } from './returns.ts';

/** A call on a lock, by any owner. */
interface PairedLockCall {
  readonly name: 'acquire' | 'release';
  readonly owner: string;
  readonly answer: 'granted' | 'released' | 'denied' | 'unknown';
  /** The token of a fenced lock, which must rise from grant to grant. Null if unknown. */
  readonly token?: number | null;
}

const never = Number.NEGATIVE_INFINITY;
const forever = Number.POSITIVE_INFINITY;

/** Decides the history of a lock that is not reentrant. Null if some calls are not in pairs. */
export function decidePairedLock(history: History<PairedLockCall>): FastDecision | null {
  const answered = answeredByReturn(history);
  const pairs = pairLockCalls(history, answered);
  if (pairs === null) return null;
  const isGood = (prefix: number): boolean => isConsistent(pairs, prefix);
  if (isGood(answered.length)) return { kind: 'valid', order: orderOf(pairs) };
  const returns = shortestBadPrefix(answered.length, isGood);
  return { kind: 'invalid', at: answered[returns - 1] ?? 0 };
}

/** Returns true if the first `prefix` returns have an order, with later returns unanswered. */
function isConsistent({ sections, crashed, denied }: LockPairs, prefix: number): boolean {
  let heldUntil = never;
  let freeFrom = never;
  let token = never;
  let met = 0;
  /** Checks denied acquires that return before `to`. Returns false if one found the lock free. */
  const passDenied = (to: number): boolean => {
    for (; met < denied.length; met++) {
      const operation = denied[met];
      if (operation === undefined || operation.place >= prefix || operation.return >= to) break;
      if (operation.invoke > freeFrom) return false;
    }
    return true;
  };
  let answered = 0;
  for (; answered < sections.length; answered++) {
    const section = sections[answered];
    if (section === undefined || section.place >= prefix) break;
    if (section.token !== null && section.token <= token) return false;
    token = section.token ?? token + 1;
    if (heldUntil > section.return || !passDenied(section.invoke)) return false;
    heldUntil = section.releaseInvoke;
    freeFrom = section.releasePlace < prefix ? section.releaseReturn : forever;
  }
  // An unanswered acquire may have been granted after everything else.
  let last = forever;
  for (let place = answered; place < sections.length; place++) {
    const { token: tokenOf = null, invoke = forever } = sections[place] ?? {};
    if (tokenOf === null || tokenOf > token) last = Math.min(last, invoke);
  }
  const tail = mayFollow(crashed, token);
  return passDenied(Math.min(last, tail?.invoke ?? forever));
}

/** Returns the earliest-called crashed acquire whose token may follow `token`. */
function mayFollow(crashed: LockPairs['crashed'], token: number): Acquire | undefined {
  return crashed.find((acquire) => (acquire.token ?? forever) > token);
}

/** Returns an order of a consistent history: grants as early, and releases as late, as possible. */
function orderOf({ sections, crashed, denied }: LockPairs): readonly number[] {
  const order: number[] = [];
  const waiting = denied.toSorted((a, b) => a.invoke - b.invoke);
  let placed = 0;
  const placeDenied = (until: number): void => {
    for (; placed < waiting.length; placed++) {
      const { index = 0, invoke = 0 } = waiting[placed] ?? {};
      if (invoke > until) return;
      order.push(index);
    }
  };
  const token = sections.reduce((last, section) => section.token ?? last + 1, never);
  const tail = mayFollow(crashed, token);
  for (const [place, section] of sections.entries()) {
    order.push(section.index);
    const next = sections[place + 1]?.invoke ?? tail?.invoke ?? forever;
    // If the next holder can follow at once, the lock is never observed free.
    const isMet = next <= section.releaseReturn;
    placeDenied(isMet ? Math.max(section.releaseInvoke, next) : section.releaseReturn);
    const isLast = place === sections.length - 1 && placed === waiting.length;
    const isAnswered = section.releaseReturn < forever;
    if (isAnswered || (section.release >= 0 && !isLast)) order.push(section.release);
  }
  if (placed < waiting.length && tail !== undefined) {
    order.push(tail.index);
    placeDenied(forever);
  }
  return order;
}

/** An acquire, by its index in the history. If unanswered, its return and place are infinite. */
interface Acquire {
  readonly index: number;
  readonly invoke: number;
  readonly return: number;
  /** Position in the order of returns. */
  readonly place: number;
  /** Null if the lock has no tokens, or if the token is unknown. */
  readonly token: number | null;
}

/** A section, from a grant to its release. */
interface Section extends Acquire {
  /** Index of the release. If there was no release: -1, with infinite times and place. */
  release: number;
  releaseInvoke: number;
  releaseReturn: number;
  releasePlace: number;
}

interface LockPairs {
  /** In the order in which their grants returned. */
  readonly sections: readonly Section[];
  /** Acquires without an answer, in call order. */
  readonly crashed: readonly Acquire[];
  /** In the order of returns. */
  readonly denied: readonly Acquire[];
}

/** The state of a client after its last call. Ignores denied acquires. */
interface Client {
  section: Section | null;
  return: number;
}

/** Returns null if a client's calls are not sequential pairs. Only its last call may crash. */
function pairLockCalls(
  history: History<PairedLockCall>,
  answered: readonly number[],
): LockPairs | null {
  const clients = new Map<string, Client>();
  const sections: Section[] = [];
  const denied: Acquire[] = [];
  const crashed: Acquire[] = [];
  const pair = (index: number, place: number): boolean => {
    const operation = history[index];
    if (operation === undefined) return false;
    const { call, invoke } = operation;
    const end = place < forever ? (operation.return ?? forever) : forever;
    const isAcquire = call.name === 'acquire';
    const acquire = { index, invoke, return: end, place, token: call.token ?? null };
    if (isAcquire && call.answer === 'denied') return denied.push(acquire) > 0;
    const client = clients.get(call.owner) ?? { section: null, return: never };
    const isNext = invoke > client.return && isAcquire === (client.section === null);
    const isClear = place === forever || call.answer === (isAcquire ? 'granted' : 'released');
    if (!isNext || !isClear) return false;
    if (client.section !== null) {
      client.section.release = index;
      client.section.releaseInvoke = invoke;
      client.section.releaseReturn = end;
      client.section.releasePlace = place;
    } else if (place === forever) crashed.push(acquire);
    const section = isAcquire && place < forever ? sectionOf(acquire) : null;
    if (section !== null) sections.push(section);
    clients.set(call.owner, { section, return: end });
    return true;
  };
  if (!answered.every(pair)) return null;
  for (const [index, { call, outcome }] of history.entries()) {
    if (outcome === 'info' && call.answer !== 'denied' && !pair(index, forever)) return null;
  }
  return { sections, crashed: crashed.sort((a, b) => a.invoke - b.invoke), denied };
}

function sectionOf({ index, invoke, return: end, place, token }: Acquire): Section {
  const release = { release: -1, releaseInvoke: forever, releaseReturn: forever };
  return { index, invoke, return: end, place, token, ...release, releasePlace: forever };
}
