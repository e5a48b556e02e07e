/**
 * Finds the sections that asked for a lock while another section might hold it. Servers usually
 * report their grants and denials, but a server that runs user code may report nothing. In that
 * case, an acquire is a call about the lock that a server handled before the calling section
 * entered, and a program holds the lock from its entry until it leaves. If a process runs several
 * sections concurrently, each section counts as asking when it begins, since it may wait for the
 * others without making a call.
 */
import type { Deny, Enter, Grant, Invoke, Mark } from '../core/history/events.ts';
import { addTo } from '../core/kernel/entries.ts';
import { operationOf, sectionOf } from '../core/kernel/name.ts';
import { BEGIN } from '../core/plan/operation-names.ts';
import { isQuorumGrant } from './holders.ts';
import type { GrantLog, LockLog, TraceIndex } from './trace-index.ts';

/** An acquire that a server handled. */
export interface Acquire {
  readonly client: string;
  /** The section that asked, such as `alice/1`. */
  readonly section: string;
  /** Number of the event that handled the acquire. */
  readonly index: number;
  readonly atUs: number;
}

/** Returns the acquires whose outcome no server recorded, in trace order. */
export function unnotedAcquires(indexed: TraceIndex, { lock }: LockLog): readonly Acquire[] {
  if (!reportsGrants(indexed)) return NONE;
  let byLock = known.get(indexed);
  if (byLock === undefined) {
    byLock = findUnnoted(indexed);
    known.set(indexed, byLock);
  }
  return byLock.get(lock) ?? NONE;
}

/** Returns all acquires of a lock (granted, denied or unrecorded), in trace order. */
export function acquiresOf(indexed: TraceIndex, log: LockLog): readonly Acquire[] {
  const noted: Acquire[] = [];
  for (const { event, index } of log.entries) {
    const isNoted = event.kind === 'deny' || (event.kind === 'grant' && !isQuorumGrant(event));
    if (isNoted) noted.push(acquireBy(event, index));
  }
  const unnoted = unnotedAcquires(indexed, log);
  return unnoted.length === 0 ? noted : [...noted, ...unnoted].sort((a, b) => a.index - b.index);
}

export function acquireBy({ client, message, atUs }: Grant | Deny, index: number): Acquire {
  return { client, section: sectionOf(message), index, atUs };
}

/** Returns the implicit requests of processes that run several sections: one per section start. */
export function beginsIn({ marks }: TraceIndex): readonly Acquire[] {
  return marks.map(({ event, index }) => beginBy(event, index)).filter((begin) => begin !== null);
}

function beginBy({ point, process: client, atUs }: Mark, index: number): Acquire | null {
  const section = sectionOf(point);
  return point === `${section}/${BEGIN}` ? { client, section, index, atUs } : null;
}

/** Returns true if another section's acquire was handled between two events. */
export function wasContested(
  acquires: readonly Acquire[],
  span: { readonly section: string; readonly after: number; readonly before: number },
): boolean {
  return acquires.some(
    ({ section, index }) => index > span.after && index < span.before && section !== span.section,
  );
}

type ByLock = ReadonlyMap<string, readonly Acquire[]>;

const NONE: readonly Acquire[] = [];

/**
 * Unrecorded acquires, shared by all claims. Few traces are stored, because a `WeakMap` entry costs
 * the garbage collector more time than most claims take.
 */
const known: WeakMap<TraceIndex, ByLock> = new WeakMap();

function reportsGrants({ locks }: TraceIndex): boolean {
  for (const { grants } of locks.values()) {
    if (grants.some(({ event }) => isQuorumGrant(event))) return true;
  }
  return false;
}

function findUnnoted(indexed: TraceIndex): ByLock {
  const found = new Map<string, Acquire[]>();
  const { lockOf, noted } = namesIn(indexed);
  const verbs = verbsOfAcquires(indexed);
  const entered = new Set<string>();
  const asked = new Map<string, { readonly client: string; readonly lock: string }>();
  let index = -1;
  for (const event of indexed.trace.events) {
    index += 1;
    if (event.kind === 'enter') entered.add(event.section);
    else if (event.kind === 'invoke') {
      const { call, operation, process: client } = event;
      const section = sectionOf(operation);
      if (!verbs.has(call.verb) || entered.has(section)) continue;
      // A call outside a section may be a release instead.
      if (call.verb !== 'acquire' && !/\/\d+$/.test(section)) continue;
      const lock = lockOf(operation, call);
      if (lock !== null) asked.set(operation, { client, lock });
    } else if (event.kind === 'mark') {
      const begin = beginBy(event, index);
      const lock = begin === null ? null : lockOf(event.point);
      if (begin !== null && lock !== null) addTo(found, lock, begin);
    } else if (event.kind === 'receive' && !noted.has(event.message)) {
      const operation = operationOf(event.message);
      const ask = asked.get(operation);
      if (ask === undefined || !event.message.endsWith('/request')) continue;
      asked.delete(operation);
      const section = sectionOf(operation);
      addTo(found, ask.lock, { client: ask.client, section, index, atUs: event.atUs });
    }
  }
  return found;
}

/**
 * Returns the section that entered under a grant, or the section that requested it if none entered.
 */
export function sectionUnder({ trace }: TraceIndex, { event, enteredAt }: GrantLog): string {
  const entry = trace.events[enteredAt];
  return entry?.kind === 'enter' ? entry.section : sectionOf(event.message);
}

/**
 * Returns the verbs of calls that may be acquires. In scripts no call is marked as one, so
 * each call that can read lock state counts.
 */
function verbsOfAcquires({ operations }: TraceIndex): ReadonlySet<Invoke['call']['verb']> {
  for (const { invoke } of operations.values()) {
    if (invoke.event.call.verb === 'acquire') return new Set(['acquire']);
  }
  return new Set(['fetch', 'check', 'claim']);
}

interface Names {
  /** Returns the name under which programs enter the lock of a call, or null if unknown. */
  readonly lockOf: (operation: string, call?: Invoke['call']) => string | null;
  /** The requests whose outcome a server recorded. */
  readonly noted: ReadonlySet<string>;
}

function namesIn({ locks }: TraceIndex): Names {
  const entries = new Map<string, Enter>();
  const entered = new Set<string>();
  const noted = new Set<string>();
  for (const { lock, entries: events } of locks.values()) {
    for (const { event } of events) {
      if (event.kind === 'deny' || event.kind === 'grant') noted.add(event.message);
      if (event.kind !== 'enter') continue;
      entries.set(event.section, event);
      entered.add(lock);
    }
  }
  const [only] = entered;
  const lockOf = (operation: string, call?: Invoke['call']): string | null => {
    if (call !== undefined && 'lock' in call && entered.has(call.lock)) return call.lock;
    const entryLock = entries.get(sectionOf(operation))?.lock;
    return entryLock ?? (entered.size === 1 ? (only ?? null) : null);
  };
  return { lockOf, noted };
}
