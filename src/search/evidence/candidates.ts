/**
 * Lists the events of a failing run that may be causes, each with the intervention that neutralizes
 * it. The kinds are: a fault, a late or lost message, a late timer, the expiry of a lease, a
 * renewal, a release, and the order of two concurrent calls at a server. All faults and timers are
 * listed, and all expiries before the breach. Other events are listed only if they are in the
 * causal past of the breach.
 *
 * An expiry belongs to the request that set it. It is listed if nothing changed the lease before
 * its end, and if a later event of the same lock, or the server's report, shows the expiry. A
 * server may also forget its record of an ended lease; the next grant is the only sign of it. Two
 * calls are concurrent if each was sent before the other was answered.
 */
import type { CauseKind } from '../../check/causation.ts';
import { isChangeByNonOwner } from '../../check/leases.ts';
import { formerKey } from '../../check/lock-keys.ts';
import { indexTrace, type TraceIndex } from '../../check/trace-index.ts';
import { causalPast } from '../../check/turning-point.ts';
import type { Evidence } from '../../check/verdict.ts';
import type { KeyChange, Renew, TraceEvent } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { Json } from '../../core/kernel/json.ts';
import { operationOf } from '../../core/kernel/name.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Intervention } from '../../core/world/interventions.ts';

/** An event that may be a cause. */
export interface PossibleCause {
  readonly kind: CauseKind;
  readonly intervention: Intervention;
  /** Index in the trace. Null for a timer, which the trace does not show. */
  readonly event: number | null;
  /** Index in the plan's faults, or null. */
  readonly fault: number | null;
  /** True if it is tested only if no other event is a cause. */
  readonly isRemote: boolean;
}

type Candidate = Omit<PossibleCause, 'isRemote'>;

/**
 * Returns the possible causes of a breach: faults first, then timers, then other events in trace
 * order. The remote ones come last: orders of calls, since they are most numerous, and expiries
 * that no event shows. `plan` must leave nothing to chance.
 */
export function possibleCauses(
  plan: Plan,
  trace: Trace,
  evidence: readonly Evidence[],
): readonly PossibleCause[] {
  const past = causalPast(trace, evidence);
  const way = { plan, indexed: indexTrace(trace), past: new Set(past), last: past.at(-1) ?? -1 };
  const events = [...lateMessages(way), ...expiries(way), ...callsOn(way)];
  const near = [
    ...faultsFired(plan, trace),
    ...lateTimers(plan),
    ...events.sort((a, b) => (a.event ?? 0) - (b.event ?? 0)),
  ];
  const remote = [...forgottenRecords(way), ...concurrentCalls(way)];
  return [
    ...near.map((one) => Object.assign(one, { isRemote: false })),
    ...remote.map((one) => Object.assign(one, { isRemote: true })),
  ];
}

/** The causal past of the breach, with the plan and the trace. */
interface Way {
  readonly plan: Plan;
  readonly indexed: TraceIndex;
  /** Indexes of the events in the past, and the last of these indexes. */
  readonly past: ReadonlySet<number>;
  readonly last: number;
}

function faultsFired({ faults }: Plan, { events }: Trace): readonly Candidate[] {
  const found = new Map<number, Candidate>();
  for (const [event, injected] of events.entries()) {
    if (injected.kind !== 'fault' || injected.index === null) continue;
    const fault = faults[injected.index];
    if (fault === undefined || found.has(injected.index)) continue;
    const intervention = { kind: 'without fault', fault } as const;
    found.set(injected.index, { kind: 'fault', intervention, event, fault: injected.index });
  }
  return [...found.values()];
}

function lateTimers({ decisions }: Plan): readonly Candidate[] {
  return Object.keys(decisions).flatMap((timer) => {
    if (/\/(request|reply|random)$/.test(timer)) return [];
    const intervention = { kind: 'timer on time', timer } as const;
    return [{ kind: 'timer' as const, intervention, event: null, fault: null }];
  });
}

/**
 * Returns the messages that took longer than the base latency, and those that a partition held back
 * or lost. Omits messages that a fault targets.
 */
function lateMessages({ plan, indexed, past }: Way): readonly Candidate[] {
  const { events } = indexed.trace;
  const partitions = indexed.faults.flatMap(({ event }) =>
    event.fault === 'partition' ? [event] : [],
  );
  const hit = new Set(indexed.faults.map(({ event }) => event.target));
  const sent = new Map<string, number>();
  const late: Candidate[] = [];
  for (const [index, event] of events.entries()) {
    if (event.kind === 'send') {
      const isLate = (plan.decisions[event.message] ?? 0) > plan.network.latencyUs;
      const isHeld = partitions.some(({ processes, atUs, untilUs }) => {
        const isBetween = processes.includes(event.from) && processes.includes(event.to);
        return isBetween && atUs <= event.atUs && event.atUs < (untilUs ?? atUs);
      });
      if ((isLate || isHeld) && !hit.has(event.message)) sent.set(event.message, index);
    }
    if (event.kind !== 'receive' && event.kind !== 'lose') continue;
    const sentAt = sent.get(event.message);
    if (sentAt === undefined || !(past.has(sentAt) || past.has(index))) continue;
    sent.delete(event.message);
    const intervention = { kind: 'message on time', message: event.message } as const;
    late.push({ kind: 'message', intervention, event: index, fault: null });
  }
  return late;
}

/** Returns the lock or key of an event, with its server. Null for events of no lock or key. */
function leaseOf(event: TraceEvent): string | null {
  switch (event.kind) {
    case 'grant':
    case 'deny':
    case 'renew':
    case 'release':
    case 'grant-end':
      return `${event.process} ${event.lock}`;
    case 'key-change':
      return `${event.process} ${event.key}`;
    default:
      return null;
  }
}

type EndsLater = Extract<TraceEvent, { readonly untilUs: number | null; readonly message: string }>;

function setsEnd(event: TraceEvent): event is EndsLater {
  if (event.kind === 'grant') return true;
  if (event.kind === 'renew') return isExtension(event);
  return event.kind === 'key-change' && isKept(event);
}

function isExtension({ extended }: Renew): boolean {
  return extended > 0;
}

function isKept({ isDone, change }: KeyChange): boolean {
  return isDone && (change === 'taken' || change === 'prolonged' || change === 'overwritten');
}

function endsLease(event: TraceEvent): boolean {
  if (event.kind === 'release') return event.released > 0;
  if (event.kind === 'key-change') return event.isDone && !isKept(event);
  return event.kind === 'grant-end';
}

function expiries({ indexed, last }: Way): readonly Candidate[] {
  const running = new Map<string, { readonly message: string; readonly untilUs: number }>();
  const found: Candidate[] = [];
  for (const [index, event] of indexed.trace.events.slice(0, last + 1).entries()) {
    const lease = leaseOf(event);
    if (lease === null) continue;
    const before = running.get(lease);
    const isOver = before !== undefined && event.atUs >= before.untilUs;
    if (before !== undefined && (isOver || event.kind === 'grant-end')) {
      running.delete(lease);
      const intervention = {
        kind: 'expiry postponed',
        message: before.message,
        of: 'lease',
      } as const;
      found.push({ kind: 'expiry', intervention, event: index, fault: null });
    }
    if (endsLease(event)) running.delete(lease);
    if (!setsEnd(event) || event.message === '') continue;
    const untilUs = event.untilUs ?? Number.POSITIVE_INFINITY;
    running.set(lease, { message: event.message, untilUs });
  }
  return found;
}

/** Returns the records of earlier leases that a server may have forgotten before a grant. */
function forgottenRecords({ indexed, last }: Way): readonly Candidate[] {
  const kept = new Map<string, string>();
  const found: Candidate[] = [];
  for (const [index, event] of indexed.trace.events.slice(0, last + 1).entries()) {
    const lease = leaseOf(event);
    if (lease === null || !('message' in event)) continue;
    const message = kept.get(lease);
    if (message !== undefined && event.kind === 'grant') {
      const intervention = { kind: 'expiry postponed', message, of: 'record' } as const;
      found.push({ kind: 'expiry', intervention, event: index, fault: null });
    }
    if (event.kind === 'grant' || endsLease(event)) kept.set(lease, event.message);
  }
  return found;
}

/** Returns the renewals and releases that a server executed, one for all attempts of a call. */
function callsOn({ indexed, past }: Way): readonly Candidate[] {
  const { events } = indexed.trace;
  const found = new Map<string, Candidate>();
  for (const [event, done] of events.entries()) {
    const kind = kindOf(done, indexed);
    if (kind === null || !('message' in done) || !past.has(event)) continue;
    const operation = operationOf(done.message);
    if (operation === '' || !isBetter(done, events[found.get(operation)?.event ?? -1])) continue;
    const replies = repliesTo(events, operation);
    const intervention = { kind: 'call not sent', operation, replies } as const;
    found.set(operation, { kind, intervention, event, fault: null });
  }
  return [...found.values()];
}

/**
 * Returns true if `event` shows the effect of a call better than `before`. A server's report of the
 * effect is better than the arrival of the request. The removal of another client's key is best.
 */
function isBetter(event: TraceEvent, before: TraceEvent | undefined): boolean {
  if (before === undefined || isChangeByNonOwner(event)) return true;
  return before.kind === 'receive' && event.kind !== 'receive';
}

function kindOf(event: TraceEvent, indexed: TraceIndex): 'renewal' | 'release' | null {
  switch (event.kind) {
    case 'renew':
      return isExtension(event) ? 'renewal' : null;
    case 'release':
      return event.released > 0 ? 'release' : null;
    case 'key-change':
      if (!event.isDone || event.message === '') return null;
      if (event.change === 'prolonged') return 'renewal';
      if (event.change === 'taken') return formerKey(indexed, event) === null ? null : 'renewal';
      return event.change === 'removed' || event.change === 'overwritten' ? 'release' : null;
    case 'receive': {
      // Servers of a quorum do not always report the effect, so the client's answer counts.
      const answer = indexed.operations.get(operationOf(event.message))?.return?.event.answer?.kind;
      if (answer === 'renewed') return 'renewal';
      return answer === 'released' ? 'release' : null;
    }
    default:
      return null;
  }
}

function repliesTo(events: readonly TraceEvent[], operation: string): Record<string, Json> {
  const replies: Record<string, Json> = {};
  for (const event of events) {
    if (event.kind !== 'send' || !event.message.endsWith('/reply')) continue;
    if (operationOf(event.message) === operation) replies[event.message] = event.body;
  }
  return replies;
}

interface Handled {
  readonly client: string;
  readonly message: string;
  readonly sentAt: number;
  readonly handledAt: number;
  /** Index of the `receive` event of the reply. The length of the trace if no reply arrived. */
  readonly answeredAt: number;
}

/**
 * Pairs each request with the next request of another client at the same server, if the two are
 * concurrent.
 */
function concurrentCalls({ indexed, past }: Way): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const handled of requestsByServer(indexed.trace).values()) {
    for (const [place, first] of handled.entries()) {
      const second = handled.slice(place + 1).find(({ client }) => client !== first.client);
      if (second === undefined || second.sentAt >= first.answeredAt) continue;
      if (!past.has(first.handledAt) || !past.has(second.handledAt)) continue;
      const swap = { first: first.message, second: second.message };
      const intervention = { kind: 'calls swapped', ...swap } as const;
      found.push({ kind: 'order', intervention, event: second.handledAt, fault: null });
    }
  }
  return found.sort((a, b) => (a.event ?? 0) - (b.event ?? 0));
}

function requestsByServer({ events }: Trace): ReadonlyMap<string, readonly Handled[]> {
  const sent = new Map<string, number>();
  const answered = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    if (event.kind === 'send') sent.set(event.message, index);
    if (event.kind === 'receive' && event.message.endsWith('/reply')) {
      answered.set(event.message.replace(/reply$/, 'request'), index);
    }
  }
  const handled = new Map<string, Handled[]>();
  for (const [handledAt, event] of events.entries()) {
    if (event.kind !== 'receive' || event.isCopy || !event.message.endsWith('/request')) continue;
    const { message, from: client } = event;
    const sentAt = sent.get(message) ?? handledAt;
    const answeredAt = answered.get(message) ?? events.length;
    entryOf(handled, event.to, () => []).push({ client, message, sentAt, handledAt, answeredAt });
  }
  return handled;
}
