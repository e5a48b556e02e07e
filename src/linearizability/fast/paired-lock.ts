/**
 * Decides a lock that everybody releases after taking it, one call at a time. Between the return of
 * an acquire and the call of its release a client surely holds the lock, so these stretches may not
 * overlap, and their order is the only one. A denied acquire must meet the lock held: the calls can
 * take effect such that it is free only where every order has it free.
 */
import type { FastDecision } from '../model.ts';
import type { History } from '../operation.ts';
import { type LockPairs, pairLockCalls, tokenOf } from './lock-pairs.ts';
import { answeredByReturn, shortestBadPrefix } from './returns.ts';

/** What is asked of a lock's calls, whoever made them. */
export type PairedLockCall =
  | {
      readonly name: 'acquire';
      readonly owner: string;
      readonly answer: 'granted' | 'denied' | 'unknown';
      /** Of a fenced lock: its tokens must rise from grant to grant. */
      readonly token?: number | null;
    }
  | {
      readonly name: 'release';
      readonly owner: string;
      readonly answer: 'released' | 'denied' | 'unknown';
    };

const never = Number.NEGATIVE_INFINITY;
const forever = Number.POSITIVE_INFINITY;

/** For a lock that is not reentrant. Null when some client's calls are not in pairs. */
export function decidePairedLock(history: History<PairedLockCall>): FastDecision | null {
  const answered = answeredByReturn(history);
  const pairs = pairLockCalls(history, answered);
  if (pairs === null) return null;
  const isGood = (prefix: number): boolean => isConsistent(history, pairs, prefix);
  if (isGood(answered.length)) return { kind: 'valid', order: orderOf(history, pairs) };
  const returns = shortestBadPrefix(answered.length, isGood);
  return { kind: 'invalid', at: answered[returns - 1] ?? 0 };
}

/** Whether an order exists for the first `prefix` returns, what returns later being unanswered. */
function isConsistent(
  history: History<PairedLockCall>,
  { sections, crashed, denied }: LockPairs,
  prefix: number,
): boolean {
  let heldUntil = never;
  let freeFrom = never;
  let token = never;
  let met = 0;
  /** Passes the denied acquires that return before `to`; false when one met the lock free. */
  const passDenied = (to: number): boolean => {
    for (; met < denied.length; met++) {
      const { index = 0, place = forever } = denied[met] ?? {};
      const operation = history[index];
      if (operation === undefined || place >= prefix || (operation.return ?? 0) >= to) return true;
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
  // An unanswered acquire may have been granted after all that was.
  let last = forever;
  for (let place = answered; place < sections.length; place++) {
    const { token: own = null, invoke = forever } = sections[place] ?? {};
    if (own === null || own > token) last = Math.min(last, invoke);
  }
  const tail = earliest(history, crashed, token);
  return passDenied(Math.min(last, tail?.invoke ?? forever));
}

/** Of the crashed acquires that may follow `token` the one called first. */
function earliest(
  history: History<PairedLockCall>,
  crashed: readonly number[],
  token: number,
): { readonly index: number; readonly invoke: number } | null {
  let found: { readonly index: number; readonly invoke: number } | null = null;
  for (const index of crashed) {
    const operation = history[index];
    if (operation === undefined) continue;
    const { call, invoke } = operation;
    const isFitting = (tokenOf(call) ?? forever) > token;
    if (isFitting && (found === null || invoke < found.invoke)) found = { index, invoke };
  }
  return found;
}

/** An order of a consistent history: grants as early, releases as late as may be. */
function orderOf(
  history: History<PairedLockCall>,
  { sections, crashed, denied }: LockPairs,
): readonly number[] {
  const order: number[] = [];
  const invokeOf = (index: number): number => history[index]?.invoke ?? 0;
  const waiting = denied.map(({ index }) => index).sort((a, b) => invokeOf(a) - invokeOf(b));
  let placed = 0;
  const placeDenied = (until: number): void => {
    for (; placed < waiting.length; placed++) {
      const index = waiting[placed] ?? 0;
      if (invokeOf(index) > until) return;
      order.push(index);
    }
  };
  const token = sections.reduce((last, section) => section.token ?? last + 1, never);
  const tail = earliest(history, crashed, token);
  for (const [place, section] of sections.entries()) {
    order.push(section.acquire);
    const next = sections[place + 1]?.invoke ?? tail?.invoke ?? forever;
    // Where the next can follow at once the lock is never seen free.
    const isMet = next <= section.releaseReturn;
    placeDenied(isMet ? Math.max(section.releaseInvoke, next) : section.releaseReturn);
    const isLast = place === sections.length - 1 && placed === waiting.length;
    const isAnswered = section.releaseReturn < forever;
    if (isAnswered || (section.release >= 0 && !isLast)) order.push(section.release);
  }
  if (placed < waiting.length && tail !== null) {
    order.push(tail.index);
    placeDenied(forever);
  }
  return order;
}
