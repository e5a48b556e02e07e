/**
 * Decides a lock that everybody releases after taking it, one call at a time. Between the return of
 * an acquire and the call of its release a client surely holds the lock, so these spans may not
 * overlap, and their order is the only one. A denied acquire must meet the lock held: the calls can
 * take effect such that it is free only where every order has it free.
 */
import type { FastDecision, History, Operation } from '../model.ts';
import { answeredByReturn, shortestBadPrefix } from './returns.ts';

/** What is asked of a lock's calls, whoever made them. */
type PairedLockCall =
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

/** From a grant to its release. Indices are those of the history. */
interface Section {
  readonly acquire: number;
  readonly invoke: number;
  readonly return: number;
  /** The place of the grant in the order of returns. */
  readonly place: number;
  readonly token: number | null;
  /** -1 when it was never called; then all about it is infinite. */
  readonly release: number;
  readonly releaseInvoke: number;
  readonly releaseReturn: number;
  readonly releasePlace: number;
}

interface LockPairs {
  /** In the order of the returns of their grants. */
  readonly sections: readonly Section[];
  /** Acquires without an answer. */
  readonly crashed: readonly number[];
  /** Denied acquires in the order of their returns: index and place. */
  readonly denied: readonly { readonly index: number; readonly place: number }[];
}

/** What a client did last that was not a denied acquire. */
interface Client {
  phase: 'idle' | 'holds' | 'crashed';
  section: number;
  return: number;
}

/** Null when some client's calls are not in pairs, one after the other, what crashed being last. */
function pairLockCalls(
  history: History<PairedLockCall>,
  answered: readonly number[],
): LockPairs | null {
  const clients = new Map<string, Client>();
  const sections: Section[] = [];
  const denied: { index: number; place: number }[] = [];
  const crashed: number[] = [];
  for (const [place, index] of answered.entries()) {
    const operation = history[index];
    if (operation === undefined) return null;
    const { call } = operation;
    const end = operation.return ?? forever;
    if (call.name === 'acquire' && call.answer === 'denied') {
      denied.push({ index, place });
      continue;
    }
    const client = clientOf(clients, call.owner);
    if (operation.invoke <= client.return) return null;
    client.return = end;
    if (call.answer === 'granted' && client.phase === 'idle') {
      client.phase = 'holds';
      client.section = sections.length;
      sections.push(openSection(operation, index, place));
    } else if (call.answer === 'released' && client.phase === 'holds') {
      client.phase = 'idle';
      const section = sections[client.section];
      if (section === undefined) return null;
      sections[client.section] = closeSection(section, operation, index, place);
    } else return null;
  }
  for (const [index, operation] of history.entries()) {
    const { call, outcome, invoke } = operation;
    if (outcome !== 'info' || call.answer === 'denied') continue;
    const client = clientOf(clients, call.owner);
    if (client.phase === 'crashed' || invoke <= client.return) return null;
    if ((call.name === 'release') !== (client.phase === 'holds')) return null;
    client.phase = 'crashed';
    const section = sections[client.section];
    if (call.name === 'acquire') crashed.push(index);
    else if (section === undefined) return null;
    else sections[client.section] = closeSection(section, operation, index, forever);
  }
  return { sections, crashed, denied };
}

function clientOf(clients: Map<string, Client>, owner: string): Client {
  const known = clients.get(owner);
  if (known !== undefined) return known;
  const client: Client = { phase: 'idle', section: -1, return: Number.NEGATIVE_INFINITY };
  clients.set(owner, client);
  return client;
}

function openSection(
  operation: Operation<PairedLockCall>,
  acquire: number,
  place: number,
): Section {
  return {
    acquire,
    invoke: operation.invoke,
    return: operation.return ?? forever,
    place,
    token: tokenOf(operation.call),
    release: -1,
    releaseInvoke: forever,
    releaseReturn: forever,
    releasePlace: forever,
  };
}

function closeSection(
  section: Section,
  operation: Operation<PairedLockCall>,
  release: number,
  releasePlace: number,
): Section {
  const releaseReturn = releasePlace === forever ? forever : (operation.return ?? forever);
  return { ...section, release, releaseInvoke: operation.invoke, releaseReturn, releasePlace };
}

/** Null when the lock gives none, or nobody saw it. */
function tokenOf(call: PairedLockCall): number | null {
  return call.name === 'acquire' ? (call.token ?? null) : null;
}
