/**
 * Indexes the events of a trace by lock, place (a resource in a store), key and operation. The
 * index is built once, in one pass, and read by every claim.
 *
 * A lock and the resource that it guards have the same name, which links a write to its grant.
 */

import type {
  Deadlock,
  Enter,
  FaultInjected,
  Invoke,
  Job,
  LeaseTest,
  Leave,
  Mark,
  Return,
  TraceEvent,
} from '../core/history/events.ts';
import {
  type Deny,
  type Grant,
  isEarlier,
  type KeyChange,
  type Read,
  type Recovered,
  type Release,
  type Renew,
  type Stamp,
  type Write,
} from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { addTo, entryOf } from '../core/kernel/entries.ts';
import type { Draft } from '../core/kernel/json.ts';
import { BEGIN } from '../core/plan/operation-names.ts';
import {
  type Acquisition,
  type AcquisitionOrder,
  type AcquisitionOrders,
  earliestRequest,
  isClientGrant,
  type KeyHold,
  KeyHolds,
  type MessagesOf,
  messagesBySection,
  ordersOf,
  REPORTED_ORDER,
} from './holders.ts';
import { unfinishedIn } from './unfinished.ts';

/** The initial value of every key in every store. */
export const INITIAL_VALUE = 0;

/** An event and its number. */
export interface Numbered<E> {
  readonly index: number;
  readonly event: E;
}

/** An event with its number, and the latest earlier acquisition of its lock (or resource). */
export interface LogEntry<E> extends Numbered<E> {
  readonly latest: GrantLog | null;
}

/** A grant and its later changes at the service: effective renews and releases, in order. */
export interface GrantLog extends Acquisition {
  readonly changes: readonly Numbered<Renew | Release>[];
  /** The keys by which the client took the lock, or null unless its program reports the grant. */
  readonly keys: KeyHold | null;
  /** The likeliest order of its lock's acquisitions. */
  readonly order: AcquisitionOrder;
  /** Numbers of the events by which its program entered and left, or −1 if it did not. */
  readonly enteredAt: number;
  readonly leftAt: number;
}

export type LockEvent = Grant | Deny | Renew | Release | Enter | Leave | LeaseTest;

export interface LockLog {
  readonly lock: string;
  readonly entries: readonly LogEntry<LockEvent>[];
  /** In trace order. */
  readonly grants: readonly GrantLog[];
  readonly byNumber: ReadonlyMap<number, GrantLog>;
  /** The possible orders of acquisition, or null if there are too many (`holders.ts`). */
  readonly orders: AcquisitionOrders | null;
}

export type AccessEvent = Write | Read;

/** All accesses to one key, including refused ones, in the order of handling by the store. */
export interface KeyLog {
  readonly key: string;
  readonly accesses: readonly LogEntry<AccessEvent>[];
}

/** One resource in one store. */
export interface PlaceLog {
  readonly store: string;
  readonly resource: string;
  readonly accesses: readonly LogEntry<AccessEvent>[];
  readonly keys: ReadonlyMap<string, KeyLog>;
  readonly recoveries: readonly Numbered<Recovered>[];
  /** Initial contents by key, for keys that a store has had from the start. */
  readonly firsts: ReadonlyMap<string, FirstRow>;
}

/** The initial contents of a key. */
export interface FirstRow {
  readonly value: number;
  /** 0 if the store has no versions, or has not assigned one yet. */
  readonly version: number;
}

export interface OperationLog {
  readonly invoke: Numbered<Invoke>;
  readonly return: Numbered<Return> | null;
}

export interface TraceIndex {
  readonly trace: Trace;
  /** True if the run was not truncated: an event that is not in the trace did not happen. */
  readonly isComplete: boolean;
  /** True if the run is complete and contains no unfinished section that could change a verdict. */
  readonly isFinished: boolean;
  readonly locks: ReadonlyMap<string, LockLog>;
  readonly places: readonly PlaceLog[];
  /** Operations by name, in the order of their calls. */
  readonly operations: ReadonlyMap<string, OperationLog>;
  readonly faults: readonly Numbered<FaultInjected>[];
  /** The changes of keys that were taken by a command that can take a lock. */
  readonly keyChanges: readonly Numbered<KeyChange>[];
  /**
   * The grants that rest on a taken key, by the message that took it. There are several if later
   * sections kept the key.
   */
  readonly byTaking: ReadonlyMap<string, readonly GrantLog[]>;
  /** True if a call ended with an unknown outcome. */
  readonly hasUnknown: boolean;
  /** Rare events. A claim about them checks these lists before it reads the complete trace. */
  readonly marks: readonly Numbered<Mark>[];
  readonly jobs: readonly Numbered<Job>[];
  readonly deadlocks: readonly Numbered<Deadlock>[];
  /** The clients that start after healing, to check that the system still works. */
  readonly probes: ReadonlySet<string>;
  /** The clients that run several sections at once. */
  readonly several: ReadonlySet<string>;
}

interface GrowingGrant extends Draft<GrantLog> {
  readonly changes: Numbered<Renew | Release>[];
}

type GrowingEntry<E> = Draft<LogEntry<E>>;

interface GrowingLock extends LockLog {
  readonly entries: GrowingEntry<LockEvent>[];
  readonly grants: GrowingGrant[];
  readonly byNumber: Map<number, GrowingGrant>;
  orders: AcquisitionOrders | null;
  latest: GrowingGrant | null;
  /** True if programs report grants of this lock when they enter. */
  reportsGrants: boolean;
}

interface GrowingPlace extends PlaceLog {
  readonly accesses: GrowingEntry<AccessEvent>[];
  readonly keys: Map<string, { readonly key: string; readonly accesses: LogEntry<AccessEvent>[] }>;
  readonly recoveries: Numbered<Recovered>[];
  readonly firsts: Map<string, FirstRow>;
  readonly guardedBy: GrowingLock;
  /** For replicated stores: the writes that reached any replica, and the latest stamp by key. */
  readonly arrived: Set<string>;
  readonly newest: Map<string, Stamp>;
}

interface Growing {
  readonly locks: Map<string, GrowingLock>;
  readonly places: GrowingPlace[];
  readonly operations: Map<string, Draft<OperationLog>>;
  readonly faults: Numbered<FaultInjected>[];
  readonly keyChanges: Numbered<KeyChange>[];
  readonly byTaking: Map<string, GrowingGrant[]>;
  readonly marks: Numbered<Mark>[];
  readonly jobs: Numbered<Job>[];
  readonly deadlocks: Numbered<Deadlock>[];
  readonly events: readonly TraceEvent[];
  hasUnknown: boolean;
  /**
   * The writes to replicas that certainly took effect, or null before the first write to a replica.
   */
  certain: ReadonlySet<string> | null;
}

const indexes = new WeakMap<Trace, TraceIndex>();

/** Indexes a trace by lock, place, key and operation. Cached per trace. */
export function indexTrace(trace: Trace): TraceIndex {
  const known = indexes.get(trace);
  if (known !== undefined) return known;
  const indexed = buildIndex(trace);
  indexes.set(trace, indexed);
  return indexed;
}

function buildIndex(trace: Trace): TraceIndex {
  const growing: Growing = {
    locks: new Map(),
    places: [],
    operations: new Map(),
    faults: [],
    keyChanges: [],
    byTaking: new Map(),
    marks: [],
    jobs: [],
    deadlocks: [],
    events: trace.events,
    hasUnknown: false,
    certain: null,
  };
  let index = -1;
  for (const event of trace.events) {
    index += 1;
    // These are half of all events, and are not part of any log.
    if (event.kind === 'send' || event.kind === 'receive') continue;
    enter(growing, event, index);
  }
  const reported = [...growing.locks.values()].filter(({ reportsGrants }) => reportsGrants);
  if (reported.length > 0) {
    const messagesOf = messagesBySection(trace.events);
    const holds = new KeyHolds(growing.keyChanges, messagesOf);
    for (const lock of reported) orderAcquisitions(growing, lock, { messagesOf, holds });
  }
  const { locks, places, operations, faults, keyChanges, byTaking } = growing;
  const { marks, jobs, deadlocks } = growing;
  const isComplete = trace.ending.kind === 'complete';
  const probes = new Set<string>();
  for (const { name, role } of trace.processes) if (role === 'probe') probes.add(name);
  const several = new Set<string>();
  for (const { event } of marks) if (event.point.endsWith(`/${BEGIN}`)) several.add(event.process);
  return {
    trace,
    isComplete,
    isFinished: isComplete && unfinishedIn(trace, operations).length === 0,
    locks,
    places,
    operations,
    faults,
    keyChanges,
    byTaking,
    hasUnknown: growing.hasUnknown,
    marks,
    jobs,
    deadlocks,
    probes,
    several,
  };
}

/** Returns the place of a resource in a store, or undefined if the store handled nothing there. */
export function placeAt<P extends PlaceLog>(
  { places }: { readonly places: readonly P[] },
  { store, resource }: Partial<Pick<PlaceLog, 'store' | 'resource'>>,
): P | undefined {
  for (const place of places) {
    if (place.store === store && place.resource === resource) return place;
  }
  return undefined;
}

/** Returns the client of a section, or the section itself if the client runs several at once. */
export function actorIn({ several }: TraceIndex, process: string, section: string): string {
  return several.has(process) ? section : process;
}

export function grantUnder(indexed: TraceIndex, access: AccessEvent): GrantLog | undefined {
  return indexed.locks.get(access.resource)?.byNumber.get(access.under);
}

/** Returns true if an access was handled under a grant after its lock had been acquired again. */
export function isStale({ event, latest }: LogEntry<AccessEvent>): boolean {
  if (event.under === 0 || latest === null) return false;
  return latest.order(event.under) < latest.order(latest.event.ordinal);
}

/** Returns true if the operation's client learned that its write was accepted. */
export function isAcknowledged(operation: OperationLog): boolean {
  const returned = operation.return?.event;
  return returned?.outcome === 'ok' && returned.answer?.kind === 'accepted';
}

function enter(growing: Growing, event: TraceEvent, index: number): void {
  switch (event.kind) {
    case 'write':
      enterWrite(growing, event, index);
      return;
    case 'read':
      enterAccess(placeOf(growing, event), event, index);
      return;
    case 'recovered':
      enterRecovery(placeOf(growing, event), event, index);
      return;
    case 'grant':
    case 'renew':
    case 'release':
    case 'deny':
    case 'enter':
    case 'leave':
    case 'lease-test':
      enterLockEvent(lockOf(growing, event.lock), event, index);
      return;
    case 'invoke':
      growing.operations.set(event.operation, { invoke: { index, event }, return: null });
      return;
    case 'return': {
      if (event.outcome === 'info') growing.hasUnknown = true;
      const operation = growing.operations.get(event.operation);
      if (operation !== undefined) operation.return = { index, event };
      return;
    }
    case 'fault':
      growing.faults.push({ index, event });
      return;
    case 'key-change':
      growing.keyChanges.push({ index, event });
      return;
    case 'mark':
      growing.marks.push({ index, event });
      return;
    case 'job':
      growing.jobs.push({ index, event });
      return;
    case 'deadlock':
      growing.deadlocks.push({ index, event });
  }
}

/**
 * Adds a write to its place. In a replicated store, the write with the latest timestamp determines
 * the value. A write is therefore handled once, at the first replica, and takes effect unless a
 * later timestamp has reached any replica. Omits a write that was neither acknowledged nor read,
 * since it may have no effect.
 */
function enterWrite(growing: Growing, event: Write, index: number): void {
  const place = placeOf(growing, event);
  const { stamp, operation, key } = event;
  if (stamp === undefined) {
    enterAccess(place, event, index);
    return;
  }
  const { arrived, newest } = place;
  if (arrived.has(operation)) return;
  arrived.add(operation);
  growing.certain ??= certainWrites(growing.events);
  if (!growing.certain.has(operation)) return;
  const last = newest.get(key);
  const isNewest = last === undefined || isEarlier(last, stamp);
  if (isNewest) newest.set(key, stamp);
  const access =
    event.isAccepted === isNewest ? event : Object.assign({}, event, { isAccepted: isNewest });
  enterAccess(place, access, index);
}

function certainWrites(events: readonly TraceEvent[]): ReadonlySet<string> {
  const certain = new Set<string>();
  for (const event of events) {
    if (event.kind === 'return' && event.outcome === 'ok') certain.add(event.operation);
    else if (event.kind === 'read' && event.written !== undefined) certain.add(event.written);
  }
  return certain;
}

function enterAccess(place: GrowingPlace, event: AccessEvent, index: number): void {
  const entry = { index, event, latest: place.guardedBy.latest };
  place.accesses.push(entry);
  const { key } = event;
  entryOf(place.keys, key, () => ({ key, accesses: [] })).accesses.push(entry);
}

function enterRecovery(place: GrowingPlace, event: Recovered, index: number): void {
  const { begins, values } = event;
  if (begins === undefined) place.recoveries.push({ index, event });
  else if (!place.firsts.has(begins.key)) {
    place.firsts.set(begins.key, { value: values[begins.key] ?? 0, version: begins.version });
  }
}

function enterLockEvent(lock: GrowingLock, event: LockEvent, index: number): void {
  const { entries, grants, byNumber } = lock;
  entries.push({ index, event, latest: lock.latest });
  if (event.kind === 'grant') {
    const log = {
      index,
      event,
      changes: [],
      between: [index, index] as const,
      keys: null,
      order: REPORTED_ORDER,
      enteredAt: -1,
      leftAt: -1,
    };
    lock.latest = log;
    if (isClientGrant(event)) lock.reportsGrants = true;
    grants.push(log);
    byNumber.set(event.ordinal, log);
  } else if (event.kind === 'renew') byNumber.get(event.extended)?.changes.push({ index, event });
  else if (event.kind === 'release') byNumber.get(event.released)?.changes.push({ index, event });
  else if (event.kind === 'enter' || event.kind === 'leave') {
    const grant = byNumber.get(event.ordinal);
    if (grant === undefined) return;
    if (event.kind === 'leave') grant.leftAt = index;
    else if (grant.enteredAt < 0) grant.enteredAt = index;
  }
}

function orderAcquisitions(
  growing: Growing,
  lock: GrowingLock,
  { messagesOf, holds }: { readonly messagesOf: MessagesOf; readonly holds: KeyHolds },
): void {
  const { grants } = lock;
  const invokedAt = (operation: string): number =>
    growing.operations.get(operation)?.invoke.index ?? -1;
  for (const grant of grants) {
    const entry = growing.events[grant.index + 1];
    if (!isClientGrant(grant.event) || entry?.kind !== 'enter') continue;
    grant.keys = holds.of(grant, entry.section, grant.leftAt < 0 ? Infinity : grant.leftAt);
    for (const { event } of grant.keys?.takings ?? []) {
      addTo(growing.byTaking, event.message, grant);
    }
    const at = grant.keys?.isReused ? grant.index : grant.keys?.acquired.index;
    const earliest = at ?? earliestRequest(grant, messagesOf(entry.section), invokedAt);
    grant.between = [earliest, at ?? grant.index];
  }
  lock.orders = ordersOf(grants);
  const order = lock.orders?.likeliest ?? REPORTED_ORDER;
  for (const grant of grants) grant.order = order;
  const entries: GrowingEntry<LockEvent | AccessEvent>[] = [...lock.entries];
  for (const place of growing.places) {
    if (place.guardedBy === lock) entries.push(...place.accesses);
  }
  entries.sort((one, other) => one.index - other.index);
  const acquired = [...grants].sort(({ between: [, one] }, { between: [, other] }) => one - other);
  let latest: GrantLog | null = null;
  let next = 0;
  for (const entry of entries) {
    for (let grant = acquired[next]; grant !== undefined; grant = acquired[next]) {
      if (grant.between[1] >= entry.index) break;
      const isNewer = latest === null || order(grant.event.ordinal) > order(latest.event.ordinal);
      if (isNewer) latest = grant;
      next += 1;
    }
    entry.latest = latest;
  }
}

function lockOf(growing: Growing, lock: string): GrowingLock {
  return entryOf(growing.locks, lock, () => ({
    lock,
    entries: [],
    grants: [],
    byNumber: new Map(),
    orders: { likeliest: REPORTED_ORDER, all: () => [REPORTED_ORDER] },
    latest: null,
    reportsGrants: false,
  }));
}

function placeOf(growing: Growing, event: AccessEvent | Recovered): GrowingPlace {
  const { process, resource } = event;
  const store = 'store' in event ? (event.store ?? process) : process;
  const known = placeAt(growing, { store, resource });
  if (known !== undefined) return known;
  const fresh: GrowingPlace = {
    store,
    resource,
    accesses: [],
    keys: new Map(),
    recoveries: [],
    firsts: new Map(),
    guardedBy: lockOf(growing, resource),
    arrived: new Set(),
    newest: new Map(),
  };
  growing.places.push(fresh);
  return fresh;
}
