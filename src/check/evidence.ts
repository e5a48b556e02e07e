/**
 * Decides which events show a contradiction: those that contradict one another, their grants, and
 * the faults that stand behind them, which struck the processes or the messages in question while
 * the hazard built up. Each has a role, by which the words find it; faults go by their kind:
 * `pause`, `delay`, ….
 */

import type { FaultStrikes } from '../core/history/trace.ts';
import { hitsBetween, hitsMessage } from '../core/plan/fault.ts';
import { isQuorumGrant, serversOf } from './leases.ts';
import {
  type AccessEvent,
  type GrantLog,
  grantUnder,
  type Numbered,
  type PlaceLog,
  type TraceIndex,
} from './trace-index.ts';
import type { Breach, Evidence } from './verdict.ts';

/** An event's number with the part that it plays; an event that was not found is null. */
export type EvidencePart = readonly [
  role: string,
  found: { readonly index: number } | null | undefined,
];

/**
 * The parts that were found, in the order of the trace; an event keeps the first part it is given.
 */
export function evidenceOf(parts: readonly EvidencePart[]): readonly Evidence[] {
  const roles = new Map<number, string>();
  for (const [role, found] of parts) {
    if (found && !roles.has(found.index)) roles.set(found.index, role);
  }
  return [...roles]
    .map(([event, role]) => ({ role, event }))
    .sort((one, other) => one.event - other.event);
}

/** An access and the part that it plays; undefined where there is none. */
export type AccessPart = readonly [role: string, access: Numbered<AccessEvent> | null | undefined];

const grantRoles = ['earlier grant', 'later grant', 'third grant'] as const;

/**
 * A breach shown by `accesses`. Their grants are added, `earlier grant` first (a single one is the
 * `grant`), and the faults that delayed `late`, the access that came when it should not have.
 */
export function accessBreach<Rule extends string>(
  indexed: TraceIndex,
  rule: Rule,
  shown: {
    readonly accesses: readonly AccessPart[];
    readonly late?: Numbered<AccessEvent> | null;
    readonly others?: readonly EvidencePart[];
  },
): Breach<Rule> {
  const { accesses, late = null, others = [] } = shown;
  const causes = late === null ? [] : causesOfAccess(indexed, late);
  const grants = grantParts(indexed, accesses);
  return { rule, evidence: evidenceOf([...accesses, ...grants, ...others, ...causes]) };
}

/** The recoveries of a place between two of its events, as evidence of what was forgotten there. */
export function recoveriesBetween(
  place: PlaceLog,
  { after, before }: { readonly after: number; readonly before: number },
): readonly EvidencePart[] {
  return place.recoveries
    .filter(({ index }) => index > after && index < before)
    .map((recovery) => ['recovery', recovery]);
}

function grantParts(indexed: TraceIndex, accesses: readonly AccessPart[]): readonly EvidencePart[] {
  const grants = new Map<number, GrantLog>();
  for (const [, access] of accesses) {
    const grant = access ? grantUnder(indexed, access.event) : undefined;
    if (grant !== undefined) grants.set(grant.index, grant);
  }
  const inOrder = [...grants.values()].sort((one, other) => one.index - other.index);
  if (inOrder.length === 1) return [['grant', inOrder[0]]];
  return inOrder.map((grant, place) => [grantRoles[place] ?? 'further grant', grant]);
}

/** The part of a run in which a fault counts as a cause. */
interface Span {
  /** Whom a fault must have struck, one of them. */
  readonly processes: readonly string[];
  /** Or which message, '' for none. */
  readonly message: string;
  readonly fromUs: number;
  /** Number of the event that the faults must precede. */
  readonly before: number;
}

/** The faults that overlap a span, as parts of a contradiction's evidence. */
export function causesIn(indexed: TraceIndex, span: Span): readonly EvidencePart[] {
  return indexed.faults
    .filter((fault) => overlaps(fault, span) && concerns(fault.event, span))
    .map((fault) => [fault.event.fault, fault]);
}

/** The faults that made an access late: they struck its client or its request since its grant. */
export function causesOfAccess(
  indexed: TraceIndex,
  access: Numbered<AccessEvent>,
): readonly EvidencePart[] {
  const { client, process, message } = access.event;
  const fromUs = grantUnder(indexed, access.event)?.event.sentAtUs ?? 0;
  return causesIn(indexed, { processes: [client, process], message, fromUs, before: access.index });
}

/** The faults that struck the lock service or the holder between a grant and a later event. */
export function causesSince(
  indexed: TraceIndex,
  grant: GrantLog,
  later: { readonly index: number },
): readonly EvidencePart[] {
  const { client, sentAtUs, message } = grant.event;
  const span = { message, fromUs: sentAtUs, before: later.index };
  const causes = new Map<number, EvidencePart>();
  for (const server of serversOf(indexed, grant.event)) {
    for (const cause of causesIn(indexed, { ...span, processes: [client, server] })) {
      causes.set(cause[1]?.index ?? 0, cause);
    }
  }
  return [...causes].sort(([a], [b]) => a - b).map(([, cause]) => cause);
}

function overlaps(fault: Numbered<FaultStrikes>, span: Span): boolean {
  const { atUs, untilUs } = fault.event;
  if (fault.index >= span.before) return false;
  return fault.event.fault === 'clock' || atUs >= span.fromUs || (untilUs ?? atUs) > span.fromUs;
}

/** A fault of one message or link must have struck this one, or both of its ends. */
function concerns(fault: FaultStrikes, { processes, message }: Span): boolean {
  if (fault.target !== '' && fault.target === message) return true;
  if (hitsMessage(fault.fault)) return false;
  return hitsBetween(fault.fault)
    ? processes.every((process) => fault.processes.includes(process))
    : fault.processes.some((process) => processes.includes(process));
}

/**
 * What made a client take a lock that another one held: a clock of its own that was wrong, a link
 * that was cut to whoever kept the first grant, or a denial by the same that it took for something
 * else.
 */
export function causesOfTaking(
  indexed: TraceIndex,
  { earlier, later }: { readonly earlier: GrantLog; readonly later: GrantLog | undefined },
): readonly EvidencePart[] {
  if (later === undefined) return [];
  const { client } = later.event;
  const servers = serversOf(indexed, earlier.event);
  const misled = ({ fault, processes, atUs, untilUs }: FaultStrikes): boolean => {
    if (!processes.includes(client)) return false;
    if (fault === 'clock') return true;
    const isCut = fault === 'partition' && servers.some((server) => processes.includes(server));
    return isCut && (untilUs ?? atUs) > earlier.event.sentAtUs;
  };
  const faults = indexed.faults.filter(({ event, index }) => index < later.index && misled(event));
  if (faults.length > 0) return faults.map((fault) => [fault.event.fault, fault]);
  return denialTakenForMore(indexed, { earlier, later });
}

/** A denial after which its client logged something, and asked another server in that instant. */
function denialTakenForMore(
  { trace, locks }: TraceIndex,
  { earlier, later }: { readonly earlier: GrantLog; readonly later: GrantLog },
): readonly EvidencePart[] {
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
