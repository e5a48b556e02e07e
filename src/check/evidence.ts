/**
 * Selects the events that demonstrate a contradiction: the contradictory events, their grants, and
 * the faults that affected the same processes or messages while the hazard built up. The sentences
 * of the explanation refer to each event by its role. The role of a fault is its kind: `pause`,
 * `delay`, ….
 */
import { type FaultInjected, type Log, WHY } from '../core/history/events.ts';
import { affectsLinks, affectsMessage } from '../core/plan/fault.ts';
import { isQuorumGrant } from './holders.ts';
import { serversOf } from './leases.ts';
import {
  type AccessEvent,
  type GrantLog,
  grantUnder,
  type Numbered,
  type PlaceLog,
  type TraceIndex,
} from './trace-index.ts';
import type { Breach, Evidence } from './verdict.ts';

/**
 * Roles of supplementary events. They are not part of the contradiction, so they do not distinguish
 * two kinds of breach.
 */
export const ASIDE_ROLES: ReadonlySet<string> = new Set([
  'lease test',
  'other read',
  'last renewal',
]);

/** A fault, or another cause, with its role. */
export type Cause = readonly [role: string, found: { readonly index: number }];

/** Events by role; null or undefined if not found. */
type Parts<Event> = Readonly<Record<string, Event | readonly Event[] | null | undefined>>;

type AnyParts = Parts<{ readonly index: number }>;

/** Accesses by role. */
export type AccessParts = Parts<Numbered<AccessEvent>>;

/** Creates a breach from `parts` and `causes`. An event keeps the first role that it is given. */
export function breachShown<Rule extends string>(
  rule: Rule,
  parts: AnyParts,
  causes: readonly Cause[] = [],
): Breach<Rule> {
  return breachIn(rule, [parts], causes);
}

function breachIn<Rule extends string>(
  rule: Rule,
  sets: readonly AnyParts[],
  causes: readonly Cause[],
): Breach<Rule> {
  const evidence: Evidence[] = [];
  const show = (role: string, event: number): void => {
    if (!evidence.some((item) => item.event === event)) evidence.push({ role, event });
  };
  for (const parts of sets) eachPart(parts, (role, { index }) => show(role, index));
  for (const [role, { index }] of causes) show(role, index);
  return { rule, evidence: evidence.sort((one, other) => one.event - other.event) };
}

function eachPart<Event extends { readonly index: number }>(
  parts: Parts<Event>,
  use: (role: string, event: Event) => void,
): void {
  for (const role of Object.keys(parts)) {
    const found = parts[role];
    if (!found) continue;
    if ('index' in found) use(role, found);
    else for (const event of found) use(role, event);
  }
}

/**
 * Creates a breach from `accesses` and their grants (`earlier grant`, `later grant`, …; `grant` if
 * there is only one). Also shows the faults that delayed the access `late`, and the last lease test
 * before this access.
 */
export function accessBreach<Rule extends string>(
  indexed: TraceIndex,
  rule: Rule,
  accesses: AccessParts,
  shown: {
    readonly late?: Numbered<AccessEvent> | null | undefined;
    readonly others?: AnyParts;
    readonly causes?: readonly Cause[];
  } = {},
): Breach<Rule> {
  const { late, others, causes = [] } = shown;
  const ofLate = late ? causesOfAccess(indexed, late) : [];
  const test = late ? lastTest(indexed, late) : undefined;
  const grants = grantParts(indexed, accesses);
  const sets = [accesses, grants, { 'lease test': test }];
  if (others !== undefined) sets.push(others);
  return breachIn(rule, sets, causes.length === 0 ? ofLate : [...causes, ...ofLate]);
}

/** A time later than any run. A lease test with a later end does not count: its end is unknown. */
const NEVER_US = 1e15;

function lastTest(
  { trace, operations }: TraceIndex,
  { event, index }: Numbered<AccessEvent>,
): { readonly index: number } | undefined {
  const asked = operations.get(event.operation)?.invoke.index ?? index;
  for (let at = asked - 1; at >= 0; at -= 1) {
    const test = trace.events[at];
    if (test?.kind !== 'lease-test' || test.process !== event.client) continue;
    if (test.believedUntilUs > NEVER_US) continue;
    if (test.ordinal === event.under) return { index: at };
  }
  return undefined;
}

export function recoveriesBetween(
  place: PlaceLog,
  { after, before }: { readonly after: number; readonly before: number },
): PlaceLog['recoveries'] {
  return place.recoveries.filter(({ index }) => index > after && index < before);
}

function grantParts(indexed: TraceIndex, accesses: AccessParts): AnyParts {
  const grants = new Map<number, GrantLog>();
  eachPart(accesses, (_, { event }) => {
    const grant = grantUnder(indexed, event);
    if (grant !== undefined) grants.set(grant.index, grant);
  });
  const inOrder = [...grants.values()].sort((one, other) => one.index - other.index);
  if (inOrder.length === 1) return { grant: inOrder[0] };
  const [earlier, later, third, ...further] = inOrder;
  return {
    'earlier grant': earlier,
    'later grant': later,
    'third grant': third,
    'further grant': further,
  };
}

/** The part of a run in which a fault counts as a cause. */
interface Span {
  /**
   * A fault counts if it affected one of these. A fault of a link must have affected all of them.
   */
  readonly processes: readonly string[];
  /** A message, or '' if there is none. A fault also counts if it affected this message. */
  readonly message: string;
  readonly fromUs: number;
  /** Number of the event that the faults must precede. */
  readonly before: number;
}

/** Returns the faults that overlap a span. */
export function causesIn(indexed: TraceIndex, span: Span): readonly Cause[] {
  return indexed.faults
    .filter((fault) => overlaps(fault, span) && concerns(fault.event, span))
    .map((fault) => [fault.event.fault, fault]);
}

/** Returns the faults that affected the access's client, store or request since its grant. */
export function causesOfAccess(
  indexed: TraceIndex,
  access: Numbered<AccessEvent>,
): readonly Cause[] {
  const { client, process, message } = access.event;
  const fromUs = grantUnder(indexed, access.event)?.event.sentAtUs ?? 0;
  return causesIn(indexed, { processes: [client, process], message, fromUs, before: access.index });
}

/**
 * Returns the faults that affected the lock service or the holder from a grant to a later event.
 */
export function causesSince(
  indexed: TraceIndex,
  grant: GrantLog,
  later: { readonly index: number },
): readonly Cause[] {
  const { client, sentAtUs, message } = grant.event;
  const [fromUs, before] = [sentAtUs, later.index];
  const causes = new Map<number, Cause>();
  for (const server of serversOf(indexed, grant.event)) {
    for (const cause of causesIn(indexed, {
      processes: [client, server],
      message,
      fromUs,
      before,
    })) {
      causes.set(cause[1].index, cause);
    }
  }
  return [...causes].sort(([a], [b]) => a - b).map(([, cause]) => cause);
}

function overlaps(fault: Numbered<FaultInjected>, span: Span): boolean {
  const { atUs, untilUs } = fault.event;
  if (fault.index >= span.before) return false;
  return fault.event.fault === 'clock' || atUs >= span.fromUs || (untilUs ?? atUs) > span.fromUs;
}

function concerns(fault: FaultInjected, { processes, message }: Span): boolean {
  if (fault.target !== '' && fault.target === message) return true;
  if (affectsMessage(fault.fault)) return false;
  return affectsLinks(fault.fault)
    ? processes.every((process) => fault.processes.includes(process))
    : fault.processes.some((process) => processes.includes(process));
}

/**
 * Returns why a client took a lock that another client held: a wrong clock, a partition from the
 * servers of the first grant, or a misread denial.
 */
export function causesOfTaking(
  indexed: TraceIndex,
  { earlier, later }: { readonly earlier: GrantLog; readonly later: GrantLog | undefined },
): readonly Cause[] {
  if (later === undefined) return [];
  const { client } = later.event;
  const servers = serversOf(indexed, earlier.event);
  const misled = ({ fault, processes, atUs, untilUs }: FaultInjected): boolean => {
    if (!processes.includes(client)) return false;
    if (fault === 'clock') return true;
    const isServerPartition =
      fault === 'partition' && servers.some((server) => processes.includes(server));
    return isServerPartition && (untilUs ?? atUs) > earlier.event.sentAtUs;
  };
  const faults = indexed.faults.filter(({ event, index }) => index < later.index && misled(event));
  if (faults.length > 0) return faults.map((fault) => [fault.event.fault, fault]);
  return denialTakenForMore(indexed, { earlier, later });
}

/** Returns the last reason that the later grant's server logged between the two grants, or null. */
export function reasonFor(
  { trace }: TraceIndex,
  earlier: GrantLog,
  later: GrantLog | undefined,
): Numbered<Log> | null {
  if (later === undefined) return null;
  for (let index = later.index - 1; index > earlier.index; index--) {
    const event = trace.events[index];
    if (event?.kind !== 'log' || event.topic !== WHY) continue;
    if (event.process === later.event.process) return { event, index };
  }
  return null;
}

/** Finds a denial after which the client logged something and immediately asked another server. */
function denialTakenForMore(
  { trace, locks }: TraceIndex,
  { earlier, later }: { readonly earlier: GrantLog; readonly later: GrantLog },
): readonly Cause[] {
  const { lock, client, process, sentAtUs } = later.event;
  const first = earlier.event.process;
  if (process === first || isQuorumGrant(later.event) || isQuorumGrant(earlier.event)) return [];
  const denial = locks
    .get(lock)
    ?.entries.findLast(
      ({ event, index }) =>
        index < later.index &&
        index > earlier.index &&
        event.kind === 'deny' &&
        event.client === client &&
        event.process === first,
    );
  if (denial === undefined) return [];
  const log = trace.events.findIndex(
    (event, index) =>
      index > denial.index &&
      index < later.index &&
      event.kind === 'log' &&
      event.process === client &&
      event.atUs === sentAtUs,
  );
  if (log < 0) return [];
  return [
    ['denial', denial],
    ['misreading', { index: log }],
  ];
}
