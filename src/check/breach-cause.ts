/**
 * Finds the cause of a breach from the trace alone: the broken rule, the faults with their targets,
 * and whether another client's release freed the lock. Shrinking accepts only candidates with the
 * same cause, and a run groups its failures by cause.
 *
 * A cause contains no numbers and no process names, so renumbering sections or removing clients
 * does not change it. Two causes count as the same if one merely has more faults, because a trace
 * cannot show which faults matter.
 *
 * Example: alice is paused before her DEL, and her lease expires. bob takes the lock, the DEL
 * removes his key, and carol enters while he is inside. The evidence is about bob and carol, whom
 * no fault affected. The cause is the pause that delayed alice's release: `another’s release (pause
 * before release)`.
 */

import type { EventKind, FaultInjected, Invoke } from '../core/history/events.ts';
import type { ProcessInfo, Trace } from '../core/history/trace.ts';
import { operationOf, sectionOf } from '../core/kernel/name.ts';
import { affectsLinks, affectsMessage, type FaultKind } from '../core/plan/fault.ts';
import { ASIDE_ROLES, causesIn, causesOfTaking, causesSince } from './evidence.ts';
import { isQuorumGrant } from './holders.ts';
import { areRivals, isHeldAt, serversOf } from './leases.ts';
import type { GrantLog, Numbered, TraceIndex } from './trace-index.ts';
import type { Invalid } from './verdict.ts';

export interface BreachCause {
  readonly rule: string;
  /** True if the lock was lost to a release meant for another grant, such as a late DEL. */
  readonly isByNonOwnerRelease: boolean;
  /** Sorted by text, without duplicates. */
  readonly faults: readonly FaultHit[];
  /**
   * Faults injected before the breach, if the trace connects no fault to it. They are reported, but
   * not compared.
   */
  readonly earlier?: readonly FaultHit[];
}

/** A kind of fault and its target: `pause` and `before release`, `delay` and `of write reply`. */
export interface FaultHit {
  readonly kind: FaultKind;
  readonly what: string;
}

/** Returns the cause of the breach that `verdict` found in the trace. */
export function causeOf(indexed: TraceIndex, verdict: Invalid): BreachCause {
  const { isByNonOwnerRelease, faults } = behind(indexed, verdict);
  const cause = { rule: verdict.rule, isByNonOwnerRelease, faults: faultsInOrder(indexed, faults) };
  const last = Math.max(...verdict.evidence.map(({ event }) => event));
  const before = faults.length > 0 ? [] : indexed.faults.filter(({ index }) => index < last);
  return before.length === 0 ? cause : { ...cause, earlier: faultsInOrder(indexed, before) };
}

function faultsInOrder(
  indexed: TraceIndex,
  faults: readonly Numbered<FaultInjected>[],
): readonly FaultHit[] {
  const hitByFault = new Map<string, FaultHit>();
  for (const fault of faults) {
    for (const what of faultsAt(indexed, fault)) {
      const hit = { kind: fault.event.fault, what };
      hitByFault.set(hitText(hit), hit);
    }
  }
  return [...hitByFault].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, hit]) => hit);
}

/** Returns the faults on which the breach depends, in the order in which they were injected. */
export function faultsBehind(
  indexed: TraceIndex,
  verdict: Invalid,
): readonly Numbered<FaultInjected>[] {
  return behind(indexed, verdict).faults;
}

/**
 * Returns where a claim broke: the section and the key of the last event in the evidence that
 * belongs to the contradiction and is not a fault, as text. Empty if there is no such event.
 */
export function breachPlace(trace: Trace, { evidence }: Invalid): string {
  const last = evidence.findLast(({ role, event }) => {
    const kind = trace.events[event]?.kind ?? 'fault';
    return !ASIDE_ROLES.has(role) && !FAULT_EVENTS.has(kind);
  });
  const event = trace.events[last?.event ?? -1];
  if (last === undefined || event === undefined) return '';
  const operation =
    'operation' in event ? event.operation : 'message' in event ? operationOf(event.message) : '';
  const section = sectionAt(trace, last.event) ?? sectionOf(operation);
  if ('key' in event) return `${section} ${event.key}`;
  if ('lock' in event) return `${section} ${event.lock}`;
  const invoke = trace.events.find((one) => one.kind === 'invoke' && one.operation === operation);
  if (invoke?.kind !== 'invoke') return section;
  return `${section} ${'key' in invoke.call ? invoke.call.key : invoke.call.lock}`;
}

const FAULT_EVENTS: ReadonlySet<EventKind> = new Set(['fault', 'resume', 'heal', 'restart']);

/** Returns the section of a grant, an access, a call or a mark, such as `alice/1`, or null. */
export function sectionAt({ events }: Trace, index: number): string | null {
  const event = events[index];
  if (event === undefined) return null;
  if ('section' in event) return event.section;
  if ('operation' in event) return sectionOf(event.operation);
  if (event.kind === 'mark') return sectionOf(event.point);
  if (event.kind === 'grant' || event.kind === 'lease-test') {
    const { lock, ordinal } = event;
    const entered = events.find(
      (one) => one.kind === 'enter' && one.lock === lock && one.ordinal === ordinal,
    );
    if (entered?.kind === 'enter') return entered.section;
  }
  return 'lock' in event && 'message' in event && event.message !== ''
    ? sectionOf(event.message)
    : null;
}

/**
 * Returns true if two breaches of one claim have the same cause. One may have more faults than the
 * other.
 */
export function isSameCause(one: BreachCause, other: BreachCause): boolean {
  if (one.rule !== other.rule || one.isByNonOwnerRelease !== other.isByNonOwnerRelease)
    return false;
  return isPartOf(one, other) || isPartOf(other, one);
}

/** Returns true if every fault of `one` is also in `other`, with the same target. */
export function isPartOf(one: BreachCause, other: BreachCause): boolean {
  const known = new Set(other.faults.map(hitText));
  return one.faults.every((hit) => known.has(hitText(hit)));
}

/**
 * Formats a cause: `another’s release (pause before release)`, `earlier pause before wait`,
 * `delay of write request and pause before access`, `no fault`.
 */
export function causeText({ isByNonOwnerRelease, faults, earlier = [] }: BreachCause): string {
  const words = (faults: readonly FaultHit[]): string => faults.map(hitText).join(' and ');
  const ofNone = earlier.length === 0 ? 'no fault' : `earlier ${words(earlier)}`;
  const faultsText = faults.length === 0 ? ofNone : words(faults);
  return isByNonOwnerRelease ? `another’s release (${faultsText})` : faultsText;
}

function hitText({ kind, what }: FaultHit): string {
  return `${kind} ${what}`;
}

interface Behind {
  readonly isByNonOwnerRelease: boolean;
  readonly faults: readonly Numbered<FaultInjected>[];
}

function behind(indexed: TraceIndex, { evidence }: Invalid): Behind {
  const shown = new Set(evidence.map(({ event }) => event));
  const found = new Map<number, Numbered<FaultInjected>>();
  for (const fault of indexed.faults) if (shown.has(fault.index)) found.set(fault.index, fault);
  let isByNonOwnerRelease = false;
  for (const handover of handovers(indexed, shown)) {
    const releases = nonOwnerReleases(indexed, handover);
    if (releases.length > 0) isByNonOwnerRelease = true;
    for (const fault of faultsOfHandover(indexed, handover, releases))
      found.set(fault.index, fault);
  }
  const faults = [...found.values()].sort((one, other) => one.index - other.index);
  return { isByNonOwnerRelease, faults: faults.length > 0 ? faults : lateMessages(indexed, shown) };
}

/**
 * Returns the faults that affected messages of operations in the evidence. If there are none,
 * returns the fault that delayed the holders' sections the most, since each call waits for the
 * previous answer.
 */
function lateMessages(
  indexed: TraceIndex,
  shown: ReadonlySet<number>,
): readonly Numbered<FaultInjected>[] {
  const last = Math.max(0, ...shown);
  const faults = indexed.faults.filter(
    ({ event, index }) => index < last && affectsMessage(event.fault),
  );
  if (faults.length === 0) return [];
  const operations = operationsShown(indexed, shown);
  const ofThese = faults.filter(({ event }) => operations.has(operationOf(event.target)));
  if (ofThese.length > 0) return ofThese;
  const sections = sectionsShown(indexed, shown);
  let longest: Numbered<FaultInjected> | undefined;
  for (const fault of faults) {
    const { target, amount } = fault.event;
    if (!sections.some((section) => target.startsWith(section))) continue;
    if (amount > (longest?.event.amount ?? -1)) longest = fault;
  }
  return longest === undefined ? [] : [longest];
}

function operationsShown({ trace }: TraceIndex, shown: ReadonlySet<number>): ReadonlySet<string> {
  const operations = new Set<string>();
  for (const index of shown) {
    const event = trace.events[index];
    if (event !== undefined && 'operation' in event) operations.add(event.operation);
  }
  return operations;
}

/** Returns the section prefix (`alice/1/`) of each grant in the evidence. */
function sectionsShown({ locks }: TraceIndex, shown: ReadonlySet<number>): readonly string[] {
  return [...locks.values()].flatMap(({ grants, entries }) => {
    const ordinals = new Set(
      grants.flatMap(({ index, event }) => (shown.has(index) ? [event.ordinal] : [])),
    );
    return entries.flatMap(({ event }) =>
      event.kind === 'enter' && ordinals.has(event.ordinal) ? [`${event.section}/`] : [],
    );
  });
}

/** Two successive grants in the evidence, from different acquisitions of one lock. */
interface Handover {
  readonly earlier: GrantLog;
  readonly later: GrantLog;
}

function handovers({ locks }: TraceIndex, shown: ReadonlySet<number>): readonly Handover[] {
  return [...locks.values()].flatMap(({ grants }) => {
    const among = grants.filter(({ index }) => shown.has(index));
    return among.flatMap((earlier, at) => {
      const later = among[at + 1];
      return later === undefined || !areRivals(earlier, later) ? [] : [{ earlier, later }];
    });
  });
}

/**
 * Returns the faults that made the lock change holders too early. If no fault delayed a release
 * by a non-owner, examines how that client had lost its grant.
 */
function faultsOfHandover(
  indexed: TraceIndex,
  handover: Handover,
  releases: readonly NonOwnerRelease[] = nonOwnerReleases(indexed, handover),
): readonly Numbered<FaultInjected>[] {
  if (releases.length === 0) return faultsOfTheft(indexed, handover);
  return releases.flatMap((release) => {
    const faults = faultsBefore(indexed, release);
    const { meant } = release;
    if (faults.length > 0 || meant === undefined) return faults;
    const { earlier } = handover;
    // Terminates, since the earlier grant of the handover is older at each step.
    return meant.index < earlier.index
      ? faultsOfHandover(indexed, { earlier: meant, later: earlier })
      : [];
  });
}

/** A release that freed the lock between two grants but was meant for another grant. */
interface NonOwnerRelease {
  readonly index: number;
  readonly client: string;
  readonly server: string;
  readonly message: string;
  /** The grant that the client meant to release, if known. */
  readonly meant: GrantLog | undefined;
}

function nonOwnerReleases(indexed: TraceIndex, handover: Handover): readonly NonOwnerRelease[] {
  const isNoted = !isQuorumGrant(handover.earlier.event);
  return isNoted ? notedReleases(indexed, handover) : calledReleases(indexed, handover);
}

function notedReleases(
  { locks }: TraceIndex,
  { earlier, later }: Handover,
): readonly NonOwnerRelease[] {
  const { lock, ordinal } = earlier.event;
  const log = locks.get(lock);
  return earlier.changes.flatMap(({ event, index }) => {
    if (event.kind !== 'release' || event.under === ordinal || index > later.index) return [];
    const { client, process: server, message, under } = event;
    return [{ index, client, server, message, meant: log?.byNumber.get(under) }];
  });
}

/** A successful call to a server about a lock. */
interface HandledCall {
  readonly index: number;
  readonly server: string;
  readonly message: string;
  readonly invoke: Numbered<Invoke>;
  readonly lock: string;
}

/** Like `notedReleases`, for grants that clients report themselves. */
function calledReleases(
  indexed: TraceIndex,
  { earlier, later }: Handover,
): readonly NonOwnerRelease[] {
  const acquires = handledCalls(indexed, 'acquire');
  const [from, until] = [acquiredBy(acquires, earlier), acquiredBy(acquires, later)];
  return handledCalls(indexed, 'release').flatMap(({ index, server, message, invoke, lock }) => {
    const key = `${server} ${lock}`;
    const indexes = [from.get(key)?.index ?? index, until.get(key)?.index ?? index];
    // The first client to be granted the lock may be the last to learn of its grant.
    const [givenFirst, givenAgain] = [Math.min(...indexes), Math.max(...indexes)];
    if (index <= givenFirst || index >= givenAgain) return [];
    const { process: client } = invoke.event;
    const basis = acquires.findLast(
      (call) =>
        call.index < invoke.index &&
        call.invoke.event.process === client &&
        `${call.server} ${call.lock}` === key,
    );
    if (basis !== undefined && basis.index >= givenFirst) return [];
    return [{ index, client, server, message, meant: grantBefore(indexed, client, invoke.index) }];
  });
}

/**
 * Maps each server and lock to the last successful acquire by the grant's client before the grant.
 */
function acquiredBy(
  acquires: readonly HandledCall[],
  { index, event: { client } }: GrantLog,
): ReadonlyMap<string, HandledCall> {
  const last = new Map<string, HandledCall>();
  for (const call of acquires) {
    const isIts = call.invoke.event.process === client && call.index < index;
    if (isIts) last.set(`${call.server} ${call.lock}`, call);
  }
  return last;
}

const DONE = { acquire: 'granted', release: 'released' } as const;

function handledCalls(
  { trace, operations }: TraceIndex,
  verb: keyof typeof DONE,
): readonly HandledCall[] {
  return trace.events.flatMap((event, index) => {
    if (event.kind !== 'receive' || !event.message.endsWith('/request')) return [];
    const operation = operations.get(operationOf(event.message));
    const answer = operation?.return?.event.answer?.kind;
    if (operation?.invoke.event.call.verb !== verb || answer !== DONE[verb]) return [];
    const { call } = operation.invoke.event;
    const lock = 'lock' in call ? call.lock : '';
    return [{ index, server: event.to, message: event.message, invoke: operation.invoke, lock }];
  });
}

function grantBefore({ locks }: TraceIndex, client: string, before: number): GrantLog | undefined {
  let last: GrantLog | undefined;
  for (const { grants } of locks.values()) {
    const lastGrant = grants.findLast(
      ({ event, index }) => event.client === client && index < before,
    );
    if (lastGrant !== undefined && lastGrant.index > (last?.index ?? -1)) last = lastGrant;
  }
  return last;
}

function faultsBefore(
  indexed: TraceIndex,
  { client, server, message, meant, index }: NonOwnerRelease,
): readonly Numbered<FaultInjected>[] {
  const fromUs = meant?.event.sentAtUs ?? 0;
  const span = { processes: [client, server], message, fromUs, before: index };
  return among(indexed, causesIn(indexed, span));
}

/** Returns the faults that made the service grant a lock that another client still held. */
function faultsOfTheft(
  indexed: TraceIndex,
  { earlier, later }: Handover,
): readonly Numbered<FaultInjected>[] {
  if (!isHeldAt(earlier, { index: later.index, atUs: later.event.atUs })) return [];
  const servers = serversOf(indexed, earlier.event);
  const ofServers = among(indexed, causesSince(indexed, earlier, later)).filter(({ event }) =>
    event.processes.some((process) => servers.includes(process)),
  );
  return [...ofServers, ...among(indexed, causesOfTaking(indexed, { earlier, later }))];
}

function among(
  { faults }: TraceIndex,
  causes: ReturnType<typeof causesIn>,
): readonly Numbered<FaultInjected>[] {
  const indexes = new Set(causes.map(([, { index }]) => index));
  return faults.filter(({ index }) => indexes.has(index));
}

/** Describes the targets of a fault without names. A partition can have several targets. */
function faultsAt(
  indexed: TraceIndex,
  { event, index }: Numbered<FaultInjected>,
): readonly string[] {
  const { fault, processes, target, amount } = event;
  if (affectsMessage(fault)) {
    const name = operationOf(target);
    const operation = indexed.operations.get(name);
    const words = operation === undefined ? labelOf(name) : verbOf(operation.invoke.event);
    return [`of ${words} ${target.slice(target.lastIndexOf('/') + 1)}`];
  }
  if (affectsLinks(fault)) return pairsOf(indexed, processes);
  const [process = ''] = processes;
  const role = roleOf(indexed, process);
  if (role !== 'client') return [`of ${ROLE_WORDS[role]}${fault === 'clock' ? side(amount) : ''}`];
  if (fault === 'clock') return [`of a client${side(amount)}`];
  return [`before ${nextVerb(indexed, process, index)}`];
}

type Role = Exclude<ProcessInfo['role'], 'probe'>;

const ROLE_WORDS: Readonly<Record<Role, string>> = {
  client: 'a client',
  lock: 'a lock server',
  store: 'a store',
};

function roleOf({ trace }: TraceIndex, process: string): Role {
  const role = trace.processes.find(({ name }) => name === process)?.role ?? 'client';
  return role === 'probe' ? 'client' : role;
}

function side(amount: number): string {
  return amount === 0 ? '' : amount > 0 ? ', ahead' : ', behind';
}

/** Returns `eval` for `alice/1/eval-2`. */
function labelOf(operation: string): string {
  return operation.slice(operation.lastIndexOf('/') + 1).replace(/-\d+$/, '');
}

/** Returns the verb of a call, or its label if its meaning to the lock is unknown. */
function verbOf({ call, operation }: Invoke): string {
  return call.verb === 'fetch' ? labelOf(operation) : call.verb;
}

const ACCESSES: ReadonlySet<string> = new Set(['read', 'write', 'open', 'fence']);

/**
 * Returns the verb of the process's next call. A pause delays all accesses alike, so each of them
 * counts as `access`.
 */
function nextVerb({ operations }: TraceIndex, process: string, after: number): string {
  for (const { invoke } of operations.values()) {
    if (invoke.index < after || invoke.event.process !== process) continue;
    const verb = verbOf(invoke.event);
    return ACCESSES.has(verb) ? 'access' : verb;
  }
  return 'its end';
}

/** Describes a partition by roles, so that removing a process does not change the cause. */
function pairsOf(indexed: TraceIndex, processes: readonly string[]): readonly string[] {
  const roles = [...new Set(processes.map((process) => roleOf(indexed, process)))];
  const others = roles.filter((role) => role !== 'client');
  return others.length === 0
    ? ['between clients']
    : others.map((role) => `between a client and ${ROLE_WORDS[role]}`);
}
